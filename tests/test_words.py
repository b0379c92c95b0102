"""Words for people."""

import pytest

from discreet.words import counted


@pytest.mark.parametrize(
    ("number", "words", "told"),
    [
        (0, ("row",), "0 rows"),
        (1, ("row",), "1 row"),
        (2_000, ("row",), "2,000 rows"),
        (1, ("row waits", "rows wait"), "1 row waits"),
        (2, ("row waits", "rows wait"), "2 rows wait"),
    ],
)
def test_numbers_of_things(number, words, told):
    assert counted(number, *words) == told
