"""The default partition for ranges: where one value is too frequent, it does not fill a group with it."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from discreet import Policy, metrics, publish, verify
from discreet.errors import DiscreetWarning, UnacceptedError
from discreet.guarantees import Guarantee, Histograms, Scale
from discreet.guarantees.dominance import dominating
from discreet.partition import PARTITIONS
from discreet.publication.default import settled
from discreet.values.codes import encode
from discreet.values.random import RandomSource

PLAIN = {"quasi": ["age", "region"], "sensitive": "wage", "guarantee": {"k": 4, "e": 500}}
QUICK = settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture(scope="module")
def wages():
    """2,000 people, of whom 94 in 100 have no hourly wage."""
    rng = np.random.default_rng(13)
    wage = rng.permutation(np.append(np.zeros(1880, int), rng.integers(700, 9000, 120)))
    return pa.table({"age": rng.integers(0, 90, 2000), "region": rng.integers(0, 50, 2000), "wage": wage})


def shares(folder):
    """Of every group, from the files alone: its people, and the share of its most frequent value."""
    counts = {}
    for row in pq.read_table(folder / "st.parquet").to_pylist():
        counts.setdefault(row["group"], {})[row["wage"]] = row["count"]
    return [(sum(group.values()), max(group.values()) / sum(group.values()), 0 in group) for group in counts.values()]


def test_by_default_zeros_do_not_fill_a_group(wages, tmp_path):
    """By `min_sum` one group holds nearly everybody, 99.4 % zeros, and all others are known not to be zero."""
    with pytest.warns(DiscreetWarning, match=r"dominant: in a group of 1,891, 99\.4% hold 0 in `wage`, which 94\.0%"):
        publish(wages, Policy(**PLAIN, partition="min_sum"), to=tmp_path / "min_sum", seed=1)
    people, share, _ = max(shares(tmp_path / "min_sum"))
    assert people > 1850
    assert share > 0.994
    assert not any(zeros for people, _, zeros in shares(tmp_path / "min_sum") if people < 1850)
    release = publish(wages, Policy(**PLAIN), to=tmp_path / "default", seed=1)
    assert release.promise.partition == "deal"
    assert release.warnings == ()
    base = np.mean(np.asarray(wages["wage"]) == 0)
    assert all(zeros and abs(share - base) < 0.02 for _, share, zeros in shares(tmp_path / "default"))


def test_where_no_value_is_frequent_it_stays_min_sum(tmp_path):
    rows = pa.table({"age": range(60), "region": [0] * 60, "wage": [100 * i for i in range(30)] * 2})
    release = publish(rows, Policy(**PLAIN), to=tmp_path / "r", seed=1)
    assert release.promise.partition == "min_sum"


def test_what_a_policy_names_is_done(wages, tmp_path):
    accept = {"dominant": "wages of 0 are no secret here"}
    policy = Policy(**PLAIN, partition="tightest", accept=accept)
    assert publish(wages, policy, to=tmp_path / "r", seed=1, strict=True).promise.partition == "tightest"
    with pytest.raises(UnacceptedError, match="dominant"):
        publish(wages, Policy(**PLAIN, partition="tightest"), to=tmp_path / "s", seed=1, strict=True)


@QUICK
@given(
    counts=st.lists(st.integers(1, 3) | st.integers(1, 400), min_size=3, max_size=30),
    k=st.integers(2, 3),
    e=st.integers(0, 3),
    harmless=st.sampled_from([[], [0]]),
)
def test_default_never_fills_a_group(counts, k, e, harmless):
    """Whatever the table: where the default's groups are dominated by a value, so are those of `deal`."""
    values = encode(pa.chunked_array([np.repeat(np.arange(len(counts)) * 2, counts)]))
    policy = Policy(**{**PLAIN, "guarantee": {"k": k, "e": e}}, harmless=harmless)
    spared = np.arange(len(counts)) == 0 if harmless else None
    guarantee = Guarantee.of(policy.guarantee, Scale(np.arange(len(counts)) * 2), harmless=spared)
    if not guarantee.holds(Histograms.whole(values.counts())).all():
        return
    chosen, filled = settled(policy, values, guarantee), {}
    for name in {chosen.grouping, "min_sum", "deal"}:
        groups = PARTITIONS[name].assign([], values.codes, guarantee, RandomSource(1))
        filled[name] = dominating(Histograms.of(groups, values.codes), values.counts(), spared)
    assert filled[chosen.grouping] is None or filled["deal"] is not None
    assert chosen.grouping == ("deal" if filled["min_sum"] is not None else "min_sum")


def test_the_share_is_stated_and_checked(wages, tmp_path):
    release = publish(wages, Policy(**PLAIN), to=tmp_path / "r", seed=1)
    share = max(share for _, share, _ in shares(tmp_path / "r"))
    assert 0 <= release.promise.largest_share - share < 0.0001
    assert metrics(release).largest_share == pytest.approx(share)
    assert (
        f"in one group, {release.promise.largest_share:.1%} hold the same value"
        in (tmp_path / "r/README.md").read_text()
    )
    [found] = [check for check in verify(tmp_path / "r").checks if check.name == "largest share"]
    assert found.ok
    assert found.detail == f"one value has at most {release.promise.largest_share * 100:.2f} % of a group"


def test_publish_says_it(wages, tmp_path, run):
    pyarrow.csv.write_csv(wages, tmp_path / "wages.csv")
    policy = 'quasi = ["age", "region"]\nsensitive = "wage"\nguarantee = { k = 4, e = 500 }\n'
    (tmp_path / "p.toml").write_text(policy)
    status, out, err = run("publish", tmp_path / "wages.csv", "--policy", tmp_path / "p.toml", "--to", tmp_path / "r")
    assert (status, err) == (0, "")
    assert "the largest share of one value: in one group, 9" in out
    assert "grouped by `deal`: by `min_sum`, nearly everybody in a group would have held the same value" in out
    (tmp_path / "p.toml").write_text('partition = "min_sum"\n' + policy)
    asked = ("publish", tmp_path / "wages.csv", "--policy", tmp_path / "p.toml", "--to", tmp_path / "s")
    status, out, err = run(*asked, "--strict")
    assert status == 3
    assert "dominant: in a group of 1," in err
    status, out, err = run(*asked, "--json")
    assert status == 0
    assert [warning["name"] for warning in json.loads(out)["warnings"]] == ["dominant"]


def test_harmless_values_are_said(wages, tmp_path, run):
    pyarrow.csv.write_csv(wages, tmp_path / "wages.csv")
    (tmp_path / "p.toml").write_text(
        'quasi = ["age", "region"]\nsensitive = "wage"\nharmless = [0]\nguarantee = { l = 5 }\n'
    )
    status, out, _ = run("publish", tmp_path / "wages.csv", "--policy", tmp_path / "p.toml", "--to", tmp_path / "r")
    assert status == 0
    assert "promised: of those who do not hold 0: in every group, no sensitive value is held by more than 1 in 5" in out
    assert "not promised: that nobody learns whether a person holds 0, or not" in out
    assert "Whoever holds 0 is taken to need no protection" in (tmp_path / "r/README.md").read_text()
    status, out, _ = run("verify", tmp_path / "r")
    assert status == 0
    assert "whoever holds 0 is promised nothing but k and beta" in out
