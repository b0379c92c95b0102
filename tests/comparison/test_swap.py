"""Swapping: which values may change places, how windows are sized, and that nothing is promised."""

import datetime as dt
import itertools
import json
import re
from collections import Counter
from decimal import Decimal

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from discreet import Policy, publish, verify
from discreet.cli import app
from discreet.comparison.swap import links, pair, reaches, swap, windows
from discreet.errors import GuaranteeError, PolicyError
from discreet.guarantees import Guarantee, Scale
from discreet.values.codes import encode
from discreet.values.random import RandomSource


def by_definition(values, k, e):
    """From the definition, in plain Python: how far each rank of the sorted values reaches, counted from 0."""

    def reach(r):
        for l in range(len(values)):
            here = values[max(r - l, 0) : r + l + 1]
            if len(set(here)) >= k and max(here) - min(here) >= e:
                return l
        raise AssertionError

    return [reach(r) for r in range(len(values))]


def partners_by_definition(reach):
    """The pairs of ranks that may have been swapped: one of the two drew the other."""
    every = range(len(reach))
    return {(r, s) for r in every for s in every if abs(r - s) <= max(reach[r], reach[s])}


def marks_of(values):
    return np.array(sorted(set(values)), np.int64), np.searchsorted(np.unique(values), values)


def promised(column, k, e):
    codes = encode(pa.chunked_array([column]))
    return codes, Guarantee.of({"k": k, "e": e}, Scale.of(codes.domain, "s"))


@st.composite
def sized(draw, most=12):
    """A sorted list of values and a (k,e) that all of them together have."""
    values = sorted(draw(st.lists(st.integers(-9, 9), min_size=2, max_size=most).filter(lambda v: len(set(v)) > 1)))
    k = draw(st.integers(2, len(set(values))))
    e = draw(st.integers(0, values[-1] - values[0]))
    return values, k, e


@settings(max_examples=400, deadline=None)
@given(sized())
def test_reaches_and_links_are_the_definition(case):
    values, k, e = case
    marks, places = marks_of(values)
    reach = reaches(places, marks, k, e)
    assert reach.tolist() == by_definition(values, k, e)
    assert (np.abs(np.diff(reach)) <= 1).all()
    low, high = links(reach)
    possible = partners_by_definition(reach.tolist())
    for s in range(len(values)):
        assert [r for r in range(len(values)) if (r, s) in possible] == list(range(low[s], high[s] + 1))
    assert (np.diff(low) >= 0).all()
    assert (np.diff(high) >= 0).all()


@settings(max_examples=200, deadline=None)
@given(sized(), st.integers(0, 2**32))
def test_swap_leaves_no_pair_that_could(case, seed):
    values, k, e = case
    marks, places = marks_of(values)
    reach = reaches(places, marks, k, e)
    rng = np.random.default_rng(seed)
    words = rng.integers(0, 2**64, len(values), dtype=np.uint64)
    partners = pair(reach, rng.permutation(len(values)).astype(np.int32), words)
    assert (partners[partners] == np.arange(len(values))).all()
    possible = partners_by_definition(reach.tolist())
    assert all((r, s) in possible for r, s in enumerate(partners))
    alone = np.flatnonzero(partners == np.arange(len(values)))
    assert not [two for two in itertools.combinations(alone.tolist(), 2) if two in possible]


@settings(max_examples=200, deadline=None)
@given(sized(20), st.randoms(use_true_random=False))
def test_swap_windows_contain_every_link(case, random):
    """Whatever is drawn: each row's own value has a rank in the window of the value that it shows."""
    values, k, e = case
    random.shuffle(values)
    codes, guarantee = promised(pa.array(values), k, e)
    counts = codes.counts()
    low, high = windows(counts, guarantee, np.arange(counts.size))
    last = np.cumsum(counts)
    for seed in range(5):
        shown = swap(codes.codes, guarantee, RandomSource(seed))
        assert sorted(shown) == sorted(codes.codes)
        for own, seen in zip(codes.codes, shown, strict=True):
            # some rank that holds the row's own value lies in the window
            assert low[seen] <= last[own]
            assert last[own] - counts[own] + 1 <= high[seen]


def test_swap_windows_hold_different_ranks_for_all_rows_at_once():
    """Many seeds on one table: the true values can be given different ranks inside the windows, row by row."""
    values = [1, 1, 2, 2, 2, 5, 6, 9, 9, 14]
    codes, guarantee = promised(pa.array(values), 3, 3)
    counts = codes.counts()
    low, high = windows(counts, guarantee, np.arange(counts.size))
    last = np.cumsum(counts)
    for seed in range(500):
        shown = swap(codes.codes, guarantee, RandomSource(seed))
        for v in range(counts.size):  # earliest deadline first is optimal for intervals
            ranks = set(range(last[v] - counts[v] + 1, last[v] + 1))
            for window in sorted((high[s], low[s]) for s in shown[codes.codes == v]):
                ranks.remove(min(rank for rank in ranks if window[1] <= rank <= window[0]))


def staying(reach):
    """The chance of each rank to keep its value, over all orders and draws, exactly."""
    n = len(reach)
    stays = np.zeros(n)

    def go(order, taken, chance):
        for at, r in enumerate(order):
            if r in taken:
                continue
            free = [s for s in range(n) if s != r and s not in taken and abs(s - r) <= reach[r]]
            for s in free:
                go(order[at + 1 :], taken | {r, s}, chance / len(free))
            if free:
                return
        stays[[r for r in range(n) if r not in taken]] += chance

    orders = list(itertools.permutations(range(n)))
    for order in orders:
        go(order, frozenset(), 1 / len(orders))
    return stays


@pytest.mark.parametrize(
    ("values", "k", "e"), [([1, 2, 3, 4, 5], 5, 0), ([1, 2, 3, 4, 5, 6], 2, 1), ([0, 1, 4, 9, 16], 2, 4)]
)
def test_values_are_kept_as_often_as_the_algorithm_says(values, k, e):
    codes, guarantee = promised(pa.array(values), k, e)
    expected = staying(by_definition(values, k, e))
    tries = 6000
    kept = np.mean([swap(codes.codes, guarantee, RandomSource(seed)) == codes.codes for seed in range(tries)], axis=0)
    assert (np.abs(kept - expected) <= 5 * np.sqrt(np.maximum(expected * (1 - expected), 1e-9) / tries)).all()


def test_partners_are_drawn_evenly():
    """All ranks reach all: each row is equally likely to show each of the other values."""
    codes, guarantee = promised(pa.array([1, 2, 3, 4, 5, 6]), 6, 0)
    tries = 9000
    shown = np.array([swap(codes.codes, guarantee, RandomSource(seed)) for seed in range(tries)])
    for row in range(6):
        seen = np.bincount(shown[:, row], minlength=6) / tries
        expected = np.where(np.arange(6) == row, 0, 1 / 5)
        assert (np.abs(seen - expected) <= 5 * np.sqrt(expected * (1 - expected) / tries)).all()


def test_ties_take_part_and_their_order_is_drawn():
    """Rows with the same value are equally likely to end up with each other's and with other values."""
    codes, guarantee = promised(pa.array([1, 1, 2, 3]), 3, 0)
    tries = 6000
    shown = np.array([swap(codes.codes, guarantee, RandomSource(seed)) for seed in range(tries)])
    for value in range(3):
        often = [(shown[:, row] == value).mean() for row in (0, 1)]
        assert abs(often[0] - often[1]) <= 5 * np.sqrt(0.5 / tries)


KINDS = {
    "integer": (pa.array([3, 7, 7, 9, 12, 20, 31, 31], pa.int32()), 3, 4),
    "large": (pa.array([2**62 + i for i in (0, 1, 5, 9, 9, 10, 30, 31)], pa.int64()), 2, 3),
    "unsigned": (pa.array([2**64 - i for i in (40, 33, 20, 9, 9, 4, 2, 1)], pa.uint64()), 2, 3),
    "float": (pa.array([-0.5, 0.1, 0.3, 0.3, 2.5, 7.25, 1e3, 1e6]), 2, 0.2),
    "single": (pa.array([-0.5, 0.1, 0.3, 0.3, 2.5, 7.25, 1e3, 1e6], pa.float32()), 3, 0.25),
    "decimal": (pa.array(list(map(Decimal, ("-1.50", "0.00", "0.10", "0.20", "0.20", "3.10", "4.00", "9.99"))), pa.decimal128(9, 2)), 2, 0.1),
    "wide decimal": (pa.array([Decimal(i) for i in range(8)], pa.decimal128(38, 0)), 2, 3),
    "date": (pa.array([dt.date(2020, 1, 1) + dt.timedelta(days=d) for d in (0, 1, 3, 3, 9, 40, 41, 500)]), 2, 2.5),
    "timestamp": (pa.array([dt.datetime(2020, 1, 1) + dt.timedelta(hours=h) for h in (0, 1, 30, 31, 90, 91, 92, 400)]), 3, 0.5),  # noqa: DTZ001
    "nanoseconds": (pa.array([0, 1, 10**9, 10**14, 10**14 + 1, 2 * 10**14, 9 * 10**14, 10**15], pa.timestamp("ns")), 2, 1),
}  # fmt: skip


def table_of(column, sensitive="salary"):
    n = len(column)
    order = np.random.default_rng(5).permutation(n)
    quasi = {"age": pa.array([30 + i % 3 if i % 4 else None for i in range(n)]), "sex": pa.array(["f", "m"] * (n // 2))}
    return pa.table({**quasi, sensitive: column.take(pa.array(order))})


@pytest.mark.parametrize("kind", KINDS)
def test_publishes_every_measurable_kind(kind, tmp_path):
    column, k, e = KINDS[kind]
    policy = Policy(quasi=["age", "sex"], sensitive="salary", guarantee={"k": k, "e": e}, publication="swap")
    table = table_of(column)
    release = publish(table, policy, to=tmp_path / "r")
    assert verify(release.path).ok
    shown, told = pq.read_table(release.file("swapped")), pq.read_table(release.file("windows"))
    assert shown.column_names == ["age", "sex", "salary"]
    assert told.column_names == ["salary", "count", "low", "high"]
    assert shown["salary"].type == table["salary"].type
    assert Counter(shown["salary"].to_numpy().tolist()) == Counter(table["salary"].to_numpy().tolist())
    assert Counter(map(str, shown.select(["age", "sex"]).to_pylist())) == Counter(
        map(str, table.select(["age", "sex"]).to_pylist())
    )
    assert told["count"].to_pylist() == [c for _, c in sorted(Counter(table["salary"].to_numpy().tolist()).items())]


@settings(max_examples=60, deadline=None)
@given(sized(14))
def test_windows_follow_from_what_is_shown(case):
    """The publication's sweep over ranks, the verifier's search value by value, and the definition agree."""
    from discreet.release.manifest import Window
    from discreet.release.verify.windows import windows as told

    values, k, e = case
    reach = by_definition(values, k, e)
    possible = partners_by_definition(reach)
    every = range(len(values))
    meant = []
    for value in sorted(set(values)):
        first, last = values.index(value), len(values) - 1 - values[::-1].index(value)
        meant.append(
            [min(r for r in every if (r, first) in possible) + 1, max(r for r in every if (r, last) in possible) + 1]
        )
    codes, guarantee = promised(pa.array(values), k, e)
    made = windows(codes.counts(), guarantee, np.arange(codes.size))
    assert np.stack(made, axis=1).tolist() == meant
    for kind in (pa.int64(), pa.float64(), pa.decimal128(20, 3), pa.date32()):
        domain = codes.domain.cast(pa.int32()).cast(kind)
        assert told(domain, codes.counts(), Window(k=k, e=e, low="low", high="high")).tolist() == meant


NAMES = [
    ("salary", ["age", "sex"], ["count", "low", "high"]),
    ("low", ["count", "sex"], ["count_", "low_", "high"]),
    ("Count", ["HIGH", "low"], ["count_", "low_", "high_"]),
    ("low", ["low_", "high"], ["count", "low__", "high_"]),
    ('va"l', ["value", "key_0"], ["count", "low", "high"]),
    ("value", ["hits", "before"], ["count", "low", "high"]),
]


@pytest.mark.parametrize(("sensitive", "quasi", "added"), NAMES)
def test_odd_names(sensitive, quasi, added, tmp_path):
    table = pa.table(
        {quasi[0]: [1, 1, 2, None, 2, 3], quasi[1]: ["a", None, "b", "a", "b", "b"], sensitive: [5, 9, 7, 7, 1, 3]}
    )
    policy = Policy(quasi=quasi, sensitive=sensitive, guarantee={"k": 2, "e": 2}, publication="swap")
    release = publish(table, policy, to=tmp_path / "r", format="csv")
    told = duckdb.sql(f"SELECT * FROM '{release.file('windows')}'").to_arrow_table()
    assert told.column_names == [sensitive, *added]
    name = '"' + sensitive.replace('"', '""') + '"'
    answer = release.ask(f"SELECT COUNT(*) AS c, SUM({name}) AS s, MEDIAN({name}) AS m FROM microdata").rows()
    assert answer == [{"c": 6, "c_stderr": 0.0, "c_low": 6, "c_high": 6, "s": 32.0, "s_stderr": None, "s_low": 32.0, "s_high": 32.0, "m": 6.0, "m_stderr": None, "m_low": 6.0, "m_high": 6.0}]  # fmt: skip
    [sql] = re.findall(r"```sql\n(.*?)```", (release.path / "README.md").read_text(), re.DOTALL)
    assert duckdb.sql(re.sub(r"'(\w+\.csv)'", rf"'{release.path}/\1'", sql)).fetchall() == [(1, 1)]
    release.close()


def test_readme_sql_gives_the_bounds_of_ask(people, tmp_path):
    policy = Policy(
        quasi=["age", "sex"], sensitive="salary", drop="rest", guarantee={"k": 3, "e": 2000}, publication="swap"
    )
    release = publish(people, policy, to=tmp_path / "r")
    [sql] = re.findall(r"```sql\n(.*?)```", (release.path / "README.md").read_text(), re.DOTALL)
    sql = re.sub(r"'(\w+\.parquet)'", rf"'{release.path}/\1'", sql).replace("TRUE", "age < 20")
    [row] = release.ask("SELECT MIN(salary) AS m FROM microdata WHERE age < 20").rows()
    assert duckdb.sql(sql).fetchall() == [(row["m_low"], row["m_high"])]


def written(**more):
    return Policy(**{"quasi": ["age", "sex"], "sensitive": "salary", "guarantee": {"k": 3, "e": 2}, "publication": "swap", **more})  # fmt: skip


def test_the_partition_of_a_swap_is_none():
    import dataclasses

    assert written().grouping == "none"
    assert dataclasses.replace(written(), name="again").grouping == "none"


@pytest.mark.parametrize(
    ("more", "key", "message"),
    [
        ({"partition": "tightest"}, "partition", "`swap` forms no groups; leave `partition` out"),
        ({"partition": "local"}, "partition", "forms no groups"),
        ({"partition": "nonsense"}, "partition", "forms no groups"),
        ({"partition": ["auto"]}, "partition", "forms no groups"),
        ({"guarantee": {"l": 3}}, "guarantee", "sizes its windows by k and e"),
        ({"guarantee": {"k": 3}}, "guarantee", "sizes its windows by k and e"),
        ({"guarantee": {"e": 3}}, "guarantee", "sizes its windows by k and e"),
        ({"guarantee": {"k": 3, "e": 1, "l": 2}}, "guarantee", "promises neither"),
        ({"guarantee": {"k": 1, "e": 1}}, "guarantee.k", "expected 2 or more"),
        ({"guarantee": {"k": 2, "e": -1}}, "guarantee.e", "expected 0 or more"),
        ({"guarantee": {}}, "guarantee", "expected a table"),
        ({"missing_sensitive": "value"}, "missing_sensitive", "a missing value has no place in a range"),
        ({"publication": "anatomy", "partition": "none"}, "partition", "got 'none'"),
    ],
)
def test_mistakes(more, key, message):
    with pytest.raises(PolicyError) as caught:
        written(**more)
    [mistake] = caught.value.mistakes
    assert mistake.key == key
    assert message in mistake.message


def test_text_is_refused(tmp_path):
    table = table_of(pa.array(["a", "b", "c", "d"]))
    with pytest.raises(PolicyError, match="`swap` needs numbers or dates"):
        publish(table, written(), to=tmp_path / "r")


@pytest.mark.parametrize(
    ("guarantee", "message"),
    [
        ({"k": 9, "e": 1}, "k = 9 cannot be met.*the largest that works is 6"),
        ({"k": 2, "e": 29}, "e = 29 cannot be met.*28"),
    ],
)
def test_windows_no_table_can_fill(guarantee, message, tmp_path):
    column, *_ = KINDS["integer"]
    with pytest.raises(GuaranteeError, match=message):
        publish(table_of(column), written(guarantee=guarantee), to=tmp_path / "r")
    assert not (tmp_path / "r").exists()


def test_missing_values_are_withheld(tmp_path):
    table = pa.table({"age": [1, 2, 3, 4, 5], "sex": ["f"] * 5, "salary": [1, None, 3, None, 5]})
    release = publish(table, written(guarantee={"k": 3, "e": 4}, missing_sensitive="withhold"), to=tmp_path / "r")
    assert (release.withheld, release.promise.rows) == (2, 3)
    assert Counter(pq.read_table(release.file("swapped"))["age"].to_pylist()) == Counter([1, 3, 5])


def test_seeds_repeat_and_chance_does_not(people, tmp_path):
    policy = written(guarantee={"k": 5, "e": 3000}, drop="rest")
    files = [
        publish(people, policy, to=tmp_path / str(i), seed=seed).file("swapped").read_bytes()
        for i, seed in enumerate([4, 4, 5, None, None])
    ]
    assert files[0] == files[1]
    assert len(set(files)) == 4


def test_nothing_is_promised_anywhere(people, tmp_path):
    """The manifest, the README, the report, the release and the command line all say so."""
    pq.write_table(people, tmp_path / "people.parquet")
    (tmp_path / "policy.toml").write_text(
        'quasi = ["age", "sex"]\nsensitive = "salary"\ndrop = "rest"\npublication = "swap"\n'
        "guarantee = { k = 4, e = 2500.5 }\n"
    )
    arguments = ["publish", f"{tmp_path}/people.parquet", "--policy", f"{tmp_path}/policy.toml", "--to"]
    printed = CliRunner().invoke(app, [*arguments, f"{tmp_path}/r"], catch_exceptions=False).stdout
    assert "2,000 rows, values swapped, verified" in printed
    assert "promised: NOTHING; swapping is a baseline for comparison" in printed
    assert "k = 4, e = 2500.5, which is no guarantee" in printed
    assert "in every group" not in printed
    as_json = CliRunner().invoke(app, [*arguments, f"{tmp_path}/s", "--json"], catch_exceptions=False).stdout
    promise = json.loads(as_json)["promise"]
    manifest = json.loads((tmp_path / "r" / "datapackage.json").read_text())["discreet"]
    for told in (promise, manifest):
        assert (told["guarantee"], told["partition"], told["groups"]) == ({}, "none", 1)
        assert told["window"] == {"k": 4, "e": 2500.5, "low": "low", "high": "high"}
    assert "**It promises nothing**" in (tmp_path / "r" / "README.md").read_text()
    checks = {check.name: check for check in verify(tmp_path / "r").checks}
    assert checks["guarantee"].ok
    assert checks["guarantee"].detail == "none: swapping is a baseline for comparison"
    printed = CliRunner().invoke(app, ["verify", f"{tmp_path}/r"], catch_exceptions=False).stdout
    assert "none: swapping is a baseline for comparison" in printed


def test_other_manifests_have_no_window(people, tmp_path):
    policy = Policy(quasi=["age"], sensitive="salary", drop="rest", guarantee={"l": 3})
    release = publish(people, policy, to=tmp_path / "r")
    assert "window" not in (release.path / "datapackage.json").read_text()
    assert release.promise.window is None
