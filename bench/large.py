"""Publish 100 million rows with `deal` in less than 8 GB, the engine spilling beyond its share of them."""

from __future__ import annotations

import contextlib
import sys
import tempfile
import threading
import time
from pathlib import Path

import discreet
from data import QUASI, SENSITIVE, table
from measure import cost, verdict

GIGABYTES = 8
ENGINE = "3GB"


def publish(path: Path, place: str) -> None:
    policy = discreet.Policy(quasi=QUASI, sensitive=SENSITIVE, guarantee={"l": 10}, partition="deal")
    private = discreet.read(path, memory_limit=ENGINE)
    release = discreet.publish(private, policy, to=Path(place) / f"release-{path.stem}")
    print(release)
    private.close()


def watch(most: list[int], done: threading.Event) -> None:
    """Keep the most bytes that engines have spilled at any moment."""
    while not done.wait(0.5):
        spilled = 0
        for folder in Path(tempfile.gettempdir()).glob("discreet-*"):
            with contextlib.suppress(OSError):  # gone in the meantime
                spilled += sum(file.stat().st_size for file in folder.iterdir())
        most[0] = max(most[0], spilled)


def main(rows: int) -> None:
    path, small = table(rows), table(100_000)
    most, done = [0], threading.Event()
    watcher = threading.Thread(target=watch, args=(most, done))
    watcher.start()
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as place:
        taken = cost(publish, path, place, times=1, warm_up=(small, place))
    done.set()
    watcher.join()
    print(f"{rows:,} rows in {taken.seconds:.0f} s (of {time.perf_counter() - start:.0f} s with start-up)")
    print(f"peak GB {verdict(taken.gigabytes, GIGABYTES)}; spilled at most {most[0] / 2**30:.1f} GB")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000_000)
