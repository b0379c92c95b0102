"""Make what `test_kept.py` opens: a release, and a vault with a release, as this version of discreet writes them.

    python tests/kept.py FOLDER

makes `release/`, `vault/` and `first/`, the vault's release, and `answers.json`. They lie in `cases/kept` as they
were made for formats 1 and 2: do not make them again. That newer versions open *these* is what is tested. For another
format, make a folder of its own. Paths in the vault are invented: where it was made is nobody's business.
"""

from __future__ import annotations

import datetime as dt
import json
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pyarrow as pa

import discreet

QUESTIONS = (
    "SELECT COUNT(*) AS n FROM microdata WHERE age >= 40",
    "SELECT COUNT(*) AS n FROM microdata WHERE town = 'Lunden' AND illness = 'flu'",
    "SELECT town, COUNT(*) AS n FROM microdata WHERE illness <> 'cold' GROUP BY town ORDER BY town",
)
ACCEPT = {"looks": "invented people"}


def people(start: int, stop: int) -> pa.Table:
    """Invented people, of whom number 7 has no age and number 11 no date."""
    each = range(start, stop)
    first = dt.date(2020, 1, 1)
    return pa.table(
        {
            "name": [f"person {i}" for i in each],
            "age": pa.array([None if i == 7 else 20 + 7 * i % 61 for i in each], pa.int64()),
            "town": [("Aden", "Lunden", "Été", "Ōsaka")[i * i % 4 + i % 3 % 2] for i in each],
            "since": pa.array([None if i == 11 else first + dt.timedelta(days=13 * i) for i in each]),
            "illness": [("flu", "cold", "gout", "ague", "croup")[3 * i % 5] for i in each],
        }
    )


def policy(**own: object) -> discreet.Policy:
    quasi = ["age", "town", "since"]
    return discreet.Policy(identifiers=["name"], quasi=quasi, sensitive="illness", accept=ACCEPT, **own)


def answers(release: discreet.Release) -> list[list[dict[str, object]]]:
    return [release.ask(question).rows() for question in QUESTIONS]


def main(to: Path) -> None:
    release = discreet.publish(people(0, 60), policy(guarantee={"l": 3}, publication="anatomy"), to=to / "release")
    boxes = policy(guarantee={"l": 2}, publication="generalization")
    with discreet.Vault.create(to / "vault", boxes) as vault:
        vault.append(people(0, 40))
        first = vault.release(to / "first")
        vault.append(people(40, 64))  # not shown yet
    told = {"release": answers(release), "first": answers(first)}
    (to / "answers.json").write_text(json.dumps(told, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    with closing(sqlite3.connect(to / "vault" / "vault.sqlite", isolation_level=None)) as database:
        database.execute("UPDATE releases SET path = '/home/steward/first', hidden = '/home/steward/.first.partial'")
        for line in ("journal_mode = DELETE", "page_size = 1024"):  # smaller; a vault does not ask
            database.execute(f"PRAGMA {line}")
        database.execute("VACUUM")
        database.execute("PRAGMA journal_mode = WAL")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
