"""Make 100 releases of 100,000 rows and more from a vault, and audit them: does it matter how many there are already?

The work of a new release must not depend on how many were made before it, or grow no faster than the rows of all of
them. So what the last five cost, an early one being 1, is held against the rows of all releases by then; and, which is
more than that, what twenty and forty cost together, the first ten being 1, against the rows of these. All are made
three times (five would take longer than three minutes), each in a vault of its own, and of each release the median is
taken. The whole sequence is then audited from its files, as anybody could, in less than a minute: median of 5. A second
vault grows by `insert`, whose groups change, on fewer rows.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
import warnings
from pathlib import Path

import pyarrow as pa

import discreet
from discreet.table.people import people
from measure import verdict

STEP, MADE, TIMES, MINUTE = 500, 3, 5, 60
POLICY = {
    "quasi": ["age", "sex", "zipcode", "education", "marital_status", "country"],
    "sensitive": "diagnosis",
    "drop": "rest",
    "publication": "generalization",
    "guarantee": {"l": 4},
    "accept": {"looks": "these people are invented", "insert": "to be measured"},
}


def main(rows: int, count: int) -> None:
    warnings.simplefilter("ignore", discreet.errors.DiscreetWarning)
    measured("settle", rows, count)
    measured("insert", rows // 10, min(count, 21))


def measured(growth: str, rows: int, count: int) -> None:
    everybody = people(rows + STEP * count, seed=11)
    policy = discreet.Policy(**POLICY, options={"growth": growth})
    print(f"\n{growth}: {count} releases of {rows:,} to {rows + STEP * (count - 1):,} rows, {STEP} more each time")
    shown = [rows + STEP * number for number in range(count)]
    with tempfile.TemporaryDirectory() as folder:
        turns = [made(everybody, policy, shown, Path(folder) / f"{turn}") for turn in range(MADE)]
        costs = [statistics.median(turn) for turn in zip(*turns, strict=True)]
        early, late = statistics.median(costs[1:6]), statistics.median(costs[-5:])
        print(f"CPU seconds a release: {early:.2f} at first, {late:.2f} at last (medians of 5, each of {MADE})")
        grown = sum(shown[: count - 2]) / sum(shown[:4])  # rows of all, at the middle one of the five
        print(f"  the last cost, an early one being 1: {verdict(late / early, grown)}, as the rows of all of them")
        print(f"  (the rows of one grew {shown[-3] / shown[3]:.2f} times)")
        for times in (2, 4):
            if count >= 10 * times:
                more, wide = (sum(of[: 10 * times]) / sum(of[:10]) for of in (costs, shown))
                print(f"  {10 * times} releases cost, 10 being 1: {verdict(more, wide)}, as their rows", flush=True)
        paths = [Path(folder) / f"{MADE - 1}" / f"{number:03}" for number in range(count)]
        walls, processor = list[float](), list[float]()
        for _ in range(TIMES):
            wall, begun = time.perf_counter(), time.process_time()
            found = discreet.audit(paths)
            walls.append(time.perf_counter() - wall)
            processor.append(time.process_time() - begun)
            if not found.ok:
                raise SystemExit("the auditor found a channel")
        print(f"audited from the files in {verdict(statistics.median(walls), MINUTE)} seconds, median of {TIMES};")
        print(f"  of the processor {statistics.median(processor):.1f}")


def made(everybody: pa.Table, policy: discreet.Policy, shown: list[int], folder: Path) -> list[float]:
    """Make releases of so many rows each; the CPU seconds of each."""
    costs = list[float]()
    with discreet.Vault.create(folder / "vault", policy) as vault:
        for number, (before, rows) in enumerate(zip([0, *shown], shown, strict=False)):
            vault.append(everybody.slice(before, rows - before))
            begun = time.process_time()
            vault.release(folder / f"{number:03}")
            costs.append(time.process_time() - begun)
    return costs


if __name__ == "__main__":
    given = [int(number) for number in sys.argv[1:]]
    main(*(given or [100_000]), *([100] if len(given) < 2 else []))
