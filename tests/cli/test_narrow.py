"""Tables on a terminal of 80 columns, or fewer: no number is ever cut in two."""

import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.cli import show
from discreet.cli.narrow import Laid, laid_out

ANSWER = ["sex", "avg_salary", "avg_salary_stderr", "avg_salary_low", "avg_salary_high"]
FIGURES = ["76,624.9", "345.5", "65,740.7", "86,345.5"]


class Terminal(io.StringIO):
    def isatty(self):
        return True


def printed(monkeypatch, width, columns, rows, left=1):
    screen = Terminal()
    monkeypatch.setattr("sys.stdout", screen)
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("NO_COLOR", "1")
    show.as_table(columns, rows, left=left)
    return re.sub(r"\x1b\[[\d;]*m", "", screen.getvalue())


def test_a_table_that_fits_is_as_it_was(monkeypatch):
    out = printed(monkeypatch, 80, ANSWER, [["f", *FIGURES]])
    assert out.splitlines()[0].split() == ANSWER
    assert out.splitlines()[2].split() == ["f", *FIGURES]


def test_an_estimate_and_its_interval_share_a_cell(monkeypatch):
    columns = ["marital_status", "sex", *ANSWER[1:], "count", "count_stderr", "count_low", "count_high"]
    rows = [["divorced and living apart", "f", *FIGURES, "1,234.5", "12.3", "1,000", "1,500"]]
    out = printed(monkeypatch, 100, columns, rows)
    assert "76,624.9 ± 345.5 [65,740.7, 86,345.5]" in out
    assert "avg_salary ± stderr [low, high]" in out
    assert "1,234.5 ± 12.3 [1,000, 1,500]" in out


def test_bounds_alone(monkeypatch):
    out = printed(monkeypatch, 25, ["a_column_low", "a_column_high"], [["1,000", "2,000"]], left=0)
    assert "a_column [low, high]" in out
    assert "[1,000, 2,000]" in out


def test_what_fits_nowhere_is_printed_line_by_line(monkeypatch):
    out = printed(monkeypatch, 30, ANSWER, [["f", *FIGURES], ["m", *FIGURES]])
    assert out.splitlines()[1] == "avg_salary         76,624.9"
    assert out.count("86,345.5") == 2


def test_a_text_goes_on_in_the_next_line_beside_whole_numbers(monkeypatch):
    out = printed(monkeypatch, 40, ["name", "count"], [["x" * 200, "1,234,567"]])
    assert "1,234,567" in out
    assert all(len(line.rstrip()) <= 40 for line in out.splitlines())
    assert out.count("x") == 200


@given(
    width=st.integers(20, 120),
    texts=st.lists(st.text(st.characters(categories=["L", "Nd", "Zs"]), max_size=60), min_size=1, max_size=3),
    numbers=st.lists(st.floats(-1e12, 1e12), min_size=1, max_size=6),
)
def test_no_number_is_cut(width, texts, numbers):
    cells = [f"{number:,.1f}" for number in numbers]
    columns = [*(f"text {i}" for i in range(len(texts))), *(f"measure_{i}" for i in range(len(cells)))]
    with pytest.MonkeyPatch.context() as monkeypatch:
        out = printed(monkeypatch, width, columns, [[*texts, *cells]], left=len(texts))
    assert all(cell in out for cell in cells)
    whole = Laid(columns, [[*texts, *cells]], len(texts))
    assert (laid_out(whole, width) is None) == (not whole.fits(width))


def test_without_a_terminal_nothing_is_laid_out_otherwise(capsys):
    show.as_table(ANSWER * 5, [["f", *FIGURES] * 5])
    assert len(capsys.readouterr().out.splitlines()) == 3


def test_a_number_stands_below_a_name_that_leaves_no_room(monkeypatch):
    name = "average_of_what_everybody_in_the_table_earns"
    out = printed(monkeypatch, 40, [name, f"{name}_high"], [["1,234,567.8", "9,876,543.2"]], left=0)
    assert "\n  1,234,567.8\n" in out.replace(" \n", "\n")
    assert "\n  9,876,543.2" in out


def test_a_text_of_any_length_takes_few_lines(monkeypatch, capsys):
    cells = [["long" * 25_000, "1"], ["\u0301" * 100_000, "2"], ["日本" * 50_000, "3"], ["\x1b[2J" * 20_000, "4"]]
    out = printed(monkeypatch, 80, ["town", "count"], cells)
    assert len(out.splitlines()) < 40
    assert "\x1b[2J" not in out
    assert out.count("…") == 4
