"""What every partition that sees a space owes, in every form of dimension: judged by plain Python, and by pycanon."""

from collections import Counter

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pycanon import anonymity

from contracts.promised import GUARANTEES, SHAPES, as_sets, check, fair, guaranteed, keeps
from discreet import Policy, publish
from discreet.errors import GuaranteeError
from discreet.partition import NUMBER, PARTITIONS, SHARE
from discreet.partition.spatial.space import Dimension, penalties
from discreet.values.random import RandomSource
from plainly import plainly

QUICK = settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
OTHER = {SHARE: 0.1, NUMBER: 2}  # what is tried of an option that is no word


def methods():
    """Every partition that sees a space, as it is and with every choice that differs from that in one option."""
    for name, partition in PARTITIONS.items():
        if partition.spatial:
            yield name, {}
            for option, choices in partition.options.items():
                for other in choices[1:] if isinstance(choices, tuple) else (OTHER[choices],):
                    yield name, {option: other}


METHODS = list(methods())


@pytest.fixture(params=METHODS, ids=lambda method: " ".join([method[0], *map(str, method[1].values())]))
def method(request):
    name, options = request.param
    return PARTITIONS[name], options


@pytest.fixture(params=GUARANTEES, ids=lambda g: " ".join(f"{name}={t}" for name, t in g.items()))
def promised(request):
    return request.param


def place(method, space, sensitive, promised, seed=0):
    partition, options = method
    if promised.keys() & {"beta", "enhanced_beta"}:  # a policy refuses these with suppression
        options = {name: value for name, value in options.items() if name != "suppression"}
    return partition.assign(space, sensitive, guaranteed(promised, sensitive), RandomSource(seed), options)


def judge(method, groups, sensitive, promised):
    """Every row that is shown keeps the promises, and no more are left out than allowed."""
    share = method[1].get("suppression", 0)
    assert np.count_nonzero(groups < 0) <= int(share * groups.size)
    kept = groups >= 0
    assert kept.any()
    check(groups[kept], sensitive[kept], promised)


def tree(size):
    """Pairs of neighbours, pairs of pairs, and so on."""
    codes = np.arange(size, dtype=np.int32)
    return np.stack([codes >> level for level in range(max(size - 1, 1).bit_length() + 1)]).astype(np.int32)


def dimension(codes, form, *, missing=False):
    codes = np.unique(np.asarray(codes), return_inverse=True)[1].astype(np.int32)
    size = int(codes.max(initial=0)) + 1
    if form == "tree":
        return Dimension(codes, size, levels=tree(size), missing=missing)
    return Dimension(codes, size, None if form == "set" else np.arange(size) ** 1.5, missing=missing)


@st.composite
def spaces(draw, promised):
    counts = fair(draw(st.lists(st.integers(1, 9), min_size=1, max_size=9)), promised)
    sensitive = draw(st.permutations([value for value, times in enumerate(counts) for _ in range(times)]))
    n = len(sensitive)
    found = []
    for _ in range(draw(st.integers(1, 3))):
        width = draw(st.sampled_from([1, 2, 5, 1000]))
        codes = draw(st.lists(st.integers(0, width - 1), min_size=n, max_size=n))
        found.append(dimension(codes, draw(st.sampled_from(["range", "tree", "set"])), missing=draw(st.booleans())))
    return found, np.array(sensitive, np.int32)


@QUICK
@given(data=st.data(), seed=st.integers(0, 2**32))
def test_rows_groups_and_promises(method, promised, data, seed):
    space, sensitive = data.draw(spaces(promised))
    before = [each.codes.copy() for each in space] + [sensitive.copy()]
    groups = place(method, space, sensitive, promised, seed)
    judge(method, groups, sensitive, promised)
    after = [each.codes for each in space] + [sensitive]
    assert all(np.array_equal(a, b) for a, b in zip(before, after, strict=True)), "the inputs changed"
    with plainly():
        assert np.array_equal(groups, place(method, space, sensitive, promised, seed)), "one seed, two results"


@pytest.mark.parametrize(
    ("quasi", "sensitive", "form"),
    [
        pytest.param(quasi, sensitive, form, id=f"{name}-{form}")
        for name, quasi, sensitive in SHAPES
        for form in ("range", "tree", "set")
        if form == "range" or max(int(column.max()) for column in quasi) <= 2**14  # no column has more categories
    ],
)
def test_difficult_tables(method, quasi, sensitive, form):
    promised = {"k": 7, "l": 2, "distinct_l": 3}
    assert keeps(Counter(sensitive.tolist()), promised)
    space = [dimension(column, form) for column in quasi]
    judge(method, place(method, space, sensitive, promised), sensitive, promised)


@pytest.mark.parametrize("promised", GUARANTEES[::4], ids=str)  # what a box may be does not hang on them
def test_boxes_are_no_larger_than_everything(method, promised):
    rng = np.random.default_rng(3)
    sensitive = (np.arange(600) % 12).astype(np.int32)
    forms = ("range", "range", "tree", "set")
    space = [dimension(rng.integers(0, 12, 600), form) for form in forms]
    groups = place(method, space, sensitive, promised)
    assert penalties(space, groups).max() <= 1


@pytest.mark.parametrize("promised", [{"k": 5}, {"k": 10, "distinct_l": 3}, {"k": 8, "l": 2}], ids=str)
@pytest.mark.filterwarnings("ignore:In a future version")
def test_pycanon_agrees(method, promised, tmp_path):
    """A second opinion from the released file: rows with one box are as many, and hold as many values, as promised."""
    rng = np.random.default_rng(8)
    table = pa.table(
        {
            "age": np.minimum(rng.geometric(0.05, 400), 60),
            "pay": np.minimum(rng.geometric(0.2, 400), 12),
            "town": rng.choice(["a", "b", "c", "d"], 400),
            "ill": rng.choice(["flu", "asthma", "gastritis", "ulcer", "cold"], 400),
        }
    )
    partition, options = method
    policy = Policy(
        quasi=["age", "pay", "town"],
        sensitive="ill",
        guarantee=promised,
        publication="generalization",
        partition=partition.name,
        options=options,
        hierarchies={
            "pay": {"intervals": [3, 6]},
            "town": {"tree": {"all": {"north": ["a", "b"], "south": ["c", "d"]}}},
        },
        ordered=["age"] if partition.sees == "hierarchies" else [],
    )
    frame = publish(table, policy, to=tmp_path / "r", seed=1).file("generalized")
    frame = pd.read_parquet(frame).astype("string").fillna("anything").astype(object)
    box = [name for name in frame.columns if name not in {"group", "ill"}]
    assert anonymity.k_anonymity(frame, box) >= promised["k"]
    assert anonymity.l_diversity(frame, box, ["ill"]) >= promised.get("distinct_l", promised.get("l", 1))


@pytest.mark.parametrize("name", ["mondrian", "topdown", "cluster"])
def test_seeds_matter_only_where_rows_are_drawn(name):
    """TopDown and Cluster draw; relaxed medians draw between ties; strict Mondrian has nothing to draw from ranges."""
    rng = np.random.default_rng(1)
    space, sensitive = [dimension(rng.integers(0, 30, 400), "range")], np.zeros(400, np.int32)
    options = {"median": "relaxed"} if name == "mondrian" else {}
    made = [as_sets(place((PARTITIONS[name], options), space, sensitive, {"k": 4}, seed)) for seed in range(6)]
    assert len(set(map(frozenset, made))) > 1


@pytest.mark.parametrize("promised", [{"k": 9}, {"l": 3}, {"distinct_l": 3}, {"k": 2, "e": 100}], ids=str)
def test_infeasible_raises(method, promised, tmp_path):
    partition, options = method
    table = pa.table({"q": [1, 2, 3, 4], "s": [1, 2, 2, 2]})
    policy = Policy(
        quasi=["q"],
        sensitive="s",
        guarantee=promised,
        publication="generalization",
        partition=partition.name,
        options=options,
        hierarchies={"q": {"intervals": [2]}},
    )
    with pytest.raises(GuaranteeError):
        publish(table, policy, to=tmp_path / "r")
    assert not any(tmp_path.iterdir())
