"""Every deal of a plan: all ways in which the rows of each value can come to its places. The oracle of `design`.

It shares nothing with `discreet`: a plan is a list of places, each a group and the value that it is for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import permutations, product
from random import Random

Place = tuple[int, int]  # a group, and a value


def random_plan(rng: Random, *, groups: int, values: int, most: int) -> list[Place]:
    """Groups of two or three places; no value has more than `most` of them in all."""
    left = dict.fromkeys(range(values), most)
    plan = []
    for group in range(groups):
        for _ in range(rng.choice([2, 2, 3])):
            possible = [value for value, count in left.items() if count]
            if possible:
                value = rng.choice(possible)
                left[value] -= 1
                plan.append((group, value))
    return plan


def deals(plan: Sequence[Place]) -> Iterator[list[int]]:
    """The row at each place, in every deal; row i is one that holds the value of place i."""
    by_value: dict[int, list[int]] = {}
    for i, (_, value) in enumerate(plan):
        by_value.setdefault(value, []).append(i)
    for choice in product(*(permutations(rows) for rows in by_value.values())):
        row_at = [0] * len(plan)
        for places, rows in zip(by_value.values(), choice, strict=True):
            for place, row in zip(places, rows, strict=True):
                row_at[place] = row
        yield row_at


def spread(numbers: Sequence[float | Fraction]) -> tuple[float, float]:
    """The mean and the variance of numbers, all equally likely."""
    exact = [Fraction(number) for number in numbers]
    mean = sum(exact, Fraction(0)) / len(exact)
    return float(mean), float(sum(((each - mean) ** 2 for each in exact), Fraction(0)) / len(exact))
