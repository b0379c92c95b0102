"""Search the lattice of full-domain generalizations: Adult in seconds, a million rows against a GROUP BY in DuckDB.

Adult needs the folder of real data (DISCREET_DATA). The large table is seeded: seven skewed columns that all lean on
one hidden number, with balanced hierarchies of three or four children per node. Timed is everything from
codes to groups, with compiled kernels, and in DuckDB one GROUP BY of a table in memory; they take turns, medians.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
from pyarrow.csv import ParseOptions, read_csv

from data import DOMAINS
from discreet.guarantees import Guarantee
from discreet.hierarchies import load
from discreet.partition.spatial.full_domain.full_domain import search
from discreet.partition.spatial.space import Dimension
from measure import seconds, verdict

ADULT = ("sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation")
CHILDREN = (3, 2, 3, 3, 3, 4, 4)
TIMES, K = 3, 5
SECONDS, TIMES_GROUPED = 1, 40


def adult(folder: Path) -> tuple[list[Dimension], np.ndarray]:
    table = read_csv(folder / "adult.csv.gz", parse_options=ParseOptions(delimiter=";"))
    space = []
    for name in ADULT:
        domain, codes = np.unique(table[name].to_numpy(), return_inverse=True)
        levels = load(folder / f"adult_hierarchy_{name}.csv", name).levels(pa.array(domain), name)
        space.append(Dimension(codes.astype(np.int32), domain.size, levels=levels.nodes))
    return space, np.unique(table["salary-class"].to_numpy(), return_inverse=True)[1].astype(np.int32)


def large(rows: int) -> tuple[list[Dimension], np.ndarray]:
    chance = np.random.default_rng(2006)
    hidden = chance.random(rows)
    space = []
    for size, children in zip(DOMAINS.values(), CHILDREN, strict=True):
        share = (hidden + chance.random(rows)) / 2
        even = np.where(share < 0.5, 2 * share**2, 1 - 2 * (1 - share) ** 2)
        weights = np.cumsum(1 / np.arange(1, size + 1) ** 0.7)
        codes = np.minimum(np.searchsorted(weights / weights[-1], even), size - 1).astype(np.int32)
        space.append(Dimension(codes, size, levels=balanced(size, children)))
    return space, np.minimum(chance.geometric(0.1, rows) - 1, 49).astype(np.int32)


def balanced(size: int, children: int) -> np.ndarray:
    levels = [np.arange(size)]
    while levels[-1].max() > 0:
        levels.append(levels[-1] // children)
    return np.stack(levels).astype(np.int32)


def runs(space: list[Dimension], sensitive: np.ndarray, grouped: Callable[[], object] | None = None) -> None:
    """Search for NCP and discernibility, with and without suppression, against the clock or beside a GROUP BY."""
    points = np.prod([len(d.levels) for d in space])
    settings = [
        ({"k": K}, "ncp", 0.0),
        ({"k": K}, "ncp", 0.05),
        ({"k": K}, "discernibility", 0.0),
        ({"k": K}, "discernibility", 0.05),
        ({"k": K, "distinct_l": 2}, "ncp", 0.05),
    ]
    for promised, loss, suppression in settings:
        act = partial(search, space, sensitive, Guarantee.of(promised), suppression=suppression, loss=loss)
        best = act()  # compiles
        taken, *base = seconds(act, *([] if grouped is None else [grouped]), times=TIMES)
        title = " ".join(f"{name}={threshold}" for name, threshold in promised.items())
        told = f"times the GROUP BY {verdict(taken / base[0], TIMES_GROUPED)}" if base else verdict(taken, SECONDS)
        print(
            f"  {title:16} {loss:14} limit {suppression:4.0%}: levels {''.join(map(str, best.levels))}, "
            f"{best.groups.max() + 1:,} groups, {best.suppressed:,} suppressed, {best.counted:,} of {points:,} points "
            f"counted  {taken:6.3f} s   {told}"
        )


def main(rows: int) -> None:
    if place := os.environ.get("DISCREET_DATA"):
        space, sensitive = adult(Path(place) / "adult-hierarchies" / "arx")
        print(f"Adult, {sensitive.size:,} rows, {len(space)} quasi-identifiers")
        runs(space, sensitive)
    else:
        print("DISCREET_DATA is not set: Adult is left out")
    space, sensitive = large(rows)
    columns = {name: d.codes for name, d in zip(DOMAINS, space, strict=True)}
    with duckdb.connect() as connection:
        connection.register("given", pa.table(columns))
        connection.execute("CREATE TABLE people AS SELECT * FROM given")
        names = ", ".join(columns)
        query = f"SELECT count(*), max(n) FROM (SELECT count(*) AS n FROM people GROUP BY {names})"
        distinct = connection.execute(query).fetchone()[0]
        print(f"{rows:,} rows, {distinct:,} distinct; beside one GROUP BY over the seven columns in DuckDB")
        runs(space, sensitive, lambda: connection.execute(query).fetchall())


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
