"""Pairs of a question and a query over the released files, written by hand; both are executed and must agree."""

import re
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from discreet import Policy, publish

CASES = (Path(__file__).parent.parent / "cases" / "sql" / "anatomy.sql").read_text(encoding="utf-8")
PAIRS = [
    pytest.param(*parts, id=parts[0])
    for parts in re.findall(r"^-- (.+?) \| (\w+)\n([^;]+);\n([^;]+);\n", CASES, re.MULTILINE)
]
QUASI = ["age", "sex", "education"]


def with_gaps(table):
    """The same people, some without an age and some without a salary."""
    row = np.arange(len(table))
    age = pa.array(table["age"].to_numpy(), mask=row % 11 == 3)
    salary = pa.array(table["salary"].to_numpy(), mask=row % 7 == 2)
    columns = {name: table[name] for name in QUASI}
    return pa.table({**columns, "age": age, "salary": salary})


@pytest.fixture(scope="module")
def releases(people, tmp_path_factory):
    """Two releases, and for each a plain DuckDB in which the files are `qit` and `st`."""
    place, made = tmp_path_factory.mktemp("releases"), {}
    for name, table in {"people": people, "gaps": with_gaps(people)}.items():
        policy = Policy(
            name="people",
            quasi=QUASI,
            sensitive="salary",
            drop="rest",
            guarantee={"l": 4},
            partition="deal",
            missing_sensitive="value",
        )
        release = publish(table, policy, to=place / name)
        plain = duckdb.connect()
        for file in ("qit", "st"):
            plain.execute(f"CREATE VIEW {file} AS SELECT * FROM '{release.file(file)}'")
        made[name] = release, plain
    return made


@pytest.mark.parametrize(("title", "name", "question", "by_hand"), PAIRS)
def test_pair(releases, title, name, question, by_hand):
    release, plain = releases[name]
    answer = release.ask(question)
    expected = plain.execute(by_hand)
    columns = [column[0] for column in expected.description]
    rows = expected.fetchall()
    assert len(answer) == len(rows) > 0
    assert set(columns) <= set(answer.columns)
    for given, row in zip(answer.rows(), rows, strict=True):
        for column, value in zip(columns, row, strict=True):
            assert given[column] == (pytest.approx(float(value)) if _is_number(value) else value), column


def _is_number(value):
    return value is not None and not isinstance(value, bool | str)


def test_there_are_pairs():
    assert len(PAIRS) == len(re.findall(r"^-- ", CASES, re.MULTILINE)) >= 25
