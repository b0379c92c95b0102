"""Law: answers from a generalized release equal what enumerating every table that it allows gives.

A row may lie at any point of its box, each as likely as any other, and hold any value of its group that no other row
holds. Boxes are read from the files of the release, points are enumerated here, and plain DuckDB says where a
condition holds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date, timedelta
from fractions import Fraction
from itertools import permutations, product
from math import prod, sqrt
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, note
from hypothesis import strategies as st
from sqlglot import exp, parse_one

import discreet
from discreet.answer.question.parse import read_question
from discreet.errors import QueryError
from discreet.release import Release
from laws.law import law
from laws.questions import KINDS, Case, Column, random_case, random_question
from laws.worlds import Measure, Question, _Cells, _expected

RANDOM = st.randoms(use_true_random=True)
LABEL = "assumes that all values of a label are equally likely"
COUNTABLE = ("integer", "date", "string", "boolean")
MOST_POINTS = 300_000
TINY = (
    *("age < {v}", "age = {v}", "age <> {v}", "age BETWEEN {v} AND {w}", "age IN ({v}, {w}, NULL)", "age IS NULL"),
    *(
        "NOT age > {v}",
        "age % 2 = 0",
        "age < {v} OR age > {w}",
        "sex = 'f'",
        "sex <> 'f'",
        "sex IS NULL",
        "sex LIKE '%m'",
    ),
    *("age > LENGTH(sex) + {v}", "COALESCE(age, {v}) = {v}", "TRUE", "day > DATE '2020-02-28'", "DAY(day) = {v}"),
)


@law(5)
@given(RANDOM)
def test_generalized_releases_equal_brute_force(rng: Random) -> None:
    """Every place of every row, times every assignment of the group's values to its rows."""
    sizes = [rng.choice([2, 2, 3]) for _ in range(rng.choice([1, 2, 2]))]
    rows = sum(sizes)
    table = pa.table(
        {
            "age": pa.array([rng.choice([1, 2, 3, 3, None]) for _ in range(rows)], pa.int64()),
            "sex": pa.array([rng.choice(["f", "m", "m", None]) for _ in range(rows)], pa.string()),
            "day": pa.array([date(2020, 2, 28) + timedelta(days=rng.choice([0, 0, 1])) for _ in range(rows)]),
            "pay": pa.array([rng.choice([-2, 0, 1, 5, None]) for _ in range(rows)], pa.int64()),
        }
    )
    case = _cased(table, np.repeat(np.arange(len(sizes)), sizes))
    note(str(case))
    with case.released() as release:
        boxes = boxes_of(release)
        for _ in range(3):
            where = _tiny(rng)
            held = rng.choice(["TRUE", "TRUE", "pay > 0", "pay IS NULL"])
            note(f"{where} / {held}")
            question = f"SELECT COUNT(*) AS n, SUM(pay) AS s FROM microdata WHERE ({where}) AND ({held})"
            answer = release.ask(question)
            [row], alike = answer.rows(), any(LABEL in each for each in answer.notes)
            counts, sums = zip(*(_enumerated(box, where, held) for box in boxes), strict=True)
            _check_total([row[f"n{end}"] for end in ("", "_stderr", "_low", "_high")], counts, alike=alike)
            if any(total.any() for total in counts) and row["s_low"] is not None:
                _check_total([row[f"s{end}"] for end in ("", "_stderr", "_low", "_high")], sums, alike=alike)


@law(6)
@given(RANDOM)
def test_shares_equal_counting_all_points(rng: Random) -> None:
    case = replace(random_case(rng, ("integer",)), publication="generalization")
    while any(column.kind not in COUNTABLE for column in case.quasi):
        case = replace(random_case(rng, ("integer",)), publication="generalization")
    note(str(case))
    with case.released() as release:
        boxes = boxes_of(release)
        for _ in range(6):
            where = random_question(rng, case.quasi, case.quasi[0]).where or "TRUE"
            note(where)
            shares = [share_of(box, where) for box in boxes]
            try:
                found = covered(release, where)
            except QueryError as error:
                if "does not tell" not in error.message or all(column.kind != "date" for column in case.quasi):
                    raise
                continue
            for share, (overlap, fewest, picks, size) in zip(shares, found, strict=True):
                if share is not None:
                    assert overlap == pytest.approx(float(share), abs=1e-12), where
                    assert fewest in ({size} if share == 1 else {0}), where
                    assert picks in ({size} if share > 0 else {0}), where


@law(5)
@given(RANDOM)
def test_bounds_and_plug_ins_equal_brute_force(rng: Random) -> None:
    """All aggregates: which rows of a group match is enumerated, each way as likely as the shares of the boxes say."""
    case = replace(random_case(rng, ("integer", "float", "decimal", "string", "date")), publication="generalization")
    note(str(case))
    with case.released() as release:
        for _ in range(4):
            question, where, held = boxed_question(rng, case)
            note(question.sql)
            try:
                answer = release.ask(question.sql)
            except QueryError as error:
                if "does not tell" not in error.message:
                    raise
                continue
            rows = [{**row, "alike": any(LABEL in each for each in answer.notes)} for row in answer.rows()]
            _check_masks(case, release, covered(release, where), question, held, rows)


def boxed_question(rng: Random, case: Case) -> tuple[Question, str, str]:
    """A question about sensitive values, and its conditions on all columns together and on these values alone."""
    question = random_question(rng, [case.sensitive], case.sensitive, keys=rng.random() < 0.3)
    quasi = random_question(rng, case.quasi, case.quasi[0]).where
    sensitive = question.where if rng.random() < 0.6 else None
    where = " AND ".join(f"({part})" for part in (quasi, sensitive) if part) or None
    return replace(question, where=where), where or "TRUE", sensitive or "TRUE"


def _tiny(rng: Random) -> str:
    where = rng.choice(TINY).format(v=rng.randint(0, 4), w=rng.randint(0, 4))
    for _ in range(rng.choice([0, 1, 1, 2, 3])):
        other = rng.choice(TINY).format(v=rng.randint(0, 4), w=rng.randint(0, 4))
        where = rng.choice(["({}) AND ({})", "({}) OR ({})", "NOT (({}) OR ({}))"]).format(where, other)
    return where


def _cased(table: pa.Table, groups: Sequence[int]) -> Case:
    *quasi, sensitive = (Column(name, "none", ()) for name in table.column_names)
    return Case(tuple(quasi), sensitive, table, tuple(map(int, groups)), "generalization")


class Box:
    """The points of a group's box in every column, and the values of its rows."""

    def __init__(self, columns: dict[str, pa.Array], held: pa.Array, sensitive: str) -> None:
        self.columns = columns
        self.held = held
        self.sensitive = sensitive


def boxes_of(release: Release) -> list[Box]:
    """What the files of a release say of its groups, in their order."""
    promise = release.promise
    rows = pq.read_table(release.file("generalized"))
    labels = pq.read_table(release.file("labels")).to_pylist() if (release.path / "labels.parquet").exists() else []
    found = []
    for group in sorted(set(rows[promise.group].to_pylist())):
        members = rows.filter(pa.compute.equal(rows[promise.group], group))
        columns = {}
        for side in promise.boxes:
            shown = members.select(list(side.columns)).slice(0, 1).to_pylist()[0]
            if side.label is not None:
                meant = [
                    row["value"] for row in labels if (row["column"], row["label"]) == (side.name, shown[side.label])
                ]
                kind = {"boolean": pa.bool_()}.get(side.type, pa.string())
                columns[side.name] = pa.array(meant if shown[side.label] is not None else [None], pa.string()).cast(
                    kind
                )
            else:
                kind = rows.schema.field(side.low).type
                points = _between(shown[side.low], shown[side.high])
                points += [None] if side.missing is not None and shown[side.missing] else []
                columns[side.name] = pa.array(points, kind)
        found.append(Box(columns, members[promise.sensitive].combine_chunks(), promise.sensitive))
    return found


def _between(low: Any, high: Any) -> list[Any]:
    if low is None:
        return []
    if isinstance(low, date):
        return [low + timedelta(days=day) for day in range((high - low).days + 1)]
    return list(range(low, high + 1))


def points_of(box: Box, where: str) -> np.ndarray | None:
    """Whether a condition holds at each point of a box in the columns that it names; None if there are too many."""
    names = {column.name for column in parse_one(f"SELECT {where}", dialect="duckdb").find_all(exp.Column)}
    used = {name: column for name, column in box.columns.items() if name in names}
    if prod(map(len, used.values())) > MOST_POINTS:
        return None
    with duckdb.connect(config={"threads": "1"}) as connection:
        tables = []
        for number, (name, column) in enumerate(used.items()):
            connection.register(f"t{number}", pa.table({name: column}))
            tables.append(f"t{number}")
        rows = connection.sql(f"SELECT ({where}) IS TRUE FROM {', '.join(tables) or '(SELECT 1)'}").fetchnumpy()
    return np.array(next(iter(rows.values())), bool)


def share_of(box: Box, where: str) -> Fraction | None:
    points = points_of(box, where)
    return None if points is None else Fraction(int(points.sum()), points.size)


def _enumerated(box: Box, where: str, held: str) -> tuple[np.ndarray, np.ndarray]:
    """COUNT and SUM of one group in all of its tables."""
    points = points_of(box, where)
    assert points is not None
    with duckdb.connect(config={"threads": "1"}) as connection:
        connection.register("held", pa.table({box.sensitive: box.held}))
        matching = [row[0] for row in connection.sql(f"SELECT ({held}) IS TRUE FROM held").fetchall()]
    pays = box.held.to_pylist()
    rows = len(pays)
    places = np.array(list(product(points, repeat=rows))) if points.size**rows <= 30_000 else None
    if places is None:  # as many points as show the same share
        share = Fraction(int(points.sum()), points.size)
        points = np.repeat([True, False], [share.numerator, share.denominator - share.numerator])
        places = np.array(list(product(points, repeat=rows)))
    orders = np.array(list(permutations(range(rows))))
    counted = np.array(matching)[orders]
    values = np.array([0 if pay is None else pay for pay in pays])[orders]
    hits = places[:, None, :] & counted[None, :, :]
    return hits.sum(axis=2).ravel(), (hits * values[None, :, :]).sum(axis=2).ravel()


def _check_total(got: list[Any], totals: Sequence[np.ndarray], *, alike: bool) -> None:
    """Groups are independent: means, variances and extremes add up. Where labels are cut, there is no stderr."""
    mean, variance = sum(total.mean() for total in totals), sum(total.var() for total in totals)
    low, high = sum(total.min() for total in totals), sum(total.max() for total in totals)
    assert (got[1] is None) == alike
    assert [got[0], got[1] or 0, *got[2:]] == pytest.approx([mean, 0 if alike else sqrt(variance), low, high], abs=1e-9)


def covered(release: Release, where: str) -> list[tuple[float, int, int, int]]:
    """Per group, in their order, its overlap, the fewest and the most rows that match, and all."""
    condition = read_question(f"SELECT COUNT(*) FROM microdata WHERE {where}", release.promise).where["quasi"]
    query = exp.select("overlap", "fewest", "matched", "size").from_("hits").order_by("grp")
    boxes = release.session.matches().boxes
    for guard in boxes.guards(condition):
        if release.session.run(guard.query).column(0)[0].as_py() > guard.most:
            raise QueryError(guard.message)
    for name, relation in boxes.relations(condition).items():
        query = query.with_(name, as_=relation)
    return [tuple(row.values()) for row in release.session.run(query).to_pylist()]


def _check_masks(
    case: Case,
    release: Release,
    cover: list[tuple[float, int, int, int]],
    question: Question,
    sensitive: str,
    rows: list[dict[str, Any]],
) -> None:
    people = [value for box in boxes_of_values(release) for value in box]
    if len(people) > 9:
        return
    ways = [_ways(*each) for each in cover]
    worlds = [(np.concatenate([mask for mask, _ in world]), prod(w for _, w in world)) for world in product(*ways)]
    hits, weights = np.array([mask for mask, _ in worlds]), np.array([weight for _, weight in worlds])
    texts = [*question.keys, *(measure.argument or "NULL" for measure in question.measures)]
    column = pa.array(people, KINDS[case.sensitive.kind].type)
    with duckdb.connect(config={"threads": "1"}) as connection:
        connection.register("people", pa.table({case.sensitive.name: column, "place": range(len(people))}))
        found = connection.sql(
            f"SELECT ({sensitive}) IS TRUE{''.join(f', ({text})' for text in texts)} FROM people ORDER BY place"
        ).fetchall()
    matching, *columns = zip(*found, strict=True)
    hits &= np.array(matching)
    cells = [_cells(column, hits.shape) for column in columns]
    keys, arguments = cells[: len(question.keys)], cells[len(question.keys) :]
    expected = {}
    for codes in product(*(range(len(key.values)) for key in keys)):
        here = np.logical_and.reduce([hits, *(key.codes == code for key, code in zip(keys, codes, strict=True))])
        if here.any() or not keys:
            expected[tuple(key.values[code] for key, code in zip(keys, codes, strict=True))] = here
    width = len(question.keys)
    assert {tuple(row.values())[:width] for row in rows} == set(expected)
    for row in rows:
        here = expected[tuple(row.values())[:width]]
        for number, (measure, argument) in enumerate(zip(question.measures, arguments, strict=True)):
            got = [row[f"m{number}{end}"] for end in ("", "_stderr", "_low", "_high")]
            _check_measure(measure, argument, here, weights, got, alike=row["alike"])


def _check_measure(
    measure: Measure, argument: _Cells, here: np.ndarray, weights: np.ndarray, got: list[Any], *, alike: bool
) -> None:
    estimate, stderr, low, high = got
    wanted = _expected(measure, argument, here)
    assert _near(low, wanted.low, wanted.rounding), (measure, got, wanted)
    assert _near(high, wanted.high, wanted.rounding), (measure, got, wanted)
    if wanted.low is None:
        assert estimate is None
        return
    present = here if measure.argument is None else here & (argument.codes < len(argument.values) - 1)
    numbers = present.sum(axis=1)
    expected_rows = float(weights @ numbers)
    if measure.function in {"count", "sum", "avg"}:
        values = np.ones(1) if measure.function == "count" else np.array([*map(float, argument.values[:-1]), 0.0])
        cells = present * (1.0 if measure.function == "count" else values[argument.codes])
        totals = cells.sum(axis=1)
        if measure.function == "avg":
            if expected_rows < 1e-12:
                assert (estimate, stderr) == (None, None)
                return
            mean = weights @ totals / expected_rows
            deviation = sqrt(max(weights @ (totals - mean * numbers) ** 2, 0)) / expected_rows
        else:
            mean = weights @ totals
            deviation = sqrt(max(weights @ (totals - mean) ** 2, 0))
        scale = max(1.0, np.abs(cells).sum(axis=1).max())
        if alike:
            assert stderr is None
            stderr = deviation
        assert [estimate, stderr] == pytest.approx([mean, deviation], rel=1e-9, abs=1e-7 * scale), (measure, got)
        return
    assert stderr is None
    if expected_rows < 1e-12:
        assert estimate is None or low <= estimate <= high
    else:
        assert low <= estimate <= high or _near(estimate, low, 1e-9) or _near(estimate, high, 1e-9)


def boxes_of_values(release: Release) -> Iterator[list[Any]]:
    """The sensitive values of every group."""
    table = pq.read_table(release.file("generalized"))
    groups = table[release.promise.group].to_pylist()
    values = table[release.promise.sensitive].to_pylist()
    for group in sorted(set(groups)):
        yield [value for value, of in zip(values, groups, strict=True) if of == group]


def _ways(overlap: float, fewest: int, picks: int, size: int) -> list[tuple[np.ndarray, float]]:
    """Which rows of a group match, and how likely that is."""
    masks = [np.array(mask) for mask in product((False, True), repeat=size) if fewest <= sum(mask) <= picks]
    return [(mask, overlap ** mask.sum() * (1 - overlap) ** (size - mask.sum())) for mask in masks]


def _cells(column: Sequence[Any], shape: tuple[int, ...]) -> _Cells:
    values = sorted({value for value in column if value is not None})
    codes = [len(values) if value is None else values.index(value) for value in column]
    return _Cells(np.broadcast_to(np.array(codes), shape), [*values, None])


def _near(got: Any, wanted: Any, rounding: float | None) -> bool:
    if got is None or wanted is None or rounding is None:
        return got == wanted
    return abs(float(got) - float(wanted)) <= rounding + 1e-9 * abs(float(wanted))


@law(6)
@given(RANDOM)
def test_joined_releases_equal_brute_force(rng: Random) -> None:
    """Every choice of the people that the values of a sensitive group belong to, and every place of them in their boxes."""
    private = [(f"a{i}", rng.randint(1, 4), rng.randint(1, 4)) for i in range(rng.choice([4, 5, 6]))]
    others = [(f"b{i}", rng.randint(1, 4), rng.randint(1, 4)) for i in range(rng.randint(2, 6))]
    pays = [rng.choice([-2, 0, 1, 5]) for _ in private]
    names, x, y = zip(*private, strict=True)
    table = pa.table({"id": names, "x": x, "y": y, "pay": pays})
    public = pa.table(dict(zip(("id", "x", "y"), zip(*private, *others, strict=True), strict=True)))
    policy = discreet.Policy(
        identifiers=["id"], quasi=["x", "y"], sensitive="pay", guarantee={"k": 2}, publication="join", join="id"
    )
    note(f"{table.to_pydict()} {public.to_pydict()}")
    with TemporaryDirectory() as folder:
        release = discreet.publish(table, policy, to=Path(folder) / "r", public=public, seed=rng.randint(0, 99))
        groups = list(_joined_groups(release))
        for _ in range(4):
            where = rng.choice(["x < {}", "x = {} OR y > {}", "x + y > {}", "x IN ({}, {}) AND y <= {}", "TRUE"])
            where = where.format(*(rng.randint(1, 5) for _ in range(3)))
            note(where)
            [row] = release.ask(f"SELECT COUNT(*) AS n, SUM(pay) AS s FROM microdata WHERE {where}").rows()
            worlds = [_chosen(shares, values) for shares, values in _shares(groups, where)]
            for name, which in (("n", 0), ("s", 1)):
                if row[f"{name}_low"] is None:
                    continue
                got = [row[f"{name}{end}"] for end in ("", "_stderr", "_low", "_high")]
                mean = sum(world[which] @ world[2] for world in worlds)
                variance = sum((world[which] - world[which] @ world[2]) ** 2 @ world[2] for world in worlds)
                low, high = (sum(end(world[which]) for world in worlds) for end in (min, max))
                assert got == pytest.approx([mean, sqrt(variance), low, high], abs=1e-7)
        release.close()


def _joined_groups(release: Release) -> Iterator[tuple[list[Box], list[int]]]:
    """Per sensitive group the box of every row that is shown, and the values."""
    own = release.promise.join.group
    rows, held = (pq.read_table(release.file(name)).to_pylist() for name in ("joined", "si"))
    for group in sorted({row[own] for row in held}):
        values = [row["pay"] for row in held if row[own] == group for _ in range(row["count"])]
        ends = [[(row[f"{c}_low"], row[f"{c}_high"]) for c in "xy"] for row in rows if row[own] == group]
        columns = [{c: pa.array(_between(*end)) for c, end in zip("xy", box, strict=True)} for box in ends]
        yield [Box(each, pa.array(values), "pay") for each in columns], values


def _shares(groups: list[tuple[list[Box], list[int]]], where: str) -> Iterator[tuple[list[float], list[int]]]:
    for boxes, values in groups:
        yield [float(share_of(box, where)) for box in boxes], values


def _chosen(shares: list[float], values: list[int]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """COUNT, SUM and probability of every world: who the people are, in the order of the values, and who of them matches."""
    counts, sums, weights = [], [], []
    everyone = list(permutations(shares, len(values)))
    for people in everyone:
        for hits in product((False, True), repeat=len(values)):
            weight = prod(share if hit else 1 - share for share, hit in zip(people, hits, strict=True))
            if weight > 0:
                counts.append(sum(hits))
                sums.append(sum(value for value, hit in zip(values, hits, strict=True) if hit))
                weights.append(weight / len(everyone))
    return np.array(counts), np.array(sums), np.array(weights)
