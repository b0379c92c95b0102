"""The cross-release auditor: all sets as counted by hand, the truth never among what it excludes, clear refusals."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from datetime import date, timedelta
from itertools import pairwise
from types import SimpleNamespace
from unittest import mock

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import discreet
from audit import by_hand
from audit.growing import growing
from discreet.audit.sequence.auditor import _Search
from discreet.audit.sequence.groups import read_groups
from discreet.audit.sequence.lineage import Chain, unattributed
from discreet.audit.sequence.links import KINDS, link
from discreet.audit.sequence.overlap import plant, search
from discreet.audit.sequence.pairs import CHANNELS, Rule, compare
from discreet.audit.sequence.standing import nothing_stands, standing
from discreet.comparison.static import static_all, static_new
from discreet.errors import InputError, ReleaseError
from discreet.publication.publish import grouped, publish_groups
from discreet.release.files import digest
from discreet.values.random import RandomSource

RULES = st.sampled_from(((1, 2), (1, 3), (2, 1), (3, 1), (2, 3), (1, 1, 4)))
FREE = settings(deadline=None, max_examples=200, derandomize=True, suppress_health_check=list(HealthCheck))


def linked(groups):
    trees = [plant(of.boxes) for of in groups]
    return {(i, j): link(groups[i], groups[j], trees[j]) for j in range(len(groups)) for i in range(j)}


def by_entry(counts, exposed):
    """What is shown of each entry, by group and value."""
    groups = np.repeat(np.arange(counts.starts.size - 1), np.diff(counts.starts))
    pairs = zip(groups.tolist(), counts.values.tolist(), exposed.tolist(), strict=True)
    return +Counter({(group, value): n for group, value, n in pairs})


@FREE
@given(st.one_of(growing(apart=True), growing(apart=False)))
def test_tree_finds_what_meets(table):
    for earlier, later in pairwise(table.by_hand()):
        wanted = [[j for j, b in enumerate(later) if by_hand.meet(a.box, b.box)] for a in earlier]
        one, other = table._coded(earlier), table._coded(later)
        starts, found = search(one.boxes, plant(other.boxes), other.boxes)
        assert [found[a:b].tolist() for a, b in pairwise(starts)] == wanted


def test_tree_finds_what_meets_among_many():
    chance = np.random.default_rng(1)
    low = chance.integers(0, 1000, (2_000, 3)).astype(np.int32)
    high = low + chance.integers(0, 60, low.shape).astype(np.int32)
    bits = np.zeros((2_000, 3), np.uint64)
    for c, n in enumerate((64, 36, 5)):  # the first set has a hundred values, in two words
        bits[np.arange(2_000), c] |= np.uint64(1) << chance.integers(0, n, 2_000).astype(np.uint64)
    from discreet.audit.sequence.groups import CodedBoxes

    boxes = CodedBoxes(low, high, chance.random(low.shape) < 0.05, bits, np.array([0, 2, 3]))
    starts, found = search(boxes, plant(boxes), boxes)
    for i in range(0, 2_000, 50):
        ranged = (np.maximum(low[i], low) <= np.minimum(high[i], high)) | (boxes.missing[i] & boxes.missing)
        shared = (bits[i] & bits) > 0
        meet = ranged.all(axis=1) & (shared[:, 0] | shared[:, 1]) & shared[:, 2]
        assert found[starts[i] : starts[i + 1]].tolist() == np.flatnonzero(meet).tolist()


@FREE
@given(st.one_of(growing(apart=True), growing(apart=False)), RULES, st.booleans())
def test_pairs_are_as_counted_by_hand(table, thresholds, known):
    groups, plain, rule = table.coded(), table.by_hand(), by_hand.Rule(*thresholds)
    for (i, j), links in linked(groups).items():
        kinds = [by_hand.partners(group, plain[j]) for group in plain[i]]
        assert [KINDS[kind] for kind in links.kinds] == [kind for kind, _ in kinds]
        assert links.later.tolist() == [met for _, of in kinds for met in of]
        found = compare(groups[i].counts, groups[j].counts, links, Rule(*thresholds), values=9, known=known)
        wanted = by_hand.pair(plain[i], plain[j], rule, known=known)
        later = groups[j].counts
        assert Counter(CHANNELS[kind] for kind in found.kinds) == wanted.channels
        assert by_entry(later, found.exposed) == wanted.shown
        assert by_entry(later, found.fresh) == +Counter(
            {(g, v): n for g, left in wanted.fresh.items() for v, n in left.items()}
        )
        assert found.worst == pytest.approx(wanted.posterior)
        if not any(kind == "same" for kind, _ in kinds):
            assert found.vanished == 0


def whole(groups, links):
    """The chain of releases, with what is spare between each two."""
    between = []
    for (i, j), of in links.items():
        found = compare(groups[i].counts, groups[j].counts, of, Rule(1, 2), values=9, known=False)
        between.append(unattributed(i, j, groups[j].counts, of, found.unattributed))
    pairs = [links[t, t + 1] for t in range(len(groups) - 1)]
    return Chain(groups, pairs, [of for of in between if of is not None])


@FREE
@given(st.one_of(growing(apart=True), growing(apart=False)), RULES, st.booleans())
def test_chain_is_as_followed_by_hand(table, thresholds, known):
    groups, plain = table.coded(), table.by_hand()
    links = linked(groups)
    chain = whole(groups, links)
    fresh = [of.counts.counts for of in groups]
    _, cohorts = by_hand.chain(plain, by_hand.Rule(*thresholds), known=known)
    for cohort, wanted in enumerate(cohorts):
        found = chain.follow(cohort, fresh, Rule(*thresholds), 10**6)
        assert found.complete
        assert found.channels == wanted.channels.total()
        assert by_entry(groups[-1].counts, found.exposed) == wanted.shown
        assert found.worst == pytest.approx(wanted.posterior)
        assert len(found.listed) == found.channels
        for line, posterior in zip(found.listed, found.posteriors, strict=True):
            left = chain.left([group for group in line.tolist() if group >= 0], fresh)
            assert by_hand.Rule(*thresholds).posterior(left) == pytest.approx(posterior)
        for j in range(cohort + 1, len(groups)):
            one, other = groups[cohort].counts, groups[j].counts
            found_ = compare(one, other, links[cohort, j], Rule(*thresholds), values=9, known=known)
            fresh[j] = np.minimum(fresh[j], found_.fresh)


@FREE
@given(growing(apart=True))
def test_auditor_never_excludes_the_truth(table):
    """As many new people of each group and value as there are can be new, and so along each line."""
    groups, rows, first = table.coded(), table.rows, table.first
    links, last = linked(groups), len(groups) - 1
    fresh = [of.counts.counts for of in groups]
    chain, offsets = whole(groups, links), np.cumsum([0, *(of.numbers.size for of in groups)]).tolist()
    at = [{row: g for g, members in enumerate(release) for row in members} for release in table.groups]
    for i in range(len(groups)):
        mine = [row for row in at[last] if first[row] == i]
        together = Counter((*(at[t][row] for t in range(i, last + 1)), rows[row][4]) for row in mine)
        for *line, value, n in ((*key, n) for key, n in together.items()):
            for t, g in enumerate(line, i):
                counts = groups[t].counts
                left = by_entry(counts, fresh[t])
                assert left[g, value] >= n
        for start in range(i, last + 1):  # all of the way that somebody went, or the end of it
            ways = Counter(
                (*(at[t][row] + offsets[t] for t in range(last, start - 1, -1)), rows[row][4]) for row in mine
            )
            for *way, value, n in ((*key, n) for key, n in ways.items()):
                assert chain.left(way, fresh)[value] >= n
        for j in range(i + 1, len(groups)):
            one, other = groups[i].counts, groups[j].counts
            found = compare(one, other, links[i, j], Rule(1, 2), values=9, known=True)
            new = Counter((g, rows[row][4]) for row, g in at[j].items() if first[row] > i)
            assert new <= by_entry(other, found.fresh)
            assert found.vanished == 0
            fresh[j] = np.minimum(fresh[j], found.fresh)


def searched(groups, thresholds, *, known):
    """What the auditor says of coded groups, or that it refuses them; without its steps, which need not be the same."""
    guarantee = dict(zip(("l", "distinct_l"), thresholds, strict=False)) if len(thresholds) == 2 else {"k": 4}
    promises = [SimpleNamespace(guarantee=guarantee, rows=0, groups=of.numbers.size) for of in groups]
    releases = [SimpleNamespace(promise=promise, path=at) for at, promise in enumerate(promises)]
    try:
        found = _Search(releases, groups, pa.array(range(9)), known=known).inferences()
    except ReleaseError:
        return None
    return replace(found, chain=replace(found.chain, steps=0))


def all_stand(groups, thresholds):
    return all(flags.all() for flags in standing(groups, Rule(*thresholds)).flags)


@FREE
@given(st.one_of(growing(apart=True), growing(apart=False)), RULES)
def test_what_stands_from_each_to_the_next_stands_in_all(table, thresholds):
    """So a vault need only compare a release with the one before, if it knows of that and those before it."""
    groups = table.coded()
    assert all_stand(groups, thresholds) == all(all_stand(two, thresholds) for two in pairwise(groups))


@FREE
@given(st.one_of(growing(apart=True), growing(apart=False)), RULES, st.booleans())
def test_standing_groups_change_nothing(table, thresholds, known):
    groups = table.coded()
    found = searched(groups, thresholds, known=known)
    with mock.patch("discreet.audit.sequence.auditor.standing", lambda groups, _: nothing_stands(groups)):
        wanted = searched(groups, thresholds, known=known)
    if found is None or wanted is None:
        assert found is wanted
        return
    if all_stand(groups, thresholds):
        assert wanted.ok
    # of channels that are equally sure, any may be told
    assert replace(found, channels=()) == replace(wanted, channels=())
    assert [of.posterior for of in found.channels] == [of.posterior for of in wanted.channels]


def test_a_group_stands_unless_one_near_it_goes(tmp_path):
    """Of three groups one is split; the group whose box meets its own no longer stands, the other does."""
    first = [(1, "a", 0), (9, "b", 0), (3, "c", 0), (4, "d", 0), (8, "c", 1), (12, "d", 1), (20, "a", 2), (21, "b", 2)]
    later = [(age, ill, 3 if ill in "bd" and at == 0 else at) for age, ill, at in first]
    groups, _ = read_groups(planted(tmp_path, first, [*later, (40, "a", 4), (41, "b", 4)]))
    ages = [[(1, 9), (8, 12), (20, 21)], [(1, 3), (4, 9), (8, 12), (20, 21), (40, 41)]]
    for of, flags, known in zip(groups, standing(groups, Rule(1, 2)).flags, ages, strict=True):
        assert of.numbers.size == len(known)
        assert sorted(flags.tolist()) == [False] * (len(known) - len(known) // 2) + [True] * (len(known) // 2)


@FREE
@given(st.one_of(growing(apart=True), growing(apart=False)), RULES, st.booleans())
def test_a_release_is_judged_with_those_before_it(table, thresholds, known):
    groups = table.coded()
    found = searched(groups, thresholds, known=known)
    for upto in range(2, len(groups) if found is not None else 0):
        assert searched(groups[:upto], thresholds, known=known).releases == found.releases[:upto]


# whole audits, from files


def patients(rows, seed, *, gaps=0.1):
    chance = np.random.default_rng(seed)

    def some(values):
        return [None if chance.random() < gaps else value for value in values]

    return pa.table(
        {
            "age": pa.array(some(chance.integers(20, 40, rows).tolist()), pa.int32()),
            "day": pa.array([date(2026, 1, 1) + timedelta(int(d)) for d in chance.integers(0, 9, rows)]),
            "town": pa.array(some(chance.choice(["u", "v", "w", "x"], rows).tolist()), pa.string()),
            "smokes": pa.array(some((chance.random(rows) < 0.4).tolist()), pa.bool_()),
            "illness": pa.array(chance.choice(list("abcdefg"), rows)),
        }
    )


def policy(**changes):
    values = {
        "quasi": ["age", "day", "town", "smokes"],
        "sensitive": "illness",
        "guarantee": {"distinct_l": 3},
        "publication": "generalization",
        "partition": "mondrian",
        "options": {"cuts": "fitted"},
    }
    return discreet.Policy(**{**values, **changes})


@pytest.mark.parametrize("insertions", ["known", "unknown"])
@pytest.mark.parametrize(
    ("guarantee", "partition"),
    [
        ({"distinct_l": 3}, "mondrian"),
        ({"l": 2}, "mondrian"),
        ({"l": 2, "k": 5}, "topdown"),
        ({"l": 2, "distinct_l": 3}, "local"),
        ({"k": 4}, "mondrian"),
    ],
)
def test_audit_is_as_by_hand(tmp_path, guarantee, partition, insertions):
    table = patients(160, seed=5)
    parts = [table.slice(0, 90), table.slice(90, 25), table.slice(115, 1), table.slice(116)]
    rules = policy(guarantee=guarantee, partition=partition)
    made = static_all(parts, rules, tmp_path / "r", seed=2)
    found = discreet.audit(made, insertions=insertions)
    plain = [by_hand.shown(release) for release in made]
    alone = guarantee["k"] if guarantee.keys() == {"k"} else 1
    rule = by_hand.Rule(guarantee.get("l", 1), guarantee.get("distinct_l", 1), alone)
    pairs, cohorts = by_hand.chain(plain, rule, known=insertions == "known")
    assert not found.ok
    assert {(of.earlier - 1, of.later - 1) for of in found.pairs} == set(pairs)
    for of in found.pairs:
        wanted = pairs[of.earlier - 1, of.later - 1]
        assert +Counter(of.channels) == wanted.channels
        assert (of.compatible, of.vulnerable) == (wanted.compatible, wanted.vulnerable)
        assert of.posterior == pytest.approx(wanted.posterior)
    every = Counter()
    for cohort in cohorts:
        every |= cohort.shown
    assert found.chain.vulnerable == every.total()
    assert found.chain.channels == {
        "both": cohorts[0].channels.total(),
        "new": sum(of.channels.total() for of in cohorts[1:]),
    }
    for t, version in enumerate(found.releases):
        exposed = Counter()
        for (_, j), of in pairs.items():
            exposed = exposed | of.shown if j == t else exposed
        assert version.by_pairs == exposed.total()
        for of in by_hand.chain(plain[: t + 1], rule, known=insertions == "known")[1] if t else ():
            exposed |= of.shown
        assert version.vulnerable == exposed.total()
        assert (version.rows, version.groups, version.release) == (
            sum(len(p) for p in parts[: t + 1]),
            len(plain[t]),
            made[t].path,
        )
    for channel in found.channels:
        held = [plain[t - 1][g - 1].values for t, g in zip(channel.releases, channel.groups, strict=True)]
        assert all(0 < n <= of[value] for of in held[-1:] for value, n in channel.values)
        left = Counter(dict(channel.values))
        assert channel.posterior == pytest.approx(rule.posterior(left))
        assert not rule.diverse(left)


def test_new_rows_in_groups_of_their_own_open_nothing(tmp_path):
    table = patients(240, seed=1)
    parts = [table.slice(0, 90), table.slice(90, 50), table.slice(140, 50), table.slice(190)]
    made = static_new(parts, policy(), tmp_path / "new", seed=2)
    found = discreet.audit([release.path for release in made])
    assert found.ok
    assert found.vulnerable == 0
    assert found.releases[-1].posterior <= 1 / 3
    assert [of.promise.rows for of in made] == [90, 140, 190, 240]
    before, after = by_hand.shown(made[0]), by_hand.shown(made[-1])
    assert [of for of in after if of in before] == before


def test_lines_that_are_too_many_are_told(tmp_path, monkeypatch):
    from discreet.audit.sequence import auditor

    table = patients(120, seed=5)
    made = static_all([table.slice(0, 60), table.slice(60)], policy(), tmp_path / "r", seed=2)
    monkeypatch.setattr(auditor, "LIMIT", 10)
    found = discreet.audit(made)
    assert not found.chain.complete
    assert found.chain.steps == 10


@pytest.fixture
def publish(tmp_path):
    def act(table, name, **changes):
        return discreet.publish(table, policy(**changes), to=tmp_path / name, seed=1)

    return act


def test_a_single_release_is_refused(publish):
    release = publish(patients(60, seed=1), "r")
    with pytest.raises(ReleaseError, match="expected at least two releases, got one"):
        discreet.audit([release])
    with pytest.raises(InputError, match="several releases"):
        discreet.audit(release.path)
    with pytest.raises(InputError, match="insertions `perhaps`"):
        discreet.audit([release, release], insertions="perhaps")


@pytest.mark.parametrize(
    ("changes", "wrong"),
    [
        (
            {"publication": "anatomy", "guarantee": {"l": 2}, "partition": "auto"},
            "by generalization: it shows no rows as they are",
        ),
        ({"quasi": ["age", "day", "town"], "drop": ["smokes"]}, "has other columns"),
        ({"guarantee": {"distinct_l": 2}}, "has another guarantee"),
        ({"ordered": ["town"]}, "shows the column `town` in another way"),
    ],
)
def test_releases_that_do_not_fit_are_refused(publish, changes, wrong):
    table = patients(60, seed=1)
    with pytest.raises(ReleaseError, match=wrong):
        discreet.audit([publish(table, "1"), publish(table, "2", **changes)])


def test_a_promise_that_bounds_nothing_is_refused(publish):
    table = patients(60, seed=1)
    table = table.set_column(4, "illness", pa.array(np.arange(60)))
    with pytest.raises(ReleaseError, match="promises k = 3, e = 5"):
        discreet.audit([publish(table, name, guarantee={"k": 3, "e": 5}) for name in "12"])


def test_releases_in_the_wrong_order_are_refused(publish):
    table = patients(90, seed=1)
    small, large = publish(table.slice(0, 60), "1"), publish(table, "2")
    with pytest.raises(ReleaseError, match="fewer rows"):
        discreet.audit([large, small])


def test_manifests_tell_the_order(publish):
    """Both releases have the same rows, but one names the other as its predecessor."""
    first, second = (publish(patients(60, seed=1), name) for name in "12")
    manifest = second.path / "datapackage.json"
    listing = json.loads(manifest.read_text())
    listing["discreet"]["predecessor"] = digest(first.path / "datapackage.json")
    manifest.write_text(json.dumps(listing))
    assert discreet.audit([first.path, second.path]).ok
    with pytest.raises(ReleaseError, match="was made after"):
        discreet.audit([second.path, first.path])


def test_releases_of_other_rows_are_refused(publish):
    with pytest.raises(ReleaseError, match="lacks rows"):
        discreet.audit([publish(patients(60, seed=1), "1"), publish(patients(80, seed=2), "2")])


AGES = pa.array(range(20, 40), pa.int32())
KINDS_OF_AGE = {
    "small": AGES.cast(pa.int8()),
    "real": pc.divide(AGES.cast(pa.float64()), 4),
    "exact": AGES.cast(pa.decimal128(12, 2)),
    "huge": pa.array([10**25 + int(age.as_py()) for age in AGES], pa.decimal128(38, 0)),
    "day": AGES.cast(pa.date32()),
    "moment": AGES.cast(pa.int64()).cast(pa.timestamp("us")),
    "hour": AGES.cast(pa.int32()).cast(pa.time32("s")),
    "text": AGES.cast(pa.string()),
}


@pytest.mark.parametrize("kind", list(KINDS_OF_AGE))
def test_types_do_not_matter(tmp_path, kind):
    """The same groups of the same people, with ages of another type; some diagnoses are missing, and count as a value."""
    table = patients(120, seed=9)
    illness = pc.if_else(pc.equal(table["illness"], "a"), None, table["illness"])
    table = table.set_column(table.schema.get_field_index("illness"), "illness", illness)
    other = KINDS_OF_AGE[kind].take(pc.index_in(table["age"], value_set=AGES).combine_chunks())
    found = []
    for name, age in (("plain", table["age"]), ("other", other)):
        rows = table.set_column(0, "age", age)
        rules = policy(missing_sensitive="value", ordered=["age"] if (name, kind) == ("other", "text") else [])
        made = []
        for number, size in enumerate((70, 120)):
            with discreet.read(table.slice(0, size)) as private:
                groups = grouped(private, policy(missing_sensitive="value"), RandomSource(1))
            with discreet.read(rows.slice(0, size)) as private:
                codes = private.codes("illness")
                made.append(publish_groups(private, rules, codes, groups, to=tmp_path / f"{name}{number}"))
        found.append(discreet.audit(made))
    assert not found[0].ok
    assert found[0].pairs == found[1].pairs
    assert found[0].chain == found[1].chain
    assert found[0].channels == found[1].channels
    assert None in {value for channel in found[0].channels for value, _ in channel.values}


def test_csv_and_parquet_are_compared(tmp_path):
    table = patients(120, seed=3, gaps=0.0)
    one = discreet.publish(table.slice(0, 80), policy(), to=tmp_path / "1", seed=1, format="csv")
    two = discreet.publish(table, policy(), to=tmp_path / "2", seed=1)
    same = discreet.publish(table.slice(0, 80), policy(), to=tmp_path / "3", seed=1)
    found, wanted = discreet.audit([one, two]), discreet.audit([same, two])
    assert found.pairs == wanted.pairs
    assert found.channels == wanted.channels


def planted(place, *releases):
    """Releases of rows of an age, an illness and the group that they are to be in."""
    rules = discreet.Policy(quasi=["age"], sensitive="ill", guarantee={"distinct_l": 2}, publication="generalization")
    made = []
    for number, rows in enumerate(releases):
        ages, ills, groups = zip(*rows, strict=True)
        with discreet.read(pa.table({"age": ages, "ill": ills})) as private:
            codes = private.codes("ill")
            made.append(publish_groups(private, rules, codes, np.array(groups, np.int32), to=place / str(number)))
    return made


@pytest.mark.parametrize("order", [(1, 2), (2, 1)], ids=["the next release", "the one after"])
def test_a_chain_takes_off_rows_that_can_be_nowhere_else(tmp_path, monkeypatch, order):
    """Three releases of which only all together tell that somebody has hiv.

    The young are one group in the first release, the old another. Later there are the very young, and the others: all
    in one group, or the old in two. All of the old are among the others, and so is their flu. Whoever was young and is
    among the others has hiv or a cold; and if he is among the younger half of these, where nobody has a cold, hiv.
    """
    young = [(1, "cold"), (4, "asthma"), (2, "flu"), (10, "hiv")]
    old = [(11, "flu"), (12, "angina"), (20, "gout"), (16, "ulcer")]
    new = [(11, "stroke"), (12, "sprain"), (18, "cold"), (19, "mumps"), (2, "rash"), (3, "boil")]
    first = [(age, ill, int(age > 10)) for age, ill in young + old]
    halves = [(age, ill, (age > 5) + (age > 15)) for age, ill in young + old + new]
    merged = [(age, ill, int(age > 5)) for age, ill in young + old + new]
    made = planted(tmp_path, first, *([merged, halves][at - 1] for at in order))
    found = discreet.audit(made)
    assert [sum(of.channels.values()) for of in found.pairs] == [0, 0, 0]
    assert found.chain.channels == {"both": 1, "new": 0}
    assert found.vulnerable == 1
    assert [(of.kind, of.releases, of.values) for of in found.channels] == [("chain", (1, 2, 3), (("hiv", 1),))]
    assert not discreet.audit(made, insertions="unknown").ok
    monkeypatch.setattr("discreet.audit.sequence.auditor.unattributed", lambda *_: None)
    assert discreet.audit(made).ok, "without taking them off, nothing is seen"


def test_rows_that_can_be_nowhere_else_are_taken_off(tmp_path):
    """All of B went to X, so the flu there is B's: whoever was in A and is in X has hiv."""
    first = [(1, "asthma", 0), (4, "flu", 0), (10, "hiv", 0), (11, "flu", 1), (20, "cold", 1)]
    second = [(age, ill, 0 if age < 5 else 1) for age, ill, _ in first]
    second += [(12, "gout", 1), (15, "mumps", 1), (2, "rash", 0), (3, "boil", 0)]
    found = discreet.audit(planted(tmp_path, first, second))
    assert not found.ok
    assert next((channel.kind, channel.values) for channel in found.channels) == ("both_overlap", (("hiv", 1),))


def test_a_release_named_twice_is_refused(publish):
    release = publish(patients(60, 1), "1")
    with pytest.raises(ReleaseError, match="named twice"):
        discreet.audit([release, release])
