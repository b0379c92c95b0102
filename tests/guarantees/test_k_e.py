"""The guarantee (k,e) on the table of figure 1, on every type of column, and what it hands to the kernels."""

import datetime as dt
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from discreet.errors import InternalError
from discreet.guarantees import Guarantee, Histograms, Scale

SALARIES = [56_000, 54_000, 55_000, 65_000, 75_000, 70_000, 80_000, 75_000, 85_000]
FIGURE_3 = np.repeat(np.arange(3, dtype=np.int32), 3)


def figure_1(convert):
    """The salaries as another type: their codes, and the scale of their column."""
    domain = sorted(set(SALARIES))
    codes = np.array([domain.index(salary) for salary in SALARIES], np.int32)
    return codes, Scale.of(pa.array([convert(salary) for salary in domain]), "salary")


CONVERSIONS = [
    int,
    float,
    Decimal,
    lambda salary: Decimal(salary) / 100 * 100 + Decimal("0.25"),
    lambda salary: dt.date(1, 1, 1) + dt.timedelta(days=salary),
    lambda salary: dt.datetime(1, 1, 1) + dt.timedelta(days=salary),  # noqa: DTZ001
]


@pytest.mark.parametrize("convert", CONVERSIONS)
@pytest.mark.parametrize(
    ("k", "e", "held"),
    [
        (3, 2000, [True, True, True]),
        (3, 2000.5, [False, True, True]),
        (3, 10_000, [False, True, True]),
        (3, 10_001, [False, False, False]),
        (4, 0, [False, False, False]),
        (2, 0, [True, True, True]),
    ],
)
def test_figure_3(convert, k, e, held):
    """Its partition is (3, 2000)- but not (3, 10000)-anonymous."""
    codes, scale = figure_1(convert)
    assert Guarantee.of({"k": k, "e": e}, scale).holds(Histograms.of(FIGURE_3, codes)).tolist() == held


def test_k_counts_distinct_values_beside_e():
    codes, scale = np.array([0, 0, 0, 1], np.int32), Scale(np.array([0, 9]))
    histograms = Histograms.of(np.zeros(4, np.int32), codes)
    assert Guarantee.of({"k": 4}).holds(histograms).tolist() == [True]
    assert Guarantee.of({"k": 3, "e": 0}, scale).holds(histograms).tolist() == [False]
    assert Guarantee.of({"k": 2, "e": 9}, scale).holds(histograms).tolist() == [True]


def test_thresholds():
    scale = Scale(np.array([0, 9]), unit=10)
    found = Guarantee.of({"k": 3, "e": 0.25, "l": 2}, scale).rule
    assert found[:4] == (1, 2, 3, 3)  # a quarter is two and a half of ten steps: three, to be sure
    assert found.marks is scale.marks
    assert Guarantee.of({"k": 3, "distinct_l": 5, "e": 0}, scale).rule.distinct_l == 5
    assert Guarantee.of({"l": 2}).rule.marks.size == 0


def test_what_a_table_can_keep_at_most():
    codes, scale = figure_1(int)
    counts = np.bincount(codes)
    [k, e] = Guarantee.of({"k": 3, "e": 10}, scale).promises
    assert k.strongest(counts) == 8
    assert k.why_not(counts, "salary", None) == "`salary` has 8 distinct values"
    assert e.strongest(counts) == 31_000
    assert e.why_not(counts, "salary", None) == "the values of `salary` span a range of 31,000"


def test_a_range_without_a_scale_is_our_mistake():
    with pytest.raises(InternalError, match="without its scale"):
        Guarantee.of({"k": 2, "e": 1})
