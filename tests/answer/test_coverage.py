"""Taking a condition apart, and measuring boxes by relations that any engine can compute."""

from __future__ import annotations

from datetime import date
from random import Random

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st
from sqlglot import exp, parse_one

from discreet.answer.matches.boxes import PublishedBoxes, TightBoxes
from discreet.answer.matches.boxes.conditions import Join, as_leaf, cases, independent, tree
from discreet.release.manifest import BoxColumn

ATOMS = ("a > 0", "a = 1", "b < 1", "b <> 0", "c = 1", "a < b", "b = c", "a IS NULL", "c > NULL", "TRUE")


def random_condition(rng: Random, depth: int = 3) -> str:
    if depth == 0 or rng.random() < 0.2:
        return rng.choice(ATOMS)
    one, other = (random_condition(rng, depth - 1) for _ in range(2))
    return rng.choice([f"({one}) AND ({other})", f"({one}) OR ({other})", f"NOT ({one})"])


def parsed(condition: str) -> exp.Expr:
    return parse_one(f"SELECT {condition}", dialect="duckdb").expressions[0]


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.randoms(use_true_random=True))
def test_a_condition_taken_apart_is_the_same_condition(rng: Random) -> None:
    """At all points: the tree holds where the condition does; of the cases exactly one, and what remains decides."""
    condition = random_condition(rng)
    note(condition)
    found = tree(parsed(condition))
    columns = {"whole": parsed(condition), "tree": as_leaf(found).condition}
    parted: list[tuple[str, str]] = []
    if isinstance(found, Join):
        parts = independent(found)
        names = [set(each.names) for each in parts]
        assert all(not one & other for i, one in enumerate(names) for other in names[:i])
        for i, (case, rest) in enumerate(cases(found) or ()):
            columns |= {
                f"case{i}": case.condition,
                f"rest{i}": exp.convert(rest) if isinstance(rest, bool) else as_leaf(rest).condition,
            }
            parted.append((f"case{i}", f"rest{i}"))
    values = "(VALUES (0), (1), (2), (NULL))"
    asked = ", ".join(f"({each.sql(dialect='duckdb')}) IS TRUE AS {name}" for name, each in columns.items())
    rows = (
        duckdb.sql(f"SELECT {asked} FROM {values} AS x(a), {values} AS y(b), {values} AS z(c)")
        .to_arrow_table()
        .to_pylist()
    )
    for row in rows:
        assert row["whole"] == row["tree"]
        if parted:
            [(case, rest)] = [(case, rest) for case, rest in parted if row[case]]
            assert row[rest] == row["whole"]


TYPES = {
    "low": pa.int64(),
    "high": pa.int64(),
    "x": pa.float64(),
    "y": pa.float64(),
    "age": pa.int64(),
    "sex": pa.string(),
}
ENDS = {"low": (10, 80), "high": (19, 90), "x": (1.5, 2.0), "y": (1.5, 2.5), "age": (10, 90)}
CONDITIONS = (
    *("age < 30 AND sex = 'f'", "age % 2 = 0", "age IN (1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21)", "sex LIKE 'f%'"),
    *(
        "age > LENGTH(sex) + 3",
        "(age > 3 AND sex = 'f') OR (age < 3 AND sex = 'm')",
        "NOT (age IS NULL OR sex IS NULL)",
    ),
)


def published() -> PublishedBoxes:
    sides = (
        BoxColumn(name="age", type="integer", low="low", high="high"),
        BoxColumn(name="height", type="number", low="x", high="y"),
        BoxColumn(name="sex", type="string", label="sex"),
    )
    return PublishedBoxes.of(sides, "group", TYPES, ENDS)


def tight() -> TightBoxes:
    boxes = TightBoxes.of(("age", "sex"), "group", TYPES, ENDS)
    return boxes.widened({1: {"age": (0, 99), "sex": {"f", None}}, 2: {"age": None, "sex": None}})


@pytest.mark.parametrize("condition", CONDITIONS)
@pytest.mark.parametrize("boxes", [published(), tight()], ids=["published", "tight"])
def test_relations_are_written_without_an_engine_and_for_any(
    boxes: PublishedBoxes | TightBoxes, condition: str
) -> None:
    """No lists, no lambdas, no joins that only one engine has, no constants to group by; the same every time."""
    relations = [*boxes.tables().values(), *boxes.relations(parsed(condition)).values()]
    relations += [guard.query for guard in boxes.guards(parsed(condition))]
    again = [*boxes.tables().values(), *boxes.relations(parsed(condition)).values()]
    assert [each.sql() for each in again] == [each.sql() for each in relations[: len(again)]]
    for relation in relations:
        assert not list(relation.find_all(exp.Lambda, exp.Array, exp.List, exp.Unnest, exp.ArrayAgg))
        assert all(not join.args.get("method") for join in relation.find_all(exp.Join))
        for group in relation.find_all(exp.Group):
            assert all(each.find(exp.Column) for each in group.expressions)
        assert relation.sql(dialect="postgres")


def test_a_guard_only_where_a_share_may_be_unknown() -> None:
    assert list(published().guards(parsed("age < 30 AND sex = 'f' AND age % 2 = 0 AND height > 1.7"))) == []
    assert len(list(published().guards(parsed("height * 2 > 3")))) == 1
    assert len(list(published().guards(parsed("age > LENGTH(sex)")))) == 1
    assert list(TightBoxes.of(("age",), "group", TYPES, ENDS).guards(parsed("age > 3"))) == []
    assert len(list(tight().guards(None))) == 3


def test_given_boxes_reach_as_far_as_they_say() -> None:
    [age, sex] = tight().axes
    assert (age.ends, age.span, sex.span) == ((0, 99), 99, None)
    born = TightBoxes.of(("born",), "group", {"born": pa.date32()}, {"born": (date(2020, 1, 1), date(2020, 1, 31))})
    assert born.axes[0].span == 30
    assert born.widened({1: {"born": (date(2019, 12, 31), date(2020, 2, 1))}}).axes[0].span == 32
