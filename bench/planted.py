"""Plant each leak in releases of many tables, and count who finds it: `verify`, an attack, or the audit.

python bench/planted.py [SEEDS]
"""

from __future__ import annotations

import sys
import tempfile
import warnings
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from audit.planted import LEAKS, finders, found, honest


def main(seeds):
    warnings.simplefilter("ignore")
    print(f"leak            found   of {seeds} by")
    with tempfile.TemporaryDirectory() as place:
        for leak in LEAKS:
            each = [found(leak, Path(place), seed) for seed in range(seeds)]
            who = Counter(name for names in each for name in {name.split(":")[0] for name in names})
            told = ", ".join(f"{name} {many}" for name, many in who.most_common())
            print(f"{leak:15} {sum(map(bool, each)):5}   {told}", flush=True)
        none = [list(finders(honest(Path(place) / f"honest{seed}", seed))) for seed in range(seeds)]
        print(f"{'none planted':15} {sum(map(bool, none)):5}   {', '.join({name for names in none for name in names})}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 50)
