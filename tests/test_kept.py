"""Releases and vaults that an older version wrote still open: those in `cases/kept`, made by `kept.py`."""

import json
import shutil
from pathlib import Path

import pytest

import discreet
from discreet.errors import DiscreetError
from kept import QUESTIONS, people

KEPT = Path(__file__).parent / "cases" / "kept"
ANSWERS = json.loads((KEPT / "answers.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", ANSWERS)
def test_a_kept_release_opens_verifies_and_answers(name):
    report = discreet.verify(KEPT / name)
    assert report.ok, report.failures
    with discreet.open_release(KEPT / name) as release:
        assert release.promise.format == 1
        for question, expected in zip(QUESTIONS, ANSWERS[name], strict=True):
            found = release.ask(question).rows()
            assert [row.keys() for row in found] == [row.keys() for row in expected], question
            for row, of in zip(found, expected, strict=True):
                assert row == pytest.approx(of), question


def test_a_kept_vault_opens_takes_rows_in_and_releases(tmp_path):
    for name in ("vault", "first"):
        shutil.copytree(KEPT / name, tmp_path / name)
    (tmp_path / "vault").chmod(0o700)  # nobody else could read it where it was made
    for path in (tmp_path / "vault").iterdir():
        path.chmod(0o600)
    with discreet.Vault.open(tmp_path / "vault") as vault:
        before = vault.status()
        assert (before.rows, before.pending_rows, len(before.releases)) == (64, 24, 1)
        with pytest.raises(DiscreetError, match="already"):
            vault.append(people(60, 70))  # some of them are there
        assert vault.append(people(64, 80)).rows == 16
        second = vault.release(tmp_path / "second", earlier=[tmp_path])
    assert second.promise.rows == 80
    report = second.verify()
    assert report.ok, report.failures
    assert "earlier releases, back to the first: 1" in report.checks[-1].detail
    with discreet.open_release(tmp_path / "first") as first:
        assert discreet.audit([first, second]).ok


def test_kept_files_are_small():
    assert sum(path.stat().st_size for path in KEPT.rglob("*") if path.is_file()) < 100_000
