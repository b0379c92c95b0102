"""An attacker who holds all releases of a vault and knows of everybody who came: when, with how many rows, what they look like.

It reads the files alone, and shares nothing with the package. A group of a release that the one before does not show is
of the people who came between the two. All ways to part these over the new groups are tried that fit the boxes, the
number of people in each and the most rows of one; and of each way all ways to hand values out to rows, which are equally
many, are taken for equally likely.
"""

from __future__ import annotations

import json
from collections import Counter
from fractions import Fraction
from itertools import product
from math import comb

import pyarrow.parquet as pq


def believed(releases, came):
    """How surely somebody is believed to hold some value in some row.

    `came` says of each lot who came: a name, what the person looks like, and how many rows there are.
    """
    never, before = {}, Counter()
    for folder, lot in zip(releases, came, strict=True):
        shown = Counter(groups(folder))
        new = list((shown - before).elements())
        assert not before - shown, "a group of an earlier release is not there any more"
        before = shown
        for who, value, none in _within_a_lot(new, lot):
            never[who, value] = never.get((who, value), Fraction(1)) * none
    return max(1 - none for none in never.values())


def groups(folder):
    """Of each group what is shown: the box, the values, how many people there are, and the most rows of one."""
    rows = pq.read_table(folder / "generalized.parquet").to_pylist()
    for of in pq.read_table(folder / "people.parquet").to_pylist():
        held = [row for row in rows if row["group"] == of["group"]]
        shown = held[0]
        box = shown["age_low"], shown["age_high"], bool(shown.get("age_missing")), shown["town"]
        yield box, tuple(sorted(row["ill"] for row in held)), of["people"], of["most"]


def _within_a_lot(new, lot):
    """For everybody of a lot and every value: how probably none of the rows holds it."""
    fitting = [
        placed
        for placed in product(range(len(new)), repeat=len(lot))
        if all(_inside(new[at][0], looks) for at, (_, looks, _) in zip(placed, lot, strict=True))
        and all(
            _fits(group, [own for at, (*_, own) in zip(placed, lot, strict=True) if at == g])
            for g, group in enumerate(new)
        )
    ]
    assert fitting, "nobody can be in these groups"
    for person, (who, _, own) in enumerate(lot):
        for value in {value for _, values, *_ in new for value in values}:
            none = Fraction(0)
            for placed in fitting:
                values = new[placed[person]][1]
                none += Fraction(comb(len(values) - values.count(value), own), comb(len(values), own))
            yield who, value, none / len(fitting)


def _fits(group, rows):
    _, values, people, most = group
    return (sum(rows), len(rows), max(rows, default=0)) == (len(values), people, most)


def _inside(box, looks):
    low, high, missing, towns = box
    of_age = (missing or low is None) if looks["age"] is None else low is not None and low <= looks["age"] <= high
    return looks["town"] in json.loads(towns) and of_age
