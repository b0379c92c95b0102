"""Metrics of a release: the same as counted row by row, whatever the publication."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import asdict
from datetime import date, datetime, time
from math import inf, isnan, prod
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet
from discreet.audit.metrics import Metrics, dm, ncp, perimeter
from discreet.audit.metrics.boxes import read_boxes
from discreet.errors import ReleaseError
from discreet.publication.publish import publish_groups
from discreet.release import Release

TREE = {"any": {"lung": ["flu", "asthma"], "gut": ["gastritis", "ulcer", "colic"]}}
DAY = 86_400


def people(rows: int, seed: int, *, gaps: bool = True) -> pa.Table:
    """Columns of every kind, some with missing values."""
    chance = np.random.default_rng(seed)

    def holes(values: list[Any]) -> list[Any]:
        return [
            None if hidden else value for value, hidden in zip(values, chance.random(rows) < 0.2 * gaps, strict=True)
        ]

    return pa.table(
        {
            "name": [f"p{i}" for i in range(rows)],
            "age": pa.array(holes(chance.integers(18, 90, rows).tolist()), pa.int32()),
            "height": pa.array(chance.normal(170, 10, rows).round(1)),
            "born": pa.array(chance.integers(0, 4000, rows).astype("datetime64[D]")),
            "seen": pa.array(chance.integers(0, 10**9, rows).astype("datetime64[s]")),
            "grade": pa.array(chance.choice(list("abcdef"), rows)),
            "town": pa.array(holes(chance.choice(["u", "v", "w", "x"], rows).tolist()), pa.string()),
            "illness": pa.array(
                holes(chance.choice(["flu", "asthma", "gastritis", "ulcer"], rows).tolist()), pa.string()
            ),
            "pay": chance.integers(1, 9, rows),
        }
    )


def policy(**changes: Any) -> discreet.Policy:
    values: dict[str, Any] = {
        "identifiers": ["name"],
        "quasi": ["age", "height", "born", "seen", "grade", "town", "illness"],
        "sensitive": "pay",
        "guarantee": {"k": 3},
        "publication": "generalization",
        "hierarchies": {"illness": {"tree": TREE}},
        "ordered": ["grade"],
    }
    return discreet.Policy(**{**values, **changes})


def place(value: Any) -> float:
    """Where a value lies on a line, in days if it is of time."""
    match value:
        case datetime():
            return (value - datetime(1970, 1, 1, tzinfo=value.tzinfo)).total_seconds() / DAY
        case date():
            return float((value - date(1970, 1, 1)).days)
        case time():
            return (value.hour * 3600 + value.minute * 60 + value.second) / DAY
    return float(value)


Row = dict[str, Any]


def of_range(side: Any, rows: list[Row]) -> tuple[list[float], float]:
    """The share of the extent that each row's box covers, and the extent."""
    ends = [end for row in rows for end in (row[side.low], row[side.high]) if end is not None]
    rank = {end: i for i, end in enumerate(sorted(set(ends)))}

    def at(end: Any) -> float:
        return rank[end] if side.type in {"string", "boolean"} else place(end)

    extent = at(max(ends)) - at(min(ends)) if ends else float("nan")

    def share(row: Row) -> float:
        missing = row[side.missing] if side.missing else None
        if row[side.low] is None:
            return 0.0 if missing else 1.0
        if missing:
            return 1.0
        return (at(row[side.high]) - at(row[side.low])) / extent if extent else 0.0

    return [share(row) for row in rows], extent


def of_label(side: Any, rows: list[Row], labels: list[Row]) -> list[float]:
    """The share of all values that each row's label stands for."""
    meaning: dict[str | None, set[str | None]] = defaultdict(set)
    for row in labels:
        if row["column"] == side.name:
            meaning[row["label"]].add(row["value"])
    meaning[None] = {None}
    several = len(
        set().union(*(meaning[row[side.label]] for row in rows), *(meaning[label] for label in meaning if label))
    )
    counts = [len(meaning[row[side.label]]) for row in rows]
    return [count / several if count > 1 else 0.0 for count in counts]


def points_of(side: Any, rows: list[Row], labels: list[Row]) -> list[float]:
    """How many values each row's box holds in one column, counted one by one; endlessly many of fractions and texts."""
    if side.label is not None:
        meaning = Counter(row["label"] for row in labels if row["column"] == side.name)
        return [meaning[row[side.label]] or 1 for row in rows]
    ends = [end for row in rows for end in (row[side.low], row[side.high]) if end is not None]

    def held(row: Row) -> float:
        missing = bool(side.missing and row[side.missing])
        low, high = row[side.low], row[side.high]
        if low is None and missing:
            return 1
        if low is None:
            low, high = (min(ends), max(ends)) if ends else (0, 0.5)
        if low == high:
            return 1 + missing
        if side.type not in {"integer", "date"} or not ends:
            return inf
        return len(range(int(place(low)), int(place(high)) + 1)) + missing

    return [held(row) for row in rows]


def by_rows(release: Release, weights: list[float] | None = None) -> dict[str, float | None]:
    """All metrics, row by row, from the rows as they stand in the file."""
    promise = release.promise
    rows = pq.read_table(release.file("generalized" if promise.join is None else "joined")).to_pylist()
    labelled = any(side.label for side in promise.boxes)
    labels = pq.read_table(release.file("labels")).to_pylist() if labelled else []
    weights = weights or [1.0] * len(rows)
    raw, share = None, 0.0
    for side in promise.boxes:
        if side.label is None:
            parts, extent = of_range(side, rows)
            raw = (raw or 0.0) + sum(2 * extent * part * weight for part, weight in zip(parts, weights, strict=True))
        else:
            parts = of_label(side, rows, labels)
        share += sum(part * weight for part, weight in zip(parts, weights, strict=True))
    sizes: dict[int, float] = defaultdict(float)
    for row, weight in zip(rows, weights, strict=True):
        sizes[row[promise.group]] += weight
    total = sum(weights)
    held = [prod(of) for of in zip(*(points_of(side, rows, labels) for side in promise.boxes), strict=True)]
    shown = [1.0] * len(rows)  # the chance of its real value, given the right place
    if promise.join is not None:
        si: dict[int, list[int]] = defaultdict(list)
        for row in pq.read_table(release.file("si")).to_pylist():
            si[row["sensitive_group"]].append(row["count"])
        shown = [sum((n / sum(si[g])) ** 2 for n in si[g]) for g in (row["sensitive_group"] for row in rows)]
    return {
        "rce": sum(w * (1 - s / v) for w, s, v in zip(weights, shown, held, strict=True)),
        "ncp": None if raw is None or isnan(raw) else raw,
        "ncp_normalised": share,
        "ncp_share": share / total / len(promise.boxes),
        "il": share / total,
        "dm": sum(size * size for size in sizes.values()),
        "average_group": len(rows) / len(sizes),
        "c_avg": len(rows) / len(sizes) / promise.guarantee["k"] if "k" in promise.guarantee else None,
    }


def check(found: Metrics, expected: dict[str, float | None]) -> None:
    told = asdict(found)
    for name, value in expected.items():
        assert told[name] == (None if value is None else pytest.approx(value, abs=1e-9)), name


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("partition", ["mondrian", "local"])
def test_metrics_are_those_of_the_rows(partition: str, seed: int, tmp_path: Path) -> None:
    rules = policy(partition=partition, guarantee={"k": 3} if seed % 2 else {"l": 2})
    release = discreet.publish(people(40, seed), rules, to=tmp_path / "r", seed=seed)
    found = discreet.metrics(release)
    check(found, by_rows(release))
    assert (found.publication, found.partition) == ("generalization", partition)
    assert (found.rows, found.groups) == (40, release.promise.groups)
    assert 0 < found.ncp_share <= 1
    counts: dict[int, Counter[int]] = defaultdict(Counter)
    for row in pq.read_table(release.file("generalized")).to_pylist():
        counts[row["group"]][row["pay"]] += 1
    error = sum(sum(c.values()) - sum(n * n for n in c.values()) / sum(c.values()) for c in counts.values())
    assert found.value_rce == pytest.approx(error)
    assert discreet.metrics(str(release.path)) == discreet.metrics(release.path) == found


@pytest.mark.parametrize("seed", range(3))
def test_metrics_of_intervals_that_may_hold_anything(seed: int, tmp_path: Path) -> None:
    rules = policy(
        quasi=["age", "height", "born"], hierarchies={"age": {"intervals": [10, 20]}}, ordered=(), drop="rest"
    )
    release = discreet.publish(people(30, seed), rules, to=tmp_path / "r", seed=seed)
    check(discreet.metrics(release), by_rows(release))


def test_a_column_that_is_not_told_at_all(tmp_path: Path) -> None:
    table = pa.table({"a": [1, 25, 3, 28], "s": [1, 2, 3, 4]})
    rules = discreet.Policy(
        quasi=["a"],
        sensitive="s",
        guarantee={"k": 4},
        publication="generalization",
        hierarchies={"a": {"intervals": [5]}},
    )
    release = discreet.publish(table, rules, to=tmp_path / "r", seed=1)
    found = discreet.metrics(release)
    assert (found.ncp, found.ncp_normalised, found.ncp_share, found.il) == (None, 4, 1, 1)


def test_labels_have_no_perimeter(tmp_path: Path) -> None:
    table = pa.table({"c": ["x", "y", "z", "z", "z", None], "s": [1, 2, 3, 4, 5, 6]})
    rules = discreet.Policy(quasi=["c"], sensitive="s", guarantee={"k": 2}, publication="generalization")
    private = discreet.read(table)
    groups = np.array([0, 0, 1, 1, 2, 2], np.int32)
    release = publish_groups(private, rules, private.codes("s"), groups, to=tmp_path / "r")
    found = discreet.metrics(release)
    # x and y: two of the four values x, y, z and none; z alone: nothing; z or none: two of four
    assert (found.ncp, found.ncp_normalised, found.dm) == (None, 2.0, 12.0)
    assert found.rce == pytest.approx(2 * (1 - 1 / 2) + 0 + 2 * (1 - 1 / 2))


def test_a_lone_missing_value_costs_nothing(tmp_path: Path) -> None:
    table = pa.table({"c": ["x", "y", None, None], "a": [1, 2, None, None], "s": [1, 2, 3, 4]})
    rules = discreet.Policy(quasi=["c", "a"], sensitive="s", guarantee={"k": 2}, publication="generalization")
    private = discreet.read(table)
    release = publish_groups(private, rules, private.codes("s"), np.array([0, 0, 1, 1], np.int32), to=tmp_path / "r")
    found = discreet.metrics(release)
    # x or y: two of the three values x, y and none; from 1 to 2: the whole extent
    assert found.ncp_normalised == pytest.approx(2 * 2 / 3 + 2)
    assert found.ncp == 4
    assert found.rce == pytest.approx(2 * (1 - 1 / 4))


@pytest.mark.parametrize("publication", ["anatomy", "permutation"])
def test_exact_quasi_identifiers_cost_nothing(publication: str, tmp_path: Path) -> None:
    rules = policy(publication=publication, partition="deal", guarantee={"l": 3, "k": 3})
    release = discreet.publish(people(50, 1), rules, to=tmp_path / "r", seed=1)
    found = discreet.metrics(release)
    file = "qit" if publication == "anatomy" else "mapping"
    sizes = Counter(pq.read_table(release.file(file))["group"].to_pylist())
    assert (found.ncp, found.ncp_normalised, found.ncp_share, found.il) == (0, 0, 0, 0)
    assert found.dm == sum(size * size for size in sizes.values())
    assert found.average_group == 50 / len(sizes)
    assert found.c_avg == pytest.approx(50 / len(sizes) / 3)
    assert found.rce == found.value_rce > 0


def test_a_swapped_table_has_no_groups(tmp_path: Path) -> None:
    rules = policy(publication="swap", guarantee={"k": 2, "e": 1})
    found = discreet.metrics(discreet.publish(people(50, 1), rules, to=tmp_path / "r", seed=1))
    assert (found.groups, found.dm, found.average_group, found.c_avg, found.rce, found.value_rce) == (None,) * 6
    assert (found.rows, found.ncp) == (50, 0)


@pytest.mark.parametrize("seed", range(3))
def test_metrics_of_a_join_count_private_rows_only(seed: int, tmp_path: Path) -> None:
    """By refinement each box holds its share of the people of its sensitive group; by direct nobody can tell."""
    everyone = people(120, seed)
    private = everyone.take(np.random.default_rng(seed).choice(120, 30, replace=False))
    public = everyone.drop_columns(["pay"])
    rules = policy(publication="join", join="name", guarantee={"k": 5})
    release = discreet.publish(private, rules, to=tmp_path / "r", public=public, seed=seed)
    rows = pq.read_table(release.file("joined")).to_pylist()
    shown = Counter(row["sensitive_group"] for row in rows)
    held: Counter[int] = Counter()
    for row in pq.read_table(release.file("si")).to_pylist():
        held[row["sensitive_group"]] += row["count"]
    weights = [held[row["sensitive_group"]] / shown[row["sensitive_group"]] for row in rows]
    assert sum(weights) == pytest.approx(30)
    found = discreet.metrics(release)
    check(found, by_rows(release, weights))
    assert found.rows == len(rows)

    direct = policy(publication="join", join="name", guarantee={"k": 5}, options={"variant": "direct"})
    found = discreet.metrics(discreet.publish(private, direct, to=tmp_path / "d", public=public, seed=seed))
    assert (found.ncp, found.ncp_normalised, found.ncp_share, found.il, found.dm) == (None,) * 5
    assert found.average_group == found.rows / found.groups


def test_whoever_knows_the_counts_measures_with_them(tmp_path: Path) -> None:
    release = discreet.publish(people(40, 1), policy(), to=tmp_path / "r", seed=1)
    boxes = read_boxes(release)
    found = discreet.metrics(release)
    assert perimeter(boxes.spans, boxes.sizes) == found.ncp
    assert ncp(boxes.shares, boxes.sizes * 2) == pytest.approx(2 * found.ncp_normalised)
    assert dm(boxes.sizes) == found.dm


def test_files_of_either_format_measure_the_same(tmp_path: Path) -> None:
    rules = policy()
    found = [
        discreet.metrics(discreet.publish(people(40, 2), rules, to=tmp_path / form, seed=1, format=form))
        for form in ("parquet", "csv")
    ]
    for name, value in asdict(found[0]).items():
        assert getattr(found[1], name) == (pytest.approx(value) if isinstance(value, float) else value)


def test_what_is_no_release_is_told(tmp_path: Path) -> None:
    with pytest.raises(ReleaseError):
        discreet.metrics(tmp_path / "nothing")
