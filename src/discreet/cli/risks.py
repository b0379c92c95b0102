"""Print risk figures: of a release for `discreet audit --risks`, as a table and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.cli import show
from discreet.errors import InputError

if TYPE_CHECKING:
    from discreet.risk.risks import Risks


def of_releases(releases: Sequence[Path], population: Path | None, *, json: bool, others: bool) -> None:
    """Measure one release, or several, and print what comes out."""
    import discreet

    if others:
        raise InputError("--risks goes without attacks and without a truth", hint="run it by itself")
    beside = int(str(population)) if population is not None and str(population).isdigit() else population
    with show.steps(len(releases)) as step:
        found = []
        for release in releases:
            step(f"measuring {release}")
            found.append(discreet.risks(release, population=beside))
    if json:
        every = [{"release": path, **as_plain(of)} for path, of in zip(releases, found, strict=True)]
        show.as_json(every[0] if len(every) == 1 else every)
        return
    for i, (release, of) in enumerate(zip(releases, found, strict=True)):
        print(f"{'' if not i else chr(10)}{release}")
        as_text(of)


def as_plain(risks: Risks) -> dict[str, Any]:
    """Figures as JSON has them: thresholds as texts."""
    plain = asdict(risks)
    for attacker in ("prosecutor", "journalist"):
        if plain[attacker] is not None:
            plain[attacker]["at_risk"] = {f"{limit:g}": share for limit, share in plain[attacker]["at_risk"].items()}
    return plain


def as_text(risks: Risks) -> None:
    """Sentences and tables."""
    from discreet.risk.shown import shown

    for part in shown(risks):
        if isinstance(part, str):
            print(part)
        else:
            show.as_table(part.columns, part.rows)
