"""What `inspect` says before anything is published: risks, risky columns, roles, and what guarantees would cost."""

from itertools import combinations, product

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet
from discreet.table.possible import left_out, of_l, of_ranges
from discreet.table.roles import suggested
from discreet.values.codes import encode

CHANCE = np.random.default_rng(9)
FRAME = pd.DataFrame(
    {
        "age": CHANCE.integers(0, 30, 200),
        "town": CHANCE.choice(list("abcde"), 200),
        "sex": CHANCE.choice(["m", "f"], 200),
        "salary": CHANCE.integers(10, 60, 200) * 100,
    }
)
QUASI = ["age", "town", "sex"]


@given(st.lists(st.integers(1, 6), min_size=1, max_size=4), st.integers(2, 4))
def test_costs_are_those_of_the_definition(counts, l):
    best = 0
    for kept in product(*(range(count + 1) for count in counts)):
        if sum(kept) and max(kept) * l <= sum(kept):
            best = max(best, sum(kept))
    found = left_out(np.array(counts), l)
    assert found == (None if not best else pytest.approx(1 - best / sum(counts)))


def test_the_largest_l_costs_no_rows():
    found = {each.l: each for each in of_l(np.array([30, 20, 20, 15, 15]))}
    assert [l for l, each in found.items() if each.left_out == 0] == [2, 3]
    assert found[5].left_out == pytest.approx(0.25)
    assert found[10].left_out is None
    assert found[2].width == pytest.approx((1 - 0.81 - 0.01) / 0.1)
    assert of_l(np.array([], int)) == ()


def test_ranges_by_hand():
    codes = encode(pa.chunked_array([[0, 1, 2, 3, 10, 11, 12, 100]]))
    found = {(each.k, each.e): each.average for each in of_ranges(codes)}
    assert found[2, 1.0] == pytest.approx((2 * 1 + 2 * 1 + 2 * 1 + 2 * 88) / 8)
    assert found[5, 20.0] == 100, "0 to 100: after five values nothing is left for a second group"
    assert found[10, 1.0] is None, "there are only eight values"
    assert of_ranges(encode(pa.chunked_array([["a", "b"]]))) == ()
    assert of_ranges(encode(pa.chunked_array([[1, 1]]))) == ()


def test_riskiest_combinations_are_found():
    profile = discreet.inspect(FRAME, quasi=QUASI, sensitive="salary")
    for size in (1, 2, 3):
        shares = {names: (FRAME.groupby(list(names)).size() == 1).sum() / 200 for names in combinations(QUASI, size)}
        told = {each.columns: each.unique for each in profile.combinations if len(each.columns) == size}
        assert told == pytest.approx(shares)
        assert list(told.values()) == sorted(told.values(), reverse=True)


def test_a_table_has_the_same_risks_before_and_by_name():
    before = discreet.inspect(FRAME, quasi=QUASI, sensitive="salary").risks
    assert before == discreet.risks(FRAME, quasi=QUASI, sensitive="salary")
    people = FRAME.assign(who=np.arange(200) // 2)
    several = discreet.inspect(people, quasi=QUASI, sensitive="salary", person="who").risks
    assert several.records == len(people.drop_duplicates([*QUASI, "who"]))
    assert several.l is None
    shown = repr(discreet.inspect(FRAME, quasi=QUASI, sensitive="salary"))
    assert "prosecutor" in shown
    assert "What a guarantee on salary would cost" in shown


@pytest.mark.parametrize(
    ("column", "role", "why"),
    [
        (("number", "integer", 100, 100, 95), "identifiers", "95% of the rows hold a value that no other row has"),
        (("passport_no", "string", 100, 80, 60), "identifiers", "it is named so, and 60% of the rows"),
        (("worth", "float", 100, 100, 100), "quasi", "if nobody does, it is sensitive"),
        (("yearly_income", "float", 100, 100, 100), "sensitive", "people keep to themselves"),
        (("story", "string", 100, 60, 40), "drop", "free text, which may say who somebody is"),
        (("Prénom", "string", 3_000, 20, 0), "drop", "people are called by, and too many share it"),
        (("Pathologie", "string", 3_000, 20, 0), "sensitive", "people keep to themselves"),
        (("Bemerkung", "string", 3_000, 3, 0), "drop", "it is named like remarks"),
        (("doctor's notes", "string", 3_000, 3, 0), "drop", "it is named like remarks"),
        (("Observación", "string", 3_000, 3, 0), "drop", "it is named like remarks"),
        (("denoted", "string", 3_000, 3, 0), "quasi", "if nobody does, it is sensitive"),
        (("comments", "integer", 3_000, 3, 0), "quasi", "if nobody does, it is sensitive"),  # how many there are
        (("Name des Patienten", "string", 3_000, 180, 2), "identifiers", "people are called or reached by"),
        (("ward_name", "string", 3_000, 12, 0), "quasi", "if nobody does, it is sensitive"),
        (("country", "string", 100, 1, 0), "drop", "all rows hold the same"),
        (("photo", "not supported (binary)", 100, 90, 0), "drop", "cannot be published"),
    ],
)
def test_a_role_has_a_reason(column, role, why):
    found = suggested(*column)
    assert found.role == role
    assert why in found.why
