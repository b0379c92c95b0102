"""Questions stored with a release in a database, for whoever asks there without `discreet`: in psql, DBeaver, Grafana.

What is stored is the one query that the plan of a question is, by the estimator `even`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from discreet.engines import Address, questions_of, store_of
from discreet.errors import InputError

if TYPE_CHECKING:
    from discreet.release.database.release import InDatabase

NAME = re.compile(r"[a-z][a-z0-9_]{0,62}")  # what nobody has to put in quotes
KEPT = ("discreet_", "pg_")  # how our own names begin, and those of the server
ESTIMATOR = "even"


def store(release: InDatabase, question: str, name: str) -> str:
    """Store a question under a name; returns the SQL that asks it."""
    if not NAME.fullmatch(name) or name.startswith(KEPT):
        raise InputError(
            "a question has a name of up to 63 small letters, digits and `_`, a letter first",
            hint="for example by_sex; `discreet_…` and `pg_…` are taken",
        )
    sql = release.session.planned(question, estimator=ESTIMATOR)  # first, since it says why something cannot be stored
    answer = release.ask(question, estimator=ESTIMATOR)
    parts = questions_of(release.address)
    told = parts.Question(name, question, sql, answer.notes)
    asked: str = parts.store(release.address, told, answer.columns, len(answer))
    return asked


def stored(address: Address) -> dict[str, str]:
    """The questions that are stored, by name."""
    with store_of(address).opened(address) as found:
        return {each.name: each.question for each in questions_of(address).questions(found)}


def forget(address: Address, name: str) -> None:
    """Take away a question that was stored."""
    questions_of(address).forget(address, name)
