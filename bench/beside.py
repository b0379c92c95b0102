"""The partitions of an anatomy side by side: one question about invented people, and many about the census tables.

    python bench/beside.py [--questions 1000]

First the question of `discreet demo` about its 100,000 people, of a release by each partition: estimate, standard error
and bounds by `even`. Then the mean relative error of COUNT questions about SAL and OCC (`asked`): sets of values of two
quasi-identifiers and of the sensitive column. l = 10, seeds are fixed, tables lie in the folder $DISCREET_DATA.
"""

from __future__ import annotations

import argparse
import tempfile
import warnings
from pathlib import Path

import discreet
from asked import Shown, questions
from census import private
from discreet.cli.demo import QUASI
from discreet.table.people import people
from estimates import SEED, Method, publish

WAYS = {
    "anatomize": Method("anatomize"),
    "deal": Method("deal"),
    "local": Method("local"),
    "local, fitted": Method("local", options={"cuts": "fitted"}),
    "cluster, fitted": Method("cluster", options={"cuts": "fitted"}),
}
ASKED = "SELECT COUNT(*) FROM people WHERE age < 40 AND salary > 100000"
CENSUS = ("anatomize", "local, fitted", "cluster, fitted")


def invented(rows: int) -> None:
    table = people(rows).drop_columns(["name", "diagnosis"])
    old, rich = table["age"].to_numpy() < 40, table["salary"].to_numpy() > 100_000
    print(f"{ASKED}: {(old & rich).sum():,}")
    print(f"{'':18}{'groups':>8}{'estimate':>10}{'stderr':>9}{'low':>8}{'high':>8}")
    for title, way in WAYS.items():
        policy = discreet.Policy(
            name="people",
            quasi=QUASI,
            sensitive="salary",
            guarantee={"l": 10},
            partition=way.partition,
            options=way.options,
            accept=dict.fromkeys(("minimality", "looks"), "measured, and not published"),
        )
        with tempfile.TemporaryDirectory() as folder:
            release = discreet.publish(table, policy, to=Path(folder) / "release", seed=SEED)
            [row] = release.ask(ASKED, estimator="even").rows()
            figures = [row[f"count{end}"] for end in ("", "_stderr", "_low", "_high")]
            told = "{:10,.1f}{:9.2f}{:8,}{:8,}".format(*figures)
            print(f"{title:18}{release.promise.groups:8,}{told}", flush=True)


def census(many: int) -> None:
    print(f"\nmean error of {many:,} questions, sets on two quasi-identifiers\n{'':18}{'SAL':>8}{'OCC':>8}")
    tables = [private(name) for name in ("SAL", "OCC")]
    asked = [questions(table, "sets", 2, many, SEED) for table in tables]
    for title in CENSUS:
        errors = []
        for table, some in zip(tables, asked, strict=True):
            with tempfile.TemporaryDirectory() as folder:
                release = publish(table, WAYS[title], 0, Path(folder) / "release")
                errors.append(Shown.of(release, table).even(some).errors(some).mean())
        print(f"{title:18}" + "".join(f"{error:8.2%}" for error in errors), flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore", discreet.errors.DiscreetWarning)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=int, default=1000)
    given = parser.parse_args()
    invented(100_000)
    census(given.questions)
