"""Quasi-identifiers that tell the sensitive value: no group can hide what a column gives away by itself.

A guarantee is about what groups show. It says nothing of somebody who knows that a code stands for one diagnosis, or
that nobody below a certain age is employed: whoever knows such a column of a person knows the value, in any group.
What is measured, and how, is told in `discreet.table.certainty` and `discreet.table.telling`.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import floor
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.errors import DiscreetWarning
from discreet.publication.axes import present
from discreet.publication.draft import Prepared
from discreet.table.telling import Part, Telling, tellings

FEWEST = 50  # people, and at least this share of all of them, whom a column must tell to be worth a word
LEAST = 0.01


def tells(prepared: Prepared) -> Iterator[DiscreetWarning]:
    """A warning for every column, and for the riskiest pairs, that tell the value of not a few people."""
    policy = prepared.policy
    if policy.sensitive is None:
        return
    found = tellings(
        prepared.table,
        policy.quasi,
        policy.sensitive,
        codes=prepared.sensitive,
        among=_looked_at(prepared),
        ordered=policy.ordered,
        present=present(policy),
    )
    for telling in found:
        if telling.told >= max(FEWEST, LEAST * telling.rows):
            yield _warning(telling, policy.sensitive, " who hold no harmless value" if policy.harmless else "")


def _looked_at(prepared: Prepared) -> npt.NDArray[np.int64] | None:
    """The places of the rows to judge by, if not all.

    Nothing is learnt of a person from that person's other rows, so it is one row of each; and harmless values may be
    told, so it is as if nobody held one, as in what is promised.
    """
    if prepared.people is not None:
        return np.sort(np.unique(prepared.people.numbers, return_index=True)[1])
    harmless = prepared.guarantee.harmless
    return None if harmless is None else np.flatnonzero(~harmless[prepared.sensitive.codes])


def _warning(telling: Telling, sensitive: str, among: str) -> DiscreetWarning:
    *others, last = (f"`{name}`" for name in telling.columns)
    columns, alone = f"{', '.join(others)} and {last}" if others else last, not others
    verb = "determine" if telling.outright else "tell"
    what = f"a narrow band of `{sensitive}`" if telling.banded else f"`{sensitive}`"
    name = f"tells.{'+'.join(telling.columns)}"
    known = "the one can say the other" if alone else f"{'both' if len(others) == 1 else 'all'} can say it"
    coarser = f"make {columns} coarser, or drop {'it' if alone else 'one of them'}"
    return DiscreetWarning(
        name,
        f"{columns} {verb}{'s' if alone else ''} {what} of {_people(telling, among)}: whoever knows {known}, "
        f"and is right in {_share(telling.certainty)} of cases, where a blind guess is right in "
        f"{_share(telling.blind)}; {_examples(telling, sensitive)}",
        hint=f"no group can hide this: {coarser}, or accept `{name}` with the reason why it may be known",
        refuses=telling.outright,
    )


def _people(telling: Telling, among: str) -> str:
    """Of whom the value is told, of the people `among` whom it was looked at."""
    share = _share(telling.told / telling.rows)
    if telling.sampled:
        return f"{share} of the people{among} (by {telling.rows:,} of them, drawn at random)"
    return f"{telling.told:,} of {telling.rows:,} people{among} ({share})"


def _share(part: float) -> str:
    """A share in percent, rounded down: what is not certain is not called so."""
    return f"{floor(part * 1000 + 1e-9) / 10:.1f}%"


def _examples(telling: Telling, sensitive: str) -> str:
    """The largest parts of the table that are told, in words."""
    told = "; ".join(_example(part, telling.columns, sensitive) for part in telling.parts)
    return f"for example, {told}"


def _example(part: Part, columns: tuple[str, ...], sensitive: str) -> str:
    ends = zip(columns, part.low, part.high, strict=True)
    given = ", ".join(f"{name} = {_span(low, high)}" for name, low, high in ends)
    return f"{part.held:,} of {part.rows:,} with {given} have {sensitive} = {_span(part.least, part.most)}"


def _span(low: Any, high: Any) -> str:
    """A value, or a range of values, in words."""
    low, high = ("missing" if end is None else str(end) for end in (low, high))
    return low if low == high else f"{low} to {high}"
