"""When two engines say the same: what both compute exactly to the last digit, and floats to 1 in 10^9.

Whole numbers and decimals are exact, and are compared as that, however many digits they are written with. Of floats
that nearly cancel out, what is less than 10^-9 is taken for nothing.
"""

from __future__ import annotations

import math


def alike(one, other):
    """Whether two answers have the same columns, and the same rows in the same order."""
    return one.columns == other.columns and len(one) == len(other) and all(map(_same_row, one.rows(), other.rows()))


def _same_row(one, other):
    return all(same(one[name], other[name]) for name in one)


def same(one, other):
    """Whether two cells are the same."""
    if isinstance(one, float) or isinstance(other, float):
        return one is not None and other is not None and math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-9)
    return one == other
