"""The command line: data on stdout, everything else on stderr, JSON, exit statuses, and nothing left behind."""

import json
import os
import pty
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from discreet import Policy, publish, verify
from discreet.answer.answer import EVEN

COMMANDS = ("inspect", "publish", "ask", "verify", "audit", "compare", "demo")
PROGRAM = Path(sys.executable).with_name("discreet")
POLICY = """
name = "patients"
identifiers = ["name"]
quasi = ["age", "sex", "zipcode"]
sensitive = "salary"
drop = "rest"
partition = "deal"
guarantee = { l = 4 }
"""


@pytest.fixture(scope="module")
def desk(people, tmp_path_factory):
    """A folder with a table, a policy, and a release in either format."""
    place = tmp_path_factory.mktemp("desk")
    pyarrow.csv.write_csv(people, place / "patients.csv")
    (place / "policy.toml").write_text(POLICY, encoding="utf-8")
    policy = Policy.load(place / "policy.toml")
    for form in ("parquet", "csv"):
        publish(place / "patients.csv", policy, to=place / form, format=form)
    return place


@pytest.fixture
def to(tmp_path):
    place = tmp_path / "out"
    place.mkdir()
    return place / "release"


def left(to):
    return [entry.name for entry in to.parent.iterdir()]


def test_help_of_the_program(run):
    status, out, err = run("--help")
    assert (status, err) == (0, "")
    assert [command for command in COMMANDS if not re.search(rf"^  {command} ", out, re.MULTILINE)] == []


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_each_command_has_an_example(run, command):
    for flag in ("--help", "-h"):
        status, out, err = run(command, flag)
        assert (status, err) == (0, "")
        assert f"Example: discreet {command}" in " ".join(out.split())
        assert "--json" in out


def example(out):
    return shlex.split(re.search(r"Example: discreet (.+?)\s*\n\s*\n", out, re.DOTALL)[1])


def test_the_examples_work(run, desk, tmp_path, monkeypatch):
    """Typed as they stand in --help, one after the other."""
    monkeypatch.chdir(tmp_path)
    for name in ("patients.csv", "policy.toml"):
        Path(name).write_bytes((desk / name).read_bytes())
    for command in ("inspect", "publish", "ask", "verify"):
        _, out, _ = run(command, "--help")
        status, out, err = run(*example(out))
        assert (status, err) == (0, f"note: {EVEN}\n" if command == "ask" else ""), command
        assert out


@pytest.mark.parametrize("arguments", [(), ("ask",), ("publish",), ("verify",), ("inspect",)])
def test_nothing_said_is_wrong_usage(run, arguments):
    status, _, err = run(*arguments)
    assert status == 2
    assert "Usage: " in err


@pytest.mark.parametrize(
    "arguments",
    [
        ("nonsense",),
        ("ask", "release"),
        ("verify", "a", "b"),
        ("publish", "patients.csv", "--to", "x"),
        ("publish", "patients.csv", "--policy", "p", "--to", "x", "--format", "xml"),
        ("publish", "patients.csv", "--policy", "p", "--to", "x", "--seed", "none"),
        ("inspect", "patients.csv", "--quasy", "age"),
        ("demo", "--rows", "10"),
        ("verify", "release", "--jsn"),
    ],
)
def test_wrong_usage(run, arguments):
    status, out, err = run(*arguments)
    assert (status, out) == (2, "")
    assert "Error: " in err


def test_inspect(run, desk):
    status, out, err = run(
        "inspect", desk / "patients.csv", "--quasi", "age,sex", "--quasi", "zipcode", "--sensitive", "salary"
    )
    assert (status, err) == (0, "")
    assert out.startswith("patients: 2,000 rows, 9 columns\n")
    assert "If an outsider knows age, sex, zipcode of a person:" in out
    assert "the largest l that can be promised is" in out
    assert "person 1" not in out


def test_inspect_as_json(run, desk):
    status, out, err = run("inspect", desk / "patients.csv", "--quasi", "age,sex", "--sensitive", "salary", "--json")
    told = json.loads(out)
    assert (status, err) == (0, "")
    first = ["name", "rows", "columns", "quasi", "sensitive", "tells", "notes", "people"]
    assert list(told) == [*first, "risks", "combinations", "problems"]
    assert told["risks"]["prosecutor"]["at_risk"].keys() == {"0.05", "0.09", "0.2", "0.33"}
    assert (told["name"], told["rows"], len(told["columns"])) == ("patients", 2_000, 9)
    assert list(told["columns"][0]) == [
        "name",
        "kind",
        "distinct",
        "missing",
        "unique",
        "suggestion",
        "suggested",
        "why",
    ]
    assert list(told["quasi"]) == ["quasi", "combinations", "unique", "below_5", "risk"]
    assert list(told["sensitive"]) == ["sensitive", "distinct", "top_share", "largest_l", "possible", "ranges"]
    plain = json.loads(run("inspect", desk / "patients.csv", "--json")[1])
    assert (plain["quasi"], plain["sensitive"], plain["tells"]) == (None, None, [])


def test_inspect_a_column_with_a_comma(run, tmp_path):
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"a,b": [1, 2], "c": [3, 4]}), path)
    status, out, _ = run("inspect", path, "--quasi", "a,b", "--quasi", "c", "--json")
    assert status == 0
    assert json.loads(out)["quasi"]["quasi"] == ["a,b", "c"]


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_publish(run, desk, to, form):
    status, out, err = run(
        "publish", desk / "patients.csv", "--policy", desk / "policy.toml", "--to", to, "--format", form
    )
    assert (status, err) == (0, "")
    assert out.startswith(f"{to}: 2,000 rows in 500 groups, verified\n")
    assert "promised: in every group, no sensitive value is held by more than 1 in 4 people" in out
    assert sorted(entry.name for entry in to.iterdir()) == [
        "README.md",
        "datapackage.json",
        "dcat.jsonld",
        f"qit.{form}",
        f"st.{form}",
    ]


def test_publish_as_json(run, desk, to):
    arguments = ("--policy", desk / "policy.toml", "--to", to, "--seed", "3", "--memory-limit", "2GB", "--json")
    status, out, err = run("publish", desk / "patients.csv", *arguments)
    told = json.loads(out)
    assert (status, err) == (0, "")
    assert list(told) == ["release", "withheld", "suppressed", "warnings", "promise"]
    assert (told["release"], told["withheld"], told["suppressed"]) == (str(to), 0, 0)
    assert told["promise"] == json.loads((to / "datapackage.json").read_text(encoding="utf-8"))["discreet"]
    assert told["promise"]["for_publication"] is False


def test_publish_tells_what_it_withheld(run, tmp_path, to):
    (tmp_path / "t.csv").write_text("age,ill\n" + "".join(f"{i},{'' if i % 5 == 0 else i % 3}\n" for i in range(20)))
    policy = tmp_path / "p.toml"
    policy.write_text('quasi = ["age"]\nsensitive = "ill"\nguarantee = { l = 2 }\nmissing_sensitive = "withhold"\n')
    status, out, _ = run("publish", tmp_path / "t.csv", "--policy", policy, "--to", to, "--seed", "1")
    assert status == 0
    assert "withheld: 4 rows" in out
    assert "NOT FOR PUBLICATION" in out


QUESTION = "SELECT sex, AVG(salary), SUM(age), MIN(zipcode), COUNT(*) FROM patients WHERE age > 50 GROUP BY sex"


def test_ask(run, desk):
    status, out, err = run("ask", desk / "parquet", QUESTION)
    head, _, *rows = out.splitlines()
    assert (status, err) == (0, f"note: {EVEN}\n")
    assert head.split()[:5] == ["sex", "avg_salary", "avg_salary_stderr", "avg_salary_low", "avg_salary_high"]
    assert [row.split()[0] for row in rows if row.strip()] == ["f", "m"]


def test_ask_as_json(run, desk):
    status, out, err = run("ask", desk / "parquet", QUESTION, "--json")
    told = json.loads(out)
    assert (status, err) == (0, "")
    assert list(told) == ["question", "estimator", "estimators", "columns", "rows", "notes"]
    assert told["estimator"] == "even"
    assert told["question"] == QUESTION
    assert [list(row) for row in told["rows"]] == [told["columns"]] * 2


def test_numbers_in_json_are_numbers(run, desk):
    for form in ("parquet", "csv"):
        [row, _] = json.loads(run("ask", desk / form, QUESTION, "--json")[1])["rows"]
        texts = {name: value for name, value in row.items() if isinstance(value, str)}
        assert texts == {"sex": "f"}


def test_json_has_no_constants_that_json_does_not_know(run, tmp_path, to):
    table = pa.table({"x": [float("inf"), float("-inf"), 1.0, 2.0] * 3, "ill": [1, 2, 3] * 4})
    publish(table, Policy(quasi=["x"], sensitive="ill", guarantee={"l": 2}, partition="deal"), to=to)
    status, out, _ = run("ask", to, "SELECT SUM(x), MAX(x), MIN(x) FROM microdata", "--json")

    def unknown(constant):
        raise ValueError(constant)

    assert status == 0
    json.loads(out, parse_constant=unknown)


def test_ask_with_notes(run, desk):
    question = "SELECT MAX(salary) FROM microdata WHERE age < 18 AND salary > 90000"
    status, out, err = run("ask", desk / "csv", question)
    assert status == 0
    assert "note" not in out
    assert err.startswith("note: max_salary: ")
    status, out, err = run("ask", desk / "csv", question, "--json")
    assert (status, err) == (0, "")
    first, second = json.loads(out)["notes"]
    assert first.startswith("max_salary: ")
    # of a maximum there is no stderr
    assert second.startswith("the truth is certain to lie between low and high. The estimate assumes that the values")


EXPLAINED = (
    "SELECT COUNT(*) FROM patients",
    "SELECT COUNT(*) FROM patients WHERE age < 40 AND salary > 60000",
    "SELECT sex, AVG(salary), MEDIAN(salary) FROM patients WHERE zipcode > 11000 GROUP BY sex ORDER BY sex DESC",
    "SELECT salary // 50000 AS k, COUNT(*), MIN(age), SUM(age) FROM patients GROUP BY k LIMIT 3",
    "SELECT QUANTILE(age, 0.9) AS \"q\", MAX(salary) FROM patients WHERE sex IN ('m', 'x') AND salary IS NOT NULL",
)


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_explained_sql_runs_as_pasted(run, desk, form, monkeypatch):
    for question in EXPLAINED:
        status, sql, err = run("ask", desk / form, question, "--explain")
        assert (status, err) == (0, "")
        told = json.loads(run("ask", desk / form, question, "--json")[1])
        monkeypatch.chdir(desk / form)
        plain = duckdb.connect().execute(sql)
        columns = [column[0] for column in plain.description]
        rows = [dict(zip(columns, row, strict=True)) for row in plain.fetchall()]
        assert columns[: len(told["columns"])] == told["columns"]
        assert all(column.startswith(("least_", "by_key_")) for column in columns[len(told["columns"]) :])
        assert len(rows) == len(told["rows"])
        for row, given in zip(rows, told["rows"], strict=True):
            for column in told["columns"]:
                value = float(given[column]) if _is_number(row[column]) else given[column]
                assert row[column] == (pytest.approx(value) if _is_number(row[column]) else value)


def _is_number(value):
    return value is not None and not isinstance(value, bool | str)


def test_explain_does_not_run_the_question(run, desk):
    status, out, err = run("ask", desk / "parquet", "SELECT COUNT(*) FROM patients WHERE age > 3", "--explain")
    assert (status, err) == (0, "")
    assert out.count(";") > 3
    assert "2000" not in out


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_verify(run, desk, form):
    status, out, err = run("verify", desk / form)
    assert (status, err) == (0, "")
    assert "FAILED" not in out
    assert "guarantee l = 4" in out


def test_verify_as_json(run, desk):
    status, out, err = run("verify", desk / "parquet", "--json")
    told = json.loads(out)
    assert (status, err) == (0, "")
    assert list(told) == ["release", "ok", "checks"]
    assert told["ok"] is True
    assert {tuple(check) for check in told["checks"]} == {("name", "ok", "detail")}


@pytest.fixture
def spoilt(desk, to):
    """A release with one byte of a data file flipped."""
    to.mkdir()
    for entry in (desk / "parquet").iterdir():
        (to / entry.name).write_bytes(entry.read_bytes())
    content = bytearray((to / "st.parquet").read_bytes())
    content[len(content) // 2] ^= 1
    (to / "st.parquet").write_bytes(content)
    return to


def test_status_4_when_verification_fails(run, spoilt):
    status, out, err = run("verify", spoilt)
    assert (status, err) == (4, "")
    assert "FAILED" in out
    assert "st.parquet" in out
    status, out, err = run("verify", spoilt, "--json")
    assert (status, err) == (4, "")
    assert json.loads(out)["ok"] is False


def test_status_4_when_asking_a_spoilt_release(run, spoilt):
    status, out, err = run("ask", spoilt, "SELECT COUNT(*) FROM microdata")
    assert (status, out) == (4, "")
    assert "its digest differs" in err


def test_status_3_when_the_guarantee_cannot_be_met(run, desk, tmp_path, to):
    policy = tmp_path / "p.toml"
    policy.write_text(POLICY.replace("l = 4", "l = 1000"), encoding="utf-8")
    status, out, err = run("publish", desk / "patients.csv", "--policy", policy, "--to", to)
    assert (status, out) == (3, "")
    assert re.match(
        r"error: l = 1000 cannot be met: the value \d+ of `salary` is held by .+ the largest that works is \d+\nHint: ",
        err,
    )
    assert left(to) == []


@pytest.mark.parametrize(
    ("arguments", "kind", "message"),
    [
        (("inspect", "nowhere.csv"), "InputError", "there is no file `nowhere.csv`"),
        (("inspect", "patients.csv", "--quasi", "agee"), "InputError", "there is no column `agee`"),
        (("inspect", "patients.csv", "--sensitive", "salry"), "InputError", "there is no column `salry`"),
        (("verify", "nowhere"), "ReleaseError", "there is no release `nowhere`"),
        (("verify", "."), "ReleaseError", "is not a release"),
        (("ask", "nowhere", "SELECT 1"), "ReleaseError", "there is no release `nowhere`"),
        (("ask", "parquet", "SELECT SKEWNESS(salary) FROM microdata"), "QueryError", "`SKEWNESS` is not supported"),
        (("ask", "parquet", "DROP TABLE qit"), "QueryError", "answers SELECT only, not DROP"),
        (("ask", "parquet", "SELECT name, COUNT(*) FROM patients GROUP BY 1"), "QueryError", "there is no column"),
        (("publish", "patients.csv", "--policy", "nowhere.toml", "--to", "x"), "InputError", "there is no policy file"),
        (("publish", "nowhere.csv", "--policy", "policy.toml", "--to", "x"), "InputError", "there is no file"),
        (("publish", "patients.csv", "--policy", "policy.toml", "--to", "csv"), "ReleaseError", "`csv` exists already"),
        (
            ("publish", "patients.csv", "--policy", "policy.toml", "--to", "x", "--memory-limit", "lots"),
            "InputError",
            "`lots` is not a memory limit",
        ),
    ],
)
def test_status_1_for_errors(run, desk, monkeypatch, arguments, kind, message):
    monkeypatch.chdir(desk)
    before = sorted(Path().iterdir())
    status, out, err = run(*arguments)
    assert (status, out) == (1, "")
    assert err.startswith("error: ")
    assert message in err
    assert "Traceback" not in err
    status, out, err = run(*arguments, "--json")
    assert (status, out) == (1, "")
    assert err.count("\n") == 1
    told = json.loads(err)["error"]
    assert list(told)[:3] == ["type", "message", "hint"]
    assert told["type"] == kind
    assert message in told["message"]
    assert sorted(Path().iterdir()) == before


def test_mistakes_of_a_policy_as_json(run, desk, tmp_path, to):
    policy = tmp_path / "bad.toml"
    policy.write_text(
        'identifier = ["name"]\nquasi = ["age"]\nsensitive = "age"\nguarantee = { l = 1 }\n', encoding="utf-8"
    )
    status, out, err = run("publish", desk / "patients.csv", "--policy", policy, "--to", to, "--json")
    assert (status, out) == (1, "")
    told = json.loads(err)["error"]
    assert told["type"] == "PolicyError"
    columns = [mistake for mistake in told["mistakes"] if mistake["key"] == "drop"]  # they have no role in the policy
    assert [(mistake["line"], mistake["key"]) for mistake in told["mistakes"]] == [
        *((None, "drop") for _ in columns),
        (1, "identifier"),
        (3, "sensitive"),
        (4, "guarantee.l"),
    ]
    assert any("the column `zipcode` has no role" in mistake["message"] for mistake in columns)
    assert set(told["mistakes"][0]) == {"key", "line", "message"}
    assert left(to) == []


def test_demo_as_json(run, to):
    status, out, err = run("demo", "--rows", "2000", "--keep", to, "--json")
    told = json.loads(out)
    assert (status, err) == (0, "")
    assert list(told) == ["rows", "promise", "questions", "verified"]
    assert told["verified"] is True
    assert len(told["questions"]) == 6
    for asked in told["questions"]:
        assert list(asked) == ["title", "question", "estimator", "answer", "truth", "within_two_stderr"]
        assert asked["estimator"] == "design"
        assert len(asked["answer"]) == len(asked["truth"]) > 0
        for answer, truth, within in zip(asked["answer"], asked["truth"], asked["within_two_stderr"], strict=True):
            *_, estimate, stderr, low, high = answer.values()
            *keys, true = truth.values()
            assert within == (abs(estimate - float(true)) <= 2 * stderr if stderr else None)
            assert float(low) - 1e-6 <= float(true) <= float(high) + 1e-6
            assert list(answer.values())[: len(keys)] == keys
    assert run("verify", to)[0] == 0


def test_demo(run, to):
    status, out, err = run("demo", "--rows", "1000")
    assert (status, err) == (0, "")
    assert out.startswith("1,000 invented people.")
    assert out.count("estimate  ") == 6
    within, measured = map(int, re.search(r"with a stderr,\n(\d) of (\d) lie within two of it", out).groups())
    assert 0 < within <= measured <= 5
    assert len(re.findall(r" yes$", out, re.MULTILINE)) == within
    assert len(re.findall(r" no$", out, re.MULTILINE)) == measured - within
    assert "7 of 7 truths lie between low and high" in out
    assert "all passed" in out
    assert "discreet inspect FILE" in out.splitlines()[-3]


def test_the_program_itself(desk):
    """As it is installed: nothing but data on stdout, and no progress where nobody watches."""
    done = subprocess.run(
        [PROGRAM, "ask", "csv", EXPLAINED[1], "--json"], cwd=desk, capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    assert list(json.loads(done.stdout)["rows"][0]) == ["count", "count_stderr", "count_low", "count_high"]


def test_a_reader_that_leaves_early(desk):
    """`discreet verify … | true` is no error of ours to trace."""
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [PROGRAM, "verify", "csv"], cwd=desk, stdout=writing, stderr=subprocess.PIPE, text=True, check=False
    )
    os.close(writing)
    assert "Traceback" not in done.stderr


def test_a_terminal_that_knows_only_ascii(desk):
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    question = "SELECT MEDIAN(salary) FROM patients WHERE age > 50"
    done = subprocess.run(
        [PROGRAM, "ask", "csv", question], cwd=desk, capture_output=True, text=True, check=False, env=environment
    )
    assert (done.returncode, "Traceback" in done.stderr) == (0, False)


def test_a_progress_bar_on_a_terminal(desk, to):
    master, slave = pty.openpty()
    arguments = ["publish", "patients.csv", "--policy", "policy.toml", "--to", to]
    with subprocess.Popen([PROGRAM, *arguments], cwd=desk, stdout=subprocess.PIPE, stderr=slave, text=True) as program:
        os.close(slave)
        shown = b""
        try:
            while piece := os.read(master, 4096):
                shown += piece
        except OSError:  # the terminal is gone
            pass
        out = program.stdout.read()
    os.close(master)
    assert program.returncode == 0
    assert out.startswith(f"{to}: 2,000 rows")
    assert "\x1b" not in out
    words = shown.decode()
    assert re.search("reading|encoding|grouping|writing|verifying", words)
    assert "\x1b[" in words


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """A table that takes a while to publish."""
    place, n = tmp_path_factory.mktemp("large"), 1_000_000
    chance = np.random.default_rng(1)
    columns = {name: chance.integers(0, 1_000, n) for name in ("a", "b", "c")}
    pq.write_table(pa.table({**columns, "ill": chance.integers(0, 50, n)}), place / "large.parquet")
    (place / "policy.toml").write_text(
        'quasi = ["a", "b", "c"]\nsensitive = "ill"\nguarantee = { l = 10 }\npartition = "deal"\n', encoding="utf-8"
    )
    return place


@pytest.mark.parametrize("moment", [0.0, 0.2])
def test_ctrl_c_leaves_nothing_behind(large, to, tmp_path, moment):
    """Stopped while the files are written: a whole release or none, no hidden folder, no traceback, status 130."""
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    arguments = ["publish", "large.parquet", "--policy", "policy.toml", "--to", to]
    environment = {**os.environ, "TMPDIR": str(scratch)}
    with subprocess.Popen(
        [PROGRAM, *arguments], cwd=large, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as program:
        while program.poll() is None and not left(to):
            time.sleep(0.001)
        time.sleep(moment)
        program.send_signal(signal.SIGINT)
        out, err = program.communicate(timeout=60)
    assert err in ("", "stopped\n")
    if left(to):  # the machine was faster than the hand
        assert verify(to).ok
        return
    assert list(scratch.iterdir()) == []
    assert (program.returncode, out) == (130, "")
