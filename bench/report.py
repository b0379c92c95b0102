"""The whole report on a release, for the public and for the steward: time, memory, and the size of the pages.

python bench/report.py [ROWS]
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import discreet
from data import QUASI, SENSITIVE, table
from measure import cost, verdict

SECONDS, MEGABYTES, SMALL = 180, 3, 20_000


def released(rows: int, place: Path) -> Path:
    policy = discreet.Policy(quasi=QUASI, sensitive=SENSITIVE, guarantee={"l": 10})
    return discreet.publish(table(rows), policy, to=place / str(rows)).path


def report(folder: Path, truth: Path, to: Path) -> None:
    discreet.report(folder, to=to, truth=truth, population=10_000_000)


def main(rows: int) -> None:
    with tempfile.TemporaryDirectory() as made:
        place = Path(made)
        few = (released(SMALL, place), table(SMALL), place / "few")
        taken = cost(report, released(rows, place), table(rows), place / "all", times=1, warm_up=few)
        largest = max(path.stat().st_size for path in (place / "all").glob("*.html")) / 2**20
    busy = f"{taken.processor:.0f} of the processors"
    print(f"{rows:,} rows: seconds {verdict(taken.seconds, SECONDS)}, {busy}; peak {taken.gigabytes:.1f} GB")
    print(f"largest page, MB {verdict(largest, MEGABYTES)}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
