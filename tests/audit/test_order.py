"""The order attack recovers no more than a blind guess from any release, and finds a planted leak."""

import math

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from discreet.audit.order import attack, blind
from discreet.partition import PARTITIONS
from discreet.partition.deal import plan
from discreet.partition.kernels import shuffle_by_value
from discreet.partition.secret import Secret
from discreet.policy import Policy
from discreet.publication.publish import publish, publish_groups
from discreet.table import read

ROWS = 20_000
L = 5


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


def policy(partition):
    return Policy(quasi=["age", "person"], sensitive="salary", guarantee={"l": L}, partition=partition)


def truth(release, people):
    """The real value of each row of the quasi-identifier table."""
    where = pc.index_in(pq.read_table(release.file("qit"))["person"], people["person"].combine_chunks())
    return people["salary"].combine_chunks().take(where.combine_chunks())


@pytest.mark.parametrize("partition", PARTITIONS)
@pytest.mark.parametrize("seed", [None, 1])
def test_anatomy_order_tells_nothing(people, partition, seed, tmp_path):
    release = publish(people, policy(partition), to=tmp_path / "r", seed=seed)
    guess = blind(release)
    # every link is right with the chance of a blind guess; five standard deviations of that many draws
    tolerance = 5 * math.sqrt(guess * (1 - guess) / ROWS)
    for links in attack(release):
        assert links.recovered(truth(release, people)) <= guess + tolerance, links.hypothesis


@pytest.mark.parametrize("partition", PARTITIONS)
def test_order_of_source_does_not_move_groups(people, partition, tmp_path):
    """Group numbers do not follow the row numbers of the source inside a sensitive value."""
    release = publish(people, policy(partition), to=tmp_path / "r")
    qit = pq.read_table(release.file("qit"))
    real = truth(release, people).to_numpy()
    row = np.empty(ROWS)
    row[people["person"].to_numpy()] = np.arange(ROWS)
    source, group = row[qit["person"].to_numpy()], qit["group"].to_numpy()
    together, count = 0.0, 0
    for value in np.unique(real):
        mine = real == value
        if mine.sum() > 30:
            within = np.corrcoef(np.argsort(np.argsort(source[mine])), np.argsort(np.argsort(group[mine])))[0, 1]
            together += within * math.sqrt(mine.sum())
            count += 1
    assert abs(together / math.sqrt(count)) < 5


def leaked(people, tmp_path, *, order):
    """A release whose rows stand, inside each group, in the order of the key that chose them."""
    table, rules = read(people), policy("deal")
    sensitive = table.codes("salary")
    counts = sensitive.counts()
    ranked = shuffle_by_value(sensitive.codes, counts, Secret(3).words(ROWS))
    groups = np.empty(ROWS, np.int32)
    groups[ranked] = plan(counts, 1, L, 1)
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


def test_files_tell_nothing_beside_their_rows(people, tmp_path):
    """Row groups are cut by number of rows, statistics are those of the released columns, no notes are kept."""
    release = publish(people, policy("local"), to=tmp_path / "r")
    for name, columns in (("qit", ["age", "person", "group"]), ("st", ["group", "salary", "count"])):
        about = pq.read_metadata(release.file(name))
        assert about.metadata is None
        assert about.schema.names == columns
        sizes = [about.row_group(i).num_rows for i in range(about.num_row_groups)]
        assert len(set(sizes[:-1])) <= 1
