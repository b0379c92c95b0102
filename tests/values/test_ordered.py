"""A compiled order, against NumPy's."""

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from discreet.values.ordered import order_of


@settings(max_examples=100, deadline=None)
@given(keys=st.lists(st.integers(-5, 5), max_size=80), dtype=st.sampled_from([np.int32, np.int64, np.float64]))
@example(keys=list(range(200, 0, -1)), dtype=np.int64)
def test_order_is_stable(keys, dtype):
    keys = np.array(keys, dtype)
    assert order_of(keys).tolist() == np.argsort(keys, kind="stable").tolist()
