"""Answers from swapped tables, against every assignment of different ranks inside the windows."""

import datetime as dt
import itertools
import math
import tempfile
from contextlib import closing
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet import Policy, open_release, publish
from discreet.errors import QueryError

DAY = dt.date(2020, 1, 1)
KINDS = {
    "integer": (pa.int64(), lambda i: i),
    "large": (pa.int64(), lambda i: 2**40 * i),
    "float": (pa.float64(), lambda i: i * 0.7 if i < 4 else i * 1e6),
    "decimal": (pa.decimal128(9, 2), lambda i: Decimal(i) / 4),
    "date": (pa.date32(), lambda i: DAY + dt.timedelta(days=i)),
    "timestamp": (pa.timestamp("us"), lambda i: dt.datetime(2020, 1, 1) + dt.timedelta(days=i)),  # noqa: DTZ001
}
MEASURES = {
    "sum": lambda v: math.fsum(map(float, v)),
    "avg": lambda v: math.fsum(map(float, v)) / len(v),
    "min": min,
    "max": max,
    "median": lambda v: between(v, Fraction(1, 2)),
    "cont": lambda v: between(v, Fraction(3, 10)),
    "disc": lambda v: sorted(v)[max(math.ceil(Fraction(7, 10) * len(v)) - 1, 0)],
    "first": min,
    "last": max,
}
SQL = {
    "sum": "SUM({s})",
    "avg": "AVG({s})",
    "min": "MIN({s})",
    "max": "MAX({s})",
    "median": "MEDIAN({s})",
    "cont": "QUANTILE_CONT({s}, 0.3)",
    "disc": "QUANTILE({s}, 0.7)",
    "first": "QUANTILE_DISC({s}, 0)",
    "last": "PERCENTILE_DISC(1) WITHIN GROUP (ORDER BY {s})",
}
ORDERED = ("min", "max", "disc", "first", "last")


def between(values, fraction):
    place = fraction * (len(values) - 1)
    before, after = (float(sorted(values)[at]) for at in (math.floor(place), math.ceil(place)))
    return before + float(place % 1) * (after - before)


def assignments(windows, shown):
    """Every way to give rows that show these values different ranks in their windows, as the values at those ranks."""
    at_rank = [value for value, count, *_ in windows for _ in range(count)]
    allowed = {value: range(low, high + 1) for value, _, low, high in windows}
    for ranks in itertools.product(*(allowed[value] for value in shown)):
        if len(set(ranks)) == len(ranks):
            yield [at_rank[rank - 1] for rank in ranks]


def close(one, other, scale):
    return one == other if not isinstance(other, float) else abs(one - other) <= 1e-12 * scale


@st.composite
def cases(draw):
    """A tiny table with gaps, and a (k,e) that it has."""
    kind = draw(st.sampled_from(sorted(KINDS)))
    type_, value = KINDS[kind]
    numbers = draw(st.lists(st.integers(-3, 9), min_size=2, max_size=6).filter(lambda v: len(set(v)) > 1))
    values = [value(i) for i in numbers]
    span = max(values) - min(values)
    span = span.days if isinstance(span, dt.timedelta) else span
    part = draw(st.sampled_from([0, 0.1, 0.5, 1]))
    e = float(span) * part if kind in {"float", "decimal"} else math.floor(span * part)
    k = draw(st.integers(2, len(set(values))))
    hit = draw(st.lists(st.booleans() | st.none(), min_size=len(values), max_size=len(values)))
    who = draw(st.lists(st.sampled_from(["a", "b", None]), min_size=len(values), max_size=len(values)))
    table = pa.table(
        {"hit": pa.array(hit, pa.bool_()), "who": pa.array(who, pa.string()), "s": pa.array(values, type_)}
    )
    return kind, table, {"k": k, "e": e}, draw(st.integers(0, 2**30))


@settings(max_examples=30, deadline=None)
@given(cases())
def test_swapped_bounds_equal_brute_force(case):
    kind, table, guarantee, seed = case
    names = ORDERED if kind in {"date", "timestamp"} else tuple(MEASURES)
    select = ", ".join(f"{SQL[name].format(s='s')} AS {name}" for name in names)
    policy = Policy(quasi=["hit", "who"], sensitive="s", guarantee=guarantee, publication="swap")
    with (
        tempfile.TemporaryDirectory() as folder,
        closing(publish(table, policy, to=Path(folder) / "r", seed=seed)) as release,
    ):
        shown = pq.read_table(release.file("swapped")).to_pylist()
        windows = [tuple(row.values()) for row in pq.read_table(release.file("windows")).to_pylist()]
        counts = "COUNT(s) AS n, COUNT(who) AS w"
        by_key = release.ask(f"SELECT who, {select}, {counts} FROM microdata GROUP BY who").rows()
        hits = release.ask(f"SELECT {select}, COUNT(*) AS n FROM microdata WHERE hit").rows()
    truth = table.to_pylist()
    keys = {row["who"] for row in truth}
    assert {row["who"] for row in by_key} == keys
    asked = [(row, lambda r, who=row["who"]: r["who"] == who) for row in by_key] + [(hits[0], lambda r: r["hit"])]
    for row, matches in asked:
        seen, real = ([r["s"] for r in rows if matches(r)] for rows in (shown, truth))
        assert (row["n"], row["n_stderr"], row["n_low"], row["n_high"]) == (len(real), 0, len(real), len(real))
        if not real:
            assert all(row[f"{name}{end}"] is None for name in names for end in ("", "_low", "_high"))
            continue
        worlds = list(assignments(windows, seen))
        for name in names:
            measure = MEASURES[name]
            answers = [measure(world) for world in worlds]
            scale = (
                max([1, *(abs(float(v)) for v in table["s"].to_pylist())]) * 10
                if kind not in {"date", "timestamp"}
                else 1
            )
            assert row[f"{name}_stderr"] is None
            assert close(row[name], measure(seen), scale), name
            assert close(row[f"{name}_low"], min(answers), scale), name
            assert close(row[f"{name}_high"], max(answers), scale), name
            assert row[f"{name}_low"] <= row[name] <= row[f"{name}_high"]
            slack = 1e-12 * scale if isinstance(measure(real), float) else None
            low, high = row[f"{name}_low"], row[f"{name}_high"]
            assert (low <= measure(real) <= high) if slack is None else (low - slack <= measure(real) <= high + slack)


@pytest.fixture(scope="module")
def release(people, tmp_path_factory):
    policy = Policy(
        quasi=["age", "sex", "education", "zipcode"],
        sensitive="salary",
        drop="rest",
        guarantee={"k": 4, "e": 3000},
        publication="swap",
        name="people",
    )
    return publish(people, policy, to=tmp_path_factory.mktemp("releases") / "people", seed=1)


QUESTIONS = [
    "SUM(salary) AS x FROM people WHERE age BETWEEN 30 AND 50",
    "AVG(salary) AS x FROM people WHERE education = 'master' OR age > 70",
    "MEDIAN(salary) AS x FROM people WHERE zipcode LIKE '10%'",
    "QUANTILE(salary, 0.9) AS x FROM people WHERE sex = 'f'",
    "MIN(salary) AS x FROM people WHERE age % 7 = 3",
    "MAX(salary) AS x FROM people WHERE age % 7 = 3",
]


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_truth_is_inside_on_people(release, people, question):
    [answer] = release.ask(f"SELECT {question}").rows()
    [(truth,)] = duckdb.sql(f"SELECT {question}").fetchall()
    assert answer["x_low"] <= truth <= answer["x_high"]
    assert answer["x_low"] <= answer["x"] <= answer["x_high"]
    assert answer["x_low"] < answer["x_high"]
    assert answer["x_stderr"] is None


def test_every_row_is_known_when_all_match(release, people):
    answer = release.ask("SELECT SUM(salary) AS s, MEDIAN(salary) AS m FROM people").rows()[0]
    sums = sum(people["salary"].to_pylist())
    assert (answer["s"], answer["s_low"], answer["s_high"]) == (sums, sums, sums)
    assert answer["m_low"] == answer["m"] == answer["m_high"] == np.median(people["salary"].to_numpy())


def test_quasi_identifiers_are_exact(release, people):
    answer = release.ask("SELECT sex, COUNT(*) AS n, AVG(age) AS a, MAX(zipcode) AS z FROM people GROUP BY sex").rows()
    truth = duckdb.sql("SELECT sex, COUNT(*), AVG(age), MAX(zipcode) FROM people GROUP BY sex ORDER BY sex").fetchall()
    assert [(r["sex"], r["n"], r["a"], r["z"]) for r in answer] == truth
    assert all((r["n_low"], r["a_low"], r["z_high"], r["a_stderr"]) == (r["n"], r["a"], r["z"], 0) for r in answer)


def test_sorting_and_limits_work(release):
    rows = release.ask("SELECT age, AVG((salary)) AS x FROM people GROUP BY age ORDER BY x_high DESC LIMIT 5").rows()
    assert [r["x_high"] for r in rows] == sorted((r["x_high"] for r in rows), reverse=True)
    assert len(rows) == 5


def test_wider_windows_give_wider_bounds(release, people, tmp_path):
    widths = []
    for e in (0, 5000, 40_000):
        policy = Policy(quasi=["age"], sensitive="salary", drop="rest", guarantee={"k": 2, "e": e}, publication="swap")
        with closing(publish(people, policy, to=tmp_path / str(e), seed=1)) as made:
            [answer] = made.ask("SELECT AVG(salary) AS x FROM microdata WHERE age < 40").rows()
        widths.append(answer["x_high"] - answer["x_low"])
    assert widths == sorted(widths)
    assert widths[0] < widths[2] / 4


REFUSED = {
    "SELECT COUNT(*) FROM people WHERE salary > 3": "no condition on the sensitive column",
    "SELECT AVG(age) FROM people WHERE age > 3 AND salary IN (1, 2)": "no condition on the sensitive column",
    "SELECT salary, COUNT(*) FROM people GROUP BY salary": "no GROUP BY it",
    "SELECT COUNT(*) FROM people GROUP BY salary > 5": "no GROUP BY it",
    "SELECT SUM(salary * 2) FROM people": "`salary \\* 2` computes with the sensitive column",
    "SELECT COUNT(NULLIF(salary, 3)) FROM people": "computes with the sensitive column",
    "SELECT MAX(-salary) FROM people": "computes with the sensitive column",
    "SELECT SUM(salary + age) FROM people": "mixes the sensitive column",
    "SELECT SKEWNESS(salary) FROM people": "not supported",
    "SELECT STDDEV(salary) FROM people": "does not bound how far values spread",
    "SELECT age, COUNT(DISTINCT salary) FROM people GROUP BY age": "does not bound how many different values",
}


@pytest.mark.parametrize("question", REFUSED)
def test_refused(release, question):
    with pytest.raises(QueryError, match=REFUSED[question]) as caught:
        release.ask(question)
    assert caught.value.hint


def test_sums_of_dates_are_refused(tmp_path):
    table = pa.table({"a": [1, 2, 3], "s": [DAY + dt.timedelta(days=i) for i in range(3)]})
    policy = Policy(quasi=["a"], sensitive="s", guarantee={"k": 2, "e": 1}, publication="swap")
    with (
        closing(publish(table, policy, to=tmp_path / "r")) as made,
        pytest.raises(QueryError, match="SUM needs numbers"),
    ):
        made.ask("SELECT SUM(s) FROM microdata")


@pytest.mark.parametrize("format", ["parquet", "csv"])
def test_explained_sql_runs_without_discreet(people, format, tmp_path, monkeypatch):
    policy = Policy(
        quasi=["age", "sex"], sensitive="salary", drop="rest", guarantee={"k": 3, "e": 900}, publication="swap"
    )
    publish(people, policy, to=tmp_path / "r", format=format).close()
    question = "SELECT sex, SUM(salary) AS s, QUANTILE(salary, 0.25) AS q FROM microdata WHERE age < 30 GROUP BY sex"
    with closing(open_release(tmp_path / "r")) as release:
        *made, asked = (statement for statement in release.explain(question).split(";\n") if statement.strip())
        answer = release.ask(question).rows()
    monkeypatch.chdir(tmp_path / "r")
    plain = duckdb.connect()
    for statement in made:
        plain.execute(statement)
    found = plain.sql(asked.rstrip(";")).to_arrow_table().to_pylist()
    assert [{name: row[name] for name in answer[0]} for row in found] == answer
    assert all(row["s_low"] < row["s"] < row["s_high"] for row in answer)
