"""Cells of a CSV file that a spreadsheet would run."""

import warnings

import pyarrow as pa
import pytest

from discreet import Policy, publish
from discreet.errors import DiscreetWarning, UnacceptedError


def table(first, name="job"):
    return pa.table({name: [first, "nurse"] * 15, "pay": [-5, 3, 4] * 10, "ill": [f"x{i % 5}" for i in range(30)]})


def policy(name="job", **more):
    return Policy(quasi=[name, "pay"], sensitive="ill", guarantee={"l": 3}, **more)


@pytest.mark.parametrize("cell", ["=1+1", "@SUM(A1)", "+cmd|' /C calc'!A0", "-2+3+cmd", "\t=1", "\r=1"])
def test_formulas_are_named(tmp_path, cell):
    with pytest.warns(DiscreetWarning, match="15 values of `job` begin like a formula") as caught:
        release = publish(table(cell), policy(), to=tmp_path / "release", format="csv")
    assert [warning.message.name for warning in caught] == ["formulas.job"]
    assert "Parquet" in caught[0].message.hint
    kept = release.ask("SELECT job, COUNT(*) FROM microdata GROUP BY job").rows()
    assert {row["job"] for row in kept} == {cell, "nurse"}


@pytest.mark.parametrize("cell", ["-5", "+49 30 123", "- ", "a=b", "-1,5", ""])
def test_signs_that_are_no_formulas(tmp_path, cell):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        publish(table(cell), policy(), to=tmp_path / "release", format="csv")


def test_parquet_has_no_formulas(tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        publish(table("=1+1"), policy(), to=tmp_path / "release")


def test_a_name_like_a_formula(tmp_path):
    with pytest.warns(DiscreetWarning, match="the name of the column `=job` begins like a formula"):
        publish(table("x", "=job"), policy("=job"), to=tmp_path / "release", format="csv")


def test_strict_and_accepted(tmp_path):
    with pytest.raises(UnacceptedError):
        publish(table("=1"), policy(), to=tmp_path / "release", format="csv", strict=True)
    accepted = policy(accept={"formulas.job": "nobody opens it in a spreadsheet"})
    release = publish(table("=1"), accepted, to=tmp_path / "release", format="csv", strict=True)
    assert [warning.name for warning in release.warnings] == ["formulas.job"]
