"""Quantiles by design: the estimated distribution, made monotone, and where it reaches the fraction."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import numpy.typing as npt

from discreet.learn.design import Floats

SURE = 1 - 1e-9  # so much of a fraction is all of it: the rest is rounding


def quantile_places(mass: Floats, fraction: Fraction) -> npt.NDArray[np.int64]:
    """The place of the quantile among values in order, per row; -1 where nobody is expected.

    An estimated distribution may fall where it should rise. It is put midway between the least that never
    falls from the left and the most that never does from the right.
    """
    if not mass.shape[1]:  # there is no value at all
        return np.full(len(mass), -1)
    p, q = fraction.as_integer_ratio()
    upto = np.cumsum(mass, axis=1)
    never = np.minimum(np.maximum.accumulate(upto, axis=1), upto[:, -1:])
    yet = np.minimum.accumulate(upto[:, ::-1], axis=1)[:, ::-1]
    rising = np.maximum((never + yet) / 2, 0)
    reached = (rising > 0) & (q * rising >= p * rising[:, -1:] * SURE)
    return np.where(reached.any(axis=1), np.argmax(reached, axis=1), -1)
