"""Two and three independent anatomies of the same 30,000 people of OCC: how often an attacker is right.

python bench/compose.py; DISCREET_DATA names the folder of real tables
"""

from __future__ import annotations

import os
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

import discreet

ROWS, L = 30_000, 10


def main():
    warnings.simplefilter("ignore")
    table = pq.read_table(Path(os.environ["DISCREET_DATA"]) / "census-anatomy" / "occ100k.parquet")
    table = table.take(np.random.default_rng(1).permutation(len(table))[:ROWS])
    quasi = [name for name in table.column_names if name != "occupation"]
    print("partition    releases   right      from      to    blind")
    with tempfile.TemporaryDirectory() as place:
        for partition in ("mixed", "anatomize"):
            policy = discreet.Policy(quasi=quasi, sensitive="occupation", guarantee={"l": L}, partition=partition)
            paths = [discreet.publish(table, policy, to=Path(place) / f"{partition}{i}", seed=i).path for i in range(3)]
            for several in (2, 3):
                [found] = discreet.attack(paths[0], "composition", truth=table, others=paths[1:several])
                rate = found.attacker
                told = "   ".join(f"{share:6.1%}" for share in (rate.share, rate.low, rate.high, found.blind.share))
                print(f"{partition:12} {several:8}  {told}", flush=True)


if __name__ == "__main__":
    main()
