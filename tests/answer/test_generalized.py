"""Asking a generalized release: what it estimates, what it bounds, what it refuses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from datetime import date, datetime, time
from decimal import Decimal
from math import sqrt
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest
from sqlglot import exp

import discreet
from discreet.engines import connect
from discreet.errors import QueryError
from discreet.publication.publish import publish_groups
from discreet.release import Release
from discreet.release.manifest import BoxColumn, FieldSpec, Promise, TableSpec
from discreet.release.write import FileToWrite, write

PEOPLE = {
    "age": [30, 34, 39, 41, 45, None, None, None, 70],
    "born": [date(1990 + i, 1 + i, 1) for i in range(9)],
    "height": [1.5, 1.5, 1.5, 1.5, 1.75, 2.0, 1.75, None, 1.75],
    "sex": ["f", "f", "f", "m", None, "f", "m", "m", "m"],
    "pay": [10, 20, 30, 40, 50, 60, 70, 80, 90],
}
GROUPS = [0, 0, 0, 1, 1, 1, 2, 2, 2]


def made(
    to: Path, people: Mapping[str, Any], *, form: Any = "parquet", groups: Sequence[int] = GROUPS, **rules: Any
) -> Release:
    policy = discreet.Policy(
        quasi=[name for name in people if name != "pay"],
        sensitive="pay",
        guarantee={"k": 2},
        partition="mondrian",
        publication="generalization",
        **rules,
    )
    with discreet.read(pa.table(dict(people))) as table:
        return publish_groups(table, policy, table.codes("pay"), np.array(groups, np.int32), to=to, format=form)


def by_hand(to: Path, sides: Sequence[BoxColumn], rows: pa.Table, labels: Sequence[tuple[str, ...]] = ()) -> Release:
    """A release with boxes that no partition would make; `rows` has the columns of the sides, `group` and `pay`."""
    promise = Promise(
        format=1,
        publication="generalization",
        partition="mondrian",
        guarantee={"k": 2},
        table="microdata",
        quasi=tuple(side.name for side in sides),
        sensitive="pay",
        group="group",
        count="count",
        row="row",
        rows=len(rows),
        groups=len(set(rows["group"].to_pylist())),
        missing_sensitive="error",
        for_publication=True,
        boxes=tuple(sides),
    )
    kinds = {"group": "integer", "pay": "integer"}
    for side in sides:
        kinds |= dict.fromkeys(filter(None, (side.low, side.high)), side.type)
        kinds |= {side.missing: "boolean"} if side.missing else {}
        kinds |= {side.label: "string"} if side.label else {}
    spec = TableSpec(fields=tuple(FieldSpec(name=name, type=kinds[name]) for name in rows.column_names))
    sheets = [FileToWrite("generalized", spec, lambda path: _store(rows, path))]
    if labels:
        columns = dict(zip(("column", "label", "value"), zip(*labels, strict=True), strict=True))
        meanings = pa.table({name: pa.array(column, pa.string()) for name, column in columns.items()})
        spec = TableSpec(fields=tuple(FieldSpec(name=name, type="string") for name in columns))
        sheets.append(FileToWrite("labels", spec, lambda path: _store(meanings, path)))
    return write(to, promise, sheets, format="parquet", progress=lambda _: None)


def _store(rows: pa.Table, path: Path) -> None:
    """As a release does, with no trace of the writer."""
    with closing(connect()) as engine:
        engine.load("rows", rows, keep=False)
        engine.store(exp.select("*").from_("rows"), path)


@pytest.fixture(scope="module", params=["parquet", "csv"])
def release(request, tmp_path_factory):
    opened = made(tmp_path_factory.mktemp("generalized") / "release", PEOPLE, form=request.param)
    yield opened
    opened.close()


def count(release: Release, where: str) -> tuple[float, int, int]:
    [row] = release.ask(f"SELECT COUNT(*) AS n FROM microdata WHERE {where}").rows()
    return row["n"], row["n_low"], row["n_high"]


@pytest.mark.parametrize(
    ("where", "told"),
    [
        ("TRUE", (9, 9, 9)),
        ("1 = 0", (0, 0, 0)),
        ("NULL", (0, 0, 0)),
        # ages 30 to 39; 41 to 45 or missing; 70 or missing
        ("age < 40", (3, 3, 3)),
        ("40 > age", (3, 3, 3)),
        ("age <= 34", (1.5, 0, 3)),
        ("age <= 34.9", (1.5, 0, 3)),
        ("age BETWEEN 41 AND 43", (1.5, 0, 3)),
        ("age BETWEEN 43 AND 41", (0, 0, 0)),
        ("age NOT BETWEEN 30 AND 39", (2.5 + 1.5, 0, 6)),
        ("NOT age < 40", (2.5 + 1.5, 0, 6)),
        ("age = 35", (0.3, 0, 3)),
        ("age <> 35", (2.7 + 2.5 + 1.5, 0, 9)),
        ("age IN (30, 31, 35, 70)", (0.9 + 1.5, 0, 6)),
        ("age IN (30, NULL)", (0.3, 0, 3)),
        ("age NOT IN (30, NULL)", (0, 0, 0)),
        ("age > 35 AND age < 36", (0, 0, 0)),
        ("age < 35 OR age >= 35", (3 + 2.5 + 1.5, 3, 9)),
        ("age IS NULL", (0.5 + 1.5, 0, 6)),
        ("age IS NOT NULL", (3 + 2.5 + 1.5, 3, 9)),
        ("age IS NULL OR age > 34", (1.5 + 3 + 3, 6, 9)),
        ("(age > 34) IS TRUE", (1.5 + 2.5 + 1.5, 0, 9)),
        ("(age > 34) IS NOT TRUE", (1.5 + 0.5 + 1.5, 0, 9)),
        ("age > NULL", (0, 0, 0)),
        ("age < '35'", (1.5, 0, 3)),
        ("age // 10 = 3", (3, 3, 3)),
        ("age % 2 = 0", (1.5 + 1 + 1.5, 0, 9)),
        ("COALESCE(age, 0) < 35", (1.5 + 0.5 + 1.5, 0, 9)),
        ("age IS DISTINCT FROM 70", (3 + 3 + 1.5, 6, 9)),
        # heights: a point; 1.5 to 2; 1.75 or missing
        ("height = 1.5", (3, 3, 6)),
        ("height IN (1.5, 1.75)", (3 + 1.5, 3, 9)),
        ("height > 1.75", (1.5, 0, 3)),
        ("height <= 1.75 AND height > 1.55", (3 * 0.4 + 1.5, 0, 6)),
        ("height <> 1.75", (6, 3, 6)),
        ("height IS NULL", (1.5, 0, 3)),
        ("height IS NOT NULL", (3 + 3 + 1.5, 6, 9)),
        ("height >= 1.5e0", (3 + 3 + 1.5, 6, 9)),
        # sexes: all f, then anything, then all m
        ("sex = 'f'", (3 + 1, 3, 6)),
        ("sex IS NULL", (1, 0, 3)),
        ("sex <> 'f'", (1 + 3, 3, 6)),
        ("UPPER(sex) LIKE '%M%'", (1 + 3, 3, 6)),
        # several columns
        ("age < 35 AND sex = 'f'", (1.5, 0, 3)),
        ("age > 42 AND sex = 'f'", (3 * 1 / 2 * 1 / 3, 0, 3)),
        ("age > 42 OR sex = 'f'", (3 + 3 * (1 - 1 / 2 * 2 / 3) + 1.5, 3, 9)),
        ("NOT (age > 42 AND sex = 'f')", (3 + 3 * (2 / 6 + 1 / 3 - 2 / 18) + 3, 6, 9)),
        ("(age > 42 AND sex = 'f') OR (age <= 42 AND sex = 'm')", (3 * (1 / 6 + 1 / 9), 0, 3)),
        ("(age > 42 OR sex = 'f') AND (age <= 42 OR sex = 'm')", (3 + 3 * (1 / 6 + 1 / 9) + 1.5, 3, 9)),
        ("(sex = 'f' OR height > 1.75) AND (sex = 'm' OR height < 1.75)", (3 + 3 * (1 / 6 + 1 / 6), 3, 6)),
        ("sex || age = 'f34'", (0.3, 0, 3)),
        ("age > LENGTH(sex) + 41", (3 * 2 / 3 * 1 / 2 + 1.5, 0, 6)),
        # days: the boxes are years long
        ("born < DATE '1993-01-01'", (3, 3, 3)),
        ("YEAR(born) = 1990", (3 * 365 / (365 + 365 + 61), 0, 3)),
        ("born < '1991-01-01'", (3 * 365 / (365 + 365 + 61), 0, 3)),
        ("born < TIMESTAMP '1990-01-01 12:00:00'", (3 / (365 + 365 + 61), 0, 3)),
        ("born < DATE '1990-01-01' + INTERVAL 1 YEAR", (3 * 365 / (365 + 365 + 61), 0, 3)),
    ],
)
def test_estimates_and_bounds(release, where, told):
    assert count(release, where) == pytest.approx(told, abs=1e-9)


def test_aggregates_by_hand(release):
    """Of group 1 each row with probability 1/2, of the others all: their ages are above, or not asked for."""
    question = "SELECT {} AS x FROM microdata WHERE age <= 34 OR age IS NULL OR age > 40"
    found = {
        name: list(release.ask(question.format(f"{name}(pay)")).rows()[0].values())
        for name in ("COUNT", "SUM", "AVG", "MIN", "MAX", "MEDIAN")
    }
    values = np.array([10, 20, 30])
    assert found["COUNT"] == pytest.approx([7.5, sqrt(0.75), 6, 9])
    assert found["SUM"] == pytest.approx([30 + 390, sqrt((values**2).sum() / 4), 390, 450])
    mean = 420 / 7.5
    assert found["AVG"] == pytest.approx([mean, sqrt(((values - mean) ** 2).sum() / 4) / 7.5, 50, 65])
    assert found["MIN"] == [20, None, 10, 40]
    assert found["MAX"] == [90, None, 90, 90]
    assert found["MEDIAN"] == [60, None, 50, 65]


def test_conditions_on_the_sensitive_column_and_keys_of_it(release):
    answer = release.ask(
        "SELECT pay > 20 AS much, COUNT(*) AS n FROM microdata WHERE age <= 34 AND pay < 40 GROUP BY much"
    )
    few, much = answer.rows()
    assert list(few.values()) == pytest.approx([False, 1, sqrt(0.5), 0, 2])
    assert list(much.values()) == pytest.approx([True, 0.5, sqrt(0.25), 0, 1])


def test_what_is_possible_but_not_expected(release):
    """A point of a length has no length: nobody is expected there, yet all of group 2 may be."""
    [row] = release.ask(
        "SELECT COUNT(*) AS n, AVG(pay) AS a, MIN(pay) AS m, SUM(pay) AS s FROM microdata WHERE height = 1.6"
    ).rows()
    assert (row["n"], row["n_stderr"], row["n_low"], row["n_high"]) == (0, 0, 0, 3)
    assert (row["a"], row["a_stderr"], row["a_low"], row["a_high"]) == (None, None, 40, 60)
    assert (row["m"], row["m_low"], row["m_high"]) == (None, 40, 60)
    assert (row["s"], row["s_low"], row["s_high"]) == (0, 0, 150)


@pytest.mark.parametrize(
    ("question", "says"),
    [
        ("SELECT height, COUNT(*) FROM microdata GROUP BY height", "`height` may have too many values"),
        ("SELECT AVG(age) FROM microdata", "no values of quasi-identifiers to aggregate"),
        ("SELECT COUNT(age) FROM microdata", "no values of quasi-identifiers to aggregate"),
        ("SELECT COUNT(*) FROM microdata WHERE age_low > 3", "there is no column `age_low`"),
        ("SELECT COUNT(*) FROM microdata WHERE height * 2 > 3.1", "does not tell how much of its boxes"),
        ("SELECT COUNT(*) FROM microdata WHERE height < age / 25", "does not tell how much of its boxes"),
        ("SELECT COUNT(*) FROM microdata WHERE YEAR(born) = age + 1955", "does not tell how much of its boxes"),
        ("SELECT COUNT(*) FROM microdata WHERE age = 'old'", "cannot be computed"),
        ("SELECT COUNT(*) FROM microdata WHERE age > DATE '2020-01-01'", "cannot be computed"),
        ("SELECT SUM(pay) FROM microdata WHERE age > pay", "mixes"),
    ],
)
def test_what_is_refused(release, question, says):
    with pytest.raises(QueryError, match=says) as caught:
        release.ask(question)
    assert caught.value.hint or "computed" in says


def test_a_share_is_needed_only_where_a_box_is_covered_in_part(release):
    """Nobody knows how many heights of group 2 are above 1.55 when doubled, but all are below 9."""
    assert count(release, "height * 2 < 9 AND age < 40") == (3, 3, 3)
    assert count(release, "height * 2 < 9 AND 1 = 0") == (0, 0, 0)


def test_generalized_is_what_it_is(release):
    question = "SELECT SUM(pay) AS s FROM microdata WHERE age <= 34"
    plain = release.ask(question).rows()
    assert release.ask(question, generalized=True).rows() == release.ask(question, generalized={}).rows() == plain
    with pytest.raises(QueryError, match="has boxes of its own"):
        release.ask(question, generalized={1: {"age": (0, 99)}})


@pytest.mark.parametrize(
    "where",
    [
        "age < 35 AND (sex = 'f' OR height > 1.6)",
        "sex || age = 'f34' AND born < DATE '1991-01-01'",
        "age IN (30, 32, 34, 36, 38, 41, 43, 45, 47, 49, 51, 53, 70)",
    ],
)
def test_explain_runs_in_the_folder_of_the_release(release, where, monkeypatch):
    question = f"SELECT AVG(pay) AS x, COUNT(*) AS n FROM microdata WHERE {where}"
    *statements, last = release.explain(question).split(";\n")
    monkeypatch.chdir(release.path)
    with duckdb.connect() as connection:
        for statement in statements:
            connection.execute(statement).fetchall()
        rows = connection.sql(last).to_arrow_table().select(range(8)).to_pylist()
    assert rows == release.ask(question).rows()


def test_long_lists_and_deep_questions(release):
    odd = ", ".join(map(str, range(31, 3_000, 2)))
    assert count(release, f"age IN ({odd})") == pytest.approx((1.5 + 1.5, 0, 6))
    assert count(release, f"age NOT IN ({odd}) OR age > 3000 OR age IS NULL") == pytest.approx((1.5 + 1.5 + 3, 3, 9))
    heights = ", ".join(f"{i / 100}" for i in range(100, 200))
    assert count(release, f"height IN ({heights})") == pytest.approx((3 + 1.5, 3, 9))
    nested = "age > 3"
    for level in range(25):
        nested = f"({nested} OR (sex = 'f' AND age <> {level}))"
    assert count(release, nested) == pytest.approx((3 + 2.5 + 1.5, 3, 9))
    tangled = " AND ".join(f"(age <> {30 + i} OR sex = '{'fmab'[i % 4]}{i}')" for i in range(9))
    assert count(release, f"({tangled}) AND age < 40") == pytest.approx((0.3, 0, 3))


def test_ordered_text_is_counted_by_the_ends_that_boxes_have(tmp_path):
    """Of a to d the release knows a, b and d; of c to f it knows d and f besides, and c."""
    people = {
        "name": ["a", "d", "b", "b", "c", "f"],
        "flag": [False, True, True, True, None, None],
        "pay": [1, 2, 3, 4, 5, 6],
    }
    release = made(tmp_path / "r", people, groups=[0, 0, 1, 1, 2, 2], ordered=["name", "flag"])
    assert [side.label for side in release.promise.boxes] == [None, None]
    assert count(release, "name < 'c'") == pytest.approx((2 * 2 / 4 + 2, 2, 4))
    assert count(release, "name <= 'c'") == pytest.approx((2 * 3 / 4 + 2 + 2 * 1 / 3, 2, 6))
    assert count(release, "name < 'bb'") == pytest.approx((2 * 2 / 4 + 2, 2, 4))
    assert count(release, "name = 'bb'") == pytest.approx((0, 0, 2))
    assert count(release, "name LIKE 'b%'") == pytest.approx((2 * 1 / 4 + 2, 2, 6))
    assert count(release, "name > 'f'") == (0, 0, 0)
    assert count(release, "flag") == pytest.approx((1 + 2, 2, 4))
    assert count(release, "flag = FALSE") == pytest.approx((1, 0, 2))
    assert count(release, "flag IS NULL") == (2, 2, 2)
    release.close()


def test_boxes_that_may_hold_anything(tmp_path):
    """Such a box is as wide as all boxes: 10 to 19, and 30 to 49."""
    sides = [BoxColumn(name="age", type="integer", low="age_low", high="age_high")]
    ends = {"age_low": [10, 10, 30, 30, None, None], "age_high": [19, 19, 49, 49, None, None]}
    rows = pa.table({**ends, "group": [1, 1, 2, 2, 3, 3], "pay": [1, 2, 3, 4, 5, 6]})
    release = by_hand(tmp_path / "r", sides, rows)
    assert count(release, "age < 20") == pytest.approx((2 + 2 * 1 / 4, 2, 4))
    assert count(release, "age < 100") == pytest.approx((2 + 2 + 2, 4, 6))
    assert count(release, "age % 100 < 50") == pytest.approx((2 + 2 + 2, 4, 6))
    assert count(release, "age < 20 OR age >= 20 OR age IS NULL") == (6, 6, 6)
    assert count(release, "age < 3 AND age > 4") == (0, 0, 0)
    assert count(release, "age > 1000") == pytest.approx((0, 0, 2))
    release.close()


def test_where_no_box_tells_anything(tmp_path):
    sides = [BoxColumn(name="age", type="integer", low="age_low", high="age_high")]
    empty = pa.array([None, None], pa.int64())
    release = by_hand(
        tmp_path / "r", sides, pa.table({"age_low": empty, "age_high": empty, "group": [1, 1], "pay": [1, 2]})
    )
    with pytest.raises(QueryError, match="does not tell how much of its boxes"):
        count(release, "age < 20")
    assert count(release, "TRUE") == (2, 2, 2)
    release.close()


def test_numbers_dates_and_times_by_labels(tmp_path):
    sides = [
        BoxColumn(name=name, type=kind, label=name) for name, kind in (("n", "integer"), ("x", "number"), ("d", "date"))
    ]
    shown = {"n": ["1*", "1*", None, None], "x": ["low", "low", "*", "*"], "d": ["spring", "spring", "may", "may"]}
    labels = [
        *(("d", "may", "2020-05-01"), ("d", "spring", "2020-04-01"), ("d", "spring", "2020-05-01")),
        *(("n", "1*", str(number)) for number in range(10, 20)),
        *(("x", "*", "0.1"), ("x", "*", "0.5"), ("x", "*", "2.5"), ("x", "*", None), ("x", "low", "0.1")),
    ]
    release = by_hand(tmp_path / "r", sides, pa.table({**shown, "group": [1, 1, 2, 2], "pay": [1, 2, 3, 4]}), labels)
    assert count(release, "n < 13") == pytest.approx((2 * 0.3, 0, 2))
    assert count(release, "n IS NULL") == (2, 2, 2)
    assert count(release, "x < 0.5") == pytest.approx((2 + 2 * 1 / 4, 2, 4))
    assert count(release, "x = 0.1 OR x IS NULL") == pytest.approx((2 + 2 * 2 / 4, 2, 4))
    assert count(release, "d >= DATE '2020-05-01'") == pytest.approx((1 + 2, 2, 4))
    assert count(release, "n > x * 100") == pytest.approx((2 * 9 / 10, 0, 2))
    assert count(release, "MONTH(d) = 4 AND n % 2 = 0") == pytest.approx((2 * 1 / 4, 0, 2))
    release.close()


@pytest.mark.parametrize(
    ("kind", "values", "where", "share"),
    [
        (pa.int64(), [-(2**63), 2**63 - 1], "x < 0", 0.5),
        (pa.uint64(), [0, 2**64 - 1], "x >= 9223372036854775808", 0.5),
        (pa.int8(), [-128, 127], "x BETWEEN -128 AND -1 OR x = 127", 129 / 256),
        (pa.int64(), [2**60, 2**60 + 9], f"x < {2**60 + 3}", 0.3),
        (pa.float32(), [0.0, 4.0], "x > 1", 0.75),
        (pa.float64(), [-1e300, 1e300], "x > 5e299", 0.25),
        (pa.float64(), [0.0, 1e-300], "x > 5e-301", 0.5),
        (pa.decimal128(20, 3), [Decimal(0), Decimal(8)], "x < 0.5", 1 / 16),
        (pa.date32(), [date(2020, 2, 1), date(2020, 2, 29)], "x > '2020-02-28'", 1 / 29),
        (pa.timestamp("us"), [datetime(2020, 1, 1), datetime(2020, 1, 5)], "x < DATE '2020-01-02'", 0.25),  # noqa: DTZ001
        (pa.timestamp("s"), [datetime(2020, 1, 1), datetime(2020, 1, 5)], "x < '2020-01-02 12:00:00'", 0.375),  # noqa: DTZ001
        (pa.time64("us"), [time(0), time(12)], "x < '03:00:00'", 0.25),
    ],
    ids=str,
)
def test_columns_of_every_type(tmp_path, kind, values, where, share):
    people = {"x": pa.array(values, kind), "pay": [1, 2]}
    release = made(tmp_path / "r", people, groups=[0, 0])
    assert count(release, where) == pytest.approx((2 * share, 0, 2))
    assert count(release, f"NOT ({where})") == pytest.approx((2 * (1 - share), 0, 2))
    assert count(release, "x IS NULL") == (0, 0, 0)
    assert count(release, f"x >= '{_text(values[0], kind)}'") == (2, 2, 2)
    release.close()


def _text(value: Any, kind: pa.DataType) -> str:
    return duckdb.sql("SELECT CAST($1 AS VARCHAR)", params=[pa.scalar(value, kind).as_py()]).fetchall()[0][0]


def test_files_of_either_kind_tell_the_same(tmp_path):
    wheres = ["age <= 34 AND sex = 'f'", "height > 1.6 OR born < DATE '1994-06-01'", "age % 3 = 0"]
    releases = [made(tmp_path / form, PEOPLE, form=form) for form in ("parquet", "csv")]
    parquet, csv = ([count(release, where) for where in wheres] for release in releases)
    assert parquet == csv
    assert pa_csv.read_csv(releases[1].file("generalized")).column_names[0] == "age_low"
    for release in releases:
        release.close()


PLACES = {"A": (1, 1), "B": (2, 2), "C": (1, 4), "D": (2, 3), "E": (3, 1), "F": (3, 2), "G": (5, 4)}
OTHERS = {"G1": (5, 4), "G2": (5, 4), "U": (1, 2), "V": (2, 4), "Y": (3, 1)}


def joined(to: Path, variant: str) -> Release:
    def table(people: Mapping[str, tuple[int, int]]) -> dict[str, list[Any]]:
        return {"id": list(people), "x": [x for x, _ in people.values()], "y": [y for _, y in people.values()]}

    policy = discreet.Policy(
        identifiers=["id"],
        quasi=["x", "y"],
        sensitive="pay",
        guarantee={"k": 3},
        publication="join",
        join="id",
        options={"variant": variant},
    )
    private = pa.table({**table(PLACES), "pay": [10, 20, 30, 40, 50, 60, 70]})
    return discreet.publish(private, policy, to=to, public=pa.table(table({**PLACES, **OTHERS})), seed=1)


def test_a_join_by_refinement(tmp_path):
    """n values and boxes of |g| rows: n times the mean share of the boxes, each counted as often as it has rows."""
    release = joined(tmp_path / "r", "refinement")
    boxes = pq.read_table(release.file("joined")).to_pylist()
    values = pq.read_table(release.file("si")).to_pylist()
    own = release.promise.join.group
    expected, low, high = 0.0, 0, 0
    for group in {row[own] for row in values}:
        n = sum(row["count"] for row in values if row[own] == group)
        rows = [row for row in boxes if row[own] == group]
        shares = [_share(row["x_low"], row["x_high"], 1, 2) * _share(row["y_low"], row["y_high"], 1, 1) for row in rows]
        expected += n * sum(shares) / len(rows)
        low += max(0, n - sum(share < 1 for share in shares))
        high += min(n, sum(share > 0 for share in shares))
    assert count(release, "x <= 2 AND y = 1") == pytest.approx((expected, low, high))
    assert 0 < expected < 4
    assert count(release, "TRUE") == (7, 7, 7)
    assert release.ask("SELECT SUM(pay) AS s FROM microdata").rows()[0] == {
        "s": 280,
        "s_stderr": 0,
        "s_low": 280,
        "s_high": 280,
    }
    release.close()


def _share(low: int, high: int, least: int, most: int) -> float:
    return sum(least <= point <= most for point in range(low, high + 1)) / (high - low + 1)


def test_a_direct_join_is_not_asked_who_matches(tmp_path):
    release = joined(tmp_path / "r", "direct")
    with pytest.raises(QueryError, match="does not say how many people of the table are in a box") as caught:
        release.ask("SELECT COUNT(*) FROM microdata WHERE x <= 2")
    assert "refinement" in caught.value.hint
    assert count(release, "pay > 30") == (4, 4, 4)
    release.close()


@pytest.mark.parametrize("partition", ["mondrian", "topdown"])
def test_bounds_hold_the_truth(tmp_path, partition):
    rng = np.random.default_rng(5)
    ages, heights = rng.integers(17, 90, 400), rng.normal(1.7, 0.1, 400).round(3)
    people = pa.table(
        {
            "age": pa.array(ages, mask=rng.random(400) < 0.05),
            "height": pa.array(heights, mask=rng.random(400) < 0.05),
            "town": pa.array(rng.choice(["ayr", "bute", "cork", "deal"], 400), mask=rng.random(400) < 0.05),
            "pay": rng.integers(0, 40, 400),
        }
    )
    policy = discreet.Policy(
        quasi=["age", "height", "town"],
        sensitive="pay",
        guarantee={"k": 5},
        partition=partition,
        publication="generalization",
    )
    release = discreet.publish(people, policy, to=tmp_path / "r", seed=1)
    parts = [
        "age < {}",
        "age BETWEEN 30 AND {}",
        "age % 3 = 0",
        "height > 1.7",
        "town IN ('ayr', 'cork')",
        "age IS NULL",
    ]
    parts += ["NOT height <= 1.{}", "town > 'bute'", "town IS NULL", "age IN (20, 25, 30, {})"]
    functions = ("COUNT(*)", "SUM(pay)", "AVG(pay)", "MIN(pay)", "MAX(pay)", "MEDIAN(pay)")
    columns = ", ".join(f"{text} AS m{i}" for i, text in enumerate(functions))
    with duckdb.connect() as connection:
        connection.register("microdata", people)
        for _ in range(25):
            one, two, three = (str(part).format(rng.integers(18, 90)) for part in rng.choice(parts, 3))
            join = str(rng.choice(["({} AND {}) OR {}", "({} OR {}) AND {}", "{} AND NOT ({} OR {})"]))
            question = f"SELECT {columns} FROM microdata WHERE ({join.format(one, two, three)}) AND pay > 5"
            truth = connection.sql(question).to_arrow_table().to_pylist()[0]
            [row] = release.ask(question).rows()
            for name, value in truth.items():
                if value is not None:
                    assert row[f"{name}_low"] - 1e-9 <= value <= row[f"{name}_high"] + 1e-9, (question, name)
                    assert row[f"{name}_low"] - 1e-9 <= row[name] <= row[f"{name}_high"] + 1e-9, (question, name)
    release.close()
