"""Form groups with `cluster`: against the clock, against itself on fewer rows, and its NCP against that of others.

The seeded table of `generalization.py`: seven quasi-identifiers, skewed and correlated, all of them taken as
ranges. Growth is from a fifth of the rows to twice as many, ten times more, each in a process of its own.
"""

from __future__ import annotations

import resource
import sys

import numpy as np

from discreet.guarantees import Guarantee, Histograms
from discreet.partition.histogram import deal
from discreet.partition.spatial import local
from discreet.values.random import RandomSource
from generalization import alone, formed, ncp, ranges, table, warm_up
from measure import seconds, verdict

PROMISED = {"l": 10}
SECONDS, GIGABYTES, GROWTH = 10, 1, 13


def clocked(rows: int) -> tuple[float, float]:
    """The median time, and the most memory that the process ever took."""
    columns, sensitive = table(rows)
    warm_up("cluster", PROMISED)
    (taken,) = seconds(lambda: formed("cluster", columns, sensitive, PROMISED), times=3)
    return taken, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def compared(rows: int) -> None:
    """Groups and NCP of several partitions under the same promise; `deal` does not look at quasi-identifiers."""
    columns, sensitive = table(rows)
    space, guarantee = ranges(columns), Guarantee.of(PROMISED)
    made = {name: formed(name, columns, sensitive, PROMISED) for name in ("cluster", "mondrian")}
    for name, module in (("local", local), ("deal", deal)):
        made[name] = np.asarray(module.assign(list(columns.values()), sensitive, guarantee, RandomSource(1)))
    for name, groups in made.items():
        assert guarantee.holds(Histograms.of(groups, sensitive)).all()
        print(f"  {name:9} {groups.max() + 1:7,} groups, NCP {ncp(space, groups):.4f}")


def main(rows: int) -> None:
    taken, peak = alone(clocked, rows)
    print(f"{rows:,} rows x 7, cluster, l = {PROMISED['l']}")
    print(f"    seconds               {verdict(taken, SECONDS)}")
    print(f"    gigabytes, at most    {verdict(peak, GIGABYTES)}")
    few, many = alone(clocked, rows // 5)[0], alone(clocked, 2 * rows)[0]
    print(f"{rows // 5:,} rows {few:.2f} s, {2 * rows:,} rows {many:.2f} s")
    print(f"    times the time        {verdict(many / few, GROWTH)}")
    compared(rows // 5)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 500_000)
