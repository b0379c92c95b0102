"""What a minimality attack finds in `local`, and what blind cuts cost in the error of answers, on OCC and SAL.

The census tables of the Anatomy paper lie in the folder that $DISCREET_DATA names. Of each, 100,000 rows with seven
quasi-identifiers; 500 random COUNT queries over three of them and the sensitive column, selectivity 5 %.
With a number of rows, the attack is timed on the table of `data.py` instead, against `publish` without it.
"""

from __future__ import annotations

import itertools
import os
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

import data
from discreet.audit.attacks.minimality import find, unique
from discreet.guarantees import Guarantee, Histograms
from discreet.partition import PARTITIONS
from discreet.policy import Policy
from discreet.publication.publish import publish
from discreet.values.codes import encode
from discreet.values.random import RandomSource
from measure import seconds, verdict

METHODS = {"deal": ("deal", {}), "local, fitted": ("local", {"cuts": "fitted"}), "blind": ("local", {})}
QUERIES, DIMENSIONS, SELECTIVITY = 500, 3, 0.05


def error(quasi, sensitive, groups, chance):
    """The average relative error of COUNT, estimated from groups."""
    sizes, errors = np.bincount(groups), []
    for _ in range(QUERIES):
        hits, wanted = np.ones(groups.size, np.bool_), None
        chosen = [*(quasi[i] for i in chance.choice(len(quasi), DIMENSIONS, replace=False)), sensitive]
        for column in chosen:
            values = int(column.max()) + 1
            some = chance.choice(values, int(np.ceil(values * SELECTIVITY ** (1 / (DIMENSIONS + 1)))), replace=False)
            among = np.zeros(values, np.bool_)
            among[some] = True
            wanted = among[column]
            hits = hits & wanted if column is not sensitive else hits
        actual = np.count_nonzero(hits & wanted)
        held = np.bincount(groups[wanted], minlength=sizes.size)
        estimate = np.sum(np.bincount(groups[hits], minlength=sizes.size) * held / sizes)
        if actual:
            errors.append(abs(estimate - actual) / actual)
    return np.mean(errors)


def census(folder: Path) -> None:
    for name in ("occ100k", "sal500k"):
        table = pq.read_table(folder / f"{name}.parquet")
        table = table.take(np.random.default_rng(1).permutation(len(table))[:100_000])
        *quasi, sensitive = (encode(column).codes for column in table.columns)
        alone = unique(quasi)
        print(f"{name}: {len(table):,} rows, {np.count_nonzero(alone):,} of them unique")
        for l in (2, 3, 4, 6, 10):
            promise, told = Guarantee.of({"l": l}, None, None), []
            for title, (partition, options) in METHODS.items():
                chosen = PARTITIONS[partition]
                seen = quasi if chosen.sees == "codes" else []
                groups = chosen.assign(seen, sensitive, promise, RandomSource(1), options)
                told.append(f"{title} {error(quasi, sensitive, groups, np.random.default_rng(2006)):7.2%}")
                if title == "local, fitted":
                    entries = Histograms.of(groups, sensitive)
                    known = find("local", quasi, groups, (entries.groups, entries.values, entries.counts), {"l": l})
                    certain, right = known >= 0, np.count_nonzero(known == sensitive)
            people, named = np.count_nonzero(certain), np.count_nonzero(certain & alone)
            print(f"  l = {l:2}  certain {people:5,}, unique {named:4,}, right {right:5,}   error: {',  '.join(told)}")


def cost(rows: int) -> None:
    """The attack against all of `publish`."""
    table = data.table(rows)
    policy = Policy(
        quasi=data.QUASI, sensitive=data.SENSITIVE, guarantee={"l": 10}, partition="local", options={"cuts": "fitted"}
    )
    columns = pq.read_table(table)
    quasi, sensitive = [encode(columns[name]).codes for name in data.QUASI], encode(columns[data.SENSITIVE]).codes
    promise, fitted = Guarantee.of({"l": 10}, None, None), {"cuts": "fitted"}
    groups = PARTITIONS["local"].assign(quasi, sensitive, promise, RandomSource(1), fitted)
    found = Histograms.of(groups, sensitive)
    entries = found.groups, found.values, found.counts
    find("local", quasi, groups, entries, {"l": 10})  # compiles
    (attack,) = seconds(lambda: find("local", quasi, groups, entries, {"l": 10}))
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # with a seed it only warns of those who are certain
        places = (Path(folder) / str(number) for number in itertools.count())
        (whole,) = seconds(lambda: publish(table, policy, to=next(places), seed=1))
    print(f"{rows:,} rows: publish {whole:.1f} s, the attack {attack:.1f} s of it")
    print(f"  the attack, as a share of the rest {verdict(attack / (whole - attack), 0.1)}")


if __name__ == "__main__":
    cost(int(sys.argv[1])) if len(sys.argv) > 1 else census(Path(os.environ["DISCREET_DATA"]) / "census-anatomy")
