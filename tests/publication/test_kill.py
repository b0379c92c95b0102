"""A publication that is killed while its rows are spilled: what is left in the temporary folder, and for how long."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from discreet.engines import connect

ROWS = 100_000
# Publish with so little memory that rows are spilled; say how many bytes are, and be killed there.
PUBLISH = """
import json, os, signal, sys
from sqlglot import parse_one
from discreet import Policy, publish, read

table = read(sys.argv[1], memory_limit="20MB")
table.engine._connection.execute("SET threads = 2")  # each needs memory
policy = Policy(identifiers=["name"], quasi=["town", "age"], sensitive="ill", drop=["note"], guarantee={"l": 3})


def stop(step):
    if step == "encoding":
        files = table.engine.run(parse_one("SELECT SUM(size) AS bytes FROM duckdb_temporary_files()", dialect="duckdb"))
        print(json.dumps(int(files["bytes"][0].as_py() or 0)), flush=True)
        os.kill(os.getpid(), signal.SIGKILL)


publish(table, policy, to=sys.argv[2], progress=stop)
"""


@pytest.fixture(scope="module")
def people(tmp_path_factory):
    """A table whose identifiers and dropped notes are marked, so that they are found wherever they are."""
    rng = np.random.default_rng(5)
    path = tmp_path_factory.mktemp("private") / "people.csv"
    town, age = rng.integers(0, 10**9, (ROWS, 12)), rng.integers(0, 90, ROWS)
    with path.open("w") as file:
        file.write("name,note,town,age,ill\n")
        file.writelines(
            f"SECRET-{i:08},PRIVATE-{i:08},{'-'.join(map(str, town[i]))},{age[i]},{i % 7}\n" for i in range(ROWS)
        )
    return path


def run(program, *arguments, temporary):
    environment = {**os.environ, "TMPDIR": str(temporary)}
    return subprocess.run(
        [sys.executable, "-c", program, *map(str, arguments)], env=environment, capture_output=True, check=False
    )


def test_a_kill_leaves_no_private_rows_behind(people, tmp_path):
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    done = run(PUBLISH, people, tmp_path / "release", temporary=temporary)
    assert done.returncode == -9, done.stderr
    assert json.loads(done.stdout) > 1_000_000, "nothing was spilled: this test proves nothing"
    left = [path for path in temporary.rglob("*") if path.is_file()]
    assert not [path for path in left if b"SECRET-" in path.read_bytes() or b"PRIVATE-" in path.read_bytes()]
    folders = list(temporary.iterdir())
    assert [folder.stat().st_mode & 0o777 for folder in folders] == [0o700]
    again = run("from discreet.engines import connect; connect().close()", temporary=temporary)
    assert again.returncode == 0, again.stderr
    assert list(temporary.iterdir()) == []


def test_what_another_process_still_needs_is_not_swept(tmp_path, monkeypatch):
    """Held by this process, or not ours: a folder of another name, and a link of the right one."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    engine = connect(private=True)
    (mine,) = tmp_path.iterdir()
    for name in ("discreet-work-0", "discreet-work-0123456789abcdeX", "other"):
        (tmp_path / name).mkdir()
    (tmp_path / "discreet-work-0123456789abcdef").symlink_to(tmp_path / "other", target_is_directory=True)
    (tmp_path / "discreet-work-00000000deadbeef").mkdir()
    done = run("from discreet.engines import connect; connect().close()", temporary=tmp_path)
    assert done.returncode == 0, done.stderr
    stayed = {"discreet-work-0", "discreet-work-0123456789abcdeX", "other", "discreet-work-0123456789abcdef"}
    assert {path.name for path in tmp_path.iterdir()} == {mine.name, *stayed}
    engine.close()
    assert {path.name for path in tmp_path.iterdir()} == stayed


DRAFT = """
import os, signal, sys
import pyarrow as pa
from discreet import Policy, publish

rows = pa.table({"age": list(range(30)), "ill": [i % 5 for i in range(30)]})
policy = Policy(quasi=["age"], sensitive="ill", guarantee={"l": 3})
die = lambda step: step == "verifying" and sys.argv[2] and os.kill(os.getpid(), signal.SIGKILL)
publish(rows, policy, to=sys.argv[1], progress=die)
"""


def test_the_draft_of_a_release_that_was_killed_goes_with_the_next(tmp_path):
    place, temporary = tmp_path / "releases", tmp_path / "temporary"
    temporary.mkdir()
    assert run(DRAFT, place / "first", "die", temporary=temporary).returncode == -9
    (draft,) = place.iterdir()
    assert draft.name.startswith(".first.")
    assert draft.stat().st_mode & 0o777 == 0o700
    (place / ".first.0123abcd.partial").mkdir()  # of a vault, which looks for it
    done = run(DRAFT, place / "second", "", temporary=temporary)
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in place.iterdir()) == [".first.0123abcd.partial", "second"]
