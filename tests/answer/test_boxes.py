"""Asking for what a generalized table with the same groups would tell: what is answered, refused, and said."""

import json
from datetime import date, datetime, timedelta

import duckdb
import numpy as np
import pyarrow as pa
import pytest

import discreet
from discreet.errors import QueryError
from discreet.publication.publish import publish_groups

PEOPLE = {
    "age": [30, 34, 39, 41, 45, None, None, None, 70],
    "born": [date(1990 + i, 1 + i, 1) for i in range(9)],
    "height": [1.5, 1.5, 1.5, 1.6, 1.75, 1.9, 1.8, None, 1.7],
    "sex": ["f", "f", "f", "m", None, "f", "m", "m", "m"],
    "pay": [10, 20, 30, 40, 50, 60, 70, 80, 90],
}
GROUPS = np.repeat(np.arange(3, dtype=np.int32), 3)


def made(to, *, people=None, publication="anatomy", form="parquet"):
    people = pa.table(PEOPLE) if people is None else people
    quasi = people.column_names[:-1]
    policy = discreet.Policy(
        quasi=quasi, sensitive="pay", guarantee={"k": 2}, partition="deal", publication=publication
    )
    table = discreet.read(people)
    try:
        return publish_groups(table, policy, table.codes("pay"), GROUPS, to=to, format=form)
    finally:
        table.close()


@pytest.fixture(scope="module", params=["parquet", "csv"])
def release(request, tmp_path_factory):
    opened = made(tmp_path_factory.mktemp("boxes") / "release", form=request.param)
    yield opened
    opened.close()


def count(release, where, generalized=True):  # noqa: FBT002
    [row] = release.ask(f"SELECT COUNT(*) AS n FROM microdata WHERE {where}", generalized=generalized).rows()
    assert (row["n"], row["n_stderr"]) == (None, None)
    return row["n_low"], row["n_high"]


@pytest.mark.parametrize(
    ("where", "bounds"),
    [
        ("TRUE", (9, 9)),
        ("1 = 0", (0, 0)),
        ("NULL", (0, 0)),
        ("age >= 30", (3, 9)),
        ("age < 40", (3, 3)),
        ("40 > age", (3, 3)),
        ("age <= 39.5", (3, 3)),
        ("age BETWEEN 30 AND 39", (3, 3)),
        ("age BETWEEN 31 AND 39", (0, 3)),
        ("age NOT BETWEEN 30 AND 39", (0, 6)),
        ("NOT age < 40", (0, 6)),
        ("age = 35", (0, 3)),
        ("age <> 35", (0, 9)),
        ("age <> 29", (3, 9)),
        ("age IN (29, 40)", (0, 0)),
        ("age IN (30, 31, 32, 33, 34, 35, 36, 37, 38, 39)", (3, 3)),
        ("age < 35 OR age >= 35", (3, 9)),
        ("age // 10 = 3", (3, 3)),
        ("age % 2 = 0", (0, 9)),
        ("age IS NULL", (0, 6)),
        ("age IS NOT NULL", (3, 9)),
        ("COALESCE(age, 0) < 75", (9, 9)),
        ("age > NULL", (0, 0)),
        ("NOT (age > NULL)", (0, 0)),
        ("born < DATE '1993-01-01'", (3, 3)),
        ("born < '1993-01-01'", (3, 3)),
        ("born + INTERVAL 1 YEAR < DATE '1990-01-01'", (0, 0)),  # tried on every day that any box has
        ("height = 1.5", (3, 3)),
        ("height * 2 = 3", (3, 9)),  # group 1 is a point, the others are intervals
        ("height > 1.55", (3, 6)),
        ("height + age > 30", (3, 9)),
        ("sex = 'f'", (3, 6)),
        ("sex <> 'f'", (3, 6)),
        ("sex IS NULL", (0, 3)),
        ("sex LIKE '%f%' OR sex = 'm'", (6, 9)),
        ("UPPER(sex) = 'F' AND age < 40", (3, 3)),
        ("sex = 'm' AND age > 39", (0, 6)),
        ("age > 39 AND sex = 'f' AND age < 40", (0, 0)),
        ("sex = 'f' OR age IS NULL OR sex = 'm' OR sex IS NULL", (9, 9)),
        ("CAST(age AS VARCHAR) < '4'", (3, 3)),
        ("sex || age = 'f34'", (0, 3)),
    ],
)
def test_none_some_or_all_of_a_group(release, where, bounds):
    assert count(release, where) == bounds


def test_given_boxes_take_the_place_of_tight_ones(release):
    assert count(release, "age < 40", {1: {"age": (30, 45)}}) == (0, 3)
    assert count(release, "age < 40", {1: {"age": None}}) == (0, 3)
    assert count(release, "age < 40 OR age >= 40 OR age IS NULL", {1: {"age": None}}) == (9, 9)
    assert count(release, "age < 40 OR age > 40 OR age IS NULL", {1: {"age": None}}) == (6, 9)
    assert count(release, "age < 40", {2: {"age": (39, 45)}}) == (3, 6)
    assert count(release, "sex = 'f'", {1: {"sex": {"f", "m"}}}) == (0, 6)
    assert count(release, "sex = 'f'", {3: {"sex": {"f", "m"}}}) == (3, 9)
    assert count(release, "sex = 'f'", {1: {"sex": {"f", None}}}) == (0, 6)
    assert count(release, "sex = 'f'", {1: {"sex": None}, 3: {}}) == (0, 6)
    assert count(release, "born < DATE '1993-01-01'", {1: {"born": (date(1990, 1, 1), date(1993, 1, 1))}}) == (0, 3)
    assert count(release, "height = 1.5", {1: {"height": (1.25, 1.5)}}) == (0, 3)
    assert count(release, "age < 40", {}) == (3, 3)


def test_whether_a_value_is_missing_is_told_by_the_rows(release):
    """Group 3 has ages missing, and group 1 has none, whatever interval is given."""
    assert count(release, "age IS NULL", {1: {"age": (0, 99)}, 3: {"age": (0, 99)}}) == (0, 6)
    assert count(release, "age BETWEEN 0 AND 99", {1: {"age": (0, 99)}, 3: {"age": (0, 99)}}) == (3, 9)


@pytest.mark.parametrize(
    ("boxes", "says"),
    [
        ({1: {"age": (31, 39)}}, "the box of group 1 does not hold its rows in `age`"),
        ({2: {"age": (30, 60), "sex": {"m", "f"}}}, "the box of group 2 does not hold its rows in `sex`"),
        ({3: {"age": (71, 60)}}, "the box of group 3 does not hold its rows in `age`"),
        ({4: {"age": (0, 99)}}, "there is no group 4"),
        ({1: {"aeg": None}}, "there is no quasi-identifier `aeg`"),
        ({1: {"pay": (0, 99)}}, "there is no quasi-identifier `pay`"),
        ({1: {"age": {30, 34, 39}}}, r"`age` needs \(from, to\)"),
        ({1: {"age": (30, None)}}, r"`age` needs \(from, to\)"),
        ({1: {"sex": ("f", "m")}}, "`sex` needs a set of values"),
        ({1: {"sex": set()}}, "`sex` needs a set of values"),
        ({1: {"age": ("young", "old")}}, "the boxes cannot be used"),
        ({"one": {}}, "a group is a whole number"),
    ],
)
def test_boxes_that_cannot_be(release, boxes, says):
    with pytest.raises(QueryError, match=says):
        release.ask("SELECT COUNT(*) FROM microdata", generalized=boxes)


@pytest.mark.parametrize(
    ("question", "says"),
    [
        ("SELECT age, COUNT(*) FROM microdata GROUP BY age", "cannot be grouped by a quasi-identifier"),
        ("SELECT sex = 'f', SUM(pay) FROM microdata GROUP BY 1", "cannot be grouped by a quasi-identifier"),
        ("SELECT AVG(age) FROM microdata", "no values of quasi-identifiers to aggregate"),
        ("SELECT COUNT(age) FROM microdata WHERE pay > 3", "no values of quasi-identifiers to aggregate"),
        ("SELECT SKEWNESS(pay) FROM microdata", "not supported"),
        ("SELECT AVG(pay) FROM microdata WHERE age > pay", "mixes"),
    ],
)
def test_what_boxes_do_not_tell(release, question, says):
    with pytest.raises(QueryError, match=says) as caught:
        release.ask(question, generalized=True)
    assert caught.value.hint


def test_conditions_on_the_sensitive_column_and_keys_of_it(release):
    """Group 1 whole and group 2 perhaps: of its pays 40, 50 and 60 any that match."""
    answer = release.ask(
        "SELECT pay >= 50 AS high, COUNT(*) AS n, SUM(pay) AS s, MAX(pay) AS m FROM microdata"
        " WHERE (age < 40 OR age = 44) AND pay < 60 GROUP BY high",
        generalized=True,
    )
    low, high = answer.rows()
    assert (low["high"], low["n_low"], low["n_high"]) == (False, 3, 4)
    assert (low["s_low"], low["s_high"], low["m_low"], low["m_high"]) == (60, 100, 30, 40)
    assert (high["high"], high["n_low"], high["n_high"]) == (True, 0, 1)
    assert (high["s_low"], high["s_high"], high["m_low"], high["m_high"]) == (0, 50, 50, 50)
    assert tuple(note for note in answer.notes if "in the release" not in note) == (
        "s: in 1 of 2 rows it is possible that nobody matches; that counts as a sum of 0",
        "m: in 1 of 2 rows it is possible that nobody matches; the bounds hold if somebody does",
    )


def test_nobody_matches(release):
    answer = release.ask("SELECT COUNT(*) AS n, AVG(pay) AS x FROM microdata WHERE age > 99", generalized=True)
    assert answer.rows() == [
        {f"{x}{end}": None for x in "nx" for end in ("", "_stderr", "_low", "_high")} | {"n_low": 0, "n_high": 0}
    ]
    assert tuple(note for note in answer.notes if "in the release" not in note) == ("x: in this row nobody matches",)


def test_the_same_question_is_told_apart(release):
    question = "SELECT SUM(pay) AS x FROM microdata WHERE age = 34"
    given = {1: {"age": (30, 40)}, 2: {"age": (30, 50)}}
    answers = [release.ask(question, generalized=boxes).rows()[0] for boxes in (False, True, given, False, True, given)]
    assert answers[:3] == answers[3:]
    assert [row["x_high"] for row in answers[:3]] == [30, 60, 210]
    assert discreet.ask(release, question, generalized=given).rows() == [answers[2]]


@pytest.mark.parametrize("generalized", [True, {1: {"age": (20, 50), "sex": {"f", "m"}}, 3: {"height": None}}])
def test_explain_runs_in_the_folder_of_the_release(release, generalized, monkeypatch):
    question = "SELECT AVG(pay) AS x FROM microdata WHERE age < 40 AND (sex = 'f' OR height > 1.6)"
    *statements, last = release.explain(question, generalized=generalized).split(";\n")
    monkeypatch.chdir(release.path)
    with duckdb.connect() as connection:
        for statement in statements:
            connection.execute(statement).fetchall()
        rows = connection.sql(last).to_arrow_table().select(range(4)).to_pylist()
    assert rows == release.ask(question, generalized=generalized).rows()


@pytest.mark.parametrize(
    "kind",
    [
        pa.int8(),
        pa.uint64(),
        pa.int64(),
        pa.float32(),
        pa.decimal128(20, 3),
        pa.date32(),
        pa.timestamp("us"),
        pa.bool_(),
        pa.time64("us"),
    ],
    ids=str,
)
def test_columns_of_every_type(tmp_path, kind):
    """The ends of every type, and some between; all of them missing in group 3."""
    plain = {
        pa.int8(): [-128, 0, 127],
        pa.uint64(): [0, 1, 2**64 - 1],
        pa.int64(): [-(2**63), 0, 2**63 - 1],
        pa.bool_(): [False, True, True],
        pa.date32(): [date(1, 1, 1), date(2000, 1, 1), date(9999, 12, 31)],
        pa.timestamp("us"): [datetime(1, 1, 1), datetime(2000, 1, 1), datetime(9999, 12, 31)],  # noqa: DTZ001
        pa.time64("us"): [(datetime(2000, 1, 1) + timedelta(hours=h)).time() for h in (0, 1, 23)],  # noqa: DTZ001
    }.get(kind, [-1.5, 0.25, 3.75])
    values = pa.array([*plain, *plain[:1] * 3, None, None, None], pa.float64() if plain[0] == -1.5 else kind).cast(kind)
    people = pa.table({"x": values, "y": range(9), "pay": PEOPLE["pay"]})
    release = made(tmp_path / "release", people=people)
    low, high = (
        duckdb.sql("SELECT CAST($1 AS VARCHAR)", params=[end]).fetchall()[0][0] for end in (plain[0], plain[-1])
    )
    for boxes in (True, {1: {"x": {False, True} if kind == pa.bool_() else (plain[0], plain[-1])}}):
        assert count(release, f"x = '{low}'", boxes) == (3, 6)
        assert count(release, f"x <> '{low}'", boxes) == (0, 3)
        assert count(release, f"x <= '{high}'", boxes) == (6, 6)
        assert count(release, f"x IN ('{low}', '{high}') OR x IS NULL", boxes) == (
            (9, 9) if kind == pa.bool_() else (6, 9)
        )
        assert count(release, f"COALESCE(x, '{low}') = x", boxes) == (
            (6, 6) if kind in {pa.bool_(), pa.int8()} else (3, 6)
        )
        assert count(release, "x IS NULL", boxes) == (3, 3)
    release.close()


def test_a_long_list_of_constants_and_a_deep_question(release):
    numbers = ", ".join(map(str, range(100, 1_000)))
    assert count(release, f"age IN ({numbers}, 30)") == (0, 3)
    nested = "age > 3"
    for level in range(25):
        nested = f"({nested} OR (sex = 'f' AND age <> {level}))"
    assert count(release, nested) == (3, 9)
    with pytest.raises(QueryError, match=r"nested too deeply|not SQL that can be read"):
        count(release, f"{'(' * 80}age > 3{')' * 80}".replace("(", "NOT ("))


def test_a_swapped_table_has_no_groups(tmp_path):
    policy = discreet.Policy(
        quasi=["age"], sensitive="pay", drop="rest", guarantee={"k": 2, "e": 1}, publication="swap"
    )
    release = discreet.publish(pa.table(PEOPLE), policy, to=tmp_path / "release")
    for generalized in (True, {}, {1: {"age": None}}):
        with pytest.raises(QueryError, match="a release by `swap` has no groups to generalize"):
            release.ask("SELECT SUM(pay) FROM microdata", generalized=generalized)
    release.close()


def test_ask_generalized(run, release):
    question = "SELECT MIN(pay) FROM microdata WHERE sex = 'm' AND age > 39"
    status, out, err = run("ask", release.path, question, "--generalized")
    assert status == 0
    assert out.split()[-4:] == ["–", "–", "40", "90"]
    assert err == "note: min_pay: in this row it is possible that nobody matches; the bounds hold if somebody does\n"


def test_ask_generalized_as_json(run, release):
    question = "SELECT SUM(pay) FROM microdata WHERE age < 40"
    status, out, err = run("ask", release.path, question, "--generalized", "--json")
    assert (status, err) == (0, "")
    told = json.loads(out)
    assert told["rows"] == [{"sum_pay": None, "sum_pay_stderr": None, "sum_pay_low": 60, "sum_pay_high": 60}]
    assert told["columns"] == list(told["rows"][0])


def test_explain_generalized(run, release):
    status, out, err = run(
        "ask", release.path, "SELECT SUM(pay) FROM microdata WHERE age < 40", "--generalized", "--explain"
    )
    assert (status, err) == (0, "")
    assert "fewest" in out


def test_refused_generalized(run, release):
    status, out, err = run("ask", release.path, "SELECT AVG(age) FROM microdata", "--generalized")
    assert (status, out) == (1, "")
    assert "no values of quasi-identifiers" in err
