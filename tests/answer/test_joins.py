"""Tables of one's own beside a release: every way to write a join, every publication, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from pyarrow import csv

from discreet import Policy, publish
from discreet.answer.question.own import Own
from discreet.answer.question.parse import read_question
from discreet.errors import QueryError
from discreet.release import Release

PEOPLE = pa.table(
    {
        "zip": [1, 2, 3, 4, 5, 6] * 20,
        "age": [20 + i % 37 for i in range(120)],
        "job": [f"J{i % 5}" for i in range(120)],
        "ill": [f"D{i % 8}" for i in range(120)],
    }
)
REGIONS = pa.table(
    {
        "zip": [1, 2, 3, 4, 5],
        "region": ["north", "north", "south", "south", "east"],
        "urban": [True, False, True, True, False],
        "ZIP code": [10, 20, 30, 40, 50],
    }
)
CODES = pa.table({"code": [f"D{i}" for i in range(7)], "chapter": ["A", "A", "A", "B", "B", "C", "C"]})
JOBS = pa.table({"job": pa.array([f"J{i}" for i in range(5)]).dictionary_encode(), "sector": list("ppqqr")})
SECTORS = pa.table({"sector": ["p", "q"], "title": ["public", "quick"]})
OWN = {"Regions": REGIONS, "codes": CODES, "jobs": JOBS, "sectors": SECTORS}


def released(to: Path, publication: str = "anatomy", **options: Any) -> Release:
    policy = Policy(
        **{"quasi": ["zip", "age", "job"], "sensitive": "ill", "guarantee": {"l": 4}, **options},
        publication=publication,
        accept={"looks": "invented"},
    )
    return publish(PEOPLE, policy, to=to)


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Release]:
    with closing(released(tmp_path_factory.mktemp("joins") / "release", partition="deal").session) as session:
        yield session.release


EXACT = [
    "SELECT r.region, COUNT(*) AS n FROM microdata m JOIN regions r ON m.zip = r.zip WHERE r.urban GROUP BY r.region",
    "SELECT region, COUNT(*) AS n FROM microdata JOIN regions USING (zip) WHERE urban AND zip < 4 GROUP BY region",
    "SELECT r.region, COUNT(*) AS n FROM microdata LEFT JOIN regions r USING (zip) GROUP BY 1",
    "SELECT region, COUNT(*) AS n FROM regions AS r JOIN microdata AS m ON m.zip = r.zip AND age > 30 GROUP BY region",
    "SELECT region, COUNT(*) AS n FROM microdata, regions WHERE microdata.zip = regions.zip AND urban GROUP BY region",
    """
    SELECT title, region, COUNT(*) AS n, AVG(r."zip code") AS s FROM microdata m JOIN jobs j ON j.job = m.job
    LEFT JOIN sectors s ON j.sector = s.sector INNER JOIN regions r ON r."ZIP code" = m.zip * 10 GROUP BY title, region
    """,
    """
    SELECT COALESCE(r.region, 'none') AS region, COUNT(*) AS n
    FROM microdata m LEFT JOIN regions r ON m.zip = r.zip AND m.age = r."zip code" GROUP BY 1
    """,
]


@pytest.mark.parametrize("sql", EXACT)
def test_joins_on_quasi_identifiers_are_exact(sql: str, release: Release) -> None:
    with duckdb.connect() as plain:
        for name, table in {"microdata": PEOPLE, **OWN}.items():
            plain.register(name, table)
        truth = sorted(map(str, plain.sql(sql).fetchall()))
    answer = release.ask(sql, tables=OWN)
    names = [name for name in answer.columns if not name.endswith(("_stderr", "_low", "_high"))]
    assert sorted(str(tuple(row[name] for name in names)) for row in answer.rows()) == truth
    assert all(row["n_low"] == row["n"] == row["n_high"] for row in answer.rows())


@pytest.mark.parametrize(
    ("publication", "options"),
    [
        ("anatomy", {"partition": "deal"}),
        ("anatomy", {"partition": "mixed"}),
        ("full_permutation", {}),
        ("generalization", {"partition": "mondrian"}),
    ],
)
def test_every_publication_bounds_the_truth(publication: str, options: dict[str, Any], tmp_path: Path) -> None:
    with duckdb.connect() as plain:
        for name, table in {"microdata": PEOPLE, **OWN}.items():
            plain.register(name, table)
        made = released(tmp_path / "release", publication, **options)
        with closing(made.session) as session:
            for sql in (
                "SELECT chapter, COUNT(*) AS n FROM microdata LEFT JOIN codes ON ill = code GROUP BY chapter",
                """
                SELECT chapter, COUNT(*) AS n FROM microdata JOIN regions r USING (zip) JOIN codes ON ill = code
                WHERE r.urban GROUP BY chapter
                """,
                "SELECT COUNT(*) AS n FROM microdata JOIN regions r USING (zip) WHERE region = 'south'",
            ):
                truth = {tuple(row[:-1]): row[-1] for row in plain.sql(sql).fetchall()}
                found = session.ask(sql, tables=OWN).rows()
                held = {(row["chapter"],) if "chapter" in row else (): (row["n_low"], row["n_high"]) for row in found}
                assert truth.keys() <= held.keys()
                assert all(held[key][0] <= n <= held[key][1] for key, n in truth.items()), sql


def test_another_table_of_the_same_name_is_another_table(release: Release) -> None:
    sql = "SELECT COUNT(*) AS n FROM microdata JOIN own USING (zip) WHERE big"
    for bigs, expected in (([True] * 3, 60), ([False] * 3, 0), ([True, False, True], 40), ([True] * 3, 60)):
        own = pa.table({"zip": [1, 2, 3], "big": bigs})
        assert release.ask(sql, tables={"own": own}).rows()[0]["n"] == expected
    for number in range(20):  # more than are kept
        own = pa.table({"zip": [1], "big": [True], "number": [number]})
        assert release.ask(sql, tables={"own": own}).rows()[0]["n"] == 20
    assert release.ask(sql, tables={"own": pa.table({"zip": [1, 2, 3], "big": [True] * 3})}).rows()[0]["n"] == 60


REFUSED = {
    "several rows": (
        "SELECT COUNT(*) FROM microdata JOIN twice USING (zip)",
        r"`zip` has several rows for one value \(1: 2\)",
    ),
    "both sides": (
        "SELECT COUNT(*) FROM microdata m JOIN pairs p ON m.zip = p.zip AND m.ill = p.ill",
        "mixes the sensitive column `ill` with a quasi-identifier",
    ),
    "or": (
        "SELECT COUNT(*) FROM microdata m JOIN regions r USING (zip) WHERE r.urban OR m.ill = 'D1'",
        "`r.urban OR ill = 'D1'` mixes the sensitive column",
    ),
    "no key": ("SELECT COUNT(*) FROM microdata, regions", "nothing says which row of `Regions` belongs to a person"),
    "range": ("SELECT COUNT(*) FROM microdata m JOIN regions r ON m.zip < r.zip", "nothing says which row"),
    "right": ("SELECT COUNT(*) FROM microdata RIGHT JOIN regions USING (zip)", "RIGHT JOIN is not supported"),
    "natural": ("SELECT COUNT(*) FROM microdata NATURAL JOIN regions", "NATURAL JOIN is not supported"),
    "outer": ("SELECT COUNT(*) FROM regions LEFT JOIN microdata USING (zip)", "stands on the outer side"),
    "itself": ("SELECT COUNT(*) FROM microdata a JOIN microdata b ON a.zip = b.zip", "cannot be joined with itself"),
    "unknown": ("SELECT COUNT(*) FROM microdata JOIN region USING (zip)", "there is no table `region`"),
    "column": ("SELECT COUNT(*) FROM microdata m JOIN regions r ON m.zip = r.zap", "`Regions` has no column `zap`"),
    "ambiguous": (
        "SELECT COUNT(*) FROM microdata m JOIN regions r ON m.zip = r.zip WHERE zip > 2",
        "column of several tables",
    ),
    "subquery": (
        "SELECT COUNT(*) FROM microdata JOIN (SELECT 1 AS zip) AS x USING (zip)",
        "a subquery cannot be joined",
    ),
    "left with more": (
        "SELECT COUNT(*) FROM microdata m LEFT JOIN regions r ON m.zip = r.zip AND r.urban",
        "in a LEFT JOIN compares no column",
    ),
    "twice": (
        "SELECT COUNT(*) FROM microdata JOIN regions USING (zip) JOIN regions USING (zip)",
        "two tables are called",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_says_why(name: str, release: Release) -> None:
    sql, told = REFUSED[name]
    twice = pa.table({"zip": [1, 1, 2]})
    pairs = pa.table({"zip": [1, 2], "ill": ["D1", "D2"]})
    own = {name.lower(): Own(name, table) for name, table in {**OWN, "twice": twice, "pairs": pairs}.items()}
    with pytest.raises(QueryError, match=told) as caught:
        read_question(sql, release.promise, None, own)
    assert caught.value.hint


def test_text_is_not_compared_with_numbers(release: Release) -> None:
    with pytest.raises(QueryError, match="`zip` holds numbers, and what it is joined with in `codes` text"):
        release.ask("SELECT COUNT(*) FROM microdata JOIN codes ON zip = code", tables=OWN)


def test_without_the_table_the_message_says_how_to_give_it(release: Release) -> None:
    with pytest.raises(QueryError, match="there is no table `regions`") as caught:
        release.ask("SELECT COUNT(*) FROM microdata JOIN regions USING (zip)")
    assert caught.value.hint == 'give it by name: tables={"regions": frame}, or --table regions=FILE'


def test_command(run: Any, release: Release, tmp_path: Path) -> None:
    csv.write_csv(REGIONS, tmp_path / "regions.csv")
    sql = "SELECT region, COUNT(*) AS n FROM microdata JOIN regions USING (zip) GROUP BY region"
    table = f"regions={tmp_path / 'regions.csv'}"
    status, out, _ = run("ask", release.path, sql, "--estimator", "even", "--table", table, "--json")
    rows = {row["region"]: row["n"] for row in json.loads(out)["rows"]}
    assert (status, rows) == (0, {"north": 40, "south": 40, "east": 20})
    assert not any("regions" in path.name for path in release.path.iterdir())
