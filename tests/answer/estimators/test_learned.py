"""`learned`: mean and spread over plausible tables, against DuckDB and NumPy on those tables themselves."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import csv

from discreet import ask, open_release
from discreet.answer.answer import Answer
from discreet.answer.estimators.learned import closed, learned, matched
from discreet.answer.session import Session
from discreet.errors import QueryError
from discreet.learn import draws
from discreet.release import Release
from learn.shown import released

LANDS = pa.table({"town": ["Ulm", "Bonn", "Kiel"], "land": ["BW", "NRW", "SH"], "people": [127_000, 332_000, 246_000]})


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the model draws is not what these tests are about."""
    monkeypatch.setitem(draws.MODELS, "learned", draws.even)


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Release:
    return released(tmp_path_factory.mktemp("learned") / "release")


def on_tables(release: Release, sql: str) -> list[list[tuple[Any, ...]]]:
    """What a query gives on each plausible table, by DuckDB alone."""
    return [engine.sql(sql).fetchall() for engine in engines(release.path)]


def beyond(release: Release, sql: str, tables: dict[str, pa.Table] | None = None) -> Answer:
    """Any SELECT by plausible tables, also one that has bounds and is therefore answered otherwise."""
    release.ask("SELECT COUNT(*) FROM microdata WHERE pay > 30", estimator="learned")
    return release.session.sealed.estimator(learned.Learned).beyond(sql, tables or {}, lambda _: None)


@cache
def engines(path: Path) -> list[Any]:
    """An engine for each plausible table."""
    found = []
    for drawn in open_release(path).plausible(20):
        engine = duckdb.connect(config={"threads": 1})
        engine.register("microdata", drawn)
        engine.register("lands", LANDS)
        found.append(engine)
    return found


def pooled(figures: list[float]) -> tuple[float, float]:
    return float(np.mean(figures)), float(np.std(figures, ddof=1) * np.sqrt(1 + 1 / len(figures)))


@pytest.mark.parametrize(
    ("function", "where"),
    [
        ("COUNT(*)", "town = 'Ulm' AND pay > 30"),
        ("SUM(pay)", "age > 40"),
        ("AVG(pay)", "town = 'Bonn'"),
        ("AVG(age)", "pay > 40"),
        ("MIN(pay)", "town = 'Kiel' AND age < 40"),
        ("MAX(pay)", "town IS NULL AND age < 30"),
        ("MEDIAN(pay)", "age BETWEEN 30 AND 50"),
        ("QUANTILE_DISC(pay, 0.8)", "age > 35"),
    ],
)
def test_learned_is_mean_and_spread(function: str, where: str, release: Release) -> None:
    sql = f"SELECT {function} AS x FROM microdata WHERE {where}"
    answer = release.ask(sql, estimator="learned")
    [row] = answer.rows()
    figures = [rows[0][0] for rows in on_tables(release, sql)]
    assert (row["x"], row["x_stderr"]) == pytest.approx(pooled([float(figure) for figure in figures]))
    [even] = release.ask(sql, estimator="even").rows()
    assert (row["x_low"], row["x_high"]) == (even["x_low"], even["x_high"])
    assert row["x_low"] <= row["x"] <= row["x_high"]
    assert (answer.estimator, dict(answer.estimators)) == ("learned", {"x": "learned"})
    assert "assume that a model, fitted to this release alone, is right about how values go with" in repr(answer)


def test_groups_that_a_table_lacks_count_as_nobody(release: Release) -> None:
    """By key: a count or sum of a table without the key is 0, and a mean is about the tables that have it."""
    sql = "SELECT pay, COUNT(*) AS n, SUM(age) AS s, AVG(age) AS a FROM microdata WHERE town = 'Ulm' GROUP BY pay"
    rows = {row["pay"]: row for row in release.ask(sql, estimator="learned").rows()}
    tables = [{pay: rest for pay, *rest in found} for found in on_tables(release, sql)]
    assert any(len(table) < len(rows) for table in tables)
    for pay, row in rows.items():
        for at, name in enumerate(("n", "s")):
            figures = [float(table[pay][at]) if pay in table else 0.0 for table in tables]
            assert (row[name], row[f"{name}_stderr"]) == pytest.approx(pooled(figures))
        assert row["a"] == pytest.approx(np.mean([table[pay][2] for table in tables if pay in table]))
        assert row["n_low"] <= row["n"] <= row["n_high"]
    told = "rows somebody matches in only some plausible tables; it is about those"
    assert any(
        note.startswith("a: in ") and note.endswith(told) for note in release.ask(sql, estimator="learned").notes
    )


@pytest.mark.parametrize("accelerate", [False, True])
def test_a_key_without_an_answer_counts_nobody(tmp_path: Path, *, accelerate: bool) -> None:
    """COUNT(pay) of those whose pay is missing: 0, in the plan as in the compiled pass."""
    private = pa.table({"age": [*range(8)], "pay": [1, None, 2, 1, 3, 2, 3, None]})
    release = released(
        tmp_path / "release", table=private, quasi=["age"], guarantee={"k": 4}, missing_sensitive="value"
    )
    sql = "SELECT pay, COUNT(pay) AS n, COUNT(*) AS c FROM microdata WHERE age < 9 GROUP BY pay"
    with Session(release, accelerate=accelerate) as session:
        for estimator in ("learned", "even"):
            row = session.ask(sql, estimator=estimator).rows()[-1]
            assert [row[name] for name in ("pay", "n", "n_low", "n_high", "c_low")] == [None, 0, 0, 0, 2]


def test_tables_that_agree_do_not_make_an_answer_certain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def same(view: Any, tables: int, *_: Any) -> draws.Draws:
        return draws.Draws(np.tile(view.held.astype(np.uint8), (tables, 1)), draws.Fit("learned"))

    monkeypatch.setitem(draws.MODELS, "learned", same)
    monkeypatch.setenv("DISCREET_CACHE", "off")
    of_values = {"a": "AVG(pay)", "low": "MIN(pay)", "high": "MAX(pay)", "q": "MEDIAN(pay)", "d": "QUANTILE(pay, 0.3)"}
    more = ", ".join(f'{function} AS "{name}"' for name, function in of_values.items())
    sql = f"SELECT COUNT(*) AS n, SUM(pay) AS s, {more} FROM microdata WHERE town = 'Ulm' AND pay > 30"
    release = released(tmp_path / "release")
    answer = release.ask(sql, estimator="learned")
    [row], [even] = answer.rows(), release.ask(sql, estimator="even").rows()
    assert row["n_low"] < row["n_high"]
    assert row["n_stderr"] == pytest.approx((1 / 21) ** 0.5)
    assert row["s_stderr"] > 0
    assert row["s_stderr"] == pytest.approx(min((1 / 21) ** 0.5 * (row["s_high"] - row["s_low"]), even["s_stderr"]))
    for name in of_values:
        assert row[f"{name}_low"] < row[f"{name}_high"]
        assert row[f"{name}_stderr"] is None
        assert f"{name}: in this row all plausible tables agree; that is no certainty, so no stderr" in answer.notes
    some = release.ask("SELECT pay, AVG(age) AS a FROM microdata WHERE town = 'Ulm' GROUP BY pay", estimator="learned")
    assert any("nobody matches in any plausible table; the estimate is by `even`" in note for note in some.notes)
    assert dict(some.estimators) == {"a": "learned, even"}


def test_what_rows_tell_stays_exact(release: Release) -> None:
    answer = release.ask("SELECT town, COUNT(*), AVG(age) FROM microdata GROUP BY town", estimator="learned")
    assert answer.table.equals(release.ask(answer.question).table)
    assert {*answer.estimators.values()} == {"exact"}


def test_dates_have_the_middle_one_and_no_stderr(tmp_path: Path) -> None:
    days = [pd.Timestamp(2020, 1, 1 + i % 28).date() for i in range(40)]
    private = pa.table({"age": [20 + i % 17 for i in range(40)], "day": days})
    release = released(tmp_path / "release", table=private, quasi=["age"], sensitive="day")
    sql = "SELECT MAX(day) AS last, QUANTILE_DISC(day, 0.5) AS middle FROM microdata WHERE age < 25"
    [row] = release.ask(sql, estimator="learned").rows()
    figures = on_tables(release, sql)
    for at, name in enumerate(("last", "middle")):
        assert row[name] == sorted(rows[0][at] for rows in figures)[9]
        assert row[f"{name}_stderr"] is None


def test_estimates_beyond_their_bounds_are_moved_and_say_so(release: Release, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables that a release did not allow, as a forger may have them: `verify` finds them, and bounds hold."""

    def outside(*arguments: Any) -> pa.Table:
        found = original(*arguments)
        return found.set_column(1, found.column_names[1], pa.array([1e6]))

    original = closed._statistics
    monkeypatch.setattr(closed, "_statistics", outside)
    answer = release.ask("SELECT SUM(pay) AS x FROM microdata WHERE town = 'Ulm'", estimator="learned")
    [row] = answer.rows()
    assert row["x"] == row["x_high"]
    assert "x: in this row the estimate was beyond low or high, and was moved there" in answer.notes


ANYTHING = [
    ("SELECT CORR(age, pay) AS x FROM microdata", 0),
    ("SELECT REGR_SLOPE(pay, age) AS x FROM microdata WHERE town IS NOT NULL", 0),
    ("SELECT ENTROPY(pay) AS x FROM microdata WHERE age < 40", 0),
    ("SELECT AVG(CASE WHEN pay > age THEN 1 ELSE 0 END) AS x FROM microdata", 0),
    ("SELECT town, SKEWNESS(pay) AS x FROM microdata GROUP BY town", 1),
    ("SELECT age // 10 AS decade, KURTOSIS(pay) AS x FROM microdata GROUP BY decade", 1),
    ("SELECT age // 10, town, MAX(pay) - MIN(pay) AS x FROM microdata GROUP BY 1, 2", 2),
    ("SELECT age // 10 AS decade, SUM(pay) / SUM(age) AS x FROM microdata GROUP BY ALL", 1),
    ("SELECT land, SUM(pay) / MAX(people) AS x FROM microdata JOIN lands USING (town) GROUP BY land", 1),
    ("SELECT COUNT(*) AS x FROM microdata WHERE pay > (SELECT AVG(m.pay) FROM microdata AS m WHERE m.age > 40)", 0),
    (
        "WITH t AS (SELECT *, RANK() OVER (ORDER BY pay) AS r FROM microdata) SELECT town, MIN(pay) AS x FROM t WHERE r > 3 GROUP BY town",
        1,
    ),
    ("SELECT town, AVG(pay) AS x FROM microdata GROUP BY town UNION ALL SELECT 'all', AVG(pay) FROM microdata", 1),
    (
        "WITH microdata AS (SELECT * FROM microdata WHERE age > 30) SELECT town, AVG(pay) AS x FROM microdata GROUP BY 1",
        1,
    ),
    (
        """
        WITH RECURSIVE t AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM T WHERE n < 3)
        SELECT SUM(n * pay) AS x
        FROM t, (WITH u AS (SELECT pay FROM microdata WHERE age < (SELECT 10 * MAX(n) FROM t)) SELECT * FROM u) AS v
        """,
        0,
    ),
    ("SELECT COUNT(*) AS x FROM microdata AS one JOIN microdata AS two ON one.age = two.age AND one.pay < two.pay", 0),
]


@pytest.mark.parametrize(("sql", "keys"), ANYTHING)
def test_rows_are_matched_by_their_keys(sql: str, keys: int, release: Release) -> None:
    answer = beyond(release, sql, {"Lands": LANDS})
    found: dict[tuple[Any, ...], list[float]] = {}
    for rows in on_tables(release, sql):
        for *key, x in rows:
            found.setdefault(tuple(key), []).append(float(x))
    assert len(answer) == len(found)
    for row in answer.rows():
        key = tuple(row.values())[:keys]
        assert (row["x"], row["x_stderr"]) == pytest.approx(pooled(found[key]))
        assert (row["x_low"], row["x_high"]) == (None, None)
    assert learned.NO_BOUNDS in answer.notes
    assert dict(answer.estimators) == {"x": "learned"}


@pytest.mark.parametrize("kind", ["arrow", "pandas", "polars", "csv", "path"])
def test_tables_of_ones_own(kind: str, release: Release, tmp_path: Path) -> None:
    csv.write_csv(LANDS, tmp_path / "lands.csv")
    own: Any = {
        "arrow": LANDS,
        "pandas": LANDS.to_pandas(),
        "polars": pl.DataFrame(LANDS),
        "csv": str(tmp_path / "lands.csv"),
        "path": tmp_path / "lands.csv",
    }[kind]
    sql = "SELECT land, AVG(pay) AS x FROM microdata JOIN own USING (town) GROUP BY land ORDER BY land DESC"
    answer = ask(release, sql, estimator="learned", tables={"own": own})
    assert [row["land"] for row in answer.rows()] == ["SH", "NRW", "BW"]
    with pytest.raises(QueryError, match="there is no table `own`"):
        release.ask(sql, estimator="learned")  # gone when the question is answered


def test_rows_in_some_tables_say_in_how_many(release: Release) -> None:
    sql = "SELECT town, AVG(pay) AS x FROM microdata GROUP BY town HAVING AVG(pay) > 35.5"
    answer = beyond(release, sql)
    tables = on_tables(release, sql)
    for row in answer.rows():
        figures = [x for rows in tables for town, x in rows if town == row["town"]]
        assert row["tables"] == len(figures)
        assert row["x"] == pytest.approx(np.mean(figures))
    assert any(row["tables"] < 20 for row in answer.rows())
    told = "rows are in only some of the 20 plausible tables: `tables` says in how many, and their figures are about"
    assert told in " ".join(answer.notes)


def test_nothing_and_what_is_no_number(release: Release) -> None:
    assert (
        len(release.ask("SELECT town, SKEWNESS(pay) FROM microdata WHERE age > 99 GROUP BY 1", estimator="learned"))
        == 0
    )
    [row] = release.ask("SELECT SKEWNESS(pay) AS x FROM microdata WHERE age > 99", estimator="learned").rows()
    assert (row["x"], row["x_stderr"]) == (None, None)
    sql = "SELECT CASE WHEN AVG(pay) > 34.8 THEN 'nan'::DOUBLE ELSE 1 END AS x FROM microdata WHERE town = 'Ulm'"
    answer = beyond(release, sql)
    assert answer.rows()[0]["x"] == 1
    assert "x: in this row it is missing, or no number, in some tables; it is about the others" in answer.notes


@pytest.mark.parametrize(
    ("sql", "told"),
    [
        ("SELECT town, age, pay FROM microdata", "cannot be told apart: some have the same `town`"),
        ("SELECT age, pay FROM microdata LIMIT 3", "cannot be told apart: none of its columns is a key"),
        ("SELECT SKEWNESS(pay) FROM microdata GROUP BY town", "cannot be told apart: none of its columns is a key"),
        ("SELECT LIST(pay) FROM microdata", "holds neither numbers nor plain values"),
        ("SELECT SKEWNESS(salary) FROM microdata", "there is no column `salary`"),
        ("SELECT SKEWNESS(a) FROM 'people.csv'", "there is no table `people.csv`"),
        ("SELECT * FROM read_csv('/etc/passwd')", "`READ_CSV` cannot stand in FROM"),
        ("SELECT * FROM microdata, read_text('/etc/passwd')", "`READ_TEXT` cannot stand in FROM"),
        ("SELECT * FROM duckdb_settings()", "`DUCKDB_SETTINGS` cannot stand in FROM"),
        ('SELECT SKEWNESS("count") FROM "st file"', "there is no table `st file`"),
        (
            'SELECT SKEWNESS(n) FROM (WITH "qit file" AS (SELECT 1 AS n) FROM "qit file") AS a, "qit file"',
            "there is no table `qit file`",
        ),
        (
            'WITH a AS (SELECT "count" AS n FROM "St file"), "st file" AS (SELECT 1) SELECT SKEWNESS(n) FROM a',
            "there is no table `St file`",
        ),
        ('WITH "st file" AS (FROM "st file") SELECT SKEWNESS("count") FROM "st file"', "there is no table `st file`"),
        ('WITH "st file" AS (SELECT 1 AS n) SELECT SKEWNESS(n) FROM main."st file"', "there is no table `st file`"),
        ("SELECT SKEWNESS(x) FROM main.microdata", "there is no table `microdata`"),
        ("SELECT SKEWNESS(pay) FROM microdata; SELECT 1", "expected one SELECT"),
        ("DELETE FROM microdata", "expected one SELECT"),
        ("COPY (SELECT 1) TO 'x.csv'", "expected one SELECT"),
        ("SELECT SKEWNESS(pay FROM", "not SQL that can be read"),
        ("SELECT SKEWNESS(?) FROM microdata", "a question only reads"),
    ],
)
def test_what_cannot_be_asked_says_why(sql: str, told: str, release: Release) -> None:
    with pytest.raises(QueryError, match=told.replace("(", r"\(")):
        release.ask(sql, estimator="learned")


def test_rows_that_differ_too_much_are_not_matched(tmp_path: Path) -> None:
    release = released(tmp_path / "release", guarantee={"l": 5})
    told = "differ between the 20 plausible tables so much that they cannot be matched: of [0-9]+ only 0 are in all"
    with pytest.raises(QueryError, match=told):
        release.ask("SELECT age || '-' || pay AS who, SKEWNESS(pay) FROM microdata GROUP BY 1", estimator="learned")


def test_tables_that_cannot_be_given(release: Release, tmp_path: Path) -> None:
    sql = "SELECT SKEWNESS(pay) FROM microdata JOIN own USING (town)"
    with pytest.raises(QueryError, match="`tables` are your own tables by name"):
        release.ask(sql, estimator="learned", tables=[{"own": 3}])
    with pytest.raises(QueryError, match="`tables` are your own tables by name"):
        release.ask(sql, estimator="learned", tables={3: {}})
    with pytest.raises(QueryError, match="the table `own` is of the type `int`"):
        release.ask(sql, estimator="learned", tables={"own": 3})
    with pytest.raises(QueryError, match=r"the table `own` cannot be read: there is no file `nothing\.csv`"):
        release.ask(sql, estimator="learned", tables={"own": tmp_path / "nothing.csv"})
    with pytest.raises(QueryError, match="two tables have the same name"):
        release.ask(sql, estimator="learned", tables={"own": LANDS, "OWN": LANDS})
    with pytest.raises(QueryError, match="`microdata` is the table of the release"):
        release.ask(sql, estimator="learned", tables={"Microdata": LANDS})
    with pytest.raises(QueryError, match="`SKEWNESS` is not supported"):
        release.ask(sql, estimator="even", tables={"own": LANDS})


@pytest.mark.parametrize(
    ("sql", "estimator", "unused"),
    [
        ("SELECT COUNT(*) FROM microdata WHERE pay > 30", "even", "`Lands`, `more`"),
        ("SELECT COUNT(*) FROM microdata WHERE pay > 30", "learned", "`Lands`, `more`"),
        ("SELECT CORR(age, pay) FROM microdata", "learned", "`Lands`, `more`"),
        ("WITH lands AS (FROM microdata) SELECT CORR(age, pay) FROM lands", "learned", "`Lands`, `more`"),
        ("SELECT SKEWNESS(pay) FROM microdata JOIN lands USING (town)", "learned", "`more`"),
    ],
)
def test_tables_that_a_question_does_not_name(sql: str, estimator: str, unused: str, release: Release) -> None:
    """They are no part of the answer, which says so; nor can one be taken for the table of the release."""
    answer = release.ask(sql, estimator=estimator, tables={"Lands": LANDS, "more": LANDS})
    told = f"of the tables that were given, the question does not name {unused}; nothing was taken from there"
    assert [note for note in answer.notes if "given" in note] == [told]
    with pytest.raises(QueryError, match="`microdata` is the table of the release"):
        release.ask(sql, estimator=estimator, tables={"Microdata": LANDS})


def test_a_result_is_not_too_long(release: Release, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matched, "MOST", 3)
    with pytest.raises(QueryError, match="more than 3 rows"):
        release.ask("SELECT town, SKEWNESS(pay) FROM microdata GROUP BY town", estimator="learned")


def test_time_is_limited_also_while_tables_are_drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def forever(_: Any, __: Any, ___: Any, progress: Callable[[str], None]) -> draws.Draws:
        while True:
            progress("fitting")

    monkeypatch.setitem(draws.MODELS, "learned", forever)
    monkeypatch.setenv("DISCREET_CACHE", "off")
    with pytest.raises(QueryError, match=r"not answered within 0.2 seconds"):
        released(tmp_path / "release").ask("SELECT CORR(age, pay) FROM microdata", estimator="learned", timeout=0.2)


def test_a_release_that_carries_tables_is_asked_by_them(release: Release, tmp_path: Path) -> None:
    carrying = release.learn(5, to=tmp_path / "carrying")
    answer = carrying.ask("SELECT CORR(age, pay) AS x FROM microdata")
    assert answer.estimator == "learned"
    figures = [duckdb.sql("SELECT CORR(age, pay) FROM drawn").fetchall()[0][0] for drawn in carrying.plausible(5)]
    [row] = answer.rows()
    assert (row["x"], row["x_stderr"]) == pytest.approx(pooled(figures))
    assert release.ask("SELECT COUNT(*) FROM microdata WHERE pay > 30").estimator == "even"


def test_what_is_run_is_told(release: Release) -> None:
    told = release.explain("select corr(age, pay) from microdata", estimator="learned")
    assert told.startswith(
        "-- run on each of the plausible tables of the release, and pooled\nSELECT\n  CORR(age, pay)"
    )
    with pytest.raises(QueryError, match="`CORR` is not supported"):
        release.explain("SELECT CORR(age, pay) FROM microdata", estimator="even")
    assert "mean and spread of the question over the plausible tables" in release.explain(
        "SELECT AVG(pay) FROM microdata WHERE age > 30", estimator="learned"
    )


def test_older_releases_are_answered_by_even_only(release: Release) -> None:
    promise = release.promise.model_copy(update={"estimator": None, "randomness": None})
    older = Release(release.path, release.manifest.model_copy(update={"discreet": promise}))
    with pytest.raises(QueryError, match="does not say by what chance people came into their groups: only `even` can"):
        older.ask("SELECT COUNT(*) FROM microdata WHERE pay > 30", estimator="learned")


def test_command(run: Any, release: Release, tmp_path: Path) -> None:
    csv.write_csv(LANDS, tmp_path / "lands.csv")
    sql = "SELECT land, SKEWNESS(pay) AS x FROM microdata JOIN lands USING (town) GROUP BY land"
    table = f"lands={tmp_path / 'lands.csv'}"
    status, out, _ = run("ask", release.path, sql, "--estimator", "learned", "--table", table, "--json")
    told = json.loads(out)
    assert (status, told["estimator"], [row["land"] for row in told["rows"]]) == (0, "learned", ["BW", "NRW", "SH"])
    status, _, err = run("ask", release.path, sql, "--estimator", "learned", "--table", "lands")
    assert status == 2
    assert "write NAME=FILE" in err


def test_few_tables_say_how_many_stderr_to_take(release: Release, tmp_path: Path) -> None:
    sql = "SELECT AVG(pay) FROM microdata WHERE age < 40"
    few = release.learn(5, to=tmp_path / "few").ask(sql, estimator="learned")
    assert "there are only 5 plausible tables: to be as sure as with 2 stderr, take 2.8" in few.notes
    assert not any("plausible tables" in note for note in release.ask(sql, estimator="learned").notes)
