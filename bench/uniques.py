"""How near the estimated uniques of a population come to those that were counted, on invented people.

    python bench/uniques.py [--people 100000]

For every three, four, five and six columns of the demo's people, samples of several sizes are drawn, and how many are
unique in the population is estimated from each: the estimate over the true number, at its lowest and highest.
"""

from __future__ import annotations

import argparse
from itertools import combinations

import numpy as np

from discreet.risk.population import estimate
from discreet.table.people import people
from discreet.values.coded import code, combined

COLUMNS = ("age", "sex", "zipcode", "education", "marital_status", "country")
SHARES = (0.01, 0.05, 0.1, 0.3)  # of the population that is in the table
LEAST = 100  # people who are unique: of fewer, a ratio says little


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--people", type=int, default=100_000)
    count = parser.parse_args().people
    table, chance = people(count), np.random.default_rng(2012)
    codes = {name: code(table[name]).codes for name in COLUMNS}
    print(f"{'columns':>8} {'table':>7} {'lowest':>8} {'highest':>8}  highest by")
    for width in range(3, len(COLUMNS) + 1):
        for share in SHARES:
            ratios = {}
            for names in combinations(COLUMNS, width):
                looks, _ = combined([codes[name] for name in names])
                unique = np.count_nonzero(np.bincount(looks) == 1)
                sizes = np.bincount(chance.choice(looks, int(share * count), replace=False))
                if unique >= LEAST:
                    ratios[names] = estimate(sizes[sizes > 0], count).count / unique
            most = max(ratios, key=lambda names: ratios[names])
            print(f"{width:>8} {share:>7.0%} {min(ratios.values()):>8.2f} {ratios[most]:>8.2f}  {', '.join(most)}")


if __name__ == "__main__":
    main()
