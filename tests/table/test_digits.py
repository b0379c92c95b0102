"""Numbers with a sign between thousands: read in files of any length, and never made of something else."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet import read

MANY = 5_000  # rows: more than DuckDB looks at in one go


def kept(tmp_path, values, **csv):
    """The kind of a column, and its values."""
    path = tmp_path / "t.csv"
    path.write_text("x;y\n" + "".join(f'{i};"{value}"\n' for i, value in enumerate(values)), encoding="utf-8")
    with read(path, csv=csv) as table:
        return table["y"].kind, table.engine.run(table.select(["y"])).column(0).to_pylist()


@pytest.mark.parametrize(
    ("values", "csv", "kind", "expected"),
    [
        (["1.984,38", "740,24"], {"decimal": ",", "thousands": "."}, "float", [1984.38, 740.24]),
        (["740,24", "1.984.001"], {"decimal": ",", "thousands": "."}, "float", [740.24, 1984001.0]),
        (["1.984", "-740"], {"decimal": ",", "thousands": "."}, "integer", [1984, -740]),
        (["1,984.5", "7"], {"thousands": ","}, "float", [1984.5, 7.0]),
        (["1'984", "7"], {"thousands": "'"}, "integer", [1984, 7]),
        (["1\u00a0984,5", "7"], {"decimal": ",", "thousands": "\u00a0"}, "float", [1984.5, 7.0]),
        (["1\u202f984", "7"], {"thousands": "\u202f"}, "integer", [1984, 7]),
        (["1.9.8", "7.4.0"], {"decimal": ",", "thousands": "."}, "string", ["1.9.8", "7.4.0"]),
        (["1.98", "7"], {"decimal": ",", "thousands": "."}, "string", ["1.98", "7"]),
        (["0.984", "7"], {"decimal": ",", "thousands": "."}, "string", ["0.984", "7"]),
    ],
    ids=str,
)
@pytest.mark.parametrize("times", [1, MANY])
def test_thousands_are_read_in_files_of_any_length(tmp_path, values, csv, kind, expected, times):
    assert kept(tmp_path, values * times, **csv) == (kind, expected * times)


def test_one_other_value_keeps_all_as_they_are_written(tmp_path):
    values = [*["1.984,38"] * MANY, "about 2.000"]
    assert kept(tmp_path, values, decimal=",", thousands=".") == ("string", values)


def test_integers_that_no_database_holds_become_floats(tmp_path):
    assert kept(tmp_path, ["999.999.999.999.999.999.999"], decimal=",", thousands=".") == ("float", [1e21])


@given(numbers=st.lists(st.integers(-(10**9), 10**9), min_size=1, max_size=5))
def test_python_writes_what_is_read(tmp_path_factory, numbers):
    values = [f"{number:,}".replace(",", ".") for number in numbers]
    kind, found = kept(tmp_path_factory.mktemp("digits"), values, decimal=",", thousands=".")
    assert found == numbers
    assert kind == "integer"
    assert all(re.fullmatch(r"-?\d{1,3}(\.\d{3})*", value) for value in values)
