"""Make 100 releases of 100,000 rows and more from a vault, and audit them: does it matter how many there are already?

Making a release must not depend on how many were made before it: the CPU of the first ten is held against that of the
first twenty and forty, and the last five (of half as many rows again) against five early ones. The whole sequence is
then audited from its files, as anybody could, in less than a minute: median of 5. A second vault grows by `insert`,
whose groups change, on fewer rows.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
import warnings
from pathlib import Path

import discreet
from discreet.table.people import people
from measure import verdict

STEP, TIMES, MINUTE, LINEAR = 500, 5, 60, 2.2
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
    with tempfile.TemporaryDirectory() as folder:
        made, costs = list[Path](), list[float]()
        with discreet.Vault.create(Path(folder) / "vault", policy) as vault:
            for number in range(count):
                start = 0 if number == 0 else rows + STEP * (number - 1)
                vault.append(everybody.slice(start, STEP if number else rows))
                begun = time.process_time()
                made.append(vault.release(Path(folder) / f"{number:03}").path)
                costs.append(time.process_time() - begun)
        early, late = statistics.median(costs[1:6]), statistics.median(costs[-5:])
        print(f"CPU seconds a release: {early:.2f} at first, {late:.2f} at last (medians of 5)")
        print(f"  the last cost, an early one being 1: {verdict(late / early, LINEAR)}")
        for times in (2, 4):
            if count >= 10 * times:
                more = sum(costs[: 10 * times]) / sum(costs[:10])
                print(f"  {10 * times} releases cost, 10 being 1: {verdict(more, LINEAR * times / 2)}", flush=True)
        walls, processor = list[float](), list[float]()
        for _ in range(TIMES):
            wall, begun = time.perf_counter(), time.process_time()
            found = discreet.audit(made)
            walls.append(time.perf_counter() - wall)
            processor.append(time.process_time() - begun)
            if not found.ok:
                raise SystemExit("the auditor found a channel")
        print(f"audited from the files in {verdict(statistics.median(walls), MINUTE)} seconds, median of {TIMES};")
        print(f"  of the processor {statistics.median(processor):.1f}")


if __name__ == "__main__":
    given = [int(number) for number in sys.argv[1:]]
    main(*(given or [100_000]), *([100] if len(given) < 2 else []))
