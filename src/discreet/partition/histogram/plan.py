"""Carry out a plan that was made on the histogram of the sensitive column alone.

A plan says which group the i-th row joins when rows are sorted by value; which of a value's
rows takes which of its places is drawn at random here.
Claim: every_row_of_a_value_is_alike — each is equally likely to take each place of its value.
"""

from __future__ import annotations

import numpy as np

from discreet.partition.kernels import IntArray, shuffle_by_value
from discreet.values.random import RandomSource


def carry_out(plan: IntArray, sensitive: IntArray, counts: IntArray, secret: RandomSource) -> IntArray:
    """The group of every row."""
    groups = np.empty_like(plan)
    groups[shuffle_by_value(sensitive, counts, secret.words(sensitive.size))] = plan
    return groups
