"""Print what attacks on a release found, as a table and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from discreet.cli import show
from discreet.errors import InputError

if TYPE_CHECKING:
    from discreet.audit.attacks.attack import Failed, Rate, Success

COLUMNS = ("attack", "people", "right", "from", "to", "blind", "without", "holdout", "surest 1 %", "surest 10 %")


def check_none(**given: Any) -> None:
    """Raise if something is given that only attacks need."""
    for name, each in given.items():
        if each is not None:
            raise InputError(f"--{name} goes with --attack", hint="name an attack with --attack, or `all`")


def attacked(releases: Sequence[Path], names: Sequence[str], *, json: bool, **given: Any) -> None:
    """Attack a release by the attacks that are named, or by `all`, and print what comes out."""
    import discreet
    from discreet.audit.attacks import ATTACKS
    from discreet.audit.attacks.attack import Failed
    from discreet.learn.draws import STEPS

    if len(releases) > 1:
        raise InputError("one release is attacked at a time", hint="name the others with --other")
    (release,) = releases
    wanted = None if "all" in names else [*names]
    given = {name: each for name, each in given.items() if each is not None}
    with show.steps(len(ATTACKS if wanted is None else wanted) * STEPS) as step:
        found = discreet.attack(release, wanted, **given, progress=step)
    if json:
        show.as_json({"release": release, "attacks": [as_plain(each) for each in found]})
    else:
        as_text(release, found)
    if all(isinstance(each, Failed) for each in found):
        raise typer.Exit(InputError.exit_status)


def as_plain(found: Success | Failed) -> dict[str, Any]:
    """What an attack found, as JSON has it."""
    from discreet.audit.attacks.attack import Failed

    plain = asdict(found)
    if isinstance(found, Failed):
        return {"name": plain.pop("name"), "made": False, **plain}
    plain["at_recall"] = {f"{recall:g}": asdict(rate) for recall, rate in found.at_recall.items()}
    return {"name": plain.pop("name"), "made": True, **plain}


def as_text(release: Path, found: Sequence[Success | Failed]) -> None:
    """A line for each attack that was made, what is to be said of it, and why others were not made."""
    from discreet.audit.attacks.attack import Failed, Success

    made = [each for each in found if isinstance(each, Success)]
    if made:
        print(f"{release}: of how many people each attack guesses rightly\n")
        show.as_table(COLUMNS, [_line(each) for each in made])
    for each in made:
        threat = each.threat
        print(f"\n{each.name}: the attacker knows {threat.knows}; wants {threat.wants}; has {threat.given}.")
        for note in each.notes:
            print(f"  {note}")
    for other in found:
        if isinstance(other, Failed):
            print(f"\n{other.name} {other.kind}: {other.why}. That does not mean that the risk is low.")
            if other.hint:
                print(f"  to make it: {other.hint}")
    if made:
        print(f"\n{show.STEWARD}")


def _line(found: Success) -> list[str]:
    mine = found.attacker
    beside = (found.blind, found.without, found.holdout, found.at_recall.get(0.01), found.at_recall.get(0.1))
    return [
        found.name,
        f"{found.people:,}",
        *(f"{x:.1%}" for x in (mine.share, mine.low, mine.high)),
        *map(_told, beside),
    ]


def _told(rate: Rate | None) -> str:
    return "–" if rate is None else f"{rate.share:.1%}"
