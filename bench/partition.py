"""Plan (k,e) partitions of 10 million values, against sorting the same values with NumPy.

Timed is what follows the sort: from the distinct values in order, with their counts, to the group of
every sorted row. One column of floats hardly repeats, one of integers repeats much; k = 4, with a range
and without.
"""

from __future__ import annotations

import sys
from importlib import import_module

import numpy as np

from measure import seconds, verdict

LIMITS = {"min_sum": 2, "max_groups": 2, "min_max": 10, "tightest": 15}
K = 4


def main(rows: int) -> None:
    chance = np.random.default_rng(2007)
    columns = {
        "floats": (chance.lognormal(0, 1, rows), (0.0, 0.001)),
        "integers": (chance.lognormal(8, 1, rows).astype(np.int64), (0, 100)),
    }
    plans = {name: import_module(f"discreet.partition.ranges.{name}").plan for name in LIMITS}
    for title, (values, ranges) in columns.items():
        (base,) = seconds(lambda values=values: np.sort(values))
        marks, counts = np.unique(values, return_counts=True)
        if marks.dtype == np.int64:
            marks -= marks[0]
        print(f"{rows:,} {title}, {marks.size:,} distinct; NumPy sorts them in {base:.2f} s")
        for e in ranges:
            for name, plan in plans.items():
                plan(counts[:1000], marks[:1000], K, 0 * e)  # compiles
                (taken,) = seconds(lambda plan=plan, e=e, held=counts, marks=marks: plan(held, marks, K, e))
                print(f"  ({K},{e:g}) {name:10} {taken:6.2f} s   times the sort {verdict(taken / base, LIMITS[name])}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000)
