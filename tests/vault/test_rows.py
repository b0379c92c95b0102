"""Values of every type come back from a vault as they went in, or are refused."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.vault.rows import keys, texts, values_of
from values.kinds import ORDERED, column

UNORDERED = {pa.string(): st.text(st.characters(exclude_categories=["Cs"])), pa.bool_(): st.booleans()}


@pytest.mark.parametrize("kind", {**ORDERED, **UNORDERED}, ids=str)
def test_texts_give_the_values_back(kind):
    @given(column(kind, {**ORDERED, **UNORDERED}[kind]))
    def check(values):
        found = texts(values)
        back = values_of(found, kind)
        assert back.type == kind
        assert back.to_pylist() == values.to_pylist()
        assert len(set(found)) == len(set(values.to_pylist()))

    check()


@given(st.lists(st.tuples(*[st.none() | st.text(st.sampled_from("a|\\0"), max_size=3)] * 2), min_size=1))
def test_keys_tell_identifiers_apart(pairs):
    columns = [pa.chunked_array([pa.array(values, pa.string())]) for values in zip(*pairs, strict=True)]
    found = keys(columns).to_pylist()
    assert [key is None for key in found] == [pair == (None, None) for pair in pairs]
    assert len(set(found)) == len(set(pairs))


def test_a_single_identifier_is_its_own_key():
    assert keys([pa.chunked_array([pa.array([3, None, 1])])]).to_pylist() == ["3", None, "1"]
