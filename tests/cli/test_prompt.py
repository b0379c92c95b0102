"""The prompt of `discreet ask`: what the tab key offers, and a sitting at a real terminal."""

import os
import pty
import subprocess
import sys
from contextlib import suppress
from select import select

import pyarrow as pa
import pytest

from discreet import Policy, open_release, publish
from discreet.answer.shown import shown
from discreet.cli.completing import Completion
from discreet.visible import STEERING

LIMIT = 60  # seconds without a letter
EVIL = "\x1b[2Jevil"
VALUES = {"sex": ["female", "male"], "Straße 1": ["Am Markt", "Am Ufer", "d'Arc", EVIL]}
COMPLETION = Completion(
    ["microdata", "people"], [*VALUES, "age"], lambda name: VALUES.get(name, []), [".help", ".estimator "], ["even"]
)
OFFERED = {
    "SEL": ["SELECT"],
    "sel": ["select"],
    "SELECT AG": ["age"],
    "SELECT COUNT(*) FROM peo": ["people"],
    "SELECT COUNT(*) FROM people WHERE sex = '": ["'female'", "'male'"],
    "SELECT COUNT(*) FROM people WHERE sex = 'F": ["'female'"],
    "WHERE sex IN ('female', 'm": ["'male'"],
    "WHERE sex = 'female'": [],
    "WHERE age = '": [],
    '"Str': ['"Straße 1"'],
    "SELECT Str": ['"Straße 1"'],
    'WHERE "Straße 1" = \'Am M': ["'Am Markt'"],
    "WHERE \"Straße 1\" = 'd''A": ["'d''Arc'"],
    'WHERE "Straße 1" = \'': ["'Am Markt'", "'Am Ufer'", "'d''Arc'"],
    ".e": [".estimator "],
    ".estimator ev": ["even"],
    "SELECT 1 -": [],
    "": [],
}


@pytest.mark.parametrize("before", OFFERED)
def test_what_is_offered(before):
    start, found = COMPLETION.of(before)
    assert found == OFFERED[before]
    assert all(each.lower().strip('"').startswith(before[start:].lower().strip('"')) for each in found)


def test_a_value_on_the_second_line():
    before = "SELECT COUNT(*) FROM people\nWHERE sex = 'f"
    assert COMPLETION.of(before) == (before.index("'f"), ["'female'"])


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    rows = pa.table(
        {
            "age": [20 + i % 60 for i in range(120)],
            "sex": ["fm"[i % 2] for i in range(120)],
            "town": [("Am Markt", "Am Ufer", EVIL, "x" * 100_000)[i % 4] for i in range(120)],
            "ill": [f"illness {i % 5}" for i in range(120)],
        }
    )
    policy = Policy(quasi=["age", "sex", "town"], sensitive="ill", guarantee={"l": 3}, partition="deal")
    return publish(rows, policy, to=tmp_path_factory.mktemp("made") / "release").path


def test_what_a_release_shows_of_a_column(release):
    with open_release(release) as opened:
        assert shown(opened, "sex").values == ("f", "m")
        assert shown(opened, "ill").values == tuple(f"illness {i}" for i in range(5))
        ages = shown(opened, "age")
        assert (ages.values, ages.low, ages.high) == ((), 20, 79)


def test_what_boxes_show_of_a_column(people, tmp_path):
    policy = Policy(
        quasi=["age", "sex"], sensitive="diagnosis", drop="rest", publication="generalization", guarantee={"k": 4}
    )
    with publish(people, policy, to=tmp_path / "release") as opened:
        assert shown(opened, "sex").values == ("f", "m")
        ages = people["age"].to_pylist()
        assert (shown(opened, "age").low, shown(opened, "age").high) == (min(ages), max(ages))


# The terminal becomes that of the program, so that Ctrl-C reaches it
OWN = """
import fcntl, runpy, signal, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
signal.signal(signal.SIGINT, signal.default_int_handler)
runpy.run_module("discreet", run_name="__main__")
"""


class Terminal:
    """A person at a terminal, who types when the prompt is there."""

    def __init__(self, *arguments):
        self.end, other = pty.openpty()
        self.process = subprocess.Popen(
            [sys.executable, "-c", OWN, "ask", *map(str, arguments)],
            **dict.fromkeys(("stdin", "stdout", "stderr"), other),
            env={**os.environ, "TERM": "xterm", "COLUMNS": "80", "INPUTRC": os.devnull},
            start_new_session=True,
        )
        os.close(other)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait(LIMIT)

    def until(self, word, limit=LIMIT):
        shown = b""
        while word not in shown:
            if not select([self.end], [], [], limit)[0]:
                raise TimeoutError(f"{word!r} did not come after {shown!r}")
            try:
                shown += os.read(self.end, 4096)
            except OSError:  # the program has left
                return shown.decode()
        return shown.decode()

    def type(self, text, word=b"ask> ", limit=LIMIT):
        os.write(self.end, text.encode())
        return self.until(word, limit)

    def interrupt(self):
        """Press Ctrl-C, and again if it came before Python waited for a key: then it is noticed with the next one."""
        for _ in range(20):
            with suppress(TimeoutError):
                shown = self.type("\x03", limit=3)
                while select([self.end], [], [], 0.5)[0]:
                    shown += os.read(self.end, 4096).decode()
                return shown
        raise TimeoutError

    def leave(self):
        os.write(self.end, b"\x04")
        self.until(b"never said")
        os.close(self.end)
        return self.process.wait(LIMIT)


@pytest.mark.slow
def test_a_sitting(release):
    with Terminal(release) as terminal:
        assert "120 people" in terminal.until(b"ask> ")
        columns = terminal.type("\\d\n")
        assert "20 … 79" in columns
        assert "\\x1b[2Jevil" in columns.replace("\r\n", "")
        assert "x" * 30 not in columns
        assert "no column" in terminal.type("SELECT COUNT(*) FROM microdata WHERE nothing = 1;\n")
        terminal.type("SELECT COUNT(*)\n", b"...> ")
        told = terminal.type("FROM mic\t WHERE town = 'Am M\t;\n")
        assert "FROM microdata WHERE town = 'Am Markt';" in told
        assert "30" in told
        terminal.type("SELECT COUNT(*) -- never mind\n", b"...> ")
        assert "...>" not in terminal.interrupt()
        assert "did you mean `.explain`" in terminal.type(".explian\n")
        assert "READ_PARQUET" in terminal.type(".explain\n")
        assert "by `even`" in terminal.type(".est\tev\t\n")
        assert "is no estimator" in terminal.type(".estimator gut\n")
        assert "Ctrl-C" in terminal.type(".help\n", b"no file.\r\nask> ")
        assert terminal.type("SELECT COUNT(*) FROM microdata; SELECT MAX(age) FROM microdata;\n").count("79") == 3
        assert terminal.leave() == 0


@pytest.mark.slow
def test_nothing_of_others_steers_the_terminal_of_a_sitting(release):
    with Terminal(release, "--csv") as terminal:
        terminal.until(b"ask> ")
        told = terminal.type("SELECT town, COUNT(*) FROM microdata WHERE age < 30 GROUP BY town;\n")
        assert "\\x1b[2Jevil" in told
        assert "\x1b[2Jevil" not in told
        assert not STEERING.findall(told.partition("town,count")[2].partition("ask>")[0].replace("\r\n", ""))
        assert terminal.leave() == 0
