"""Names that nobody has, whatever the case."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.values.names import fresh, numbered

NAMES = st.text("aA_b2", min_size=1, max_size=3)


@pytest.mark.parametrize(
    ("taken", "found"), [([], "group"), (["age"], "group"), (["GROUP"], "group_"), (["group", "Group_"], "group__")]
)
def test_an_underscore_tells_a_name_from_others(taken, found):
    assert fresh("group", taken) == found


@pytest.mark.parametrize(
    ("taken", "found"),
    [([], "n"), (["N"], "n_2"), (["n", "n_2"], "n_3"), (["n_low"], "n_2"), (["n_LOW", "n_2_low"], "n_3")],
)
def test_a_number_tells_a_name_from_others_with_all_its_ends(taken, found):
    assert numbered("n", taken, ("", "_low")) == found


@given(NAMES, st.lists(NAMES))
def test_nobody_has_a_fresh_name(wanted, taken):
    lower = {name.lower() for name in taken}
    for found in (fresh(wanted, taken), numbered(wanted, taken)):
        assert found.startswith(wanted)
        assert found.lower() not in lower
        assert found == wanted or wanted.lower() in lower
