"""Pairs of a question and a query over the released files, written by hand; both are executed and must agree.

Whole numbers, decimals, texts and dates to the last digit, floats to 1 in 10^9, on every engine.
"""

import re
from itertools import product
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from alike import same
from discreet import Policy, publish

PLACE = Path(__file__).parent.parent / "cases" / "sql"
CASES = {name: (PLACE / f"{name}.sql").read_text(encoding="utf-8") for name in ("anatomy", "permutation")}
PAIRS = [
    pytest.param(publication, *parts[1:], id=f"{publication}: {parts[0]}")
    for publication, cases in CASES.items()
    for parts in re.findall(r"^-- (.+?) \| (\w+)\n([^;]+);\n([^;]+);\n", cases, re.MULTILINE)
]
RULES = {
    "anatomy": {"guarantee": {"l": 4}, "partition": "deal", "missing_sensitive": "value"},
    "permutation": {"guarantee": {"k": 4, "e": 10_000}, "partition": "auto", "missing_sensitive": "withhold"},
}
QUASI = ["age", "sex", "education"]


def with_gaps(table):
    """The same people, some without an age and some without a salary."""
    row = np.arange(len(table))
    age = pa.array(table["age"].to_numpy(), mask=row % 11 == 3)
    salary = pa.array(table["salary"].to_numpy(), mask=row % 7 == 2)
    columns = {name: table[name] for name in QUASI}
    return pa.table({**columns, "age": age, "salary": salary})


@pytest.fixture(scope="module", params=["duckdb", "postgres", pytest.param("spark", marks=pytest.mark.spark)])
def releases(request, people, tmp_path_factory, placed):
    """Two releases of each publication, and for each a plain DuckDB that has the files under their names."""
    place, made = tmp_path_factory.mktemp("releases"), {}
    tables = {"people": people, "gaps": with_gaps(people)}
    for publication, name in product(RULES, tables):
        rules = {"name": "people", "quasi": QUASI, "sensitive": "salary", "drop": "rest", **RULES[publication]}
        policy = Policy(**rules, publication=publication)
        release = publish(tables[name], policy, to=place / publication / name)
        plain = duckdb.connect()
        for resource in release.manifest.resources:
            plain.execute(f"CREATE VIEW {resource.name} AS SELECT * FROM '{release.file(resource.name)}'")
        made[publication, name] = placed(release, request.param), plain
    return made


@pytest.mark.parametrize(("publication", "name", "question", "by_hand"), PAIRS)
def test_pair(releases, publication, name, question, by_hand):
    release, plain = releases[publication, name]
    answer = release.ask(question)
    expected = plain.execute(by_hand)
    columns = [column[0] for column in expected.description]
    rows = expected.fetchall()
    assert len(answer) == len(rows) > 0
    assert set(columns) <= set(answer.columns)
    for given, row in zip(answer.rows(), rows, strict=True):
        for column, value in zip(columns, row, strict=True):
            assert same(given[column], value), (column, given[column], value)


@pytest.mark.parametrize(("publication", "least"), [("anatomy", 25), ("permutation", 12)])
def test_there_are_pairs(publication, least):
    found = [pair for pair in PAIRS if pair.values[0] == publication]
    assert len(found) == len(re.findall(r"^-- ", CASES[publication], re.MULTILINE)) >= least
