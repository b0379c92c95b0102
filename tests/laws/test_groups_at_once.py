"""Law: what a server keeps of groups changes no answer. The plan without it is the oracle."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal
from uuid import uuid4

import numpy as np
import psycopg
import pyarrow as pa
import pytest
from psycopg.sql import SQL, Identifier

import discreet
from alike import alike
from discreet.answer import Session
from discreet.errors import VerificationError
from discreet.release.beside import KEPT

ROWS = 160
SENSITIVE = {
    "integer": (pa.int32(), lambda n: n - 6, ("3", "-2", "2.5", "'4'")),
    "small": (pa.int16(), lambda n: n * 5, ("10", "12.5", "70000")),
    "large": (pa.int64(), lambda n: 2**53 + n, (str(2**53 + 4),)),
    "float": (pa.float64(), lambda n: n / 3, ("1", "0.5", "2.6666666666666665")),
    "single": (pa.float32(), lambda n: n / 10, ("0.3", "0.5")),
    "decimal": (pa.decimal128(9, 2), lambda n: Decimal(n) / 4, ("1.25", "2", "1.253")),
    "text": (pa.string(), lambda n: "aBäzZé%_ ("[n % 10] * (1 + n // 10), ("'B'", "'zz'", "'ä'")),
    "date": (pa.date32(), lambda n: date(2020, 2, 25) + timedelta(n), ("'2020-03-01'", "DATE '2020-02-28'")),
}
CONDITIONS = ("x = {}", "x <> {}", "x < {}", "x <= {}", "x > {}", "x >= {}", "x BETWEEN {} AND {}", "NOT x > {}")
PLACES = ("age > 40", "age > 40 AND town = 'Ulm'", "town IS NULL", "age > 200")


def released(folder, kind, partition, *, missing=False, seed=0):
    rng = np.random.default_rng(seed)
    type_, value, _ = SENSITIVE[kind]
    numbers = rng.permutation(np.arange(ROWS) % (5 if partition == "deal" else 13))  # few values: groups are alike
    values = [None if missing and n == 3 else value(int(n)) for n in numbers]
    table = pa.table(
        {
            "age": rng.integers(18, 90, ROWS),
            "town": pa.array(rng.choice(["Ulm", "Bonn", "Köln"], ROWS), mask=rng.random(ROWS) < 0.1),
            "x": pa.array(values, type_),
        }
    )
    policy = {"quasi": ["age", "town"], "sensitive": "x", "partition": partition, "guarantee": {"l": 4}}
    if missing:
        policy["missing_sensitive"] = "value"
    return discreet.publish(table, policy, to=folder / f"{kind}-{partition}", seed=seed)


def questions(kind):
    constants = SENSITIVE[kind][2]
    for number, condition in enumerate(CONDITIONS):
        chosen = [constants[(number + i) % len(constants)] for i in range(2)]
        where = f"{PLACES[number % 4]} AND {condition.format(*chosen)}"
        yield f"SELECT COUNT(*), COUNT(x) FROM microdata WHERE {where}"
        yield f"SELECT town, COUNT(*) FROM microdata WHERE {where} GROUP BY town"
    if kind not in {"text", "date"}:
        for place in PLACES:
            yield f"SELECT SUM(x), COUNT(*), AVG(x), COUNT(x) FROM microdata WHERE {place}"
            yield f"SELECT town, age > 50, AVG(x), SUM(x) FROM microdata WHERE {place} GROUP BY town, age > 50"
        yield "SELECT town, AVG(x), MAX(x) FROM microdata WHERE age > 40 GROUP BY town"
        yield "SELECT AVG(x) FROM microdata WHERE age > 40 AND x > 1"
    if kind in {"integer", "small"}:  # of which squares are kept
        for number, condition in enumerate((*CONDITIONS, *CONDITIONS[1:], CONDITIONS[0])):
            chosen = [constants[(number + i) % len(constants)] for i in range(2)]
            where = f"{PLACES[number % 3]} AND {condition.format(*chosen)}"
            by = number >= len(CONDITIONS)
            asked = f"SELECT {'town, ' * by}SUM(x), COUNT(*) FROM microdata WHERE {where}"
            yield asked + " GROUP BY town" * by
    yield "SELECT COUNT(x) FROM microdata WHERE town = 'Ulm'"
    asked = [
        "MIN(x), MAX(x), QUANTILE_DISC(x, 0.3), COUNT(*), COUNT(x)",
        "town, age > 50, MAX(x), QUANTILE_DISC(x, 0.9)",
        "town, MIN(x)",
        "town, QUANTILE_DISC(x, 0), QUANTILE_DISC(x, 1)",
    ]
    if kind not in {"text", "date"}:
        asked += ["MEDIAN(x), QUANTILE_CONT(x, 0.35), MIN(x), AVG(x)", "town, MEDIAN(x), SUM(x), COUNT(*)"]
    for number, columns in enumerate([*asked, *asked[1:], asked[0]]):  # each by both partitions
        keys = [each for each in columns.split(", ") if each in {"town", "age > 50"}]
        by = f" GROUP BY {', '.join(keys)}" if keys else ""
        yield f"SELECT {columns} FROM microdata WHERE {PLACES[number // 2 % 4]}{by}"


@pytest.mark.parametrize(
    ("kind", "partition", "missing"),
    [
        *((kind, partition, False) for kind in SENSITIVE for partition in ("local", "deal")),
        ("integer", "local", True),
        ("text", "deal", True),
    ],
)
def test_groups_at_once_change_nothing(server, tmp_path, kind, partition, missing):
    """But where a value is missing nothing is kept."""
    release = released(tmp_path, kind, partition, missing=missing, seed=len(kind))
    packed = 0
    with (
        discreet.load(release, server.url(), name=f"kept_{uuid4().hex}") as there,
        closing(Session(there)) as plain,
    ):
        kept = there.session.sealed.statistics.kept
        assert (kept is None) == missing
        assert kept is None or kept.own == (partition == "local")
        plain.sealed.statistics = replace(plain.sealed.statistics, kept=None)
        for question in [*questions(kind)][partition == "local" :: 2]:  # the others by the other partition
            found, expected = there.ask(question, estimator="even"), plain.ask(question, estimator="even")
            assert alike(found, expected), (question, found.rows(), expected.rows())
            packed += '"packed"' in there.explain(question, estimator="even")
            assert '"packed"' not in plain.explain(question, estimator="even")
    assert missing == (packed == 0)


ODD = {
    "truth": [True, False, False, True, True],
    "no number": [1e300, 1.5, float("inf"), -float("inf"), 2.5],
    "negative": [-3, 0, 0, 5, -3],
}


@pytest.mark.parametrize("kind", ODD)
def test_odd_values_are_answered_as_before(server, tmp_path, kind):
    """Truth values have no MIN in the server, and what is no number no sums."""
    values = [ODD[kind][(7 * i // 3) % 5] for i in range(ROWS)]
    table = pa.table({"age": [18 + i * i % 70 for i in range(ROWS)], "x": values})
    policy = {"quasi": ["age"], "sensitive": "x", "guarantee": {"k": 5}, "partition": "local", "publication": "anatomy"}
    release = discreet.publish(table, policy, to=tmp_path / "r", seed=1)
    asked = ["MIN(x), MAX(x), QUANTILE_DISC(x, 0.4)", "age > 50, MAX(x), COUNT(x)"]
    if kind == "negative":
        asked += [
            f"SUM(x) AS a FROM microdata WHERE age > 30 AND x {each}" for each in ("< 1", "> -5", "BETWEEN -3 AND 0")
        ]
    with (
        discreet.load(release, server.url(), name=f"kept_{uuid4().hex}") as there,
        closing(Session(there)) as plain,
    ):
        plain.sealed.statistics = replace(plain.sealed.statistics, kept=None)
        for each in asked:
            by = " GROUP BY 1" if each.startswith("age") else ""
            question = f"SELECT {each}" + ("" if "FROM" in each else f" FROM microdata WHERE age > 30{by}")
            found, expected = there.ask(question, estimator="even"), plain.ask(question, estimator="even")
            assert alike(found, expected), (question, found.rows(), expected.rows())


@pytest.fixture
def stored(server, tmp_path):
    with discreet.load(released(tmp_path, "integer", "local"), server.url(), name=f"kept_{uuid4().hex}") as there:
        yield there


def changed(server, there, statement):
    """Change a table of a release behind its back."""
    with psycopg.connect(server.url(), autocommit=True) as connection:
        for name in KEPT.keys() & there.beside.keys():
            connection.execute(SQL(statement).format(Identifier(*there.beside[name])))


def test_a_release_without_such_tables_is_asked_as_before(server, stored):
    question = "SELECT town, AVG(x), SUM(x) FROM microdata WHERE age > 40 GROUP BY town"
    expected = stored.ask(question, estimator="even")
    changed(server, stored, "DROP TABLE {}")
    with discreet.open_release(server.url(), release=stored.address.name) as older:
        assert alike(older.ask(question, estimator="even"), expected)
        assert '"packed"' not in older.explain(question, estimator="even")
        assert discreet.verify(older.address).ok


@pytest.mark.parametrize(
    "statement",
    ["UPDATE {} SET size = size + 1 WHERE signature = 1", "DELETE FROM {} WHERE signature = 2", "TRUNCATE {}"],
)
def test_what_is_kept_is_compared_with_the_rows(server, stored, tmp_path, statement):
    changed(server, stored, statement)
    with pytest.raises(VerificationError, match="does not fit its rows"):
        discreet.release.database.move.dump(stored.address, tmp_path / "copy")


def test_who_may_read_a_release_is_answered_by_what_is_kept(server, tmp_path):
    """SELECT is enough, and one statement."""
    role = f"analyst_{uuid4().hex}"
    with psycopg.connect(server.url(), autocommit=True) as connection:
        connection.execute(SQL("CREATE ROLE {} LOGIN").format(Identifier(role)))
        release = released(tmp_path, "integer", "deal")
        name = f"kept_{uuid4().hex}"
        with discreet.load(release, server.url(), name=name, grant=[role]) as there:
            sql = there.explain("SELECT AVG(x) FROM microdata WHERE age > 40", estimator="even")
            assert '"packed"' in sql
            connection.execute(SQL("SET ROLE {}").format(Identifier(role)))
            assert len(connection.execute(sql).fetchall()) == 1
