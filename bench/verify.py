"""Verify releases of 1 million rows, against reading and hashing their files; and what publishing spends on it.

    python bench/verify.py [ROWS]

By CPU time of all threads, medians of five in turns. Reading: every column of every data file into Arrow, on one
thread; hashing: SHA-256 of the same files.
"""

from __future__ import annotations

import hashlib
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

import discreet
from data import QUASI, SENSITIVE, table
from discreet.publication.publish import STEPS
from measure import verdict

LIMIT, TIMES = 3, 5
METHODS: dict[str, dict[str, Any]] = {
    "anatomy, deal": {"partition": "deal", "guarantee": {"l": 10}},
    "anatomy, local": {"partition": "local", "guarantee": {"l": 10}},
    "permutation, min_sum": {"publication": "permutation", "partition": "min_sum", "guarantee": {"k": 3, "e": 3}},
    "generalization, mondrian": {"publication": "generalization", "partition": "mondrian", "guarantee": {"k": 10}},
    "full_permutation": {"publication": "full_permutation", "guarantee": {"l": 10}},
    "slicing": {"publication": "slicing", "guarantee": {"l": 10}, "together": [["age", "gender"]]},
}


def read_and_hash(folder: Path) -> None:
    for path in sorted(folder.glob("*.parquet")):
        pq.ParquetFile(path).read(use_threads=False)
        with path.open("rb") as file:
            hashlib.file_digest(file, "sha256")


def processor(*acts: Callable[[], object]) -> list[float]:
    """The median CPU seconds of each act; they take turns, and the first turn is a warm-up."""
    taken: list[list[float]] = [[] for _ in acts]
    for turn in range(TIMES + 1):
        for act, times in zip(acts, taken, strict=True):
            start = time.process_time()
            act()
            if turn:
                times.append(time.process_time() - start)
    return [statistics.median(times) for times in taken]


def policy(name: str) -> discreet.Policy:
    return discreet.Policy(quasi=QUASI, sensitive=SENSITIVE, ordered=QUASI, **METHODS[name])


@cache
def sources() -> str:
    """The digest of all that a release is made by, so that none is verified that other code has made."""
    found, home = hashlib.sha256(), Path(discreet.__file__).parent
    for path in sorted(home.rglob("*.py")):
        found.update(f"{path.relative_to(home)}\0".encode() + path.read_bytes() + b"\0")
    return found.hexdigest()[:12]


def published(rows: int, name: str) -> Path:
    """The release, made once by these very sources and kept among the temporary files."""
    path = table(rows)
    folder = path.parent / f"{rows}-verify-{name.replace(', ', '-')}-{sources()}"
    if not folder.exists():
        discreet.publish(path, policy(name), to=folder)
    return folder


def steps(rows: int, name: str) -> dict[str, float]:
    """The CPU seconds of each step of publishing."""
    taken, began, now = dict.fromkeys(STEPS, 0.0), time.process_time(), ""

    def step(what: str) -> None:
        nonlocal began, now
        if now in taken:
            taken[now] += time.process_time() - began
        began, now = time.process_time(), what

    with tempfile.TemporaryDirectory() as folder:
        discreet.publish(table(rows), policy(name), to=Path(folder) / "release", progress=step)
        step("")
    return taken


def main(rows: int) -> None:
    table(rows)
    print(f"{rows:,} rows, CPU seconds\n\n{'':26} {'read + hash':>12} {'verify':>8} {'times':>7}")
    for name in METHODS:
        folder = published(rows, name)
        base, taken = processor(lambda folder=folder: read_and_hash(folder), lambda folder=folder: _verified(folder))
        missed = "" if taken <= LIMIT * base else f"  MISSED: at most {LIMIT}"
        print(f"{name:26} {base:12.3f} {taken:8.3f} {taken / base:7.2f}{missed}", flush=True)
    name = "generalization, mondrian"
    runs = [steps(rows, name) for _ in range(TIMES + 1)][1:]
    cost = {step: statistics.median(run[step] for run in runs) for step in STEPS}
    after = cost["writing"] + cost["verifying"]
    print(f"\npublish, {name}: " + ", ".join(f"{step} {taken:.2f}" for step, taken in cost.items()))
    print(f"writing and verifying, times grouping: {verdict(after / cost['grouping'], 1)}")


def _verified(folder: Path) -> None:
    if not discreet.verify(folder).ok:
        raise SystemExit(f"{folder} does not verify")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
