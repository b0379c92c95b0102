"""Ask the sixty questions of every publication; print how many are answered, and write the page that shows them."""

from __future__ import annotations

import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Collection, Mapping
from pathlib import Path

from sixty.judge import Asked, Outcome, judged, questions
from sixty.page import PAGE, written
from sixty.table import ASKED, released


def outcomes(name: str, place: Path, asked: Collection[Asked]) -> Mapping[int, Outcome]:
    """What comes of questions by one column of the page."""
    how = ASKED[name]
    releases = {each: released(how.policy, each, place / how.policy / each) for each in how.sensitive}
    return {
        each.number: judged(releases[each.sensitive], each.sql, how.estimator)
        for each in asked
        if each.sensitive in releases
    }


def main() -> None:
    """Ask by all columns of the page, or by those that are named; if by all, write the page."""
    warnings.simplefilter("ignore")
    every, found = questions(), {}
    for name in sys.argv[1:] or ASKED:
        with tempfile.TemporaryDirectory() as place:
            found[name] = outcomes(name, Path(place), every)
        for number, outcome in found[name].items():
            for fault in outcome.every_fault():
                print(f"{name}, question {number}: {fault}")
        counted = Counter(outcome.kind for outcome in found[name].values())
        print(f"{name}: " + ", ".join(f"{number} {kind}" for kind, number in sorted(counted.items())), flush=True)
    if {*found} == {*ASKED}:
        PAGE.write_text(written(every, found), encoding="utf-8")


if __name__ == "__main__":
    main()
