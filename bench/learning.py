"""Fit a model to a release and draw twenty plausible tables: time and memory, in a process of its own.

    python bench/learning.py [ROWS ...]     300,000 rows with five quasi-identifiers, and 10 million with seven

The release is made by `local` before; drawing starts from its files.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import discreet
from data import QUASI, SENSITIVE, table
from discreet.learn.draws import draw
from discreet.learn.view import View
from measure import cost, verdict

TABLES, SMALL = 20, 20_000
LIMITS = {300_000: (5, 60, 6), 10_000_000: (7, 600, 6)}  # rows: quasi-identifiers, seconds, gigabytes


def drawn(folder: Path) -> None:
    found = draw(View.of(discreet.open_release(folder)), TABLES, secret=14)
    print("; ".join([f"R-hat {found.fit.rhat}", *found.fit.notes]), flush=True)


def released(rows: int, several: int, place: Path) -> Path:
    quasi = QUASI[:several]
    policy = discreet.Policy(
        quasi=quasi,
        sensitive=SENSITIVE,
        drop="rest",
        guarantee={"l": 10},
        partition="local",
        options={"cuts": "fitted"},
    )
    return discreet.publish(table(rows), policy, to=place / f"{rows}-{several}", seed=14).path


def main(*sizes: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for rows in sizes:
            several, seconds, gigabytes = LIMITS.get(rows, LIMITS[10_000_000])
            small, large = (released(many, several, Path(folder)) for many in (SMALL, rows))
            taken = cost(drawn, large, times=1, warm_up=(small,))
            print(f"{rows:,} rows x {several}: {TABLES} tables, fit and all", flush=True)
            print(f"  seconds   {verdict(taken.seconds, seconds)}, {taken.processor:.0f} of a processor")
            print(f"  gigabytes {verdict(taken.gigabytes, gigabytes)}", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:] or map(str, LIMITS)))
