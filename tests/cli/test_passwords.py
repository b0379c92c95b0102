"""A password in the URL of a command: it is warned of, and stands in no message of ours and no log of the server."""

import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from time import sleep

import pytest

import discreet
from discreet.engines import Address
from server import PASSWORD

QUESTION = "SELECT AVG(salary) FROM microdata WHERE age > 40"
WARNING = "warning: a password in the URL of a command is shown to other users of this machine"


@pytest.fixture
def release(people, tmp_path):
    policy = {"quasi": ["age", "sex"], "sensitive": "salary", "drop": "rest", "guarantee": {"l": 4}}
    policy["partition"] = "deal"
    return discreet.publish(people, policy, to=tmp_path / "r")


def program(*words, **variables):
    """The program in a process of its own."""
    command = [sys.executable, "-m", "discreet", *map(str, words)]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=120, env={**os.environ, **variables}, check=False
    )
    return done.returncode, done.stdout, done.stderr


def test_a_password_on_the_command_line_is_warned_of_and_shown_nowhere(release, database, server):
    """What works, what is refused, and what the server refuses: neither side writes the password down."""
    log = server.folder / "log"
    before = log.stat().st_size
    discreet.load(release, database, name="r").close()
    bare = database.replace(f":{PASSWORD.replace(' ', '%20')}@", "@")
    wrong = database.replace("correct", "incorrect")
    for words, status, warned in (
        (("ask", f"{database}#r", QUESTION), 0, True),
        (("ask", f"{bare}?password=correct%20horse#r", QUESTION), 0, True),
        (("ask", f"{wrong}#r", QUESTION), 1, True),
        (("load", release.path, database, "--release", "r"), 1, True),
        (("ask", f"{bare}#r", QUESTION, "--json"), 0, False),
        (("ask", f"{bare}#r", "SELECT nonsense FROM microdata"), 1, False),
    ):
        got, out, err = program(*words, PGPASSWORD=PASSWORD)
        assert got == status, err
        assert err.startswith(WARNING) == warned, err
        assert "PGPASSWORD" in err or not warned
        assert "horse" not in out + err
    written = log.read_bytes()[before:].decode(errors="replace")
    assert "password authentication failed" in written  # the log is the one that is written to
    assert "horse" not in written


def test_a_password_is_in_no_title_of_a_process(release, database, tmp_path):
    """Neither in ours, nor in those of the server, for as long as a command lasts that takes it from elsewhere."""
    bare = database.replace(f":{PASSWORD.replace(' ', '%20')}@", "@")
    kept = tmp_path / "pgpass"
    kept.write_text(f"*:*:*:*:{PASSWORD}\n")
    kept.chmod(0o600)
    command = [sys.executable, "-m", "discreet", "load", str(release.path), bare, "--release", "r"]
    seen = set()
    with subprocess.Popen(command, stderr=subprocess.DEVNULL, env={**os.environ, "PGPASSFILE": str(kept)}) as running:
        while running.poll() is None:
            seen |= titles()
            sleep(0.01)
    assert running.returncode == 0
    assert any(b"discreet\0load" in title for title in seen)
    assert any(title.startswith(b"postgres: postgres tests") for title in seen)
    assert not [title for title in seen if b"horse" in title]


def titles():
    """What every process of this machine is called now."""
    found = set()
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):  # it has just ended
            found.add(path.read_bytes())
    return found


@pytest.mark.parametrize(
    ("url", "has"),
    [
        ("postgresql://u:secret@h/d", True),
        ("postgres://u:secret@h:1/d#r", True),
        ("postgresql://h/d?user=u&password=x", True),
        ("postgresql:///d?password=x", True),
        ("postgresql://u@h/d", False),
        ("postgresql://u:@h/d", False),
        ("postgresql://h/password", False),
        ("postgresql://[h/d", False),
    ],
)
def test_a_password_is_seen_wherever_libpq_takes_it_from(url, has):
    assert Address.of(url).has_password == has


def test_a_password_in_an_option_is_warned_of(run, tmp_path):
    for words in (
        ("--to=postgresql://u:secret@nowhere.invalid/d",),
        ("--to", "postgresql://u:secret@nowhere.invalid/d"),
    ):
        _, out, err = run("publish", tmp_path / "none.csv", "--policy", tmp_path / "none.toml", *words)
        assert err.startswith(WARNING)
        assert "secret" not in out + err
