"""How near the estimated uniques of a population come to those that were counted.

    python bench/uniques.py [--people 100000] [--census]

For every three, four, five and six columns of the demo's people, or of the census table OCC (from the folder that
`DISCREET_DATA` names), samples of several sizes are drawn, and how many are unique in the population is estimated from
each: the estimate over the true number, at its lowest and highest, and how often the truth lies in the models' range.
"""

from __future__ import annotations

import argparse
import os
from itertools import combinations
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from discreet.risk.population import estimate
from discreet.table.people import people
from discreet.values.coded import code, combined

COLUMNS = ("age", "sex", "zipcode", "education", "marital_status", "country")
CENSUS = ("age", "gender", "education", "marital", "race", "workclass", "country")
SHARES = (0.01, 0.05, 0.1, 0.3)  # of the population that is in the table
LEAST = 100  # people who are unique: of fewer, a ratio says little


def census() -> pa.Table:
    folder = os.environ.get("DISCREET_DATA")
    if folder is None:
        raise SystemExit("set DISCREET_DATA to the folder with the real tables")
    return pq.read_table(Path(folder) / "census-anatomy" / "occ100k.parquet")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--people", type=int, default=100_000)
    parser.add_argument("--census", action="store_true")
    given = parser.parse_args()
    count = given.people
    table, names_of = (census(), CENSUS) if given.census else (people(count), COLUMNS)
    chance, count = np.random.default_rng(2012), len(table)
    codes = {name: code(table[name]).codes for name in names_of}
    print(f"{'columns':>8} {'table':>7} {'lowest':>8} {'highest':>8} {'in range':>9}  highest by")
    for width in range(3, 7):
        for share in SHARES:
            ratios, within = {}, []
            for names in combinations(names_of, width):
                looks, _ = combined([codes[name] for name in names])
                unique = np.count_nonzero(np.bincount(looks) == 1)
                sizes = np.bincount(chance.choice(looks, int(share * count), replace=False))
                if unique >= LEAST:
                    found = estimate(sizes[sizes > 0], count)
                    ratios[names] = found.count / unique
                    within.append((found.low or 0) <= unique <= (found.high or 0))
            most = max(ratios, key=lambda names: ratios[names])
            ends = f"{min(ratios.values()):>8.2f} {ratios[most]:>8.2f} {np.mean(within):>9.0%}"
            print(f"{width:>8} {share:>7.0%} {ends}  {', '.join(most)}", flush=True)


if __name__ == "__main__":
    main()
