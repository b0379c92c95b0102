"""Student's quantiles, which neither Python nor NumPy has: how many standard errors an interval reaches."""

from __future__ import annotations

from math import exp, lgamma, log
from statistics import NormalDist


def quantile(share: float, df: float) -> float:
    """Student's quantile, above the middle, by halving an interval; normal where there are many degrees of freedom."""
    if df > 1e6:
        return NormalDist().inv_cdf(share)
    low, high = 0.0, 1.0
    while _below(high, df) < share:
        high *= 2
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if _below(middle, df) < share else (low, middle)
    return (low + high) / 2


def _below(t: float, df: float) -> float:
    """The chance that Student's variable lies below t, which is not negative."""
    x = df / (df + t * t)
    front = exp(lgamma((df + 1) / 2) - lgamma(df / 2) - lgamma(0.5) + df / 2 * log(x) + 0.5 * log(max(1 - x, 1e-300)))
    if x < (df / 2 + 1) / (df / 2 + 2.5):
        tail = front * _fraction(df / 2, 0.5, x) / (df / 2)
    else:
        tail = 1 - front * _fraction(0.5, df / 2, 1 - x) / 0.5
    return 1 - tail / 2


def _fraction(a: float, b: float, x: float) -> float:
    """The continued fraction of the incomplete beta function, by Lentz's method."""
    least = 1e-300
    c, d = 1.0, 1 - (a + b) * x / (a + 1)
    d = 1 / (d if abs(d) > least else least)
    found = d
    for m in range(1, 1000):
        for step in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 + step * d
            d = 1 / (d if abs(d) > least else least)
            c = 1 + step / c
            c = c if abs(c) > least else least
            found *= d * c
        if abs(d * c - 1) < 1e-14:
            break
    return found
