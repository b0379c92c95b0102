"""`discreet learn` and `discreet draw`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from pyarrow import csv

from discreet import open_release
from discreet.learn import draws
from discreet.learn import files as module
from learn.shown import released, table

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the model draws is not what these tests are about."""
    monkeypatch.setitem(draws.MODELS, "learned", draws.even)


def test_draw_writes_a_file_per_table(run: Run, tmp_path: Path) -> None:
    release = released(tmp_path / "release")
    status, out, err = run("draw", release.path, "--tables", 11, "--to", tmp_path / "drawn")
    assert (status, err) == (0, "")
    assert out == f"{tmp_path / 'drawn'}: 11 tables of 60 rows, `table_01.parquet` to `table_11.parquet`\n"
    files = sorted((tmp_path / "drawn").iterdir())
    assert len(files) == 11
    for path, drawn in zip(files, release.plausible(11), strict=True):
        assert pq.read_table(path).equals(drawn)
        assert pq.read_metadata(path).metadata is None
        assert path.stat().st_mtime == 946_684_800


def test_draw_as_csv_and_json(run: Run, tmp_path: Path) -> None:
    release = released(tmp_path / "release")
    status, out, _ = run("draw", release.path, "--tables", 2, "--to", tmp_path / "d", "--format", "csv", "--json")
    assert status == 0
    told = json.loads(out)
    assert told["files"] == [str(tmp_path / "d" / f"table_{number}.csv") for number in (1, 2)]
    assert csv.read_csv(told["files"][0]).column_names == table().column_names


def test_draw_writes_all_or_nothing(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    release = released(tmp_path / "release")
    assert run("draw", release.path, "--tables", 1, "--to", tmp_path / "drawn")[:2] == (1, "")
    written = []

    def full(*arguments: object) -> None:
        if written:
            raise OSError(28, "No space left on device")
        written.append(arguments)

    monkeypatch.setattr(module, "store_rows", full)
    status, _, err = run("draw", release.path, "--tables", 2, "--to", tmp_path / "drawn")
    assert status == 1
    assert "could not be written: No space left on device" in err
    assert [path.name for path in tmp_path.iterdir()] == ["release"]
    status, _, err = run("draw", release.path, "--tables", 2, "--to", release.path)
    assert (status, "exists already" in err) == (1, True)


def test_learn_writes_a_release_that_verifies(run: Run, tmp_path: Path) -> None:
    release = released(tmp_path / "release")
    status, out, err = run("learn", release.path, "--tables", 3)
    assert (status, err) == (0, "")
    assert out.startswith(f"{tmp_path / 'release-plausible'}: {release.path} with 3 plausible tables\n")
    assert run("verify", tmp_path / "release-plausible")[0] == 0
    status, out, _ = run("learn", release.path, "--tables", 2, "--to", tmp_path / "other", "--json")
    assert json.loads(out)["promise"]["plausible"]["tables"] == 2
    assert len(open_release(tmp_path / "other").plausible(2)) == 2
    status, _, err = run("learn", release.path, "--tables", 1, "--to", tmp_path / "none")
    assert status == 1
    assert "plausible tables are 2 to 1,000, got 1: a standard error is their spread" in err


def test_publish_says_that_there_are_plausible_tables(run: Run, tmp_path: Path) -> None:
    pq.write_table(table(), tmp_path / "t.parquet")
    (tmp_path / "p.toml").write_text(
        'quasi = ["age", "town"]\nsensitive = "pay"\nguarantee = { l = 2 }\npartition = "deal"\n'
    )
    status, out, _ = run(
        "publish", tmp_path / "t.parquet", "--policy", tmp_path / "p.toml", "--to", tmp_path / "r", "--plausible", 3
    )
    assert status == 0
    assert "  plausible tables: 3, drawn from the other files alone\n" in out
