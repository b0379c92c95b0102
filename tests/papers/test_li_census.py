"""How exact answers about the CENSUS table are after a full permutation: section 4.2 of Li et al. (2015)."""

import numpy as np
import pyarrow.parquet as pq
import pytest

from discreet.audit.metrics import metrics
from discreet.policy import Policy
from discreet.publication.publish import publish
from papers.census import DOMAINS, ranges, sample

QUASI = list(DOMAINS)[:5]
ROWS, L = 300_000, 10
METHODS = {
    "anatomize + anatomy": {"partition": "anatomize"},
    "cluster + full_permutation": {
        "partition": "cluster",
        "publication": "full_permutation",
        "options": {"cuts": "fitted"},
    },
    "cluster as printed + full_permutation": {
        "partition": "cluster",
        "publication": "full_permutation",
        "options": {"cuts": "fitted", "boundary": "fixed"},
    },
    "local + anatomy": {"partition": "local", "options": {"cuts": "fitted"}},
    "local + full_permutation": {
        "partition": "local",
        "publication": "full_permutation",
        "options": {"cuts": "fitted"},
    },
}


def between(column, values):
    """Whether rows lie in an interval, which is written as the list of its values."""
    return (column >= values[0]) & (column <= values[-1])


class Anatomy:
    """Estimates from the two tables of an anatomy, in bulk."""

    def __init__(self, release, sensitive):
        qit, st = pq.read_table(release.file("qit")), pq.read_table(release.file("st"))
        self.group, self.columns = qit["group"].to_numpy() - 1, {name: qit[name].to_numpy() for name in QUASI}
        self.holder, self.value, self.n = st["group"].to_numpy() - 1, st[sensitive].to_numpy(), st["count"].to_numpy()
        self.sizes = np.bincount(self.group)

    def estimate(self, query):
        hit = np.logical_and.reduce([between(self.columns[name], values) for name, values in query.quasi.items()])
        hits = np.bincount(self.group[hit], minlength=self.sizes.size)
        held = np.bincount(self.holder, self.n * between(self.value, query.sensitive[1]), self.sizes.size)
        return np.sum(hits * held / self.sizes)


class Shuffled:
    """Estimates from the two tables of a full permutation: the shares of all columns, multiplied."""

    def __init__(self, release, sensitive):
        pqt, pst = pq.read_table(release.file("pqt")), pq.read_table(release.file("pst"))
        self.group, self.columns = pqt["group"].to_numpy() - 1, {name: pqt[name].to_numpy() for name in QUASI}
        self.holder, self.value = pst["group"].to_numpy() - 1, pst[sensitive].to_numpy()
        self.sizes = np.bincount(self.group)

    def estimate(self, query):
        expected = self.sizes.astype(float)
        for name, values in query.quasi.items():
            expected *= (
                np.bincount(self.group[between(self.columns[name], values)], minlength=self.sizes.size) / self.sizes
            )
        held = self.holder[between(self.value, query.sensitive[1])]
        return np.sum(expected * np.bincount(held, minlength=self.sizes.size) / self.sizes)


@pytest.fixture(scope="module")
def census(real_data):
    whole = pq.read_table(real_data / "census-anatomy" / "sal500k.parquet")
    sensitive = whole.column_names[-1]
    table = sample(whole, ROWS, seed=1).select([*QUASI, sensitive])
    asked = list(ranges(QUASI, sensitive, dimensions=3, volume=0.1, number=1_000, seed=2015))
    private = {name: table[name].to_numpy() for name in table.column_names}
    true = [
        np.count_nonzero(
            np.logical_and.reduce(
                [between(private[name], values) for name, values in (*query.quasi.items(), query.sensitive)]
            )
        )
        for query in asked
    ]
    return table, sensitive, asked, np.array(true)


def measured(census, name, to):
    """The average relative error of all queries that anybody matches; some are asked in SQL too."""
    table, sensitive, asked, true = census
    policy = Policy(quasi=QUASI, sensitive=sensitive, guarantee={"l": L}, **METHODS[name])
    release = publish(table, policy, to=to, seed=1)
    desk = (Shuffled if policy.publication == "full_permutation" else Anatomy)(release, sensitive)
    estimates = np.array([desk.estimate(query) for query in asked])
    for number in range(20):
        [answer] = release.ask(asked[number].sql()).rows()
        assert answer["count"] == pytest.approx(estimates[number], rel=1e-9)
        assert answer["count_low"] <= true[number] <= answer["count_high"]
    release.close()
    kept = true > 0
    error = float(np.mean(np.abs(estimates[kept] - true[kept]) / true[kept]))
    presence = metrics(release).presence
    hidden = "" if presence is None else f", mean presence {presence.presence.mean:.2f}"
    print(f"{name}: average relative error {error:.2%} over {kept.sum()} queries{hidden}")
    return error


def test_average_relative_error(census, tmp_path, record_property):
    errors = {}
    for name in METHODS:
        errors[name] = measured(census, name, tmp_path / name)
        record_property(name, errors[name])
    theirs = errors["anatomize + anatomy"]
    for name in ("cluster + full_permutation", "cluster as printed + full_permutation"):
        print(f"{name} against anatomize + anatomy: {errors[name] / theirs - 1:+.0%} (the paper: -25 %)")
        assert errors[name] < theirs
