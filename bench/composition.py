"""Two to five releases of the same people by anatomy, held against each other: who is given away, time and memory.

python bench/composition.py [ROWS]
"""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from pathlib import Path

import discreet
from discreet.table.people import people

POLICY = discreet.Policy(
    quasi=["age", "sex", "zipcode", "education"],
    sensitive="diagnosis",
    drop="rest",
    partition="anatomize",
    guarantee={"l": 4},
)


def main(rows):
    everybody = people(rows)
    with tempfile.TemporaryDirectory() as place:
        # each has a tenth of the first's people more than the one before
        paths = [
            discreet.publish(everybody.slice(0, rows * (10 + i) // 14), POLICY, to=Path(place) / str(i), seed=i).path
            for i in range(5)
        ]
        discreet.audit(paths[:2], same_people=True)  # compiles
        print(
            f"{rows * 10 // 14:,} to {rows:,} rows\nreleases  same people    seconds     people     pinned      right"
        )
        for many in (2, 3, 5):
            for same in (False, True):
                start = time.perf_counter()
                found = discreet.audit(paths[:many], same_people=same, truth=everybody)
                took = time.perf_counter() - start
                right = 0 if found.truth is None else found.truth.pinned
                print(f"{many:8}  {same!s:>11} {took:10.1f} {found.people:10,} {found.pinned:10,} {right:10,}")
    print(f"at most {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.1f} GB")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_400_000)
