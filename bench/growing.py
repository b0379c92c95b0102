"""A table that grows from 10,000 to 30,000 rows in 21 releases: section 5 of Byun et al. (SDM 2006), figures 8 to 11.

Published are all rows anew (Static I), new rows by themselves (Static II), and a vault that grows either way; and one
whose lots are divided by the partition `compact`, with cuts that are fitted to values (`compact`) or not (`blind`).
Printed are the rows that are vulnerable to those who hold all releases so far (and if they do not know who is new; and
by pairs of releases alone, as the paper counts), the information loss of the average row, the rows that wait, and the
time of a release. The static ways cut at medians, the vault where least is lost; so they are shown once more with its
cuts (`least`), and once more with the median of one column, as the paper says (`median`). The auditor may take a minute
for all releases of one way. Names after the number of increments choose some of the ways. The rows are Adult's, if
DISCREET_DATA points at the real data.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import discreet
from discreet.comparison.static import Cuts, static_all, static_new
from discreet.release import Release
from measure import verdict

ADULT = ("age", "workclass", "marital_status", "occupation", "race", "sex", "native_country", "income")
START, STEP, INCREMENTS, MINUTE = 10_000, 1_000, 20, 60
VAULTS: dict[str, dict[str, Any]] = {
    "compact": {"partition": "compact", "options": {"cuts": "fitted"}},
    "settle": {},
    "insert": {"options": {"growth": "insert"}},
    "blind": {"partition": "compact"},
}


def rows() -> tuple[pa.Table, tuple[str, ...], str]:
    """A table in random order, its quasi-identifiers and its sensitive column."""
    if place := os.environ.get("DISCREET_DATA"):
        table = pq.read_table(Path(place) / "adult" / "adult_all.parquet")
        table, quasi, sensitive = table.filter(table["complete"]), ADULT, "education"
    else:
        from discreet.table.people import people

        table, sensitive = people(START + STEP * INCREMENTS, seed=1), "diagnosis"
        quasi = ("age", "sex", "zipcode", "education", "marital_status", "country")
    order = np.random.default_rng(2006).permutation(len(table))[: START + STEP * INCREMENTS]
    return table.select([*quasi, sensitive]).take(order), quasi, sensitive


def vault(tables: list[pa.Table], policy: discreet.Policy, to: Path) -> Iterator[tuple[Release, int]]:
    with discreet.Vault.create(to / "vault", policy) as kept:
        for number, table in enumerate(tables):
            waiting = kept.append(table).waiting
            yield kept.release(to / f"{number:03}"), waiting


def static(publish: Callable[..., list[Release]], cuts: Cuts) -> Callable[..., Iterator[tuple[Release, int]]]:
    def act(tables: list[pa.Table], policy: discreet.Policy, to: Path) -> Iterator[tuple[Release, int]]:
        for release in publish(tables, policy, to, cuts=cuts):
            yield release, 0

    return act


def main(increments: int, chosen: list[str]) -> None:
    table, quasi, sensitive = rows()
    tables = [table.slice(0, START), *(table.slice(START + STEP * i, STEP) for i in range(increments))]
    for l in (5, 7):
        print(f"\ndistinct_l = {l}")
        print("                rows  groups  vulnerable (unknown) by pairs    il  waiting  seconds a release")
        ways = {
            "static_all": static(static_all, "policy"),
            "static_new": static(static_new, "policy"),
            "all, least": static(static_all, "least_loss"),
            "new, least": static(static_new, "least_loss"),
            "all, median": static(static_all, "median"),
            "new, median": static(static_new, "median"),
            "compact": vault,
            "settle": vault,
            "insert": vault,
            "blind": vault,
        }
        for name, act in ways.items():
            if chosen and name not in chosen:
                continue
            own = VAULTS.get(name, {"options": {"cuts": "fitted"}})
            policy = discreet.Policy(
                quasi=quasi,
                sensitive=sensitive,
                guarantee={"distinct_l": l},
                publication="generalization",
                **own,
                accept={"looks": "to compare with the paper", "insert": "to compare with the paper"},
            )
            with tempfile.TemporaryDirectory() as folder:
                start = time.perf_counter()
                made = list(act(tables, policy, Path(folder)))
                publishing = (time.perf_counter() - start) / len(made)
                found = [discreet.audit([of for of, _ in made], insertions=what) for what in ("known", "unknown")]
                start = time.perf_counter()
                discreet.audit([of for of, _ in made])
                auditing = time.perf_counter() - start
                for at in sorted({0, len(made) // 2, len(made) - 1}):
                    release, waiting = made[at]
                    size = release.promise.rows
                    shares = [of.releases[at].vulnerable / size for of in found]
                    print(
                        f"{name:12} {release.promise.rows:7,} {release.promise.groups:7,}"
                        f"       {shares[0]:6.1%}  ({shares[1]:6.1%})   {found[0].releases[at].by_pairs / size:6.1%}"
                        f" {discreet.metrics(release).il:6.3f} {waiting:7,}"
                        f"  {publishing:16.2f}"
                    )
                print(f"{'':12} {len(made)} releases audited in {auditing:.1f} s {verdict(auditing, MINUTE)}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else INCREMENTS, sys.argv[2:])
