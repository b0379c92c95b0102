"""What a minimality attack finds in fitted cuts, and what blind cuts cost in the error of answers, on OCC and SAL.

The census tables of the Anatomy paper lie in the folder that $DISCREET_DATA names. Of each, 100,000 rows with seven
quasi-identifiers; 500 random COUNT queries over three of them and the sensitive column, selectivity 5 %.
With `boxes`, what blind cuts cost the other partitions that look, in NCP and in the same error, on 30,000 rows of each
and on Adult. With a number of rows, the attack is timed on the table of `data.py`, against `publish` without it.
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
from discreet.audit.replay.minimality import find, lines, unique
from discreet.guarantees import Guarantee, Histograms
from discreet.partition import PARTITIONS
from discreet.partition.spatial.space import penalties
from discreet.policy import Policy
from discreet.publication.axes import Axis
from discreet.publication.publish import publish
from discreet.values.codes import encode
from discreet.values.columns import is_ordered
from discreet.values.random import RandomSource
from measure import seconds, verdict

FITTED = "local, fitted"
METHODS = {"deal": ("deal", {}), FITTED: ("local", {"cuts": "fitted"}), "blind": ("local", {})}
LOOKING = {"cluster": {}, "mondrian": {}, "topdown": {}, "full_domain": {"suppression": 0.05}}
ADULT = ["age", "workclass", "education", "marital_status", "race", "sex", "native_country", "occupation"]
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


def census(folder: Path, *, errors: bool = True) -> None:
    """Print how many people are certain; and the errors of answers, if these are wanted."""
    for name in ("occ100k", "sal500k"):
        table = pq.read_table(folder / f"{name}.parquet")
        table = table.take(np.random.default_rng(1).permutation(len(table))[:100_000])
        *encoded, sensitive = (encode(column) for column in table.columns)
        quasi, sensitive = [column.codes for column in encoded], sensitive.codes
        space = [Axis("", codes, None, True).dimension for codes in encoded]
        alone = unique(quasi)
        print(f"{name}: {len(table):,} rows, {np.count_nonzero(alone):,} of them unique")
        for l in (2, 3, 4, 6, 10):
            promise, told = Guarantee.of({"l": l}, None, None), []
            for title, (partition, options) in METHODS.items():
                if not errors and title != FITTED:
                    continue
                chosen = PARTITIONS[partition]
                seen = quasi if chosen.sees == "codes" else []
                groups = chosen.assign(seen, sensitive, promise, RandomSource(1), options)
                if errors:
                    told.append(f"{title} {error(quasi, sensitive, groups, np.random.default_rng(2006)):7.2%}")
                if title == FITTED:
                    entries = Histograms.of(groups, sensitive)
                    known = find("local", quasi, groups, (entries.groups, entries.values, entries.counts), {"l": l})
                    certain, right = known >= 0, np.count_nonzero(known == sensitive)
            groups = PARTITIONS["mondrian"].assign(space, sensitive, promise, RandomSource(1), {"cuts": "fitted"})
            entries = Histograms.of(groups, sensitive)
            shown = entries.groups, entries.values, entries.counts
            boxed = find("mondrian", quasi, groups, shown, {"l": l}, lines(encoded))
            named, true = np.count_nonzero(boxed >= 0), np.count_nonzero(boxed == sensitive)
            print(
                f"  l = {l:2}  local: certain {np.count_nonzero(certain):5,}, unique"
                f" {np.count_nonzero(certain & alone):4,}, right {right:5,}   mondrian: certain {named:5,}, right"
                f" {true:5,}{'   error: ' if told else ''}{',  '.join(told)}",
                flush=True,
            )


def boxes(folder: Path) -> None:
    tables = {name: pq.read_table(folder / "census-anatomy" / f"{name}.parquet") for name in ("occ100k", "sal500k")}
    tables = {
        name: table.take(np.random.default_rng(1).permutation(len(table))[:30_000]) for name, table in tables.items()
    }
    for name, table in {
        **tables,
        "adult": pq.read_table(folder / "adult" / "adult_all.parquet", columns=ADULT),
    }.items():
        *names, last = table.column_names
        sensitive, quasi = encode(table[last]).codes, {name: encode(table[name]) for name in names}
        most = sensitive.size / np.bincount(sensitive).max()
        print(f"{name}: {len(table):,} rows, the largest l is {most:.1f}; NCP and error, fitted and then blind")
        for partition, options in LOOKING.items():
            chosen = PARTITIONS[partition]
            lines = chosen.sees == "hierarchies"  # an order is halved where there is no hierarchy
            axes = [Axis(name, codes, None, lines or is_ordered(table[name].type)) for name, codes in quasi.items()]
            for l in (l for l in (2, 3, 4, 6, 10) if l <= most):
                promise, told = Guarantee.of({"l": l}, None, None), []
                for cuts in ("fitted", "blind"):
                    given = {**options, "cuts": cuts}
                    groups = chosen.assign(chosen.view(axes), sensitive, promise, RandomSource(1), given)
                    kept = groups >= 0
                    sizes, space = np.bincount(groups[kept]), [axis.dimension for axis in axes]
                    ncp = sizes @ penalties(space, groups).mean(axis=1) / sizes.sum()
                    columns = [codes.codes[kept] for codes in quasi.values()]
                    off = error(columns, sensitive[kept], groups[kept], np.random.default_rng(2006))
                    told.append(f"{sizes.size:6,} groups, NCP {ncp:.3f}, error {off:6.2%}")
                print(f"  {partition:12} l = {l:2}  {'   '.join(told)}")


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
    data_folder, asked = Path(os.environ["DISCREET_DATA"]), sys.argv[1] if len(sys.argv) > 1 else ""
    if asked == "boxes":
        boxes(data_folder)
    else:
        cost(int(asked)) if asked else census(data_folder / "census-anatomy")
