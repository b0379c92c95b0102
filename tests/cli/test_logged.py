"""A long job logs its steps where no terminal watches: publishing on Spark, and nothing else. No Spark is needed."""

import json
import re
import sys

import pytest

import discreet
from discreet.cli import show
from discreet.engines.spark.needs import Needs
from discreet.publication.publish import ON_SPARK

LINE = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d (.+)")
FAR = ("grouping: column 1 of 2", "grouping: 4 blocks of about 500 rows, 1 MB for each task")
RULES = 'quasi = ["age", "sex"]\nsensitive = "salary"\ndrop = "rest"\nguarantee = { l = 4 }\n'


@pytest.fixture
def on_spark(people, monkeypatch, tmp_path):
    """The command, on what stands in for Spark: it tells the same steps, and publishes here."""
    own = discreet.publish

    def publish(_, rules, *, to, progress, **more):
        for step in (*ON_SPARK[:4], *FAR, *ON_SPARK[4:]):
            progress(step)
        if more["strict"]:
            raise discreet.errors.EngineError("Spark has ended, or cannot be reached")
        made = own(people, rules, to=to)
        object.__setattr__(made, "needs", Needs(3, 2))
        return made

    monkeypatch.setattr(discreet, "publish", publish)
    (tmp_path / "p.toml").write_text(RULES, encoding="utf-8")
    return "publish", "rows/*.parquet", "--engine", "spark", "--policy", tmp_path / "p.toml", "--to", tmp_path / "made"


def steps(err):
    return [found[1] for found in map(LINE.fullmatch, err.splitlines()) if found]


def test_steps_on_spark_are_lines_on_stderr(run, on_spark):
    status, out, err = run(*on_spark, "--json")
    assert status == 0
    assert steps(err) == ["starting", *ON_SPARK[:4], *FAR, *ON_SPARK[4:]]
    assert len(err.splitlines()) == len(steps(err))
    told = json.loads(out)
    assert told["memory"] == {"task": 3, "tasks_at_once": 2, "executor": 6}


def test_an_error_is_the_last_line(run, on_spark):
    status, out, err = run(*on_spark, "--json", "--strict")
    assert (status, out) == (1, "")
    assert json.loads(err.splitlines()[-1])["error"]["type"] == "EngineError"


def test_elsewhere_nothing_is_told(run, people, tmp_path, capsys):
    import pyarrow.parquet as pq

    pq.write_table(people, tmp_path / "rows.parquet")
    (tmp_path / "p.toml").write_text(RULES, encoding="utf-8")
    where = ("--policy", tmp_path / "p.toml", "--to", tmp_path / "made")
    assert run("publish", tmp_path / "rows.parquet", *where)[::2] == (0, "")
    with show.steps(3) as step:
        step("reading")
    assert capsys.readouterr().err == ""


def test_a_log_that_cannot_be_written_ends_nothing(monkeypatch):
    class Full:
        def isatty(self):
            return False

        def write(self, _):
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(sys, "stderr", Full())
    with show.steps(3, logged=True) as step:
        step("grouping")
