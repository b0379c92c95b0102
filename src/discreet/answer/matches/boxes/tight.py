"""What a generalized table with the same groups would tell: which groups a condition covers wholly, partly, not at all.

Source: Koudas et al., "Aggregate query answering on anonymized tables", ICDE 2007, sections 3.2 and 5.1.
The rows of a group are known by their box only. If the condition holds at every point of the box, all
rows match; if at none, no row does; else any number of them, from none to all.

    extents    a row per group: of numbers, dates and times the smallest (`low`), the largest (`high`) and whether one
               is missing (`absent`)
    members_i  of any other column: the values that a group (its `label`) has, a row each
    given_i    boxes that are given in the place of those that the rows make: `low` and `high`, or a row for each value

Costs one pass over the groups, and once a pass over the quasi-identifiers.
Claim: theorem_2_bounds_of_the_release_lie_inside_those_of_the_generalized_table — whatever the boxes.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Any, ClassVar, SupportsIndex, TypeAlias

import pyarrow as pa
from sqlglot import exp

from discreet.answer.matches.boxes.conditions import parsed, part
from discreet.answer.matches.boxes.constants import text_value
from discreet.answer.matches.boxes.coverage import Measures
from discreet.answer.matches.boxes.ordered import Axis, spread
from discreet.answer.matches.matches import Guard
from discreet.answer.question.question import Question
from discreet.errors import QueryError
from discreet.values.columns import is_ordered
from discreet.words import nearest

# Of one column: from a value to another, a set of values (None in it for a missing one), or None for anything.
Extent: TypeAlias = tuple[Any, Any] | AbstractSet[Any] | None
Given: TypeAlias = Mapping[int, Mapping[str, Extent]]

NOBODY = -(2**62)  # no group has this number


@dataclass(frozen=True)
class TightBoxes:
    """A box per `group` over some columns: as tight as its rows allow, except where another is given.

    `given` are the groups that any box is given for; `extents`, by column and group, what is given, as texts.
    """

    measured: ClassVar[bool] = False  # such boxes tell no expected number of matching rows
    cut: ClassVar[str | None] = None
    group: str
    axes: tuple[Axis, ...]
    given: tuple[int, ...] = ()
    extents: tuple[tuple[tuple[int, tuple[str | None, ...] | None], ...], ...] = ()

    @property
    def key(self) -> Hashable:
        """What tells these boxes from others of the same release."""
        return "boxes", self.given, self.extents

    @classmethod
    def of(
        cls, names: tuple[str, ...], group: str, types: Mapping[str, pa.DataType], ends: Mapping[str, tuple[Any, Any]]
    ) -> TightBoxes:
        """The boxes over columns of these types; `ends` are the smallest and the largest value of ordered ones."""
        axes = (
            Axis(i, name, types[name], ordered=is_ordered(types[name]), ends=ends.get(name))
            for i, name in enumerate(names)
        )
        return cls(group, tuple(axes))

    def tables(self) -> dict[str, exp.Expr]:
        """The queries that make the tables from `qit`."""
        key = exp.column(self.group, table="qit", quoted=True)
        extents = exp.select(exp.alias_(key, "grp"), "COUNT(*) AS people").from_("qit").group_by(key.copy())
        made: dict[str, exp.Expr] = {}
        for axis in self.axes:
            column = exp.column(axis.name, table="qit", quoted=True)
            if axis.ordered:
                ends = {"low": "MIN(:c)", "high": "MAX(:c)", "absent": "COUNT(:c) < COUNT(*)"}
                extents = extents.select(
                    *(exp.alias_(part(text, c=column), f"{end}_{axis.number}") for end, text in ends.items())
                )
            else:
                members = exp.select(exp.alias_(key.copy(), "label"), exp.alias_(column, "value")).distinct()
                made[f"members_{axis.number}"] = members.from_("qit")
        return {"extents": extents, **made}

    def relations(self, condition: exp.Expr | None) -> dict[str, exp.Query]:
        """The last, `hits`, has per group how many rows match at least (`fewest`) and at most (`matched`)."""
        measures = Measures(self.axes)
        found = measures.covered(exp.true() if condition is None else condition)
        ends = {"fewest": found.every, "matched": found.some}
        columns = [exp.alias_(part("CASE WHEN :t THEN size ELSE 0 END", t=end), name) for name, end in ends.items()]
        hits = exp.select("signatures.grp", "signature AS population", "size", *columns)
        hits = hits.from_(exp.to_table("measured").as_("boxes")).join("signatures", on="boxes.grp = signatures.grp")
        return {**dict(self._boxes()), **measures.relations, "hits": hits}

    def guards(self, condition: exp.Expr | None) -> Iterator[Guard]:  # noqa: ARG002 - for any condition
        """What must hold before the question is answered: given boxes hold the rows of their groups."""
        if self.given:
            groups = exp.values([(group,) for group in self.given], alias="given", columns=["grp"])
            query = (
                exp.select("given.grp").from_(groups).join("extents", on="given.grp = extents.grp", join_type="left")
            )
            query = query.where("extents.grp IS NULL")
            yield _none(query, "there is no group {}", "groups are numbered as in the release")
        for axis, given in self._given():
            query = parsed((OUTSIDE_INTERVAL if axis.ordered else OUTSIDE_SET).format(i=axis.number))
            name = axis.name.replace("{", "{{").replace("}", "}}")
            message = f"the box of group {{}} does not hold its rows in `{name}`"
            yield _none(query.with_(f"given_{axis.number}", as_=given), message, "a box holds all rows of its group")

    def widened(self, given: Given) -> TightBoxes:
        """These boxes with the given ones in their place."""
        if not isinstance(given, Mapping) or not all(isinstance(box, Mapping) for box in given.values()):
            raise QueryError("boxes are given by group and column", hint="like {1: {'age': (31, 40)}}, or say True")
        names = [axis.name for axis in self.axes]
        for group, box in given.items():
            if not isinstance(group, SupportsIndex):
                raise QueryError("a group is a whole number", hint="take it from the files of the release")
            for name in box:
                if name not in names:
                    raise QueryError(f"there is no quasi-identifier `{name}`", hint=nearest(name, names))
        axes, extents = [], []
        for axis in self.axes:
            mine = {
                int(group): _values(axis, group, box[axis.name]) for group, box in given.items() if axis.name in box
            }
            ends = [*(axis.ends or ()), *(end for values in mine.values() for end in values or () if axis.ordered)]
            axes.append(replace(axis, ends=(min(ends), max(ends)) if ends else None))
            extents.append(
                tuple(
                    (group, None if values is None else tuple(None if each is None else str(each) for each in values))
                    for group, values in mine.items()
                )
            )
        return replace(self, axes=tuple(axes), given=tuple(map(int, given)), extents=tuple(extents))

    def _boxes(self) -> Iterator[tuple[str, exp.Query]]:
        """The relations `boxes` and `meanings_i`, with given boxes in the place of tight ones."""
        raw = exp.select("extents.grp", "people", "extents.grp AS box").from_("extents")
        given = {axis.number: relation for axis, relation in self._given()}
        for axis in self.axes:
            i = axis.number
            if i in given:
                yield f"given_{i}", given[i]
            if axis.ordered:
                ends = {"low": f"low_{i}", "high": f"high_{i}", "absent": f"absent_{i}"}
                if i in given:
                    raw = raw.join(f"given_{i}", on=f"given_{i}.grp = extents.grp", join_type="left")
                    ends = {end: text.format(i=i) for end, text in WIDE_INTERVAL.items()}
                raw = raw.select(*(f"{text} AS {end}_{i}" for end, text in ends.items()))
            else:
                raw = raw.select(f"extents.grp AS label_{i}")
                yield f"meanings_{i}", parsed((WIDE_SET if i in given else TIGHT_SET).format(i=i))
        yield "boxes", spread(self.axes, raw)

    def _given(self) -> Iterator[tuple[Axis, exp.Select]]:
        """Of each column, the given boxes as a relation; an interval without ends, or no values, for anything."""
        for axis, extents in zip(self.axes, self.extents, strict=False):
            rows: list[tuple[int, bool, tuple[str | None, ...]]] = []
            for group, texts in extents:
                if axis.ordered:
                    rows.append((group, True, texts or (None, None)))
                else:
                    rows += [(group, texts is not None, (text,)) for text in texts or (None,)]
            cells = (
                exp.Tuple(
                    expressions=[
                        *map(exp.convert, (group, listed)),
                        *(exp.cast(exp.convert(text), axis.sql_type) for text in texts),
                    ]
                )
                for group, listed, texts in rows
            )
            columns = ["grp", "listed", *(("low", "high") if axis.ordered else ("value",))]
            if extents:
                yield axis, exp.select("*").from_(exp.values(list(cells), alias="given", columns=columns))


def check_generalized(question: Question, *, by_value: bool) -> None:
    """Raise for a question that wants more of the quasi-identifiers than who matches, perhaps by value of a key."""
    if not by_value and any(key.side == "quasi" for key in question.keys):
        raise QueryError(
            "a generalized table cannot be grouped by a quasi-identifier", hint="ask with a condition for each value"
        )
    if any(aggregate.side == "quasi" and aggregate.argument is not None for aggregate in question.aggregates):
        raise QueryError(
            "a generalized table has no values of quasi-identifiers to aggregate",
            hint="ask for COUNT(*) or an aggregate of the sensitive column",
        )


def _values(axis: Axis, group: int, extent: Extent) -> tuple[Any, ...] | None:
    """The values of a given extent of a column, in the column's type."""
    interval = isinstance(extent, tuple) and len(extent) == 2 and None not in extent
    several = isinstance(extent, AbstractSet) and len(extent) > 0
    if extent is None:
        return None
    if not (interval if axis.ordered else several):
        wanted = "(from, to)" if axis.ordered else "a set of values"
        raise QueryError(f"group {group}: `{axis.name}` needs {wanted}", hint="or None, if it may hold anything")
    try:
        return tuple(None if each is None else text_value(str(each), axis.type) for each in extent)
    except (ValueError, pa.ArrowException):
        raise QueryError(
            f"the boxes cannot be used: a value cannot be converted to the type of `{axis.name}`",
            hint="give values of the column",
        ) from None


def _none(query: exp.Select, message: str, hint: str) -> Guard:
    """A guard that refuses the smallest group that a query finds."""
    return Guard(exp.select(f"COALESCE(MIN(grp), {NOBODY})").from_(query.subquery("found")), NOBODY, message, hint)


WIDE_INTERVAL = {
    "low": "CASE WHEN given_{i}.listed THEN given_{i}.low ELSE low_{i} END",
    "high": "CASE WHEN given_{i}.listed THEN given_{i}.high ELSE high_{i} END",
    "absent": "CASE WHEN given_{i}.listed AND given_{i}.low IS NULL THEN NULL ELSE absent_{i} END",
}
TIGHT_SET = "SELECT label, value FROM members_{i}"
WIDE_SET = """
    SELECT label, value FROM members_{i} WHERE NOT label IN (SELECT grp FROM given_{i})
    UNION ALL SELECT grp, value FROM given_{i} WHERE listed
"""
OUTSIDE_INTERVAL = """
    SELECT extents.grp FROM given_{i} JOIN extents ON given_{i}.grp = extents.grp WHERE low > low_{i} OR high < high_{i}
"""
OUTSIDE_SET = """
    SELECT label AS grp FROM members_{i}
    LEFT JOIN given_{i} ON grp = label AND given_{i}.value IS NOT DISTINCT FROM members_{i}.value
    WHERE label IN (SELECT grp FROM given_{i} WHERE listed) AND grp IS NULL
"""
