"""Print what several releases tell together: for `discreet audit` with more than one."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from discreet.cli import show
from discreet.words import counted

if TYPE_CHECKING:
    from discreet.audit.sequence.report import Channel, Inferences

TOLD = 8  # channels


def as_plain(found: Inferences) -> dict[str, Any]:
    """What goes into JSON."""
    return {"ok": found.ok, "vulnerable": found.vulnerable, **asdict(found)}


def as_text(found: Inferences) -> None:
    """Print tables of releases and of pairs, and the surest channels."""
    promised = ", ".join(f"{name} = {threshold}" for name, threshold in found.guarantee.items())
    knows = "knows who is new in each" if found.insertions == "known" else "does not know who is new in each"
    print(f"{len(found.releases)} releases, {promised}; the attacker {knows}\n")
    show.as_table(
        ["release", "rows", "groups", "vulnerable", "share", "posterior"],
        [
            [
                str(of.release),
                *(f"{n:,}" for n in (of.rows, of.groups, of.vulnerable)),
                f"{of.vulnerable / of.rows:.1%}",
                _share(of.posterior),
            ]
            for of in found.releases
        ],
    )
    open_ = [of for of in found.pairs if sum(of.channels.values())]
    if open_:
        print("\nchannels between two releases, by kind of link")
        kinds = [kind for kind in open_[0].channels if any(of.channels[kind] for of in open_)]
        show.as_table(
            ["releases", "compatible", *(kind.replace("_", " ") for kind in kinds), "vulnerable", "posterior"],
            [
                [
                    f"{of.earlier} and {of.later}",
                    *(f"{n:,}" for n in (of.compatible, *(of.channels[kind] for kind in kinds), of.vulnerable)),
                    _share(of.posterior),
                ]
                for of in open_
            ],
        )
    both, new = found.chain.channels["both"], found.chain.channels["new"]
    print(
        f"\nthe whole chain: {counted(both, 'channel')} for people who were there before, {new:,} for new ones;"
        f" {counted(found.chain.vulnerable, 'row')} vulnerable"
    )
    if not found.chain.complete:
        followed = counted(found.chain.steps, "step was", "steps were")
        print(f"there are too many chains of groups: only {followed} followed")
    if found.channels:
        print("\nthe surest:")
        for channel in found.channels[:TOLD]:
            print(f"  {_told(channel)}")
    if found.ok:
        print("\nnothing found: all releases together tell no more about anybody than a single one")
    elif found.vulnerable or found.chain.complete:
        verb = "is" if found.vulnerable == 1 else "are"
        print(f"\n{counted(found.vulnerable, 'row')} of the last release {verb} vulnerable")
    else:
        print("\nnothing was found, but not every combination of groups could be looked at: there are too many")


def _share(posterior: float) -> str:
    return f"{posterior:.1%}"


def _told(channel: Channel) -> str:
    where = ", ".join(
        f"group {group} of release {t}" for t, group in zip(channel.releases, channel.groups, strict=True)
    )
    whom = "who is new in" if channel.kind.startswith("new") else "who is in"
    if channel.since is not None:
        whom = f"who first was in release {channel.since}, and is in"
    elif channel.kind.startswith("new") and len(channel.groups) > 1:
        where = f"{where.partition(', ')[2]}, beside {where.partition(', ')[0]}"
    values = ", ".join(f"{value} ({n:,})" if n > 1 else str(value) for value, n in channel.values[:4])
    more = ", …" if len(channel.values) > 4 else ""
    return f"{whom} {where}: {values}{more}"
