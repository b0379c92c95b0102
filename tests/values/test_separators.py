"""The sign between the fields, of tables and of hierarchies alike."""

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.values.separators import SIGNS, separator


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        (["age,zip", "1,2"], ","),
        (["age;zip", "1,5;2,5"], ";"),
        (["wage (1,000s);age", "1,5;2"], ";"),
        (["age\tzip", "1\t2"], "\t"),
        (["age|zip", "1|2"], "|"),
        (["name,tags", "x,a;b;c"], ","),
        (["text; here,n", "x,1"], ","),
        (["M,Male|Female,*", "F,Male|Female,*"], ","),
        (["[0, 10[;[0, 20[;[0, 40[", "[10, 20[;[0, 20[;[0, 40["], ";"),
        (["a, b;c", "d"], ";"),
        (['"a;b",c', '"d;e",f'], ","),
        (["age"], ","),
        (["age,zip"], ","),
        (["age", "1"], ","),
        ([""], ","),
        ([], ","),
        (["x" * 200_000 + ";y", "z;y"], ";"),
    ],
)
def test_the_sign_on_which_the_first_lines_agree(lines, found):
    assert separator(lines) == found


@given(
    st.sampled_from(SIGNS),
    st.integers(2, 4).flatmap(
        lambda n: st.lists(st.lists(st.text("ab ", max_size=3), min_size=n, max_size=n), min_size=2, max_size=3)
    ),
)
def test_what_is_written_with_a_sign_is_read_with_it(sign, rows):
    file = io.StringIO(newline="")
    csv.writer(file, delimiter=sign).writerows(rows)
    assert separator(file.getvalue().splitlines()) == sign
