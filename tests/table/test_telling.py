"""What columns and pairs of columns tell: what was seen in real tables is found, and mere likeness is not."""

from datetime import date, timedelta

import numpy as np
import pyarrow as pa
import pytest

from discreet import read
from discreet.table import telling as module
from discreet.table.people import people
from discreet.table.telling import tellings

ROWS = 4_000
QUASI = ("age", "sex", "zipcode", "education", "marital_status", "country")


@pytest.fixture
def chance():
    return np.random.default_rng(13)


def found(columns, *quasi, sensitive="ill", **options):
    return tellings(
        read(pa.table(columns)), quasi or [name for name in columns if name != sensitive], sensitive, **options
    )


def test_a_code_that_implies_the_value(chance):
    """Every code stands for one illness: all that can be judged are told, and that is outright."""
    code = chance.zipf(1.3, ROWS) % 900
    (told,) = found({"code": [f"c{c:03}" for c in code], "ill": (code * 7 % 11).astype(str)})
    held = np.bincount(code)
    assert told.told == told.judged == held[held >= 5].sum()
    assert (told.certainty, told.outright) == (1.0, True)
    assert told.blind == np.bincount(code * 7 % 11).max() / ROWS
    top = int(held.argmax())
    part = told.parts[0]
    assert (part.low, part.high, part.least, part.rows) == ((f"c{top:03}",),) * 2 + (str(top * 7 % 11), held[top])


def test_a_telling_part_is_found(chance):
    """A quarter of the table holds one and the same value: told, but not outright."""
    age = chance.integers(0, 80, ROWS)
    job = np.where(age < 20, "none", chance.choice(["none", "a", "b", "c"], ROWS))
    (told,) = found({"age": age, "ill": job})
    assert told.told == (age < 20).sum()
    assert (told.certainty, told.outright) == (1.0, False)
    (part,) = told.parts
    assert (part.low, part.high, part.least) == ((0,), (19,), "none")


@pytest.mark.parametrize("kind", ["date", "float"])
def test_everybody_below_an_age_told_by_thousands_of_values(chance, kind):
    """Hardly anybody shares the day of birth with four others: it is the range that tells."""
    days = chance.permutation(ROWS) * 7
    job = np.where(days < 7 * ROWS / 4, "none", chance.choice(["none", "a", "b", "c"], ROWS))
    born = [date(1950, 1, 1) + timedelta(int(d)) for d in days] if kind == "date" else days / 3.7
    (told,) = found({"born": born, "ill": job})
    assert 0.95 * ROWS / 4 <= told.told <= 1.01 * ROWS / 4
    assert told.certainty > 0.99
    (part,) = told.parts
    assert part.low == (min(born),)
    assert part.least == part.most == "none"


def test_what_is_unique_is_not_telling(chance):
    (told,) = found({"id": [f"i{i}" for i in range(ROWS)], "ill": chance.choice(list("ab"), ROWS)})
    assert (told.told, told.judged, told.outright) == (0, 0, False)


def test_what_is_likely_is_not_certain(chance):
    """Nine in ten of those below 20 hold one value: that is what statistics are for."""
    age = chance.integers(0, 80, ROWS)
    job = np.where((age < 20) & (chance.random(ROWS) < 0.9), "none", chance.choice(["none", "a", "b", "c"], ROWS))
    assert [told.told for told in found({"age": age, "ill": job})] == [0]


@pytest.mark.parametrize("sensitive", ["salary", "diagnosis"])
@pytest.mark.parametrize("rows", [1_000, 10_000])
def test_the_table_of_the_demo_tells_nothing(rows, sensitive):
    told = tellings(read(people(rows)), QUASI, sensitive)
    assert [each.columns for each in told] == [(name,) for name in QUASI]
    assert {each.told for each in told} == {0}


def test_two_columns_together(chance):
    """Neither of two coins tells whether they agree; both do, and no pair with a third column is worth a word."""
    one, other, third = chance.integers(0, 6, (3, ROWS))
    told = found({"one": one, "other": other, "third": third, "ill": (one + other) % 6})
    assert [(each.columns, each.told) for each in told[:3]] == [((name,), 0) for name in ("one", "other", "third")]
    (both,) = told[3:]
    assert (both.columns, both.told, both.more, both.outright) == (("one", "other"), ROWS, ROWS, True)
    part = both.parts[0]
    assert part.low == part.high
    assert part.least == sum(part.low) % 6


def test_a_pair_must_tell_more_than_its_columns(chance):
    age, sex = chance.integers(0, 80, ROWS), chance.choice(["m", "f"], ROWS)
    job = np.where(age < 20, "none", chance.choice(["none", "a", "b", "c"], ROWS))
    assert [each.columns for each in found({"age": age, "sex": sex, "ill": job})] == [("age",), ("sex",)]


def test_a_number_told_nearly(chance):
    """A bonus of a tenth tells a wage to within a band, though hardly two people have the same."""
    wage = chance.lognormal(10, 1, ROWS)
    (told,) = found({"bonus": np.round(wage / 10), "ill": wage})
    assert told.banded
    assert told.told > 0.8 * ROWS
    assert told.blind <= 0.06
    part = told.parts[0]
    assert part.least < part.most


def test_a_frequent_number_told_exactly(chance):
    """Those under 16 earn nothing; that no other wage is told does not hide it."""
    age = chance.integers(0, 80, ROWS)
    (told,) = found({"age": age, "ill": np.where(age < 16, 0.0, chance.lognormal(10, 1, ROWS))})
    assert (told.told, told.banded) == ((age < 16).sum(), False)
    assert [(part.low, part.high, part.least) for part in told.parts] == [((0,), (15,), 0.0)]


def test_missing_values_are_values(chance):
    code = chance.choice(["x", "y", None], ROWS)
    ill = np.where(code == None, None, chance.choice(list("abc"), ROWS))  # noqa: E711 - by element
    (told,) = found({"code": code, "ill": pa.array(list(ill))})
    assert told.told == sum(value is None for value in code)
    assert [(part.low, part.least) for part in told.parts] == [((None,), None)]
    (without,) = found({"code": code, "ill": pa.array(list(ill))}, present="ill")
    assert (without.told, without.rows) == (0, sum(value is not None for value in ill))


def test_texts_that_have_an_order(chance):
    post = [f"x{p:05}" for p in chance.permutation(ROWS)]
    ill = ["flu" if "x00500" <= p < "x01500" else str(chance.choice(list("abcd"))) for p in post]
    assert [each.told for each in found({"post": post, "ill": ill})] == [0]
    (told,) = found({"post": post, "ill": ill}, ordered=["post"])
    assert told.told == pytest.approx(1_000, rel=0.05)


@pytest.mark.parametrize("length", [1, 2, 3])
def test_a_chapter_of_a_code_is_found_among_thousands_of_codes(chance, length):
    """Every row has a code of its own; how it begins tells the illness of all, or of one chapter."""
    begins = [f"{'ABCD'[i % 4]}{i % 5}{i % 3}"[:length] for i in chance.integers(0, 10_000, ROWS)]
    code = [f"{begin}·{number:06}" for begin, number in zip(begins, chance.permutation(ROWS), strict=True)]
    ills = {begin: f"ill {number % 30}" for number, begin in enumerate(sorted(set(begins)))}
    (told,) = found({"code": code, "ill": [ills[begin] for begin in begins]})
    assert (told.outright, told.certainty) == (True, 1.0)
    assert told.told >= 0.95 * ROWS
    chapter = min(set(begins))
    some = [ills[begin] if begin == chapter else str(chance.choice(list("abcd"))) for begin in begins]
    (told,) = found({"code": code, "ill": some})
    assert (told.outright, told.told) == (False, begins.count(chapter))
    (part,) = told.parts
    assert (part.low[0][:length], part.high[0][:length], part.least) == (chapter, chapter, ills[chapter])


def test_three_columns_that_tell_together(chance):
    one, other, third, fourth = chance.integers(0, 3, (4, ROWS))
    columns = {"one": one, "other": other, "third": third, "fourth": fourth, "ill": (one + other + third) % 3}
    *less, told = found(columns)
    assert not any(each.told for each in less)
    assert all(len(each.columns) == 1 for each in less)
    assert (told.columns, told.told, told.certainty, told.outright) == (("one", "other", "third"), ROWS, 1.0, True)
    for part in told.parts:
        assert part.low == part.high
        assert sum(part.low) % 3 == part.least == part.most


def test_of_many_columns_the_coarsest_are_looked_at_three_together(chance):
    fine = {f"fine {i}": chance.integers(0, 40, ROWS) for i in range(6)}
    one, other, third = chance.integers(0, 3, (3, ROWS))
    told = found({**fine, "one": one, "other": other, "third": third, "ill": (one + other + third) % 3})
    assert told[-1].columns == ("one", "other", "third")


def test_large_tables_are_measured_on_drawn_rows(chance, monkeypatch):
    monkeypatch.setattr(module, "DRAWN", ROWS // 4)
    monkeypatch.setattr(module, "SEVERAL", {2: (ROWS // 8, 64, None), 3: (ROWS // 16, 16, 7)})
    one, other = chance.integers(0, 4, (2, ROWS))
    columns = {"one": one, "other": other, "ill": (one + other) % 4}
    *singles, both = found(columns)
    assert [(each.sampled, each.rows, each.told) for each in singles] == [(True, ROWS // 4, 0)] * 2
    assert (both.sampled, both.rows, both.told) == (True, ROWS // 8, ROWS // 8)
    assert found(columns) == (*singles, both)  # drawn alike each time


def test_columns_that_cannot_be_published_are_passed_over():
    columns = {"tags": [[1], [2], [1]], "age": [1, 2, 1], "ill": list("aba")}
    assert [each.columns for each in found(columns)] == [("age",)]
    assert found(columns, "age", sensitive="tags") == ()
