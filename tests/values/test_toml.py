"""Values as TOML: whatever is written is read back as what it was, by the standard library."""

import datetime as dt
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InputError
from discreet.values.toml import as_toml, toml_key

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
SIMPLE = st.one_of(
    TEXTS,
    st.booleans(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False),
    st.dates(),
    st.datetimes(),
    st.times(),
)
VALUES = st.recursive(SIMPLE, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3))


@given(key=TEXTS, value=VALUES)
def test_toml_reads_what_was_written(key, value):
    assert tomllib.loads(f"{toml_key(key)} = {as_toml(value)}") == {key: value}


def test_what_toml_cannot_write():
    for value in (None, object(), {"a": None}, b"x", dt.timedelta(1)):
        with pytest.raises(InputError, match="TOML has no way to write a"):
            as_toml(value)
