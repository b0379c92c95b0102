"""Laws: the truth lies within the bounds, and smaller groups never widen them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from itertools import chain, combinations
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from discreet import Policy, publish
from discreet.partition import PARTITIONS
from discreet.release import Release
from laws.law import law
from laws.questions import MEASURABLE, Case, random_crowd, random_lookup, random_question
from laws.worlds import Measure, Question

RANDOM = st.randoms(use_true_random=True)
THRESHOLDS = {"k": 5, "l": 3, "distinct_l": 4}
FREE = {name: way for name, way in PARTITIONS.items() if way.sees != "hierarchies"}  # those that need no hierarchies
RANGES = [name for name, way in FREE.items() if not way.keeps or "e" in way.keeps]
SUBSETS = list(chain.from_iterable(combinations(THRESHOLDS, size) for size in (1, 2, 3)))

Rows = dict[tuple[Any, ...], list[tuple[Any, Any]]]


def _ways() -> Iterator[Any]:
    """Every partition under every set of promises that it can keep."""
    for name, partition in FREE.items():
        for promises in SUBSETS:
            if partition.needs is None or partition.needs in promises:
                most = THRESHOLDS["l"] if partition.keeps else max(THRESHOLDS.values())
                guarantee = {promise: min(THRESHOLDS[promise], most) for promise in promises}
                yield pytest.param(name, guarantee, id="-".join([name, *promises]))


@pytest.mark.parametrize(("partition", "guarantee"), list(_ways()))
@law(1)
@given(RANDOM)
def test_bounds_contain_the_truth(partition: str, guarantee: Mapping[str, int], rng: Random) -> None:
    rng.seed(f"{partition} {guarantee} {rng.random()}")
    missing = rng.choice(["error", "value", "withhold"])
    case = random_crowd(rng, rng.randint(100, 500), missing=missing != "error")
    policy = Policy(
        quasi=tuple(column.name for column in case.quasi),
        sensitive=case.sensitive.name,
        guarantee=guarantee,
        partition=partition,
        missing_sensitive=missing,
    )
    rows = case.table.filter(pc.is_valid(case.table[policy.sensitive])) if missing == "withhold" else case.table
    note(f"{rows.schema}\n{missing}")
    with TemporaryDirectory() as folder:
        release = publish(case.table, policy, to=Path(folder) / "release", seed=rng.getrandbits(32))
        with closing(release.session):
            for keys in (False, True, False, True):
                question = random_question(rng, case.quasi, case.sensitive, keys=keys)
                _check_truth(question, _bounds(release, question), _truth(rows, question))


@pytest.mark.parametrize("partition", RANGES)
@law(1)
@given(RANDOM)
def test_bounds_from_permutations_contain_the_truth(partition: str, rng: Random) -> None:
    rng.seed(f"{partition} {rng.random()}")
    missing = rng.choice(["error", "withhold"])
    size = rng.randint(100, 500)
    case = _measurable(rng, size, missing=missing == "withhold")
    rows = case.table.filter(pc.is_valid(case.table[case.sensitive.name]))
    policy = Policy(
        quasi=tuple(column.name for column in case.quasi),
        sensitive=case.sensitive.name,
        guarantee={"k": rng.randint(2, 4), "e": _part_of_range(rng, rows[case.sensitive.name])},
        partition=partition,
        publication=rng.choice(["permutation", "permutation", "anatomy"]),
        missing_sensitive=missing,
    )
    note(f"{rows.schema}\n{policy}")
    with TemporaryDirectory() as folder:
        release = publish(case.table, policy, to=Path(folder) / "release", seed=rng.getrandbits(32))
        with closing(release.session):
            for way in (random_lookup, random_question, random_lookup):
                question = way(rng, case.quasi, case.sensitive)
                _check_truth(question, _bounds(release, question), _truth(rows, question))


@law(8)
@given(RANDOM)
def test_smaller_groups_never_widen_bounds(rng: Random) -> None:
    whole = random_crowd(rng, rng.randint(20, 120), missing=rng.random() < 0.3)
    rows = list(range(len(whole.groups)))
    rng.shuffle(rows)
    coarse = _split(rng, [rows], rng.randint(4, 30))
    fine = _split(rng, coarse, rng.randint(2, 5))
    questions = [random_question(rng, whole.quasi, whole.sensitive, keys=keys) for keys in (False, True, False, True)]
    note(f"{whole}\ncoarse: {coarse}\nfine: {fine}")
    answers = []
    for parts in (coarse, fine):
        group = {row: number for number, part in enumerate(parts) for row in part}
        with replace(whole, groups=tuple(group[row] for row in range(len(rows)))).released() as release:
            answers.append([_bounds(release, question) for question in questions])
    for question, wide, narrow in zip(questions, *answers, strict=True):
        assert set(narrow) <= set(wide), question.sql
        for keys, bounds in narrow.items():
            for measure, inner, outer in zip(question.measures, bounds, wide[keys], strict=True):
                if inner != (None, None):
                    shown = f"{question.sql}: at {keys}, {measure.text} in {inner}, before in {outer}"
                    assert all(_within(measure, end, *outer) for end in inner), shown


def _measurable(rng: Random, size: int, *, missing: bool) -> Case:
    """A crowd whose sensitive values have ranges."""
    while True:
        case = random_crowd(rng, size, missing=missing)
        if case.sensitive.kind in MEASURABLE:
            return case


def _part_of_range(rng: Random, values: pa.ChunkedArray) -> float:
    """A range that some of these values span: whole or not, of dates in days, and now and then all there is."""
    ends = pc.min_max(values).as_py()
    width = ends["max"] - ends["min"]
    width = width.days if isinstance(width, timedelta) else width
    if rng.random() < 0.2:
        return width if isinstance(width, int) else float(width)
    return rng.choice([int(width) // 3, 0, float(width) * rng.random()])


def _bounds(release: Release, question: Question) -> Rows:
    """Low and high of every measure, by keys."""
    rows = [list(row.values()) for row in release.ask(question.sql).rows()]
    width = len(question.keys)
    return {tuple(row[:width]): list(zip(row[width + 2 :: 4], row[width + 3 :: 4], strict=True)) for row in rows}


def _truth(rows: pa.Table, question: Question) -> dict[tuple[Any, ...], list[Any]]:
    """What the private table answers; of decimals DuckDB would cut off what lies between two."""
    sql = question.sql
    for measure in question.measures:
        if measure.function == "cont":
            exact = measure.text.replace(measure.argument, f"CAST({measure.argument} AS DOUBLE)", 1)
            sql = sql.replace(measure.text, exact, 1)
    with duckdb.connect(config={"threads": "1"}) as connection:
        connection.register("microdata", rows)
        found = [list(row.values()) for row in connection.sql(sql).to_arrow_table().to_pylist()]
    width = len(question.keys)
    return {tuple(row[:width]): row[width:] for row in found}


def _check_truth(question: Question, answer: Rows, truth: Mapping[tuple[Any, ...], Sequence[Any]]) -> None:
    assert set(truth) <= set(answer), question.sql
    for keys, bounds in answer.items():
        values = truth.get(keys, [None] * len(bounds))
        for measure, (low, high), value in zip(question.measures, bounds, values, strict=True):
            true = 0 if value is None and measure.function == "count" else value
            true = 0 if true is None and measure.function == "sum" and low is not None else true
            if true is not None:
                shown = f"{question.sql}: at {keys}, {measure.text} is {true}, not in [{low}, {high}]"
                assert _within(measure, true, low, high), shown


def _within(measure: Measure, value: Any, low: Any, high: Any) -> bool:
    """Whether a value lies within bounds, but for the rounding of sums and of what lies between two values."""
    if low is None or high is None or measure.function not in {"sum", "avg", "cont"}:
        return low is not None and high is not None and low <= value <= high
    low, high, value = float(low), float(high), float(value)
    rounding = 1e-9 * max(1.0, abs(low), abs(high))
    return low - rounding <= value <= high + rounding


def _split(rng: Random, groups: Sequence[Sequence[int]], size: int) -> list[list[int]]:
    """Groups of at least two rows, made by cutting each group into parts of at most about `size`."""
    parts: list[list[int]] = []
    for group in groups:
        left = list(group)
        while len(left) >= 4:
            take = rng.randint(2, max(2, min(size, len(left) - 2)))
            parts.append(left[:take])
            left = left[take:]
        parts.append(left)
    return parts
