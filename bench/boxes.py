"""How much boxes lose by `compact`, beside `mondrian`: in ranges and trees, with and without values, and what it costs.

    python bench/boxes.py [rows]      the census-like table of peers/people.py, and SAL if DISCREET_DATA is set
    python bench/boxes.py join        whether joins would lose less if they were made with `compact`
    python bench/boxes.py anatomy     whether anatomy would be more exact if `local` cut its cells as `compact` does

CPU seconds are those of the partition alone, compiled. A tree has two children per node, over the codes in their order.
With `anatomy`, the average relative error of 500 COUNT queries as in `minimality.py`, on 100,000 rows of SAL and OCC.
With `join`, the NCP of 8,000 private rows of each among 40,000.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from discreet.guarantees import Guarantee, Histograms
from discreet.partition import PARTITIONS
from discreet.partition.kernels import deal_cells, shuffle_cells
from discreet.partition.spatial.join.join import join
from discreet.partition.spatial.space import Dimension, penalties
from discreet.values.kernel import SMALL
from discreet.values.random import RandomSource
from full_domain import balanced
from generalization import ncp
from measure import verdict
from minimality import error
from peers.people import people

K, L = 10, 10
WARM_UP = SMALL + 1  # rows: fewer are left to Python, and compile nothing
FITTED = {"k": K, "distinct_l": L}, {"cuts": "fitted"}
ASKED = {"k": ({"k": K}, {}), "distinct l, fitted": FITTED, "distinct l, blind": (FITTED[0], {})}
AT_MOST = {"census-like": 0.75, "SAL": 0.6}


def tables(rows: int) -> Iterator[tuple[str, pa.Table]]:
    yield "census-like", people(rows)
    if folder := os.environ.get("DISCREET_DATA"):
        yield "SAL", pq.read_table(Path(folder) / "census-anatomy" / "sal500k.parquet")


def coded(table: pa.Table) -> tuple[list[Dimension], np.ndarray]:
    """The quasi-identifiers as ranges, and the codes of the last column."""
    found = [np.unique(column.to_numpy(), return_inverse=True) for column in table.columns]
    space = [Dimension(codes.astype(np.int32), values.size, values.astype(float)) for values, codes in found[:-1]]
    return space, found[-1][1].astype(np.int32)


def main(rows: int) -> None:
    for name, table in tables(rows):
        space, sensitive = coded(table)
        trees = [Dimension(each.codes, each.size, levels=balanced(each.size, 2)) for each in space]
        print(f"{name}, {len(table):,} rows x {len(space)}: NCP (CPU s, groups)")
        for form, seen in (("ranges", space), ("trees", trees)):
            for title, (promised, options) in ASKED.items():
                losses = []
                for partition in ("mondrian", "compact"):
                    assign, promise = PARTITIONS[partition].assign, Guarantee.of(promised)
                    few = [Dimension(d.codes[:WARM_UP], d.size, d.places, d.levels) for d in seen]
                    assign(few, sensitive[:WARM_UP], promise, RandomSource(1), options)  # compiles
                    start = time.process_time()
                    groups = assign(seen, sensitive, promise, RandomSource(1), options)
                    taken = time.process_time() - start
                    assert promise.holds(Histograms.of(groups, sensitive)).all()
                    losses.append(ncp(seen, groups))
                    told = f"{losses[-1]:.4f} ({taken:.1f}, {groups.max() + 1:,})"
                    print(f"  {form:7} {title:20} {partition:9} {told}", flush=True)
                ratio = losses[1] / losses[0]
                print(f"    times that of mondrian {verdict(ratio, AT_MOST[name] if form == 'ranges' else 1)}")


def anatomy(folder: Path) -> None:
    for name in ("sal500k", "occ100k"):
        table = pq.read_table(folder / f"{name}.parquet")
        space, sensitive = coded(table.take(np.random.default_rng(1).permutation(len(table))[:100_000]))
        quasi = [each.codes for each in space]
        for l in (2, 4, 10):
            promise, told = Guarantee.of({"l": l}), []
            near = PARTITIONS["local"].assign(quasi, sensitive, promise, RandomSource(1))
            cells = PARTITIONS["compact"].assign(space, sensitive, promise, RandomSource(1))
            rows = np.argsort(cells, kind="stable").astype(np.int32)
            edges = np.append(0, np.cumsum(np.bincount(cells)))
            values = sensitive[rows]
            shuffle_cells(edges, values, rows, RandomSource(2).words(rows.size))
            for title, groups in (("local", near), ("cells of compact", deal_cells(edges, values, rows, promise.rule))):
                off = error(quasi, sensitive, groups, np.random.default_rng(2006))
                told.append(f"{title} {off:.2%} ({groups.max() + 1:,} groups)")
            print(f"{name}, l = {l}: {', '.join(told)}", flush=True)


def joined(folder: Path) -> None:
    for name in ("sal500k", "occ100k"):
        table = pq.read_table(folder / f"{name}.parquet")
        space, sensitive = coded(table.take(np.random.default_rng(1).permutation(len(table))[:40_000]))
        for variant in ("direct", "refinement"):
            for partition in ("mondrian", "topdown", "compact"):
                given = Guarantee.of({"k": K}), PARTITIONS[partition], {}, variant, RandomSource(1)
                groups, _ = join(space, sensitive[:8_000], *given)
                lost = penalties(space, groups).mean(axis=1)[groups[:8_000]].mean()
                print(f"{name}, {variant:10} {partition:9} NCP {lost:.4f}", flush=True)


if __name__ == "__main__":
    asked = sys.argv[1] if len(sys.argv) > 1 else "1000000"
    if asked in {"anatomy", "join"}:
        act = anatomy if asked == "anatomy" else joined
        act(Path(os.environ["DISCREET_DATA"]) / "census-anatomy")
    else:
        main(int(asked))
