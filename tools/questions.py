"""Ask the sixty questions of every publication, and print how many are answered."""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from pathlib import Path

from docs_sessions import same_chance
from sixty.judge import judged, questions
from sixty.table import NUMBERS_ONLY, PUBLICATIONS, released


def main() -> None:
    """Ask of all publications, or of those that are named."""
    for name in sys.argv[1:] or PUBLICATIONS:
        with tempfile.TemporaryDirectory() as place, same_chance():
            sensitive = ["salary"] if name in NUMBERS_ONLY else ["salary", "reason"]
            releases = {each: released(name, each, Path(place) / each) for each in sensitive}
            found = Counter[str]()
            for asked in questions():
                if asked.sensitive in releases:
                    outcome = judged(releases[asked.sensitive], asked.sql)
                    found[outcome.kind] += 1
                    for fault in outcome.every_fault():
                        print(f"{name}, question {asked.number}: {fault}")
            print(f"{name}: " + ", ".join(f"{number} {kind}" for kind, number in sorted(found.items())))


if __name__ == "__main__":
    main()
