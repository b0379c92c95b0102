"""`discreet audit`: the metrics of a release, as a table and as JSON."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict

import pyarrow as pa
import pytest

import discreet
from discreet.cli import main


@pytest.fixture
def run(monkeypatch, capsys):
    """Run a command as its program would: exit status, stdout, stderr."""

    def act(*arguments):
        monkeypatch.setattr(sys, "argv", ["discreet", *map(str, arguments)])
        status = 0
        try:
            main()
        except SystemExit as leaving:
            status = leaving.code or 0
        out, err = capsys.readouterr()
        return status, out, err

    return act


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    table = pa.table({"a": [1, 2, 8, 10], "b": [0, 0, 4, 4], "c": ["x", "y", "z", "z"], "s": [1, 2, 3, 4]})
    rules = discreet.Policy(quasi=["a", "b", "c"], sensitive="s", guarantee={"k": 2}, publication="generalization")
    return discreet.publish(table, rules, to=tmp_path_factory.mktemp("r") / "release", seed=1)


@pytest.mark.parametrize("flags", [(), ("--metrics",)])
def test_audit(run, release, flags):
    status, out, err = run("audit", release.path, *flags)
    assert (status, err) == (0, "")
    lines = {line.split()[0]: line.split()[-1] for line in out.splitlines() if len(line.split()) > 1}
    assert out.startswith(f"{release.path}: generalization by mondrian\n")
    # boxes 1-2 and 8-10, 0 and 4, two of three letters and one
    assert (lines["ncp"], lines["dm"], lines["groups"], lines["c_avg"], lines["rce"]) == ("12", "8", "2", "1", "2")
    assert float(lines["ncp_normalised"]) == pytest.approx(2 * (1 / 9 + 2 / 9 + 2 / 3), rel=1e-3)
    assert "dash" not in out


def test_audit_as_json(run, release):
    status, out, err = run("audit", release.path, "--metrics", "--json")
    told = json.loads(out)
    assert (status, err) == (0, "")
    assert list(told) == ["release", "metrics"]
    assert told["release"] == str(release.path)
    assert told["metrics"] == asdict(discreet.metrics(release))


def test_what_the_release_does_not_tell_is_a_dash(run, tmp_path):
    table = pa.table({"a": [1, 2, 8, 10], "s": [1, 2, 3, 4]})
    rules = discreet.Policy(quasi=["a"], sensitive="s", guarantee={"k": 2, "e": 1}, publication="swap")
    release = discreet.publish(table, rules, to=tmp_path / "r", seed=1)
    status, out, _ = run("audit", release.path)
    assert status == 0
    assert "A dash stands for what has no meaning here" in out
    status, out, _ = run("audit", release.path, "--json")
    assert json.loads(out)["metrics"]["dm"] is None


def test_no_release(run, tmp_path):
    status, out, err = run("audit", tmp_path / "nothing")
    assert (status, out) == (1, "")
    assert "there is no release" in err
    status, out, err = run("audit", tmp_path / "nothing", "--json")
    assert (status, out) == (1, "")
    assert json.loads(err)["error"]["type"] == "ReleaseError"


def test_help_has_an_example(run):
    status, out, err = run("audit", "--help")
    assert (status, err) == (0, "")
    assert "Example: discreet audit releases/2026-11 --metrics" in " ".join(out.split())
    assert run("audit")[0] == 2
