"""What an answer by design takes, beside the same answer by `even`: by the compiled pass, and by the plain plan.

    python bench/design.py [ROWS]       1 million rows unless told otherwise

CPU time of all threads, the median of several questions that differ in a constant; the two take turns.
"""

from __future__ import annotations

import sys
from pathlib import Path

import discreet
from ask import QUESTIONS, milliseconds
from data import QUASI, SENSITIVE, table
from discreet.answer.session import Session

LIMIT = 1.5
MORE = {
    "SUM of a quasi-identifier": "SELECT SUM(age) FROM microdata WHERE age > {} AND salary < 20",
    "AVG of a quasi-identifier by values": "SELECT salary, AVG(age) FROM microdata WHERE age > {} GROUP BY salary",
    "COUNT by both sides": "SELECT salary, gender, COUNT(*) FROM microdata WHERE age > {} GROUP BY salary, gender",
}
NEITHER = ("COUNT", "MIN", "MAX")  # exact, or left to `even`


def published(rows: int) -> Path:
    """The release, made once and kept among the temporary files."""
    path = table(rows)
    folder = path.parent / f"{rows}-mixed"
    if not folder.exists():
        rules = discreet.Policy(quasi=QUASI, sensitive=SENSITIVE, partition="mixed", guarantee={"l": 10})
        discreet.publish(path, rules, to=folder)
    return folder


def main(rows: int) -> None:
    folder = published(rows)
    asked = {**{name: sql for name, sql in QUESTIONS.items() if name not in NEITHER}, **MORE}
    for accelerate, way in ((True, "compiled pass"), (False, "plain plan")):
        print(f"\n{rows:,} rows, mixed, {way}\n{'':36} {'even':>9} {'design':>9} {'times':>9}")
        for name, sql in asked.items():
            with Session(discreet.open_release(folder), accelerate=accelerate) as session:
                even, design = milliseconds(
                    lambda turn, sql=sql, session=session: session.ask(sql.format(20 + turn), estimator="even"),
                    lambda turn, sql=sql, session=session: session.ask(sql.format(20 + turn), estimator="design"),
                )
            missed = "  MISSED" * (design > LIMIT * even)
            print(f"{name:36} {even:9.1f} {design:9.1f} {design / even:9.2f}{missed}", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
