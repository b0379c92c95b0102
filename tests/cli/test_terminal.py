"""Names and values of others on a terminal: they are shown, and steer nothing."""

import json
import re

import pyarrow as pa
import pytest

from discreet import Policy, publish
from discreet.visible import STEERING, in_a_line, visible

CLEAR, TURNED, C1 = "\x1b[2J\x1b]0;owned\x07", "\u202egnp.exe", "\x9b31m"
EVIL = f"{CLEAR}{TURNED}{C1}\x7f"
COLUMN = f"sex{CLEAR}{TURNED}"


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    rows = pa.table({COLUMN: [f"{EVIL}\nnote: all is well", "m"] * 15, "ill": [i % 5 for i in range(30)]})
    policy = Policy(name=f"people{EVIL}", quasi=[COLUMN], sensitive="ill", guarantee={"l": 3})
    return publish(rows, policy, to=tmp_path_factory.mktemp("made") / "release").path


def steers(text):
    return STEERING.findall(text)


QUOTED = COLUMN.replace('"', '""')
QUESTION = f'SELECT "{QUOTED}", COUNT(*) FROM microdata GROUP BY 1'
COMMANDS = {
    "ask": lambda release: ("ask", release, QUESTION),
    "ask --json": lambda release: ("ask", release, QUESTION, "--json"),
    "ask --explain": lambda release: ("ask", release, QUESTION, "--explain"),
    "a wrong table": lambda release: ("ask", release, f'SELECT COUNT(*) FROM "{EVIL}"'),
    "a wrong column": lambda release: ("ask", release, f'SELECT SUM("{EVIL}") FROM microdata'),
    "verify": lambda release: ("verify", release),
    "audit": lambda release: ("audit", release),
    "no release": lambda release: ("verify", f"{release}{EVIL}"),
    "no release --json": lambda release: ("verify", f"{release}{EVIL}", "--json"),
    "usage": lambda release: (f"no{EVIL}",),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_no_output_steers_a_terminal(run, release, name):
    _, out, err = run(*COMMANDS[name](release))
    assert out + err
    assert steers(out + err) == []


def test_a_value_is_shown_in_its_own_row(run, release):
    status, out, _ = run(*COMMANDS["ask"](release))
    assert status == 0
    assert "\\x1b[2J\\x1b]0;owned\\x07\\u202egnp.exe\\x9b31m\\x7f\\nnote: all is well" in out
    assert len([line for line in out.splitlines() if line.strip()]) == 4  # header, rule, two rows


def test_json_means_the_value_itself(run, release):
    _, out, _ = run(*COMMANDS["ask --json"](release))
    assert {row[COLUMN] for row in json.loads(out)["rows"]} == {f"{EVIL}\nnote: all is well", "m"}


def test_inspect_and_publish(run, tmp_path):
    header = f"age{CLEAR.replace(',', '')}"
    (tmp_path / "people.csv").write_text(f"{header},ill\n" + "".join(f"{i},x{i % 5}\n" for i in range(30)))
    (tmp_path / "policy.toml").write_text('quasi = ["nothing"]\nsensitive = "ill"\nguarantee = { l = 3 }\n')
    for command in (("inspect",), ("publish", "--policy", tmp_path / "policy.toml", "--to", tmp_path / "to")):
        _, out, err = run(command[0], tmp_path / "people.csv", *command[1:])
        assert steers(out + err) == []
        assert "age\\x1b[2J" in out + err


def test_a_printed_answer_in_python(release):
    import discreet

    with discreet.open_release(release) as opened:
        answer = opened.ask(QUESTION)
        assert steers(repr(answer)) == []
        assert steers(repr(opened)) == []
        assert len(repr(answer).splitlines()) == 3


def test_visible():
    assert visible("one\ntwo\t\x1b") == "one\ntwo\\x09\\x1b"
    assert in_a_line("one\ntwo") == "one\\ntwo"
    assert visible("größe 日本 😀 نص") == "größe 日本 😀 نص"
    assert not re.search(STEERING, "نیم‌فاصله"), "a joiner is a letter's business"
