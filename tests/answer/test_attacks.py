"""Strange questions, strange values and edited releases: a right answer, or an error of ours that shows no value."""

import json
import shutil
from contextlib import suppress

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from discreet import Policy, open_release, publish, verify
from discreet.errors import DiscreetError, QueryError


@pytest.fixture(scope="module")
def release(people, tmp_path_factory):
    policy = Policy(
        quasi=["age", "sex", "education", "zipcode"],
        sensitive="salary",
        drop="rest",
        guarantee={"l": 4},
        partition="deal",
        name="people",
    )
    return publish(people, policy, to=tmp_path_factory.mktemp("releases") / "people", seed=1)


@pytest.fixture(scope="module")
def private(people):
    """A DuckDB that holds the private table under both of its names."""
    connection = duckdb.connect()
    for name in ("microdata", "people"):
        connection.register(name, people)
    return connection


COUNT = "SELECT COUNT(*) FROM microdata"
MANY = " OR ".join(f"age = {i}" for i in range(500))
EXACT = (
    COUNT + ";",
    f"/* ; DROP TABLE qit */ {COUNT} -- the end",
    f"-- first\n{COUNT}",
    "FROM microdata SELECT COUNT(*)",
    'SELECT COUNT(*) FROM "MicroData" AS "m m" WHERE "m m".AGE > 30',
    'SELECT COUNT(*) AS "名前; \'--" FROM people WHERE people.age > 30',
    f"{COUNT} WHERE {MANY}",
    f"{COUNT} WHERE age IN ({', '.join(map(str, range(3000)))})",
    f"{COUNT} WHERE {'(' * 40}age > 30{')' * 40}",
    f"{COUNT} WHERE {'NOT ' * 40}age > 30",
    f"{COUNT} WHERE sex = '{'x' * 100_000}'",
    f"{COUNT} WHERE sex = 'm'' OR 1=1 --'",
    f"{COUNT} WHERE age > 3e1 AND age < 1_00",
    f"{COUNT} WHERE age / 7 > 5 AND age // 7 > 4 AND age % 7 <> 5 AND -age < -20 AND age ** 2 > 900",
    f"{COUNT} WHERE age BETWEEN 40 AND 30",
    f"{COUNT} WHERE sex NOT IN ('m', NULL)",
    f"{COUNT} WHERE (age, sex) IN ((30, 'm'), (31, 'f'))",
    f"{COUNT} WHERE age IS NOT DISTINCT FROM 30 OR age IS DISTINCT FROM 31",
    f"{COUNT} WHERE (age > 30) IS NOT TRUE",
    f"{COUNT} WHERE NULL",
    f"{COUNT} WHERE TRUE AND NOT FALSE",
    f"{COUNT} WHERE age",
    f"{COUNT} WHERE education SIMILAR TO '.*(or|er)' AND zipcode LIKE '1_0%' ESCAPE '$'",
    f"{COUNT} WHERE CASE WHEN age > 30 THEN sex = 'm' ELSE education LIKE 'p%' END",
    f"{COUNT} WHERE COALESCE(NULLIF(sex, 'm'), 'x') = 'x'",
    f"{COUNT} WHERE zipcode || sex = '10000m' OR concat(sex, NULL, age) = 'm30'",
    f"{COUNT} WHERE trim(BOTH 'm' FROM sex) = '' OR concat('**', sex) = '**f'",
    f"{COUNT} WHERE substr(zipcode, -2) = '37' OR position('3' IN zipcode) = 3",
    f"{COUNT} WHERE TRY_CAST(education AS INTEGER) IS NULL AND CAST(zipcode AS INTEGER) > 11000",
    f"{COUNT} WHERE DATE '2020-01-01' + age > DATE '2020-02-10'",
    f"{COUNT} WHERE log(2, age) > 5 OR log(age) > 1.8 OR ln(age) > 4",
    "SELECT age // 10 AS decade, COUNT(*) FROM microdata GROUP BY decade ORDER BY decade",
    "SELECT age // 10 AS age, COUNT(*) FROM microdata GROUP BY 1 ORDER BY 1",
    "SELECT -age AS age, COUNT(*) FROM microdata GROUP BY 1 ORDER BY age DESC LIMIT 3",
    "SELECT sex AS education, education AS sex, COUNT(*) FROM people GROUP BY 1, 2 ORDER BY 1, 2",
    "SELECT sex AS a, education AS b, COUNT(*) FROM people GROUP BY b, a ORDER BY b, a",
    "SELECT sex AS least_0, education AS by_key_0, COUNT(*) FROM people GROUP BY 2, 1 ORDER BY 2, 1",
    "SELECT COUNT(*) AS key_0, sex AS frame FROM people GROUP BY sex ORDER BY 2",
    "SELECT COUNT(*) AS age, sex FROM people GROUP BY sex ORDER BY age",
    "SELECT sex, COUNT(*) FROM people GROUP BY sex ORDER BY COUNT(*) DESC LIMIT 1 OFFSET 1",
    "SELECT COUNT(*) FROM people GROUP BY sex, sex ORDER BY 1",
    "SELECT COUNT(*) FROM people LIMIT 0",
    "SELECT COUNT(*), COUNT(1), COUNT('x'), COUNT(age > 30), COUNT(NULLIF(age, 30)) FROM people",
    "SELECT SUM(CASE WHEN age > 30 THEN 1 ELSE 0 END), SUM(0 - age), MIN(-age), MAX(age || sex) FROM people",
    "SELECT MEDIAN(age), QUANTILE(age, 0), QUANTILE(age, 1), QUANTILE_CONT(age, 0.123456789012345678) FROM people",
    "SELECT PERCENTILE_CONT(0.3) WITHIN GROUP (ORDER BY age), PERCENTILE_DISC(0.3) WITHIN GROUP (ORDER BY zipcode) FROM people",
)


def measured(answer):
    """The estimates of an answer with its keys, without errors and bounds; for exact answers they are all there is."""
    columns = [
        c
        for c in answer.columns
        if not any(c == f"{x}{end}" for x in answer.columns for end in ("_stderr", "_low", "_high"))
    ]
    return [tuple(row[column] for column in columns) for row in answer.rows()]


@pytest.mark.parametrize("question", EXACT, ids=range(len(EXACT)))
def test_what_is_published_is_answered_exactly(release, private, question):
    answer = release.ask(question)
    expected = private.execute(question).fetchall()
    given = measured(answer)
    assert len(given) == len(expected)
    for row, true in zip(given, expected, strict=True):
        assert [pytest.approx(float(v)) if _is_number(v) else v for v in true] == list(row)
    for column in answer.columns:
        if column.endswith("_low"):
            name = column.removesuffix("_low")
            assert all(row[column] == row[name] == row[f"{name}_high"] for row in answer.rows())


def _is_number(value):
    return value is not None and not isinstance(value, bool | str)


BOUNDED = (
    "SELECT SUM(salary // 1000), SUM(CAST(salary / 1000 AS BIGINT)), AVG(salary / 1000) FROM people WHERE age < 40",
    "SELECT SUM(-salary), MIN(-salary), MAX(salary + 0.5), MEDIAN(salary * 2 - 1) FROM people WHERE age < 40",
    "SELECT SUM(CASE WHEN salary > 60000 THEN 1 ELSE -1 END), COUNT(NULLIF(salary, 50000)) FROM people WHERE age < 40",
    "SELECT SUM(salary - 70000), AVG(salary - 70000) FROM people WHERE age < 40 AND salary BETWEEN 50000 AND 90000",
    "SELECT QUANTILE(salary, 0), QUANTILE(salary, 1), QUANTILE_CONT(salary, 0.123456789) FROM people WHERE age < 40",
    "SELECT MIN(sex), MAX(education), QUANTILE(zipcode, 0.5) FROM people WHERE salary > 100000",
    "SELECT sex, education, AVG(salary) FROM people WHERE salary > 60000 GROUP BY 1, 2 ORDER BY 1, 2",
    "SELECT salary > 60000 AS rich, sex, COUNT(*), SUM(age), MEDIAN(age) FROM people GROUP BY 1, 2 ORDER BY 1, 2",
    "SELECT COUNT(*), MIN(salary) FROM people WHERE NOT (NOT (NOT (age > 30 OR salary > 60000)))",
    f"SELECT COUNT(*) FROM people WHERE ({MANY}) AND salary > 60000",
    "SELECT COUNT(*) FROM people WHERE (salary, salary) IN ((50000, 50000), (60000, 60000)) AND age > 20",
    "SELECT COUNT(*) FROM people WHERE salary IS NOT DISTINCT FROM 50000 AND sex IS DISTINCT FROM 'm'",
)


@pytest.mark.parametrize("question", BOUNDED, ids=range(len(BOUNDED)))
def test_the_truth_lies_within_the_bounds(release, private, question):
    answer = release.ask(question)
    expected = private.execute(question).fetchall()
    assert len(answer) == len(expected)
    for row, true in zip(answer.rows(), expected, strict=True):
        measures = [name for name in row if f"{name}_stderr" in row]
        for name, value in zip(measures, true[len(true) - len(measures) :], strict=True):
            low, high = row[f"{name}_low"], row[f"{name}_high"]
            if _is_number(value):
                slack = 1e-9 * abs(float(value))
                assert float(low) - slack <= float(value) <= float(high) + slack, name
            else:
                assert low <= value <= high, name


def test_arguments_that_look_alike_in_another_dialect(release):
    """`//` rounds down and CAST rounds to the nearest; together they must say what each says alone."""
    down, nearest = "SUM(salary // 7000)", "SUM(CAST(salary / 7000 AS BIGINT))"
    alone = [release.ask(f"SELECT {x} AS x FROM people WHERE age < 40").rows()[0] for x in (down, nearest)]
    [both] = release.ask(f"SELECT {down} AS a, {nearest} AS b FROM people WHERE age < 40").rows()
    assert alone[0]["x"] != alone[1]["x"]
    assert [both["a"], both["a_low"], both["b"], both["b_low"]] == [
        pytest.approx(row[name]) for row in alone for name in ("x", "x_low")
    ]


def test_a_column_comes_before_an_alias_in_group_by(release, private):
    """As in DuckDB: there the column `age` is meant, which then stands beside its decade."""
    question = "SELECT age // 10 AS age, COUNT(*) FROM people GROUP BY age"
    try:
        answer = release.ask(question)
    except QueryError:
        return
    assert sorted(measured(answer)) == sorted(private.execute(question).fetchall())


UNREADABLE = (
    "",
    ";",
    "\0",
    "SELECT",
    "SELECT COUNT(*) FROM microdata WHERE sex = 'm",
    "SELECT COUNT(*) FROM microdata WHERE " + "(" * 5_000 + "age > 3" + ")" * 5_000,
    "SELECT COUNT(*) FROM microdata WHERE " + "NOT " * 5_000 + "age > 3",
    "SELECT COUNT(*) FROM microdata WHERE age " + "+ 1 " * 5_000 + "> 3",
    "SELECT " + ", ".join(["COUNT(*)"] * 3_000) + " FROM microdata WHERE x",
    "SELECT COUNT(*) FROM microdata WHERE " + " AND ".join(["age > 3"] * 2_000) + " AND x",
    "SELECT COUNT(*) FROM microdata WHERE age > 99999999999999999999999999999999999999999999999999 AND x",
    "SELECT COUNT(*) FROM microdata LIMIT 99999999999999999999",
    "SELECT COUNT(*) FROM microdata LIMIT -1",
    "SELECT QUANTILE(salary, 1e-5000) FROM microdata WHERE age > 30",
    "SELECT QUANTILE(salary, 1e5000) FROM microdata WHERE age > 30",
    "SELECT COUNT(*) FROM microdata WHERE rowid = 3",
    "SELECT MIN(microdata) FROM microdata",
    'SELECT COUNT(*) FROM microdata WHERE qit."group" = 3',
    "SELECT COUNT(*) FROM microdata WHERE getvariable('x') = 3",
    "SELECT COUNT(*) FROM microdata WHERE age > :number",
    "SELECT COUNT(*) FROM microdata WHERE age = ANY([30])",
    "SELECT COUNT(*) FROM microdata WHERE {'a': age} = {'a': 30}",
    "SELECT COUNT(*) FROM microdata WHERE age::ENUM('a', 'b') = 'a'",
    "SELECT COUNT(*) FROM microdata WHERE age > 3 COLLATE NOCASE",
    "SELECT COUNT(*) FROM microdata USING SAMPLE 10",
    "PIVOT microdata ON sex USING COUNT(*)",
    "EXPLAIN ANALYZE SELECT COUNT(*) FROM microdata",
    "EXECUTE statement_0",
    "DEALLOCATE statement_0",
)


@pytest.mark.parametrize("question", UNREADABLE, ids=range(len(UNREADABLE)))
@pytest.mark.filterwarnings("ignore")
def test_what_cannot_be_answered_is_refused(release, question):
    with pytest.raises(QueryError):
        release.ask(question)
    with suppress(QueryError):  # what fails only when it is computed can be explained
        release.explain(question)
    assert release.ask(COUNT).rows()[0]["count"] == 2_000


@pytest.mark.parametrize("fraction", ["1e-9", "0.999999999999999999999", "1e-40"])
def test_quantiles_at_the_edge_have_both_bounds(release, fraction):
    [row] = release.ask(f"SELECT QUANTILE(salary, {fraction}) AS q FROM people WHERE age < 40").rows()
    assert row["q_low"] <= row["q"] <= row["q_high"]


@pytest.fixture(scope="module")
def extreme(tmp_path_factory):
    """Numbers at the end of their types, infinities, and texts that are not numbers."""
    most = 2**63 - 1
    table = pa.table(
        {
            "big": [most, most - 1, -most - 1, 0] * 6,
            "small": pa.array([127, -128, 0, 1] * 6, pa.int8()),
            "unsigned": pa.array([0, 255, 7] * 8, pa.uint8()),
            "real": [1e308, float("inf"), float("-inf"), -0.0, 0.0, 5e-324] * 4,
            "text": ["424242 it's", 'x "424242"', "424242\n1", ""] * 6,
            "ill": [most, most - 1, -most - 1, 424_242_424_242, 5, 6] * 4,
        }
    )
    policy = Policy(quasi=table.column_names[:-1], sensitive="ill", guarantee={"l": 3}, partition="deal")
    return publish(table, policy, to=tmp_path_factory.mktemp("releases") / "extreme"), table


@pytest.mark.parametrize(
    "question",
    [
        "SELECT SUM(big + big) FROM microdata WHERE ill > 3",
        "SELECT SUM(ill * 3) FROM microdata",
        "SELECT COUNT(*) FROM microdata WHERE -ill > 3",
        "SELECT COUNT(*) FROM microdata WHERE big * 2 > 3",
        "SELECT SUM(small * small) FROM microdata",
        "SELECT SUM(unsigned - 9) FROM microdata",
        "SELECT MIN(-unsigned) FROM microdata WHERE ill > 5",
        "SELECT COUNT(*) FROM microdata WHERE CAST(text AS INTEGER) > 3",
        "SELECT COUNT(*) FROM microdata WHERE CAST(text AS DATE) > DATE '2020-01-01' AND ill > 3",
        "SELECT COUNT(*) FROM microdata WHERE CAST(ill AS INTEGER) > 3 AND big > 3",
        "SELECT COUNT(*) FROM microdata WHERE CAST(real AS INTEGER) > 3",
        "SELECT COUNT(*) FROM microdata WHERE EXP(ill) > 3 AND LN(big) > 3",
        "SELECT COUNT(*) FROM microdata WHERE SQRT(small) > 3 AND ill > 3",
        "SELECT SUM(real), AVG(real), MEDIAN(real) FROM microdata WHERE ill > 3",
    ],
)
def test_overflows_are_answered_or_refused_without_a_value(extreme, question):
    release, _ = extreme
    try:
        answer = release.ask(question)
    except QueryError as error:
        shown = str(error)
    else:
        shown = ""
        repr(answer), answer._repr_html_(), answer.to_pandas(), answer.to_polars()
    assert not [secret for secret in ("424242", "9223372036854775") if secret in shown], shown


def test_extreme_numbers_are_counted_and_summed(extreme):
    release, table = extreme
    for name in ("big", "small", "unsigned", "real"):
        values = np.array(table[name].to_pylist()) + 0
        counted = release.ask(f"SELECT {name} AS v, COUNT(*) AS n FROM microdata GROUP BY v").rows()
        assert {row["v"]: row["n"] for row in counted} == {v: int(np.sum(values == v)) for v in set(values.tolist())}
    [row] = release.ask("SELECT SUM(big) AS s, SUM(small) AS t FROM microdata").rows()
    assert float(row["s"]) == pytest.approx(float(sum(table["big"].to_pylist())), rel=1e-12)
    assert row["t"] == sum(table["small"].to_pylist())
    [row] = release.ask("SELECT SUM(ill) AS s, MIN(ill) AS m, MAX(ill) AS x FROM microdata").rows()
    truth = float(sum(table["ill"].to_pylist()))
    assert (row["s_low"], row["s_high"]) == (pytest.approx(truth, rel=1e-6), pytest.approx(truth, rel=1e-6))
    assert (row["m_low"], row["x_high"]) == (-(2**63), 2**63 - 1)


def test_infinities_of_the_sensitive_column(tmp_path):
    values = [float("inf"), 1.0, float("-inf"), 2.0, 3.0, 4.0]
    table = pa.table({"age": [i % 5 for i in range(24)], "x": [values[i % 6] for i in range(24)]})
    release = publish(
        table, Policy(quasi=["age"], sensitive="x", guarantee={"l": 3}, partition="deal"), to=tmp_path / "r"
    )
    counted = release.ask("SELECT x, COUNT(*) AS n FROM microdata GROUP BY x").rows()
    assert [(row["x"], row["n"]) for row in counted] == [(x, 4) for x in sorted(values)]
    [row] = release.ask("SELECT MIN(x) AS a, MAX(x) AS b FROM microdata WHERE age < 4").rows()
    assert (row["a_low"], row["b_high"]) == (float("-inf"), float("inf"))
    [row] = release.ask("SELECT COUNT(*) AS n FROM microdata WHERE age < 4 AND x > 100").rows()
    truth = sum(i % 5 < 4 and i % 6 == 0 for i in range(24))
    assert row["n_low"] <= truth <= row["n_high"]
    [row] = release.ask("SELECT SUM(x) AS s, AVG(x) AS m FROM microdata WHERE age < 4 AND x BETWEEN 0 AND 100").rows()
    assert (
        row["s_low"]
        <= sum(values[i % 6] for i in range(24) if i % 5 < 4 and 0 <= values[i % 6] <= 100)
        <= row["s_high"]
    )


def edited(member, value):
    """An edit of the manifest: the member by its path, and its new value, or None to leave it out."""

    def act(manifest):
        *path, last = member
        place = manifest
        for part in path:
            place = place[part]
        if value is None:
            del place[last]
        else:
            place[last] = value

    return pytest.param(act, id=f"{'.'.join(map(str, member))} = {value}")


@pytest.mark.parametrize(
    "edit",
    [
        edited(["discreet"], None),
        edited(["discreet"], []),
        edited(["discreet"], "x"),
        edited(["discreet"], 3),
        edited(["discreet", "format"], "1"),
        edited(["discreet", "format"], 0),
        edited(["discreet", "sensitive"], "age"),
        edited(["discreet", "sensitive"], "nothing"),
        edited(["discreet", "sensitive"], ""),
        edited(["discreet", "quasi"], ["age"]),
        edited(["discreet", "quasi"], ["age", "sex", "education", "zipcode", "salary"]),
        edited(["discreet", "quasi"], []),
        edited(["discreet", "group"], "age"),
        edited(["discreet", "group"], "nothing"),
        edited(["discreet", "count"], "salary"),
        edited(["discreet", "publication"], "permutation"),
        edited(["discreet", "groups"], 10**30),
        edited(["discreet", "groups"], -1),
        edited(["discreet", "guarantee"], {}),
        edited(["discreet", "guarantee"], {"l": 1}),
        edited(["discreet", "guarantee"], {"l": -4}),
        edited(["discreet", "guarantee"], {"l": 5}),
        edited(["discreet", "guarantee"], {"t": 5}),
        edited(["resources"], []),
        edited(["resources", 0], None),
        edited(["resources", 1], None),
        edited(["resources", 1, "schema", "fields"], []),
        edited(["resources", 1, "schema", "fields", 1], None),
        edited(["resources", 1, "schema", "fields", 1, "type"], "string"),
        edited(["resources", 1, "path"], "../../people/st.parquet"),
        edited(["resources", 1, "path"], "/etc/passwd"),
        edited(["resources", 1, "name"], "x; DROP TABLE qit"),
        edited(["resources", 1, "format"], "csv"),
        edited(["resources", 1, "hash"], "sha256:0"),
        edited(["resources", 1, "bytes"], 3),
    ],
)
def test_edited_manifests(release, tmp_path, edit):
    """Asking gives an answer or an error of ours; verifying finds the edit."""
    folder = tmp_path / "r"
    shutil.copytree(release.path, folder)
    manifest = json.loads((folder / "datapackage.json").read_text(encoding="utf-8"))
    edit(manifest)
    (folder / "datapackage.json").write_text(json.dumps(manifest), encoding="utf-8")
    for act in (
        lambda: open_release(folder).ask("SELECT COUNT(*), AVG(salary) FROM microdata WHERE age > 30 AND salary > 3"),
        lambda: open_release(folder).explain("SELECT SUM(age) FROM microdata WHERE salary > 3"),
        lambda: repr(open_release(folder)) + open_release(folder)._repr_html_(),
    ):
        with suppress(DiscreetError):
            act()
    with suppress(DiscreetError):
        assert not verify(folder).ok


@pytest.mark.parametrize(
    "content", ["", "[]", "null", "3", "{", "\ud800".encode("utf-8", "surrogatepass"), "[" * 100_000]
)
def test_manifests_that_are_none(release, tmp_path, content):
    folder = tmp_path / "r"
    shutil.copytree(release.path, folder)
    (folder / "datapackage.json").write_bytes(content if isinstance(content, bytes) else content.encode())
    for act in (open_release, verify):
        with pytest.raises(DiscreetError):
            act(folder)
