"""What a generalized table with the same groups would tell: which groups a condition covers wholly, partly, not at all.

Source: Koudas et al., "Aggregate query answering on anonymized tables", ICDE 2007, sections 3.2 and 5.1.
The rows of a group are known by their box only. If the condition holds at every point of the box, all
rows match; if at none, no row does; else any number of them, from none to all. The table `boxes` has a
row per group, and for each column

    numbers, dates   `low`, `high`, and whether a value is `missing` (NULL: the column may hold anything)
    other columns    `points`, the set of values, NULL in it if one is missing (no set: anything)

Costs one pass over the groups, and once a pass over the quasi-identifiers.
Claim: theorem_2_bounds_of_the_release_lie_inside_those_of_the_generalized_table — whatever the boxes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Any, ClassVar, SupportsIndex, TypeAlias

import pyarrow as pa
from sqlglot import exp

from discreet.answer.matches.boxes.truths import Types, part, truths
from discreet.answer.question.question import Question
from discreet.errors import EngineError, QueryError
from discreet.words import nearest

# Of one column: from a value to another, a set of values (None in it for a missing one), or None for anything.
Extent: TypeAlias = tuple[Any, Any] | AbstractSet[Any] | None
Given: TypeAlias = Mapping[int, Mapping[str, Extent]]
Texts: TypeAlias = tuple[str | None, ...] | None


@dataclass(frozen=True)
class Boxes:
    """A box per `group` over columns of these types: as tight as its rows allow, except where another is given."""

    measured: ClassVar[bool] = False  # such boxes tell no expected number of hits
    types: Types
    group: str
    given: tuple[tuple[int, tuple[tuple[str, Texts], ...]], ...] = ()

    def tables(self) -> dict[str, exp.Select]:
        """The query that makes `boxes` from `qit`."""
        key = exp.column(self.group, table="qit", quoted=True)
        columns = [exp.alias_(key, "grp")]
        for i, (name, kind) in enumerate(self.types.items()):
            column = exp.column(name, table="qit", quoted=True)
            parts = TIGHT_INTERVAL if kind.interval else TIGHT_SET
            columns += [exp.alias_(part(text, c=column), f"{end}_{i}") for end, text in parts.items()]
        return {"boxes": exp.select(*columns).from_("qit").group_by(key.copy())}

    def relations(self, condition: exp.Expr | None) -> dict[str, exp.Query]:
        """The last, `hits`, has per group its urn and size, and the fewest and the most rows (`picks`) that match."""
        found = truths(exp.true() if condition is None else condition, self.types)
        ends = {"fewest": found.least, "picks": found.most}
        columns = [exp.alias_(part("CASE WHEN :t = 1 THEN size ELSE 0 END", t=end), name) for name, end in ends.items()]
        boxes = exp.to_table("widened" if self.given else "boxes").as_("boxes")
        hits = exp.select("signatures.grp", "signature AS urn", "size", *columns).from_(boxes)
        hits = hits.join("signatures", on="boxes.grp = signatures.grp")
        return {**({"widened": self._widened()} if self.given else {}), "hits": hits}

    def widened(self, given: Given, run: Callable[[exp.Expr], pa.Table]) -> Boxes:
        """These boxes with the given ones in their place; `run` finds out whether they hold the rows of the groups."""
        if not isinstance(given, Mapping) or not all(isinstance(box, Mapping) for box in given.values()):
            raise QueryError("boxes are given by group and column", hint="like {1: {'age': (31, 40)}}, or say True")
        boxes = replace(self, given=tuple((group, self._texts(group, box)) for group, box in given.items()))
        if not boxes.given:
            return boxes
        try:
            found = run(boxes.fits()).to_pylist()
        except EngineError as error:
            raise QueryError(f"the boxes cannot be used: {error.message}", hint="give values of the column") from None
        for group, known, *fits in (row.values() for row in found):
            if not known:
                raise QueryError(f"there is no group {group}", hint="groups are numbered as in the release")
            if not all(fits):
                column = list(self.types)[fits.index(False)]
                raise QueryError(
                    f"the box of group {group} does not hold its rows in `{column}`",
                    hint="a box holds all rows of its group",
                )
        return boxes

    def fits(self) -> exp.Select:
        """For each given box whether its group is known, then for each column whether it holds the rows."""
        query = exp.select("given.grp", "boxes.grp IS NOT NULL AS known").from_(self._values())
        for i, kind in enumerate(self.types.values()):
            text = HOLDS_INTERVAL if kind.interval else HOLDS_SET
            query = query.select(exp.alias_(part(text.format(i=i)), f"fits_{i}"))
        return query.join("boxes", on="given.grp = boxes.grp", join_type="left").order_by("given.grp")

    def _texts(self, group: int, box: Mapping[str, Extent]) -> tuple[tuple[str, Texts], ...]:
        """A given box as texts, which the engine turns into values."""
        if not isinstance(group, SupportsIndex):
            raise QueryError("a group is a whole number", hint="take it from the files of the release")
        for name, extent in box.items():
            if name not in self.types:
                raise QueryError(f"there is no quasi-identifier `{name}`", hint=nearest(name, self.types))
            interval = isinstance(extent, tuple) and len(extent) == 2 and None not in extent
            several = isinstance(extent, AbstractSet) and len(extent) > 0
            if extent is not None and not (interval if self.types[name].interval else several):
                wanted = "(from, to)" if self.types[name].interval else "a set of values"
                raise QueryError(f"group {group}: `{name}` needs {wanted}", hint="or None, if it may hold anything")
        return tuple(
            (name, None if extent is None else tuple(None if each is None else str(each) for each in extent))
            for name, extent in box.items()
        )

    def _values(self) -> exp.Expr:
        """The given boxes as a relation; `told` says of which columns each is."""
        rows = []
        for group, box in self.given:
            extents = dict(box)
            row: list[exp.Expr] = [exp.convert(int(group))]
            for name, kind in self.types.items():
                texts = extents.get(name) or ((None, None) if kind.interval else ())
                cells = [exp.cast(exp.convert(text), kind.type, dialect="duckdb") for text in texts]
                if not kind.interval:
                    cells = [exp.cast(exp.array(*cells) if cells else exp.null(), f"{kind.type}[]", dialect="duckdb")]
                row += [exp.convert(name in extents), *cells]
            rows.append(exp.Tuple(expressions=row))
        columns = ["grp"]
        for i, kind in enumerate(self.types.values()):
            columns += [f"told_{i}", *((f"low_{i}", f"high_{i}") if kind.interval else (f"points_{i}",))]
        return exp.values(rows, alias="given", columns=columns)

    def _widened(self) -> exp.Select:
        query = exp.select("boxes.grp").from_("boxes")
        query = query.join(self._values(), on="given.grp = boxes.grp", join_type="left")
        for i, kind in enumerate(self.types.values()):
            parts = WIDE_INTERVAL if kind.interval else WIDE_SET
            query = query.select(*(exp.alias_(part(text.format(i=i)), f"{end}_{i}") for end, text in parts.items()))
        return query


def check_generalized(question: Question) -> None:
    """Raise for a question that wants more of the quasi-identifiers than who matches."""
    if any(key.side == "quasi" for key in question.keys):
        raise QueryError(
            "a generalized table cannot be grouped by a quasi-identifier", hint="ask with a condition for each value"
        )
    if any(aggregate.side == "quasi" and aggregate.argument is not None for aggregate in question.aggregates):
        raise QueryError(
            "a generalized table has no values of quasi-identifiers to aggregate",
            hint="ask for COUNT(*) or an aggregate of the sensitive column",
        )


TIGHT_INTERVAL = {"low": "MIN(:c)", "high": "MAX(:c)", "missing": "COUNT(:c) < COUNT(*)"}
TIGHT_SET = {"points": "LIST(DISTINCT :c)"}
WIDE_INTERVAL = {
    "low": "CASE WHEN told_{i} THEN given.low_{i} ELSE boxes.low_{i} END",
    "high": "CASE WHEN told_{i} THEN given.high_{i} ELSE boxes.high_{i} END",
    "missing": "CASE WHEN told_{i} AND given.low_{i} IS NULL THEN NULL ELSE boxes.missing_{i} END",
}
WIDE_SET = {"points": "CASE WHEN told_{i} THEN given.points_{i} ELSE boxes.points_{i} END"}
HOLDS_INTERVAL = """
    NOT told_{i} OR given.low_{i} IS NULL OR boxes.low_{i} IS NULL
    OR (given.low_{i} <= boxes.low_{i} AND given.high_{i} >= boxes.high_{i})
"""
HOLDS_SET = """
    NOT told_{i} OR given.points_{i} IS NULL
    OR LEN(LIST_FILTER(boxes.points_{i}, LAMBDA p : NOT CASE
             WHEN p IS NULL THEN LEN(given.points_{i}) > LIST_COUNT(given.points_{i})
             ELSE LIST_CONTAINS(given.points_{i}, p) END)) = 0
"""
