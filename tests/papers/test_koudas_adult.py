"""How narrow bounds from Adult's capital losses are, by partition: section 7.1 of Koudas et al. (2007), figure 11."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from discreet.guarantees import Guarantee, Scale
from discreet.partition import PARTITIONS
from discreet.values.random import RandomSource

SPAN, QUERIES = 30, 1_000


@pytest.fixture(scope="module")
def adult(real_data):
    """Age and capital loss of the 1,427 complete training rows that have a loss."""
    table = pq.read_table(real_data / "adult" / "adult_all.parquet")
    wanted = pc.and_(
        pc.and_(pc.equal(table["split"], "train"), table["complete"]), pc.greater(table["capital_loss"], 0)
    )
    table = table.filter(wanted)
    age, loss = (table[name].to_numpy() for name in ("age", "capital_loss"))
    assert (loss.size, np.unique(loss).size) == (1_427, 89)
    return age, loss


def matching(age):
    """Rows of each of the random ranges of ages that somebody is in."""
    rng, found = np.random.default_rng(2007), []
    while len(found) < QUERIES:
        low = rng.integers(age.min() - SPAN, age.max() + 1)
        hits = (age >= low) & (age <= low + SPAN)
        if hits.any():
            found.append(hits)
    return found


def mean_relative_width(groups, loss, queries):
    """Of AVG(loss): the sum of a group's hits lies between its smallest and its largest as many values."""
    ordered = loss[np.lexsort((loss, groups))]
    sums = np.append(0, np.cumsum(ordered))
    ends = np.cumsum(np.bincount(groups))
    starts = np.append(0, ends[:-1])
    widths = []
    for hits in queries:
        m = np.bincount(groups[hits], minlength=ends.size)
        low, high = (sums[starts + m] - sums[starts]).sum(), (sums[ends] - sums[ends - m]).sum()
        assert low <= loss[hits].sum() <= high
        widths.append((high - low) / loss[hits].sum())
    return float(np.mean(widths))


@pytest.mark.parametrize(("k", "e", "worse_at_random"), [(4, 100, 5), (10, 200, 1)])
def test_mean_relative_width_of_averages(adult, k, e, worse_at_random, record_property):
    """The paper has (k,e) = (4,100). For (10,200) the order must be the same: random groups are then 3 times as wide."""
    age, loss = adult
    domain, codes = np.unique(loss, return_inverse=True)
    guarantee = Guarantee.of({"k": k, "e": e}, Scale.of(pa.array(domain), "capital_loss"))
    queries, width = matching(age), {}
    for name in ("tightest", "min_max", "max_groups", "min_sum", "random"):
        groups = PARTITIONS[name].assign([], codes.astype(np.int32), guarantee, RandomSource(1))
        width[name] = mean_relative_width(groups, loss, queries)
        record_property(name, width[name])
        print(f"({k},{e}) {name:10} {groups.max() + 1:4} groups, mean relative width {width[name]:.4f}")
    assert width["tightest"] <= 0.75 * width["min_sum"]
    assert width["tightest"] <= min(width["min_max"], width["max_groups"])
    assert width["random"] >= worse_at_random * width["min_sum"]
