"""Law: what a generalized table with the same groups tells is true, as tight as it can be, and never more than the release."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import date, datetime, timedelta
from itertools import product
from random import Random
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
from hypothesis import given, note
from hypothesis import strategies as st
from sqlglot import exp, parse_one

from discreet.answer.matches.boxed import Boxed
from discreet.answer.question.parse import read_question
from discreet.release import Release
from laws.law import law
from laws.questions import KINDS, Case, Column, random_case, random_question
from laws.worlds import Measure, Question, _Cells, _expected

EVERY = ("integer", "float", "decimal", "large", "string", "date", "boolean", "timestamp")
WORLDS = 4_000
RANDOM = st.randoms(use_true_random=True)


@law(4)
@given(RANDOM)
def test_theorem_2_bounds_of_the_release_lie_inside_those_of_the_generalized_table(rng: Random) -> None:
    case = random_case(rng, EVERY, alike=rng.random() < 0.3)
    note(str(case))
    with case.released() as release, plain(case) as truth:
        wide = random_boxes(rng, case, release)
        for _ in range(4):
            question = random_asked(rng, case, keys=rng.random() < 0.3)
            note(f"{question.sql} over {wide}")
            answers = [release.ask(question.sql, generalized=boxes).rows() for boxes in (False, True, wide)]
            width = len(question.keys)
            exact, tight, wider = ({tuple(row.values())[:width]: row for row in rows} for rows in answers)
            for inner, outer in ((exact, tight), (tight, wider)):
                assert set(inner) <= set(outer)
                for keys, row in inner.items():
                    for number in range(len(question.measures)):
                        assert_inside(row, outer[keys], f"m{number}")
            for keys, row in truth_of(truth, question).items():
                for name, value in row.items():
                    assert_inside({f"{name}_low": value, f"{name}_high": value}, tight[keys], name)


@law(5)
@given(RANDOM)
def test_coverage_holds_at_every_point(rng: Random) -> None:
    case = random_case(rng, ("integer",))
    note(str(case))
    with case.released() as release:
        wide, rows = random_boxes(rng, case, release), rows_of(case, release)
        for _ in range(4):
            where = random_question(rng, case.quasi, case.quasi[0]).where or "TRUE"
            for given_boxes in ({}, wide):
                note(f"{where} over {given_boxes}")
                boxes = release.session.matches(generalized=given_boxes)
                used = [column for column in case.quasi if column.quoted in where] or case.quasi[:1]
                for group, (fewest, picks, size) in covered(
                    release, boxes, f"SELECT COUNT(*) FROM microdata WHERE {where}"
                ).items():
                    at_points = outcomes(used, points_of(used, rows[group], given_boxes.get(group, {})), where)
                    assert at_points == {True} or fewest == 0, (where, group)
                    assert True not in at_points or picks == size, (where, group)


@law(7)
@given(RANDOM)
def test_nothing_is_doubtful_that_the_points_of_one_column_decide(rng: Random) -> None:
    """Of a column with few values, whatever is asked; a range that holds nothing (BETWEEN 3 AND 1) is not looked for."""
    case = random_case(rng, ("integer",))
    note(str(case))
    with case.released() as release:
        boxes, rows = release.session.matches(generalized=True), rows_of(case, release)
        for column in case.quasi:
            texts = [text for text in KINDS[column.kind].conditions if "BETWEEN" not in text]
            where = " OR ".join(f"({column.fill(rng, rng.choice(texts))})" for _ in range(rng.choice([1, 1, 2, 3])))
            where = rng.choice([where, f"NOT ({where})"])
            note(where)
            for group, (fewest, picks, size) in covered(
                release, boxes, f"SELECT COUNT(*) FROM microdata WHERE {where}"
            ).items():
                points = points_of([column], rows[group], {})
                if few(column, [point for (point,) in points]):
                    assert {fewest == size, picks > 0} == outcomes([column], points, where), (where, group)


@law(5)
@given(RANDOM)
def test_generalized_answers_equal_brute_force(rng: Random) -> None:
    """Low and high are the extremes over all hit counts that a box allows, and all values that so many rows may hold."""
    case = random_case(rng, EVERY)
    note(str(case))
    with case.released() as release:
        boxes = random_boxes(rng, case, release) if rng.random() < 0.5 else {}
        for _ in range(4):
            question, sensitive = random_parts(rng, case, keys=rng.random() < 0.3)
            note(f"{question.sql} over {boxes}")
            cover = covered(release, release.session.matches(generalized=boxes), question.sql)
            answer = release.ask(question.sql, generalized=boxes)
            check_by_brute_force(case, release, cover, question, sensitive or "TRUE", answer.rows())


def random_parts(rng: Random, case: Case, *, keys: bool) -> tuple[Question, str | None]:
    """A question about the sensitive column, conditions on either side included, and its condition on that column."""
    question = random_question(rng, [case.sensitive], case.sensitive, keys=keys)
    if rng.random() < 0.3:
        question = replace(question, measures=(*question.measures, Measure("COUNT(*)", "count")))
    quasi = random_question(rng, case.quasi, case.quasi[0]).where
    sensitive = question.where if rng.random() < 0.6 else None
    where = " AND ".join(f"({part})" for part in (quasi, sensitive) if part) or None
    return replace(question, where=where), sensitive


def random_asked(rng: Random, case: Case, *, keys: bool) -> Question:
    return random_parts(rng, case, keys=keys)[0]


def rows_of(case: Case, release: Release) -> dict[int, dict[str, list[Any]]]:
    """Per group, what its rows hold in every quasi-identifier."""
    table = release.session.run(exp.select("*").from_("qit"))
    groups = table[release.promise.group].to_pylist()
    columns = {column.name: table[column.name].to_pylist() for column in case.quasi}
    return {
        group: {
            name: [v for v, g in zip(values, groups, strict=True) if g == group] for name, values in columns.items()
        }
        for group in set(groups)
    }


def random_boxes(rng: Random, case: Case, release: Release) -> dict[int, dict[str, Any]]:
    """Boxes that hold the rows, for some groups and columns."""
    kinds = {column.name: column.kind for column in case.quasi}
    return {
        group: {name: wider(rng, kinds[name], values) for name, values in box.items() if rng.random() < 0.6}
        for group, box in rows_of(case, release).items()
        if rng.random() < 0.8
    }


def wider(rng: Random, kind: str, values: Sequence[Any]) -> Any:
    if rng.random() < 0.2:
        return None
    present = [value for value in values if value is not None] or [KINDS[kind].values[0]]
    if kind in {"string", "boolean"}:
        return {*values, *rng.sample(KINDS[kind].values, 1), *rng.choices([None, present[0]])}
    below, above = (rng.choice([0, 1, 3, 1000]) for _ in range(2))
    step = timedelta(days=1) if isinstance(present[0], date | datetime) else 1
    return min(present) - below * step, max(present) + above * step


def points_of(columns: Sequence[Column], rows: dict[str, list[Any]], box: dict[str, Any]) -> list[tuple[Any, ...]]:
    """Points of a box: all of them, or of a long interval its ends and what questions compare with."""
    lists = []
    for column in columns:
        values = rows[column.name]
        present = [value for value in values if value is not None]
        if column.kind in {"string", "boolean"}:
            extent = box.get(column.name, set(values))
        else:
            extent = box.get(column.name, (min(present), max(present)) if present else {None})
        if extent is None:
            lists.append([*KINDS[column.kind].values, None])
        elif isinstance(extent, set):
            lists.append(list(extent))
        else:
            inside = [v for v in (*column.constants, *KINDS[column.kind].values) if extent[0] <= v <= extent[1]]
            missing = [None] if None in values else []
            lists.append([*dict.fromkeys([*extent, *between(column, *extent), *inside]), *missing])
    return list(product(*lists))


def few(column: Column, points: Sequence[Any]) -> bool:
    """Whether these are all points of a box in this column."""
    present = [point for point in points if point is not None]
    if column.kind in {"string", "boolean"} or len(set(present)) < 2:
        return True
    return column.kind in {"integer", "date"} and len(between(column, min(present), max(present))) > 0


def between(column: Column, low: Any, high: Any) -> list[Any]:
    """All whole numbers or days of an interval, unless there are too many to look at with those of other columns."""
    if column.kind == "integer" and high - low < 25:
        return list(range(low, high + 1))
    if column.kind == "date" and (high - low).days < 25:
        return [low + timedelta(days=day) for day in range((high - low).days + 1)]
    return []


def outcomes(columns: Sequence[Column], points: list[tuple[Any, ...]], where: str) -> set[bool]:
    """Whether a condition is true at points: at some, or not."""
    cells = zip(*points, strict=True)
    table = {c.name: pa.array(values, KINDS[c.kind].type) for c, values in zip(columns, cells, strict=True)}
    with duckdb.connect(config={"threads": "1"}) as connection:
        connection.register("points", pa.table(table))
        found = connection.sql(f"SELECT DISTINCT ({where}) IS TRUE FROM points").fetchall()
    return {row[0] for row in found}


def covered(release: Release, matches: Boxed, question: str) -> dict[int, tuple[int, int, int]]:
    """Per group the fewest and the most rows that match by its box, and all."""
    condition = read_question(question, release.promise).where["quasi"]
    query = exp.select("grp", "fewest", "matched", "size").from_("hits")
    for name, relation in matches.boxes.relations(condition).items():
        query = query.with_(name, as_=relation)
    return {row["grp"]: tuple(list(row.values())[1:]) for row in release.session.run(query, matches).to_pylist()}


@contextmanager
def plain(case: Case) -> Iterator[duckdb.DuckDBPyConnection]:
    """The private table itself."""
    with duckdb.connect(config={"threads": "1"}) as connection:
        connection.register("microdata", case.table)
        yield connection


def truth_of(connection: duckdb.DuckDBPyConnection, question: Question) -> dict[tuple[Any, ...], dict[str, Any]]:
    found = connection.sql(question.sql).to_arrow_table().to_pylist()
    width = len(question.keys)
    return {tuple(row.values())[:width]: dict(list(row.items())[width:]) for row in found}


def assert_inside(inner: dict[str, Any], outer: dict[str, Any], name: str) -> None:
    (low, high), (least, most) = ((row[f"{name}_low"], row[f"{name}_high"]) for row in (inner, outer))
    if low is None:
        return
    if any(isinstance(end, float) for end in (low, least)):
        slack = 1e-9 * max(1.0, *(abs(float(end)) for end in (low, high, least, most)))
        low, high, least, most = float(low) + slack, float(high) - slack, float(least), float(most)
    assert least <= low, (name, inner, outer)
    assert high <= most, (name, inner, outer)


def check_by_brute_force(
    case: Case,
    release: Release,
    cover: dict[int, tuple[int, int, int]],
    question: Question,
    sensitive: str,
    rows: list[dict[str, Any]],
) -> None:
    held = release.session.run(parse_one("SELECT grp, value, n FROM st ORDER BY grp")).to_pylist()
    people = [(row["grp"], row["value"]) for row in held for _ in range(row["n"])]
    masks = [choices(size, *cover[group][:2]) for group, size in sizes(people)]
    if np.prod([float(len(mask)) for mask in masks]) > WORLDS:
        return
    hits = np.array([np.concatenate(choice) for choice in product(*masks)])
    column = pa.array([value for _, value in people], KINDS[case.sensitive.kind].type)
    texts = [*question.keys, *(measure.argument or "NULL" for measure in question.measures)]
    with duckdb.connect(config={"threads": "1"}) as connection:
        connection.register("people", pa.table({case.sensitive.name: column, "place": range(len(people))}))
        found = connection.sql(
            f"SELECT ({sensitive}) IS TRUE{''.join(f', ({text})' for text in texts)} FROM people ORDER BY place"
        ).fetchall()
    matching, *columns = zip(*found, strict=True)
    hits &= np.array(matching)
    cells = [cells_of(column, hits.shape) for column in columns]
    keys, arguments = cells[: len(question.keys)], cells[len(question.keys) :]
    expected = {}
    for codes in product(*(range(len(key.values)) for key in keys)):
        here = np.logical_and.reduce([hits, *(key.codes == code for key, code in zip(keys, codes, strict=True))])
        if here.any() or not keys:
            combination = tuple(key.values[code] for key, code in zip(keys, codes, strict=True))
            pairs = zip(question.measures, arguments, strict=True)
            expected[combination] = [_expected(measure, argument, here) for measure, argument in pairs]
    width = len(question.keys)
    assert {tuple(row.values())[:width] for row in rows} == set(expected)
    for row in rows:
        for number, wanted in enumerate(expected[tuple(row.values())[:width]]):
            got = row[f"m{number}_low"], row[f"m{number}_high"]
            assert (row[f"m{number}"], row[f"m{number}_stderr"]) == (None, None)
            assert all(map(same, got, (wanted.low, wanted.high), [wanted.rounding] * 2)), (got, wanted)


def sizes(people: list[tuple[int, Any]]) -> list[tuple[int, int]]:
    """The groups in the order in which their people stand."""
    groups = [group for group, _ in people]
    return [(group, groups.count(group)) for group in dict.fromkeys(groups)]


def choices(size: int, fewest: int, most: int) -> list[tuple[bool, ...]]:
    """Every way in which so many of the people of a group may match."""
    return [chosen for chosen in product((False, True), repeat=size) if fewest <= sum(chosen) <= most]


def cells_of(column: Sequence[Any], shape: tuple[int, ...]) -> _Cells:
    values = sorted({value for value in column if value is not None})
    codes = [len(values) if value is None else values.index(value) for value in column]
    return _Cells(np.broadcast_to(np.array(codes), shape), [*values, None])


def same(got: Any, wanted: Any, rounding: float | None) -> bool:
    if got is None or wanted is None or rounding is None:
        return got == wanted
    return abs(float(got) - float(wanted)) <= rounding + 1e-9 * abs(float(wanted))
