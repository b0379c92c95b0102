"""Risk figures as people read them: the same on the terminal, in a notebook and in a profile."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from discreet.risk.sizes import THRESHOLDS, AtRisk
from discreet.words import aligned

if TYPE_CHECKING:
    from discreet.risk.population import Uniques
    from discreet.risk.risks import Risks

BY = {  # `bench/uniques.py` prints how far off the models are
    "table": "counted in its table",
    "pitman": "estimated by Pitman's model",
    "zayatz": "estimated by Zayatz's model",
}


def by(of: Uniques) -> str:
    """How uniques of a population are known, and between what models put them."""
    if of.low is None or of.high is None:
        return BY[of.model]
    return f"{BY[of.model]} (three models say {of.low:,.0f} to {of.high:,.0f}, and none is a bound)"


@dataclass(frozen=True, slots=True)
class Shown:
    """A table of texts, its first column flush left."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def lines(risks: Risks) -> Iterator[str]:
    """All that is said of risks, line by line."""
    for part in shown(risks):
        if isinstance(part, str):
            yield part
        else:
            yield from aligned(part.columns, part.rows, left=1)


def shown(risks: Risks) -> Iterator[str | Shown]:
    """Sentences and tables, in order."""
    yield f"Risks of {risks.records:,} records in {risks.classes:,} classes that look the same"
    yield ""
    yield from attackers(risks)
    if risks.worst:
        yield from _worst(risks)
    yield from risks.notes


def attackers(risks: Risks) -> Iterator[str | Shown]:
    """The risk from each attacker, who is unique, and what is measured."""
    yield Shown(
        ("attacker", *(f"above {limit:g}" for limit in THRESHOLDS), "highest", "average"),
        (
            ("prosecutor", *_cells(risks.prosecutor)),
            *([] if risks.journalist is None else [("journalist", *_cells(risks.journalist))]),
            ("marketer", *("–" for _ in THRESHOLDS), "–", f"{risks.marketer:.1%}"),
        ),
    )
    yield ""
    yield f"{risks.unique:,} records ({risks.unique / max(risks.records, 1):.1%}) look like no other"
    if (of := risks.population) is not None:
        yield (
            f"{of.count:,.0f} of {of.people:,} people ({of.share:.1%}) are unique in the population, {by(of)};"
            f" {of.of_records:.1%} of the records are theirs"
        )
    yield _measured(risks)


def _cells(of: AtRisk) -> Iterator[str]:
    yield from (f"{of.at_risk[limit]:.1%}" for limit in THRESHOLDS)
    yield f"{of.highest:.1%}"
    yield f"{of.average:.1%}"


def _measured(risks: Risks) -> str:
    k = f"measured: k = {risks.k:,}"
    if risks.l is None:
        return k
    return (
        f"{k}, l = {risks.l:,}, distinct l = {risks.distinct_l:,}, entropy l = {risks.entropy_l:.2f},"
        f" t = {risks.t:.3f} ({risks.distance}), beta = {risks.beta:.2f}"
    )


def _worst(risks: Risks) -> Iterator[str | Shown]:
    what = "groups" if risks.of == "release" else "classes"
    yield ""
    yield f"The {what} at most risk, by number:"
    yield ""
    yield Shown(
        (what[:-1] if what == "groups" else "class", "records", "largest share of one value"),
        tuple(
            (f"{of.number:,}", f"{of.records:,}", "–" if of.largest_share is None else f"{of.largest_share:.1%}")
            for of in risks.worst
        ),
    )
    yield ""
