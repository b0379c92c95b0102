"""The order attack recovers no more than a blind guess from any release, and finds a planted leak."""

import math
from itertools import permutations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from discreet import open_release
from discreet.audit.attacks.order import attack, blind, rearranged
from discreet.audit.files import read_tables
from discreet.audit.metrics import metrics
from discreet.errors import InputError
from discreet.guarantees import Guarantee
from discreet.partition import PARTITIONS
from discreet.partition.histogram.deal import plan
from discreet.partition.kernels import shuffle_by_value
from discreet.policy import Policy
from discreet.publication import full_permutation, permutation
from discreet.publication.publish import publish, publish_groups
from discreet.table import read
from discreet.values.random import RandomSource
from release.forger import Forger

ROWS = 20_000
L = 5
FREE = {name: partition.keeps for name, partition in PARTITIONS.items() if partition.sees != "hierarchies"}
FOR_L = [name for name, keeps in FREE.items() if not keeps or "l" in keeps]
FOR_RANGES = [name for name, keeps in FREE.items() if not keeps or "e" in keeps]


@pytest.fixture(scope="module")
def people():
    """Rows in an order that tells everything: sorted by the sensitive value, each person with a number of their own.

    The quasi-identifiers tell nothing of the value, so that only an order can: from correlated ones
    anyone may learn more than by guessing (see the page on the promise), whatever the order.
    """
    chance = np.random.default_rng(7)
    salary = np.sort((chance.gamma(2, 9, ROWS)).astype(np.int32))
    age = chance.integers(0, 100, ROWS).astype(np.int32)
    return pa.table({"person": chance.permutation(ROWS).astype(np.int32), "age": age, "salary": salary})


@pytest.fixture(scope="module")
def earners(people):
    """The same with salaries to the cent, hardly any of which is held twice."""
    cents = np.sort(np.random.default_rng(8).gamma(2, 900_000, ROWS).astype(np.int64))
    return people.set_column(2, "salary", pa.array(cents))


def policy(partition, publication="anatomy"):
    return Policy(
        quasi=["age", "person"],
        sensitive="salary",
        guarantee={"l": L},
        partition=partition,
        publication=publication,
    )


def ranges(partition, e=5, publication="permutation"):
    return Policy(
        quasi=["age", "person"],
        sensitive="salary",
        guarantee={"k": L, "e": e},
        partition=partition,
        publication=publication,
    )


def truth(release, people):
    """The real value of each person's row, in the order of the file."""
    shown = pa.concat_tables(map(pq.read_table, release.files(release.manifest.resources[0].name)))
    where = pc.index_in(shown["person"], people["person"].combine_chunks())
    return people["salary"].combine_chunks().take(where.combine_chunks())


def chance(release):
    """How many rows are linked to their real value if each group's values are dealt to its rows at random.

    The mean, and the variance, of the matches of two arrangements of N values of which c are equal, summed over
    groups: (sum c^2) / N and ((sum c^2)^2 - 2 N sum c^3 + N^2 sum c^2) / (N^2 (N - 1)).
    """
    st = read_tables(release).st
    counts, group = st["n"].to_numpy().astype(float), st["grp"].to_numpy() - 1
    size, square, cube = (np.bincount(group, counts**power) for power in (1, 2, 3))
    variance = (square**2 - 2 * size * cube + size**2 * square) / (size**2 * (size - 1))
    return float((square / size).sum()), float(variance.sum())


def test_chance_is_what_trying_every_arrangement_gives():
    """The formula above against brute force."""
    for values in ([1, 2], [1, 1, 2], [1, 2, 3, 4], [1, 1, 2, 2, 3], [1, 1, 1, 2]):
        matches = [sum(a == b for a, b in zip(values, other, strict=True)) for other in permutations(values)]
        counts, size = np.unique(values, return_counts=True)[1], len(values)
        square, cube = (counts**2).sum(), (counts**3).sum()
        assert np.mean(matches) == pytest.approx(square / size)
        variance = (square**2 - 2 * size * cube + size**2 * square) / (size**2 * (size - 1))
        assert np.var(matches) == pytest.approx(variance)


@pytest.mark.parametrize("partition", FOR_L)
@pytest.mark.parametrize(("publication", "seed"), [("anatomy", None), ("anatomy", 1), ("full_permutation", None)])
def test_anatomy_order_tells_nothing(people, partition, publication, seed, tmp_path):
    release = publish(people, policy(partition, publication), to=tmp_path / "r", seed=seed)
    guess = blind(release)
    # every link is right with the chance of a blind guess; five standard deviations of that many draws
    tolerance = 5 * math.sqrt(guess * (1 - guess) / ROWS)
    for links in attack(release):
        assert links.recovered(truth(release, people)) <= guess + tolerance, links.hypothesis


@pytest.mark.parametrize("publication", ["permutation", "anatomy", "full_permutation"])
@pytest.mark.parametrize("partition", FOR_RANGES)
def test_permutation_order_tells_nothing(people, earners, partition, publication, tmp_path):
    """Neither with many equal salaries nor with different ones."""
    for table, e in ((people, 5), (earners, 1_000)):
        release = publish(table, ranges(partition, e, publication), to=tmp_path / str(e), seed=1)
        mean, variance = chance(release)
        assert blind(release) == pytest.approx(mean / ROWS)
        links = attack(release)
        assert ("as published" in {one.hypothesis for one in links}) == (publication == "permutation")
        for one in links:
            found = ROWS * one.recovered(truth(release, table))
            assert found <= mean + 5 * math.sqrt(variance) + 1e-6, one.hypothesis


@pytest.mark.parametrize(
    "rules",
    [*map(policy, FOR_L), *map(ranges, FOR_RANGES), *(policy(name, "full_permutation") for name in FOR_L)],
    ids=lambda rules: f"{rules.partition}-{rules.publication}",
)
def test_order_of_source_does_not_move_groups(people, rules, tmp_path):
    """Group numbers do not follow the row numbers of the source inside a sensitive value."""
    release = publish(people, rules, to=tmp_path / "r")
    qit = read_tables(release).qit
    real = truth(release, people).to_numpy()
    row = np.empty(ROWS)
    row[people["person"].to_numpy()] = np.arange(ROWS)
    source, group = row[qit["person"].to_numpy()], qit["group"].to_numpy()
    together, count = 0.0, 0
    for value in np.unique(real):
        mine = real == value
        if mine.sum() > 30 and np.ptp(group[mine]) > 0:
            within = np.corrcoef(np.argsort(np.argsort(source[mine])), np.argsort(np.argsort(group[mine])))[0, 1]
            together += within * math.sqrt(mine.sum())
            count += 1
    assert abs(together) <= 5 * math.sqrt(count)  # some partitions never divide the rows of a value


def leaked(people, tmp_path, *, order):
    """A release whose rows stand, inside each group, in the order of the key that chose them."""
    table, rules = read(people), policy("deal")
    sensitive = table.codes("salary")
    counts = sensitive.counts()
    ranked = shuffle_by_value(sensitive.codes, counts, RandomSource(3).words(ROWS))
    groups = np.empty(ROWS, np.int32)
    groups[ranked] = plan(counts, Guarantee.of({"l": L}).rule)
    release = publish_groups(table, rules, sensitive, groups, to=tmp_path / "r")
    starts = np.repeat(np.cumsum(counts) - counts, counts)
    key = np.empty(ROWS)
    key[ranked] = (np.arange(ROWS) - starts) / np.repeat(counts, counts)
    qit = people.select(["age", "person"]).append_column("group", pa.array(groups + 1))
    pq.write_table(qit.take(np.lexsort((order * key, groups))), release.file("qit"))
    return release


@pytest.mark.parametrize("order", [1, -1])
def test_order_attack_finds_a_planted_leak(people, order, tmp_path):
    release = leaked(people, tmp_path, order=order)
    best = max(links.recovered(truth(release, people)) for links in attack(release))
    assert best > 0.8 > 3 * blind(release)


def test_order_attack_finds_rows_left_in_the_order_of_values(people, tmp_path):
    release = publish(people, policy("deal"), to=tmp_path / "r")
    qit = pq.read_table(release.file("qit"))
    order = np.lexsort((truth(release, people).to_numpy(), qit["group"].to_numpy()))
    pq.write_table(qit.take(order), release.file("qit"))
    assert max(links.recovered(truth(release, people)) for links in attack(release)) == 1.0
    assert not release.verify().ok


def test_sorted_files_keep_no_order(people, tmp_path):
    """Where values follow age, sorting links better than guessing; sorting anew does so as well, but finds no leak."""
    age = np.random.default_rng(9).permutation(ROWS) * 20 // ROWS + people["salary"].to_numpy()
    follows = people.set_column(1, "age", pa.array(age.astype(np.int32)))
    release = publish(follows, policy("anatomize"), to=tmp_path / "follows", seed=1)
    real = truth(release, follows)
    kept, anew = (max(links.recovered(real) for links in find(release)) for find in (attack, rearranged))
    assert blind(release) + 0.1 < kept <= anew
    leaking = leaked(people, tmp_path, order=1)
    kept, anew = (
        max(links.recovered(truth(leaking, people)) for links in find(leaking)) for find in (attack, rearranged)
    )
    assert kept > 0.8 > 3 * anew


def unshuffled(draft):
    """Every row keeps its own value."""
    return draft.sensitive.codes


def in_step(draft, codes):
    """The columns of a full permutation by the same words: each keeps its rows together."""
    order = np.argsort(draft.groups, kind="stable")
    return codes.decode(codes.codes[order])


def test_columns_that_were_not_shuffled_apart_are_found(people, tmp_path, monkeypatch):
    """Such a release verifies: but whoever finds a person's number finds the age beside it."""
    monkeypatch.setattr(full_permutation, "shuffled", in_step)
    release = publish(people, policy("deal", "full_permutation"), to=tmp_path / "r", seed=1)
    monkeypatch.undo()
    honest = publish(people, policy("deal", "full_permutation"), to=tmp_path / "h", seed=1)
    shares = []
    for one in (release, honest):
        pqt = pq.read_table(one.file("pqt"))
        at = pc.index_in(pqt["person"], people["person"].combine_chunks())
        shares.append(np.mean(pqt["age"].to_numpy() == people["age"].take(at).to_numpy()))
        assert one.verify().ok
    assert shares[0] == 1
    # one in N by itself, and hardly anybody else in a group has the same age
    assert shares[1] <= 1 / L + 0.02 + 5 * math.sqrt(0.16 / ROWS)


OF_PARTS = [f"{size} of parts{way}" for size in ("rows", "bytes") for way in ("", " backwards")]


@pytest.mark.parametrize(
    "rules",
    [policy("deal"), policy("local"), policy("local", "full_permutation"), ranges("tightest")],
    ids=lambda rules: f"{rules.partition}-{rules.publication}",
)
@pytest.mark.parametrize("rows_per_part", [1, 3_000])
def test_parts_tell_nothing(people, rules, rows_per_part, tmp_path):
    """Neither their order, nor how many rows they have, nor how many bytes: also if every group is a part."""
    some = people.take(np.arange(0, ROWS, 40)) if rows_per_part == 1 else people
    release = publish(some, rules, to=tmp_path / "r", seed=1, rows_per_part=rows_per_part)
    assert len(release.files(release.manifest.resources[0].name)) > 5
    links = attack(release)
    assert {*OF_PARTS} < {one.hypothesis for one in links}
    mean, variance = chance(release)
    for one in links:
        found = len(some) * one.recovered(truth(release, some))
        assert found <= mean + 5 * math.sqrt(variance) + 1e-6, one.hypothesis


def cut_by_value(release, people, order):
    """The same rows in other parts: of each value one, which still is in the order of groups."""
    qit = pa.concat_tables(map(pq.read_table, release.files("qit")))
    real = truth(release, people).to_numpy()
    for path in release.files("qit"):
        path.unlink()
    for number, value in enumerate(order, start=1):
        rows = qit.filter(pa.array(real == value))
        pq.write_table(rows, release.path / f"qit-{number:05}.parquet", store_schema=False)
    forger = Forger(release.path)
    forger.manifest(
        lambda told: told["resources"][0].update(path=[f"qit-{i:05}.parquet" for i in range(1, len(order) + 1)])
    )
    forger.mend()
    return open_release(release.path)


@pytest.mark.parametrize("shuffled", [False, True])
def test_order_attack_finds_parts_that_were_cut_by_value(people, shuffled, tmp_path):
    """In the order of values, and in any other: then how many rows they have tells which is which."""
    release = publish(people, policy("deal"), to=tmp_path / "r", seed=1, rows_per_part=3_000)
    order = np.unique(people["salary"].to_numpy())
    order = np.random.default_rng(3).permutation(order) if shuffled else order
    leaking = cut_by_value(release, people, order)
    found = {one.hypothesis: one.recovered(truth(leaking, people)) for one in attack(leaking)}
    best = max(found, key=found.get)
    assert found[best] > 0.8 > 3 * blind(leaking)
    assert (best in OF_PARTS) == shuffled
    assert {check.name for check in leaking.verify().failures} >= {"parts", "order"}


def test_nothing_to_link_without_a_sensitive_column(people, tmp_path):
    rules = Policy(
        quasi=["age", "person"], drop="rest", guarantee={"k": L}, partition="deal", publication="full_permutation"
    )
    with pytest.raises(InputError, match="no sensitive values"):
        attack(publish(people, rules, to=tmp_path / "r"))


def sorted_by_value(draft):
    """The values of a group in ascending order, laid on its rows in the order of the source."""
    given = np.empty_like(draft.sensitive.codes)
    given[np.argsort(draft.groups, kind="stable")] = draft.sensitive.codes[
        np.lexsort((draft.sensitive.codes, draft.groups))
    ]
    return given


@pytest.mark.parametrize("shuffled", [unshuffled, sorted_by_value])
@pytest.mark.parametrize("partition", ["tightest", "deal"])
def test_order_attack_finds_values_that_were_not_shuffled(earners, partition, shuffled, tmp_path, monkeypatch):
    """Such a release keeps its promise to the letter and verifies: only an attack shows what is wrong with it."""
    monkeypatch.setattr(permutation, "shuffled", shuffled)
    release = publish(earners, ranges(partition, 1_000), to=tmp_path / "r", seed=1)
    [first, *_] = attack(release)
    assert first.hypothesis == "as published"
    assert first.recovered(truth(release, earners)) > 0.99 > 3 * blind(release)
    assert release.verify().ok


def test_order_attack_finds_half_of_the_values_in_their_place(earners, tmp_path, monkeypatch):
    """A shuffle that leaves every second group as it was."""
    honest = permutation.shuffled

    def lazy(draft):
        return np.where(draft.groups % 2 == 0, draft.sensitive.codes, honest(draft))

    monkeypatch.setattr(permutation, "shuffled", lazy)
    release = publish(earners, ranges("tightest", 1_000), to=tmp_path / "r", seed=1)
    mean, variance = chance(release)
    found = ROWS * attack(release)[0].recovered(truth(release, earners))
    assert found > mean + 50 * math.sqrt(variance)


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_a_permutation_blurs_as_much_as_the_anatomy_of_the_same_groups(people, form, tmp_path):
    small = people.take(np.arange(0, ROWS, 40))
    table = read(small)
    sensitive = table.codes("salary")
    groups = (np.arange(len(small)) % 25).astype(np.int32)
    made = {}
    for publication in ("anatomy", "permutation"):
        rules = ranges("deal", 3, publication)
        made[publication] = publish_groups(table, rules, sensitive, groups, to=tmp_path / publication, format=form)
    table.close()
    one, other = made.values()
    assert metrics(one).rce == pytest.approx(metrics(other).rce)
    assert metrics(one).rce == pytest.approx(len(small) * (1 - blind(one)))
    assert blind(one) == pytest.approx(blind(other))
    assert read_tables(one).st.sort_by([("grp", "ascending"), ("value", "ascending")]).to_pylist() == (
        read_tables(other).st.to_pylist()
    )


def test_files_tell_nothing_beside_their_rows(people, tmp_path):
    """Row groups are cut by number of rows, statistics are those of the released columns, no notes are kept."""
    anatomy = publish(people, policy("local"), to=tmp_path / "a")
    permuted = publish(people, ranges("tightest"), to=tmp_path / "p")
    shuffled = publish(people, policy("local", "full_permutation"), to=tmp_path / "f")
    for release, name, columns in (
        (anatomy, "qit", ["age", "person", "group"]),
        (anatomy, "st", ["group", "salary", "count"]),
        (permuted, "permuted", ["row", "age", "person", "salary"]),
        (permuted, "mapping", ["row", "group"]),
        (shuffled, "pqt", ["age", "person", "group"]),
        (shuffled, "pst", ["group", "salary"]),
    ):
        about = pq.read_metadata(release.file(name))
        assert about.metadata is None
        assert about.schema.names == columns
        sizes = [about.row_group(i).num_rows for i in range(about.num_row_groups)]
        assert len(set(sizes[:-1])) <= 1
