"""`discreet ask`: questions from an argument, a file or stdin; answers as tables, CSV or JSON."""

import csv
import io
import json
import subprocess
import sys

import pyarrow as pa
import pytest

import discreet
from discreet import Policy, publish
from discreet.cli.questions import Asked, is_complete, split

NASTY = 'a "quoted", \x1b[2Jcell\nof two lines'
BY_KIND = "SELECT kind, SUM(wage) FROM microdata WHERE age > 29 GROUP BY kind ORDER BY kind"
COUNT = "SELECT COUNT(*) FROM microdata"


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    kinds = [NASTY, "", "plain", None]
    rows = pa.table(
        {
            "age": [20 + i % 17 for i in range(120)],
            "kind": [kinds[i % 4] for i in range(120)],
            "wage": [100.1 + i % 9 for i in range(120)],
        }
    )
    policy = Policy(quasi=["age", "kind"], sensitive="wage", guarantee={"l": 3}, partition="deal")
    return publish(rows, policy, to=tmp_path_factory.mktemp("made") / "release").path


@pytest.fixture
def typed(monkeypatch):
    """What stands on stdin, which is no terminal."""

    def put(data):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))

    return put


def test_split():
    text = "-- first; not a question\nSELECT ';' FROM x;\n\n/* c; */ SELECT \"a;b\" -- why;\n;;  select 😀, ';' ; "
    assert split(text) == [
        Asked("SELECT ';' FROM x", 2),
        Asked('SELECT "a;b"', 4),
        Asked("select 😀, ';'", 5),
    ]
    assert split("SELECT 'open; SELECT 2") == [Asked("SELECT 'open; SELECT 2", 1)]
    complete = {"SELECT 1;": True, "SELECT ';": False, "SELECT 1; -- done": True, "SELECT 1": False, "": False}
    assert {text: is_complete(text) for text in complete} == complete


def test_a_file_of_questions(run, release, tmp_path):
    (tmp_path / "q.sql").write_bytes(b"\xef\xbb\xbf" + f"{COUNT};\nSELECT MAX(age) FROM microdata".encode())
    status, out, err = run("ask", release, "--file", tmp_path / "q.sql")
    assert (status, err) == (0, "")
    assert [line.split() for line in out.splitlines() if not line.startswith("─")] == [
        COUNT.split(),
        ["count", "count_stderr", "count_low", "count_high"],
        ["120", "0", "120", "120"],
        [],
        ["SELECT", "MAX(age)", "FROM", "microdata"],
        ["max_age", "max_age_stderr", "max_age_low", "max_age_high"],
        ["36", "0", "36", "36"],
    ]


@pytest.mark.parametrize("arguments", [(), ("-",)])
def test_stdin(run, release, typed, arguments):
    typed(f"{COUNT};".encode())
    status, out, _ = run("ask", release, *arguments, "--json")
    assert status == 0
    [answer] = json.loads(out)
    assert answer["rows"][0]["count"] == 120


def test_one_that_is_refused_stops_no_other(run, release, typed):
    questions = [COUNT, "SELECT MAX(nothing) FROM microdata", COUNT]
    typed(";\n".join(questions).encode())
    status, out, err = run("ask", release, "-", "--json")
    assert (status, err) == (1, "")
    told = json.loads(out)
    assert [each["question"] for each in told] == questions
    assert ["error" in each for each in told] == [False, True, False]
    assert told[1]["error"]["type"] == "QueryError"
    typed(";\n".join(questions).encode())
    status, out, err = run("ask", release, "-")
    assert status == 1
    assert out.count("120") == 6
    assert err.startswith("error: question 2, line 2: ")


def test_csv_has_every_digit_and_is_read_back(release):
    arguments = [sys.executable, "-m", "discreet", "ask", release, "-", "--csv"]
    done = subprocess.run(arguments, input=BY_KIND.encode(), capture_output=True, check=True)
    lines = list(csv.reader(io.StringIO(done.stdout.decode(), newline=""), strict=True))
    answer = discreet.ask(release, BY_KIND)
    assert lines[0] == answer.columns
    for line, row in zip(lines[1:], answer.rows(), strict=True):
        assert line[0] == (row["kind"] or "")
        assert [float(cell) for cell in line[1:]] == pytest.approx([*row.values()][1:], rel=1e-14)
    assert done.stdout.count(b"\r\n") == 5
    assert b'\r\n"",' in done.stdout, "an empty text is not a missing one"
    assert b"\r\n," in done.stdout
    assert done.stderr.startswith(b"note: ")


def test_several_answers_in_csv(run, release):
    _, out, _ = run("ask", release, f"{COUNT}; {COUNT}", "--csv")
    block = "count,count_stderr,count_low,count_high\r\n120,0,120,120\r\n"
    assert out.replace("0.0", "0") in {f"{block}\n{block}", f"{block}\r\n{block}"}


BAD = {
    "no file": (("--file", "nowhere.sql"), b"", 1, "there is no file `nowhere.sql`"),
    "a folder": (("--file", "."), b"", 1, "`.` cannot be read: Is a directory"),
    "not text": (("-",), b"\xff\xfe", 1, "stdin is not UTF-8 text"),
    "nothing": (("-",), b" \n -- only a comment\n", 1, "there is no question"),
    "both": ((COUNT, "--file", "q.sql"), b"", 2, "give a question or --file, not both"),
    "two forms": ((COUNT, "--csv", "--json"), b"", 2, "choose --csv or --json, not both"),
    "far too long": (("-",), b"x" * 10_000_001, 1, "the questions have 10,000,001 characters"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_is_no_question(run, release, typed, name):
    arguments, data, expected, message = BAD[name]
    typed(data)
    status, out, err = run("ask", release, *arguments)
    assert (status, out) == (expected, "")
    assert message in " ".join(err.split())


def test_what_takes_long_is_told(release):
    told = []
    with discreet.open_release(release) as opened:
        opened.ask(
            "SELECT AVG(wage) FROM microdata WHERE age > 29", estimator="learned", timeout=600, progress=told.append
        )
    assert told


@pytest.fixture(scope="module")
def odd(tmp_path_factory):
    rows = {"Kosten €": [i % 13 for i in range(60)], "it's": [*"fm"] * 30, "sex": [*"fm"] * 30}
    rules = {"quasi": ["sex", "it's"], "sensitive": "Kosten €", "guarantee": {"l": 3}}
    return publish(pa.table(rows), rules, to=tmp_path_factory.mktemp("a place") / "the $1 release", seed=1).path


@pytest.mark.parametrize(
    ("sql", "as_read"),
    [
        ("SELECT AVG(Kosten €) FROM microdata", False),
        ("SELECT AVG(Kosten €) FROM microdata WHERE it's = 'f'", True),
        ("SELECT * FROM microdata WHERE sex = 'f'", True),
        ("SELECT sex, COUNT(*) FROM microdata WHERE sex = 'f'", True),
        ("SELECT * FROM microdata WHERE sex <> '!$HOME`\\'", False),
    ],
)
def test_what_to_write_instead_can_be_pasted(run, odd, sql, as_read):
    status, _, err = run("ask", odd, sql, "--estimator", "even", "--csv")
    *_, last = err.splitlines()
    command = last.removeprefix("Write instead: ")
    assert (status, command.startswith("discreet ask '")) == (1, True)
    assert ('"SELECT' in command) is as_read, "double quotes are easier to read, where they mean the same"
    read = subprocess.run(
        ["sh", "-c", f"discreet() {{ printf '%s\\n' \"$@\"; }}; {command}"], capture_output=True, text=True, check=True
    )
    status, out, _ = run(*read.stdout.splitlines())
    assert (status, "_low" in out) == (0, True)
    assert run("ask", odd, sql, "--json")[2].count("discreet ask") == 0, "a program is told SQL"
