"""What all checks that may warn add to publishing 10 million rows, Parquet to release: time, and processor time."""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import discreet
from data import QUASI, SENSITIVE, table
from discreet.publication import publish as publishing
from discreet.warnings.checks import AFTER, BEFORE
from measure import cost, verdict

LIMIT = 1.3
PARTITIONS = ("deal", "local")


def publish(path: Path, partition: str, checks: str) -> None:
    """Publish with no checks, with all, or with each of them timed."""
    policy = discreet.Policy(quasi=QUASI, sensitive=SENSITIVE, guarantee={"l": 10}, partition=partition)
    made = {"none": lambda _: (), "all": tuple, "timed": lambda found: tuple(map(_timed, found))}[checks]
    with (
        mock.patch.object(publishing, "BEFORE", made(BEFORE)),
        mock.patch.object(publishing, "AFTER", made(AFTER)),
        tempfile.TemporaryDirectory() as folder,
    ):
        discreet.publish(path, policy, to=Path(folder) / "release")


def _timed(check: Callable[[Any], Iterator[Any]]) -> Callable[[Any], list[Any]]:
    """The same check; it prints how long the processor was at it."""

    def timed(about: Any) -> list[Any]:
        start = time.process_time()
        found = list(check(about))
        print(f"  {check.__name__:20} {time.process_time() - start:8.2f} s of the processor", flush=True)
        return found

    return timed


def main(rows: int) -> None:
    path, small = table(rows), table(100_000)
    print(f"{rows:,} rows\n\npartition   seconds without   with   times                    times the processor's")
    for partition in PARTITIONS:
        without, checked = (
            cost(publish, path, partition, checks, warm_up=(small, partition, checks)) for checks in ("none", "all")
        )
        times, processor = checked.seconds / without.seconds, checked.processor / without.processor
        print(f"{partition:10} {without.seconds:16.2f} {checked.seconds:6.2f} {verdict(times, LIMIT)}", end="  ")
        print(verdict(processor, LIMIT), flush=True)
    print("\neach check:")
    publish(path, PARTITIONS[0], "timed")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000)
