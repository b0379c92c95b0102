"""Presence in a full permutation: the same as counted person by person, from the files and from the truth."""

import datetime as dt
from collections import Counter, defaultdict
from dataclasses import asdict
from math import prod

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc_csv
import pyarrow.parquet as pq
import pytest

import discreet
from discreet.audit.metrics.presence import Spread, of_people
from discreet.errors import InputError
from discreet.partition import PARTITIONS
from discreet.publication.publish import publish_groups

QUASI = ["age", "sex", "born", "town", "tall"]
FREE = [
    name for name, each in PARTITIONS.items() if each.sees != "hierarchies" and (not each.keeps or "l" in each.keeps)
]


def people(rows, seed, *, values=12):
    chance = np.random.default_rng(seed)
    holes = chance.random(rows) < 0.15
    return pa.table(
        {
            "name": np.arange(rows),
            "age": pa.array(chance.integers(18, 30, rows), mask=holes),
            "sex": chance.choice(["f", "m"], rows),
            "born": pa.array([dt.date(1990, 1, 1) + dt.timedelta(int(d)) for d in chance.integers(0, 20, rows)]),
            "town": pa.array(chance.choice(["u", "v", "w"], rows), mask=holes[::-1]),
            "tall": chance.choice([1.5, 2.0, -0.0], rows),
            "ill": chance.permutation(np.arange(rows) % values),
        }
    )


def policy(**changes):
    given = {
        "identifiers": ["name"],
        "quasi": QUASI,
        "sensitive": "ill",
        "guarantee": {"l": 3},
        "publication": "full_permutation",
        "partition": "deal",
    }
    return discreet.Policy(**{**given, **changes})


def groups_of(release):
    """The rows of each group of the first file, and its sensitive values."""
    rows, values = defaultdict(list), defaultdict(list)
    for *row, group in (line.values() for line in pq.read_table(release.file("pqt")).to_pylist()):
        rows[group].append(tuple(row))
    if release.promise.sensitive is not None:
        for line in pq.read_table(release.file("pst")).to_pylist():
            values[line["group"]].append(line["ill"])
    return rows, values


def chances(rows, row):
    """For a person with these values, the share of a group's rows with each."""
    return [sum(other[i] == value for other in rows) / len(rows) for i, value in enumerate(row)]


def spread(values):
    quartiles = np.quantile(values, [0, 0.25, 0.5, 0.75, 1])
    return pytest.approx([*quartiles, np.mean(values)])


def told(found):
    return list(asdict(found).values())


@pytest.mark.parametrize("partition", FREE)
def test_presence_is_that_of_lemma_1(tmp_path, partition):
    table = people(240, 1)
    release = discreet.publish(table, policy(partition=partition), to=tmp_path / "r", seed=1)
    rows, values = groups_of(release)
    delta, product, rce, bound, largest = [], [], 0.0, 0.0, 0.0
    l = min(len(held) // max(Counter(held).values()) for held in values.values())
    for group, shown in rows.items():
        counts = Counter(values[group])
        largest = max(
            largest, prod(Counter(column).most_common(1)[0][1] / len(shown) for column in zip(*shown, strict=True))
        )
        for row in shown:
            delta.append(prod(chances(shown, row)))
            product.append(delta[-1] * max(counts.values()) / len(shown))
            # the mean over the values that the person may hold
            errors = [
                sum(((value == own) - delta[-1] * count) ** 2 for value, count in counts.items())
                for own in values[group]
            ]
            rce += np.mean(errors)
            bound += 1 - 2 * delta[-1] + l * delta[-1] ** 2
    found = discreet.metrics(release).presence
    assert (found.real, found.people, found.absent) == (False, 240, 0)
    assert told(found.presence) == spread(delta)
    assert told(found.product) == spread(product)
    shares = [held.count(value) / len(held) for held in values.values() for value in held]
    assert told(found.disclosure) == spread(shares)
    assert found.largest == pytest.approx(largest)
    sizes = [len(shown) for shown in rows.values() for _ in shown]
    assert told(found.somebody) == spread([min(1, d * size) for d, size in zip(delta, sizes, strict=True)])
    assert (found.rce, found.rce_bound) == (pytest.approx(rce), pytest.approx(bound))


def real(release, table, *, sensitive=True):
    """What the release tells of each real person: by the likeliest of the groups that hold all of their values."""
    rows, values = groups_of(release)
    found = []
    for line in table.to_pylist():
        row = tuple(line[name] for name in release.promise.quasi)
        best = None
        for group, shown in rows.items():
            delta = prod(chances(shown, row))
            held = Counter(values[group])[line["ill"]] if sensitive else 1
            if delta > 0 and held > 0 and (best is None or delta > best[0] + 1e-12):
                best = (delta, held, Counter(values[group]), len(shown))
        found.append(best)
    return found


@pytest.mark.parametrize("partition", ["deal", "local", "mondrian"])
@pytest.mark.parametrize("form", ["csv", "parquet", "frame"])
def test_presence_of_real_people(tmp_path, partition, form):
    table = people(180, 2)
    release = discreet.publish(table, policy(partition=partition), to=tmp_path / "r", seed=1)
    truth = table
    if form != "frame":
        truth = tmp_path / f"truth.{form}"
        (pc_csv.write_csv if form == "csv" else pq.write_table)(table, truth)
    found = discreet.metrics(release, truth=truth).presence
    meant = real(release, table)
    assert (found.real, found.people, found.absent) == (True, 180, 0)
    assert told(found.presence) == spread([delta for delta, *_ in meant])
    # of groups that are equally likely any may be taken, and they may differ in size
    shares = [held / size for _, held, _, size in meant]
    assert found.disclosure.most <= 1 / 3
    if partition == "deal":
        assert told(found.disclosure) == pytest.approx(told(Spread.of(np.array(shares))), rel=0.2)
    assert found.largest >= found.presence.most
    rows, _ = groups_of(release)
    people_ = [tuple(line[name] for name in release.promise.quasi) for line in table.to_pylist()]
    could = [sum(prod(chances(shown, row)) > 0 for shown in rows.values()) for row in people_]
    assert found.lone == sum(number == 1 for number in could)
    each = of_people(release, truth)
    assert each["groups"].to_pylist() == could
    assert each["presence"].to_pylist() == pytest.approx([delta for delta, *_ in meant])
    assert all(s == pytest.approx(min(1, p * len(rows[g]))) for g, p, s, *_ in map(dict.values, each.to_pylist()))


def test_real_people_in_two_groups(tmp_path):
    """By hand: everybody can be in one group only, but for the last, who could be in both."""
    table = pa.table(
        {"a": [1, 1, 2, 7, 7, 2], "b": list("xxyzzy"), "ill": [1, 2, 3, 1, 4, 3]},
    )
    rules = policy(quasi=["a", "b"], identifiers=[], guarantee={"l": 3})
    with discreet.read(table) as private:
        groups = np.array([0, 0, 0, 1, 1, 1], np.int32)
        release = publish_groups(private, rules, private.codes("ill"), groups, to=tmp_path / "r")
    found = discreet.metrics(release, truth=table).presence
    delta = np.array([4 / 9, 4 / 9, 1 / 9, 4 / 9, 4 / 9, 1 / 9])
    assert told(found.presence) == spread(delta)
    assert told(found.disclosure) == spread([1 / 3] * 6)
    assert told(found.product) == spread(delta / 3)
    assert found.rce == pytest.approx(np.sum(1 - 2 * delta + 3 * delta**2)) == pytest.approx(found.rce_bound)
    assert found.largest == pytest.approx(4 / 9)
    assert found.rce_normalised == pytest.approx(np.sum(1 - 2 * delta / 3 + 3 * (delta / 3) ** 2))


def test_of_people_who_are_all_alike_everything_is_known_but_the_value(tmp_path):
    """Then presence is certain, and the normalised error that of anatomy; the printed one is far beyond."""
    table = pa.table({"a": [1] * 12, "ill": [*range(4)] * 3})
    rules = policy(quasi=["a"], identifiers=[])
    release = discreet.publish(table, rules, to=tmp_path / "r", seed=1)
    found = discreet.metrics(release)
    assert told(found.presence.presence) == [1.0] * 6
    assert found.presence.rce_normalised == pytest.approx(found.value_rce)
    assert found.rce is None
    assert found.presence.rce > len(table)


@pytest.mark.parametrize("partition", [name for name in FREE if name in {"anatomize", "deal", "cluster"}])
@pytest.mark.parametrize("seed", range(5))
def test_rce_is_at_least_its_bound(tmp_path, partition, seed):
    table = people(200, seed, values=9)
    release = discreet.publish(table, policy(partition=partition), to=tmp_path / "r", seed=seed)
    _, values = groups_of(release)
    assert all(len(set(held)) == len(held) for held in values.values())
    for truth in (None, table):
        found = discreet.metrics(release, truth=truth).presence
        assert found.rce >= found.rce_bound - 1e-9


def test_the_bound_of_the_paper_fails_where_values_repeat(tmp_path):
    """Its proof takes (1 - d n / l)^2 for more than (1 - d)^2, which it is not: the docs say where it holds."""
    table = pa.table({"a": [1, 2, 3, 4], "ill": [1, 1, 2, 2]})
    with discreet.read(table) as private:
        rules = policy(quasi=["a"], identifiers=[], guarantee={"l": 2})
        release = publish_groups(private, rules, private.codes("ill"), np.zeros(4, np.int32), to=tmp_path / "r")
    found = discreet.metrics(release).presence
    assert found.rce < found.rce_bound


def test_without_a_sensitive_column(tmp_path):
    table = people(100, 3)
    rules = policy(quasi=[*QUASI, "ill"], sensitive=None, guarantee={"k": 5})
    release = discreet.publish(table, rules, to=tmp_path / "r", seed=1)
    found = discreet.metrics(release, truth=table).presence
    meant = real(release, table, sensitive=False)
    assert told(found.presence) == spread([delta for delta, *_ in meant])
    assert (found.disclosure, found.product, found.rce, found.rce_bound) == (None,) * 4


def test_people_who_were_not_published(tmp_path):
    table = people(120, 4)
    release = discreet.publish(table.slice(0, 100), policy(), to=tmp_path / "r", seed=1)
    strangers = table.slice(0, 3).set_column(1, "age", pa.array([200, 201, 202]))
    more = pa.concat_tables([table.slice(0, 100), strangers])
    found = discreet.metrics(release, truth=more).presence
    assert (found.people, found.absent) == (100, 3)
    with pytest.raises(InputError, match="nobody of the truth can be in the release"):
        discreet.metrics(release, truth=strangers)


def test_bad_truths(tmp_path):
    table = people(60, 5)
    release = discreet.publish(table, policy(), to=tmp_path / "r", seed=1)
    anatomy = discreet.publish(table, policy(publication="anatomy"), to=tmp_path / "a", seed=1)
    for truth, message in (
        (table.drop_columns(["town"]), "the truth has no column `town`"),
        (table.rename_columns([*table.column_names[:4], "twon", "tall", "ill"]), "did you mean `twon`"),
        (tmp_path / "nothing.csv", "there is no file"),
        (tmp_path, "there is no file"),
        (3, "the truth cannot be a int"),
        (table.set_column(1, "age", pa.array(["old"] * 60)), "the truth holds"),
    ):
        with pytest.raises(InputError) as caught:
            discreet.metrics(release, truth=truth)
        assert message in str(caught.value)
    (tmp_path / "truth.xlsx").write_bytes(b"PK")
    (tmp_path / "truth.parquet").write_bytes(b"not Parquet")
    for name, message in (("truth.xlsx", "is not a `.csv` or `.parquet` file"), ("truth.parquet", "cannot be read")):
        with pytest.raises(InputError, match=message):
            discreet.metrics(release, truth=tmp_path / name)
    with pytest.raises(
        InputError,
        match="`anatomy` cannot be compared with the truth: not every column is shuffled by itself",
    ):
        discreet.metrics(anatomy, truth=table)
    assert discreet.metrics(anatomy).presence is None


def test_implied_boxes_are_those_of_the_generalized_table(tmp_path):
    """The same groups published as boxes lose the same: numbers from end to end, sets of texts."""
    table, groups = people(90, 6), (np.arange(90) % 12).astype(np.int32)
    made = []
    for publication in ("full_permutation", "generalization"):
        rules = policy(publication=publication, guarantee={"k": 3})
        with discreet.read(table) as private:
            made.append(publish_groups(private, rules, private.codes("ill"), groups, to=tmp_path / publication))
    one, other = map(discreet.metrics, made)
    for name in ("ncp", "ncp_normalised", "ncp_share", "il", "dm", "average_group", "c_avg", "value_rce"):
        assert getattr(one, name) == pytest.approx(getattr(other, name)), name
