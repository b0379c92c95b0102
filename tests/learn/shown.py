"""Small releases to draw from, and what their files say when they are read without our code."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from discreet import Policy, publish
from discreet.release import Release

ROWS = 60


def table(rows: int = ROWS) -> pa.Table:
    """Ages, towns (some missing) and pay, which grows with age; one pay is a gap in a range of whole numbers."""
    ages = [20 + (7 * i) % 40 for i in range(rows)]
    towns = [("Ulm", "Bonn", None, "Kiel")[i % 4] for i in range(rows)]
    pay = [age // 10 * 10 + i % 3 for i, age in enumerate(ages)]
    return pa.table({"age": ages, "town": towns, "pay": pay})


def released(folder: Path, *, publication: str = "anatomy", partition: str = "deal", **more: Any) -> Release:
    """The table of above, published with l = 2 unless told otherwise."""
    private = more.pop("table", None)
    options = {"quasi": ["age", "town"], "sensitive": "pay", "guarantee": {"l": 2}, **more}
    policy = Policy(publication=publication, partition=partition, **options)
    return publish(table() if private is None else private, policy, to=folder, seed=1)


def groups_of(release: Release) -> dict[int, tuple[list[tuple[Any, ...]], Counter[Any]]]:
    """Per group its rows in order and its values, by Arrow alone."""
    promise = release.promise
    if promise.publication == "anatomy":
        rows = pq.read_table(release.file("qit")).to_pylist()
        values = pq.read_table(release.file("st")).to_pylist()
    else:
        mapping = {row[promise.row]: row[promise.group] for row in pq.read_table(release.file("mapping")).to_pylist()}
        rows = [
            {**row, promise.group: mapping[row[promise.row]]}
            for row in pq.read_table(release.file("permuted")).to_pylist()
        ]
        values = [{**row, promise.count: 1} for row in rows]
    found: dict[int, tuple[list[tuple[Any, ...]], Counter[Any]]] = {}
    for row in rows:
        found.setdefault(row[promise.group], ([], Counter()))[0].append(tuple(row[name] for name in promise.quasi))
    for row in values:
        found[row[promise.group]][1][row[promise.sensitive_column]] += row[promise.count]
    return found
