"""Plant each leak in releases of many tables, and count who finds it: `verify`, an attack, or the audit.

Each must be found by the one that is named for it, whatever else finds it; the exit status is 1 if one ever is not.

python bench/planted.py [SEEDS]
"""

from __future__ import annotations

import sys
import tempfile
import warnings
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from audit.planted import FINDERS, LEAKS, finders, found, honest, told


def main(seeds: int) -> int:
    """Print the table; return how many times a leak was missed."""
    warnings.simplefilter("ignore")
    missed = 0
    print(f"| leak | must be found by | found by it, of {seeds} | found by |\n|---|---|---|---|", flush=True)
    with tempfile.TemporaryDirectory() as place:
        for leak in LEAKS:
            each = [found(leak, Path(place), seed) for seed in range(seeds)]
            right = sum(told(leak, who) for who in each)
            missed += seeds - right
            print(f"| {leak} | {FINDERS[leak]} | {right} | {_who(each)} |", flush=True)
        none = [list(finders(honest(Path(place) / f"honest{seed}", seed))) for seed in range(seeds)]
        print(f"| none planted | nobody | {sum(not who for who in none)} by nobody | {_who(none)} |", flush=True)
    print(f"{missed} missed" if missed else "each was found every time")
    return missed


def _who(each: list[list[str]]) -> str:
    """Who found it how often, the most frequent first."""
    many = Counter(name for names in each for name in {name.split(":")[0] for name in names})
    return ", ".join(f"{name} {times}" for name, times in many.most_common())


if __name__ == "__main__":
    sys.exit(1 if main(int(sys.argv[1]) if len(sys.argv) > 1 else 50) else 0)
