"""Form boxes: `mondrian` against the package anonypy and against sorting the rows, `topdown` against the clock.

One seeded table with seven quasi-identifiers, skewed and correlated, all of them taken as ranges. anonypy is
timed for its partition alone, without writing a table. Its `l` counts distinct values and is our `distinct_l`;
our `l`, which also bounds the share of the most frequent value, promises more and is shown beside it.
"""

from __future__ import annotations

import multiprocessing
import resource
import sys
import time
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec

import numpy as np

from data import DOMAINS
from discreet.guarantees import Guarantee, Histograms
from discreet.partition.spatial.space import Dimension, penalties
from discreet.values.kernel import SMALL
from discreet.values.random import RandomSource
from measure import seconds, verdict

K, L = 10, 10
PROMISED = ({"k": K}, {"k": K, "distinct_l": L}, {"k": K, "l": L})
FASTER, TIMES_THE_SORT, GIGABYTES, MINUTE = 200, 3, 1, 60
TOPDOWN_K, TOPDOWN_COLUMNS = 50, (("age", "education", "workclass", "country"), tuple(DOMAINS))
TIMES = 5


def table(rows: int) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """The columns, each skewed and related to all others, and the sensitive values."""
    chance = np.random.default_rng(2010)
    common, columns = chance.normal(size=rows), {}
    for name, size in DOMAINS.items():
        weights = np.cumsum(1 / np.arange(1, size + 1) ** 0.7)
        rank = np.argsort(np.argsort(0.6 * common + 0.8 * chance.normal(size=rows))) / rows
        columns[name] = np.searchsorted(weights / weights[-1], rank, side="right").astype(np.int32)
    worth = 0.2 * columns["age"] + columns["education"] + chance.normal(0, 6, rows)
    return columns, np.clip((worth + 14) * 0.9, 0, 49).astype(np.int32)


def ranges(columns: dict[str, np.ndarray]) -> list[Dimension]:
    return [Dimension(codes, DOMAINS[name], np.arange(float(DOMAINS[name]))) for name, codes in columns.items()]


def ncp(space: list[Dimension], groups: np.ndarray) -> float:
    """The normalised certainty penalty, as a share of the most there can be."""
    return float(np.bincount(groups) @ penalties(space, groups).mean(axis=1) / groups.size)


def formed(name: str, columns: dict[str, np.ndarray], sensitive: np.ndarray, promised: dict[str, int]) -> np.ndarray:
    assign = import_module(f"discreet.partition.spatial.{name}.{name}").assign
    groups: np.ndarray = assign(ranges(columns), sensitive, Guarantee.of(promised), RandomSource(1), cuts="fitted")
    return groups


def warm_up(name: str, promised: dict[str, int]) -> None:
    """Compile what is timed: fewer rows are left to Python."""
    formed(name, *table(SMALL + 1), promised)


def against_anonypy(rows: int) -> None:
    if find_spec("anonypy") is None:
        print("anonypy is not installed: no comparison with it (`make bench` installs it)")
        return
    import pandas as pd
    from anonypy.mondrian import Mondrian

    columns, sensitive = table(rows)
    space, frame = ranges(columns), pd.DataFrame({**columns, "sensitive": sensitive})
    print(f"{rows:,} rows, mondrian against anonypy          seconds      its   groups      its     NCP     its")
    its: dict[int, tuple[float, int, float]] = {}
    for promised in PROMISED:
        warm_up("mondrian", promised)
        l = L if len(promised) > 1 else 0
        if l not in its:
            start = time.perf_counter()
            parts = Mondrian(frame, list(columns), "sensitive").partition(K, l)
            taken = time.perf_counter() - start
            groups = np.empty(rows, np.int32)
            for number, part in enumerate(parts):
                groups[part.to_numpy()] = number
            its[l] = taken, len(parts), ncp(space, groups)
        their_time, their_groups, their_loss = its[l]
        (own_time,) = seconds(lambda promised=promised: formed("mondrian", columns, sensitive, promised), times=TIMES)
        groups = formed("mondrian", columns, sensitive, promised)
        assert Guarantee.of(promised).holds(Histograms.of(groups, sensitive)).all()
        loss = ncp(space, groups)
        title = " and ".join(f"{name} = {threshold}" for name, threshold in promised.items())
        counts = f"{own_time:8.3f} {their_time:8.1f} {groups.max() + 1:8,} {their_groups:8,}"
        print(f"  {title:44} {counts} {loss:7.4f} {their_loss:7.4f}")
        print(f"    times its time, x {FASTER}  {verdict(FASTER * own_time / their_time, 1)}")
        ratio, alike = loss / their_loss, "l" not in promised
        print(f"    times its NCP         {verdict(ratio, 1) if alike else f'{ratio:6.2f}  (it promises less)'}")


def against_the_sort(rows: int, promised: dict[str, int]) -> tuple[float, float, int, float]:
    columns, sensitive = table(rows)
    warm_up("mondrian", promised)
    sort, own = seconds(
        lambda: np.lexsort(list(columns.values())),
        lambda: formed("mondrian", columns, sensitive, promised),
        times=TIMES,
    )
    groups = formed("mondrian", columns, sensitive, promised)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    assert Guarantee.of(promised).holds(Histograms.of(groups, sensitive)).all()
    return sort, own, int(groups.max()) + 1, peak


def against_the_clock(rows: int, names: tuple[str, ...]) -> tuple[float, int, float]:
    columns, sensitive = table(rows)
    columns, promised = {name: columns[name] for name in names}, {"k": TOPDOWN_K}
    warm_up("topdown", promised)
    (taken,) = seconds(lambda: formed("topdown", columns, sensitive, promised), times=1)
    groups = formed("topdown", columns, sensitive, promised)
    assert Guarantee.of(promised).holds(Histograms.of(groups, sensitive)).all()
    return taken, int(groups.max()) + 1, ncp(ranges(columns), groups)


def alone(act: Callable[..., tuple[float, ...]], *arguments: object) -> tuple[float, ...]:
    """What an act returns in a process of its own."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(act, arguments)


def main(rows: int, few: int) -> None:
    print(f"{rows:,} rows, mondrian against np.lexsort over the same columns, median of {TIMES}")
    for promised in PROMISED:
        sort, own, groups, peak = alone(against_the_sort, rows, promised)
        print(f"  {promised}: {own:.2f} s, sort {sort:.2f} s, {groups:,} groups")
        print(f"    times the sort        {verdict(own / sort, TIMES_THE_SORT)}")
        print(f"    gigabytes, at most    {verdict(peak, GIGABYTES)}")
    for names in TOPDOWN_COLUMNS:
        taken, groups, loss = alone(against_the_clock, rows, names)
        print(f"{rows:,} rows, topdown, k = {TOPDOWN_K}, {len(names)} ranges: {groups:,} groups, NCP {loss:.4f}")
        print(f"    seconds               {verdict(taken, MINUTE)}")
    against_anonypy(few)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000, int(sys.argv[2]) if len(sys.argv) > 2 else 100_000)
