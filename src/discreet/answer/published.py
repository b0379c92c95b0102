"""The boxes that a generalized release publishes, and how many rows of each match a condition.

All that is known of a row is its box. If a condition holds at every point of the box, the row
matches; if at none, it does not; else it may, and is expected to with the share of the box where the
condition holds (`overlap`), each row by itself: values are taken to lie evenly over the box. A box is

    whole numbers, dates   all of them from `low` to `high`, and one point more if a value may be missing
    other text, order      the ends that boxes of the release have between `low` and `high`, and the missing value
    other numbers, times   a length; a missing value weighs nothing, unless the box is a point or nothing else
    labels                 the values that the label stands for

and where a box may hold anything, all that boxes of the release hold in the column. `boxes` has a row per
box with the number of `people` in it; `hits` has a row per group. A group with several boxes (of which
more people may be told than it has values) is treated alike: its values may belong to any of these people.
Cost: one pass over the boxes, and once a pass over the release.
Claim: generalized_releases_equal_brute_force — of COUNT and SUM estimate and stderr are mean and deviation over
all places of the rows in their boxes and all assignments of values; low and high are the extremes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from math import isnan
from typing import Any

import pyarrow as pa
from sqlglot import exp, parse_one

from discreet.answer.covers import Cover, Leaf, always, cover
from discreet.answer.regions import Interval, Place, Region, constants, readable, region, runs
from discreet.answer.truths import Kind, Types, over_points, part, placed, truths, untyped, whole
from discreet.errors import EngineError, QueryError
from discreet.release.manifest import Side

Run = Callable[[exp.Expr], pa.Table]

MOST_TRIED = 100_000  # values of a column that a condition is tried on, one by one
MOST_RUNS = 300  # of values next to each other for which it holds
