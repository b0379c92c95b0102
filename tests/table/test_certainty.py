"""Which classes of rows tell a value: against the definition, one row left out after the other."""

from collections import Counter, defaultdict

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.table import certainty as module
from discreet.table.certainty import Classes, certainty
from discreet.values.codes import encode


def needed(share):
    """What counts as nearly certain: 95 %, or nine tenths of the doubt gone."""
    return max(0.95, 1 - 0.1 * (1 - share))


def by_hand(classes, values, enough):
    """The telling classes by leaving every row out in turn, for one least size of a class."""
    rows = list(zip(classes, values, strict=True))
    of_class = defaultdict(list)
    for each, value in rows:
        of_class[each].append(value)
    shares = {value: count / len(rows) for value, count in Counter(values).items()}
    hits, guesses = Counter(), Counter()
    for each, value in rows:
        if len(of_class[each]) < enough:
            continue
        others = Counter(of_class[each])
        others[value] -= 1
        guess, count = others.most_common(1)[0]
        if count >= needed(shares[guess]) * (len(of_class[each]) - 1):
            guesses[guess] += 1
            hits[guess] += guess == value
    found = {}
    for each, held in of_class.items():
        value, count = Counter(held).most_common(1)[0]
        enough_hold_it = len(held) >= enough and count >= needed(shares[value]) * len(held)
        if enough_hold_it and hits[value] and hits[value] >= needed(shares[value]) * guesses[value]:
            found[each] = (value, len(held), count)
    return found


def codes(values):
    return encode(pa.chunked_array([pa.array(values)]))


@st.composite
def tables(draw):
    """Rows in classes of all sizes, some nearly pure, of two to four values that may be rare."""
    rows = []
    for each in range(draw(st.integers(1, 6))):
        size = draw(st.sampled_from([1, 2, 4, 5, 6, 20, 24, 25, 60]))
        odd = draw(st.sampled_from([0, 0, 0, 1, 2, size // 2]))
        value = draw(st.integers(0, 3))
        rows += [(each, value)] * max(size - odd, 0) + [(each, draw(st.integers(0, 3))) for _ in range(min(odd, size))]
    return rows


@pytest.mark.parametrize("dense", [0, 8])
@settings(max_examples=150, deadline=None)
@given(rows=tables())
def test_telling_is_leaving_one_out(rows, dense):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "DENSE", dense)  # both ways to count
        classes, values = zip(*rows, strict=True)
        column, sensitive = codes(classes), codes(values)
        found = certainty(Classes.of_values(column), Classes.of_values(sensitive))
    meant = {}
    for enough in module.ENOUGH:
        meant |= by_hand(classes, values, enough)
    told = {
        column.domain[each].as_py(): (
            sensitive.domain[int(found.value[each])].as_py(),
            int(found.size[each]),
            int(found.held[each]),
        )
        for each in np.flatnonzero(found.tells)
    }
    assert told == meant
    assert found.told == sum(size for _, size, _ in meant.values())
    assert found.right == sum(held for _, _, held in meant.values())
    assert found.rows.tolist() == [each in meant for each in classes]
    sizes = Counter(classes)
    assert found.judged == sum(size for size in sizes.values() if size >= 5)


def test_a_row_alone_tells_nothing():
    """Every class is pure, since it is one row: there is nobody to learn the value from."""
    found = certainty(
        Classes.of_values(codes(list(range(1000)))), Classes.of_values(codes([i % 3 for i in range(1000)]))
    )
    assert (found.told, found.judged) == (0, 0)


def test_small_classes_that_agree_by_chance_tell_nothing():
    """Of classes of five, one in sixteen holds one of two values alone; a guess from four is right half the time."""
    chance = np.random.default_rng(5)
    values = codes(chance.integers(0, 2, 20_000))
    found = certainty(Classes.of_values(codes(np.arange(20_000) // 5)), Classes.of_values(values))
    pure = (found.held == found.size).sum()
    assert pure > 200
    assert (found.told, found.judged) == (0, 20_000)


def test_what_is_frequent_must_be_more_certain():
    """A value that 90 % hold is told by a class only if more than 99 % of it do."""
    values = [0] * 98 + [1] * 2 + [0] * 802 + [1] * 98
    classes = [0] * 100 + [1] * 900
    assert certainty(Classes.of_values(codes(classes)), Classes.of_values(codes(values))).told == 0
    values[98:100], values[100:102] = [0, 0], [1, 1]
    assert certainty(Classes.of_values(codes(classes)), Classes.of_values(codes(values))).told == 100


@settings(max_examples=100, deadline=None)
@given(values=st.lists(st.none() | st.integers(0, 30), min_size=1, max_size=200), bands=st.integers(1, 10))
def test_bands_are_neighbours(values, bands):
    column = encode(pa.chunked_array([pa.array(values, pa.int64())]))
    found = Classes.of_bands(column, bands)
    assert found.size <= bands + 1
    for each in range(found.size):
        held = set(column.codes[found.of_row == each].tolist())
        assert held == set(range(int(found.low[each]), int(found.high[each]) + 1))
    counts, rows = column.counts()[: len(column.domain)], sum(value is not None for value in values)
    for code in np.flatnonzero(counts * bands > 2 * rows):  # what has two bands' share is alone
        assert (column.codes[found.of_row == found.of_row[column.codes == code][0]] == code).all()
    if column.missing:
        assert found.low[-1] == found.high[-1] == len(column.domain)


@pytest.mark.parametrize("dense", [0, 8])
def test_pairs_are_both(dense, monkeypatch):
    monkeypatch.setattr(module, "DENSE", dense)
    one, other = [0, 0, 1, 2, 1, 0], [3, 1, 1, 0, 1, 3]
    both = Classes.of_values(codes(one)).times(Classes.of_values(codes(other)))
    together = [both.of_row.tolist().index(each) for each in both.of_row.tolist()]
    pairs = list(zip(one, other, strict=True))
    assert together == [pairs.index(pair) for pair in pairs]
    assert both.low[both.of_row].tolist() == [a * 3 + {0: 0, 1: 1, 3: 2}[b] for a, b in pairs]
