"""Every mistake is reported in one go: whichever of them are mended first, no other comes to light."""

import copy
import itertools
import re

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet import Policy
from discreet.errors import PolicyError
from discreet.policy import unfit
from discreet.policy.check import mistakes
from discreet.policy.meant import Meant
from discreet.values.columns import Column
from discreet.vault.terms import mistakes as vault_mistakes

SOUND = {
    "boxes": {
        "name": "people",
        "identifiers": ["name"],
        "quasi": ["age", "zip", "job"],
        "sensitive": "ill",
        "drop": ["notes"],
        "partition": "full_domain",
        "publication": "generalization",
        "missing_sensitive": "withhold",
        "guarantee": {"l": 3, "k": 5},
        "hierarchies": {"age": {"intervals": [5]}, "job": "jobs.csv"},
        "ordered": ["zip"],
        "options": {"suppression": 0.1},
    },
    "join": {
        "identifiers": ["name", "number"],
        "quasi": ["age", "zip", "job"],
        "sensitive": "ill",
        "publication": "join",
        "partition": "mondrian",
        "join": "number",
        "guarantee": {"k": 5},
        "hierarchies": {"job": "jobs.csv"},
        "options": {"variant": "direct", "median": "relaxed"},
    },
    "ranges": {
        "quasi": ["age", "zip"],
        "sensitive": "pay",
        "publication": "permutation",
        "partition": "tightest",
        "guarantee": {"k": 3, "e": 100},
    },
    "swap": {"quasi": ["age", "zip"], "sensitive": "pay", "publication": "swap", "guarantee": {"k": 3, "e": 100}},
    "shuffled": {"quasi": ["age", "zip"], "publication": "full_permutation", "guarantee": {"k": 3}},
}


def put(key, value):
    return [key], lambda values: values.update({key: value})


def put_in(key, name, value, *against):
    return [f"{key}.{name}", *against], lambda values: values.setdefault(key, {}).update({name: value})


def also(key, name, *against):
    return [f"{key}.{name}", *against], lambda values: values.setdefault(key, []).append(name)


def misspell(key):
    return [key], lambda values: values.update({key: values[key][:-1] + "x"})


# Where each stands, what it is judged against, and how it is put in. It is wrong in every one of the policies above.
CATALOGUE = {
    "a key that nobody knows": put("seed", 4),
    "a misspelt key": put("identifers", ["number"]),
    "no text for a name": put("name", ""),
    "a number for a name": put("name", 7),
    "a column twice in a role": also("quasi", "age"),
    "a number among columns": also("quasi", 3),
    "no quasi-identifiers": put("quasi", []),
    "a column in two roles": also("identifiers", "zip", "quasi.zip"),
    "no name of a column": also("drop", ""),
    "a word for a list": put("drop", "others"),
    "a partition that nobody knows": put("partition", "zzz"),
    "a misspelt publication": misspell("publication"),
    "a misspelt word": put("missing_sensitive", "witheld"),
    "a guarantee that nobody knows": put_in("guarantee", "zz", 3),
    "a guarantee too weak": put_in("guarantee", "k", 1),
    "a guarantee of no number": put_in("guarantee", "k", "five"),
    "no guarantee": put("guarantee", {}),
    "a hierarchy of no kind": put_in("hierarchies", "age", 5),
    "hierarchies that are none": put("hierarchies", 5),
    "an option that nobody knows": put_in("options", "zz", 1),
    "options that are none": put("options", ["suppression"]),
    "a join by nothing": put("join", ""),
    "a warning that nobody gives": put_in("accept", "zz", "why not"),
    "an order of a stranger": also("ordered", "planet", "quasi.planet"),
    "a hierarchy of a stranger": put_in("hierarchies", "planet", "planets.csv", "quasi.planet"),
}


def apart(first, second):
    """Whether two mistakes can stand in one policy: none takes the place of the other, or of what that is judged by."""
    places = ([f"{place}." for place in CATALOGUE[name][0]] for name in (first, second))
    return not any(one.startswith(other) or other.startswith(one) for one, other in itertools.product(*places))


def together(names):
    """As many of these mistakes as can stand in one policy."""
    kept = []
    for name in names:
        if all(apart(name, other) for other in kept):
            kept.append(name)
    return kept


def planted(policy, names):
    values = copy.deepcopy(SOUND[policy])
    for name in names:
        CATALOGUE[name][1](values)
    return values


def said(values):
    """What is wrong and where, without what was got, and the hint."""
    return {(mistake.key, re.split(";|, got", mistake.message)[0]) for mistake in mistakes(values)}


@pytest.mark.parametrize("policy", SOUND)
def test_the_policies_are_sound_and_the_mistakes_are_mistakes(policy):
    assert said(planted(policy, ())) == set()
    for name in CATALOGUE:
        assert said(planted(policy, {name})), name


@pytest.mark.parametrize("policy", SOUND)
def test_two_mistakes_are_both_told(policy):
    for names in itertools.combinations(CATALOGUE, 2):
        for name in names if apart(*names) else ():
            assert said(planted(policy, [name])) <= said(planted(policy, names)), (names, name)


@given(st.data())
@settings(max_examples=400, deadline=None)
def test_mending_any_of_them_reveals_nothing(data):
    policy = data.draw(st.sampled_from(sorted(SOUND)))
    names = together(data.draw(st.permutations(sorted(CATALOGUE))))[: data.draw(st.integers(1, len(CATALOGUE)))]
    kept = [name for name in names if data.draw(st.booleans())]
    assert said(planted(policy, kept)) <= said(planted(policy, names))


TYPES = {"integer": pa.int64(), "string": pa.string(), "date": pa.date32(), "boolean": pa.bool_(), None: pa.binary()}


def columns(**kinds):
    return [Column(name, TYPES[kind]) for name, kind in kinds.items()]


def found(act):
    with pytest.raises(PolicyError) as caught:
        act()
    return [mistake.key for mistake in caught.value.mistakes]


def test_keys_of_every_kind_at_once():
    wrong = {"guarantee": {"l": 0}, "options": {"foo": 1}, "join": "b", "hierarchies": {"z": 1}}
    assert found(lambda: Policy(quasi=["a"], sensitive="s", **wrong)) == [
        *("guarantee.l", "hierarchies", "hierarchies.z", "join", "options.foo")
    ]


def test_a_misspelt_word_is_taken_for_the_one_it_is_near():
    """What depends on it is judged by the word that was probably meant."""
    plain = {"quasi": ["age"], "sensitive": "ill", "guarantee": {"k": 3}}
    needs = found(lambda: Policy(**plain, partition="full_domian", options={"median": "strict"}))
    assert needs == ["partition", "hierarchies", "options.median"]
    assert found(lambda: Policy(**plain, publication="jion")) == ["publication", "join"]
    assert found(lambda: Policy(**{**plain, "quasi": "age"}, ordered=["zip"])) == ["quasi", "ordered"]
    assert found(lambda: Policy(quasi=["a"], guarantee={"l": 3}, publication="full_permutaton")) == [
        *("publication", "guarantee")
    ]


def test_what_depends_on_a_word_that_says_nothing_is_not_judged():
    plain = {"quasi": ["age"], "sensitive": "ill", "guarantee": {"k": 3}}
    assert found(lambda: Policy(**plain, publication="zzz", options={"variant": "direct"}, join="x")) == ["publication"]
    assert found(lambda: Policy(**plain, partition="zzz", options={"loss": "ncp", "foo": 1})) == [
        *("partition", "options.foo")
    ]
    assert found(lambda: Policy(**{**plain, "quasi": 3}, ordered=["zip"])) == ["quasi"]


def test_columns_of_the_table_in_the_same_go(tmp_path):
    path = tmp_path / "policy.toml"
    path.write_text(
        """quasi = ["age", "zipp"]
sensitive = "ill"
publication = "permutatoin"
options = { growth = "insert" }
guarantee = { k = 1, e = 5 }
"""
    )
    table = columns(age="integer", zip="string", ill="string", photo=None)
    with pytest.raises(PolicyError) as caught:
        Policy.load(path, check=unfit(table))
    assert [(mistake.line, mistake.key) for mistake in caught.value.mistakes] == [
        *((None, "drop"), (None, "drop")),
        *((1, "quasi"), (3, "publication"), (3, "publication")),
        *((4, "options.growth"), (5, "guarantee.k"), (5, "guarantee.e")),
    ]


def test_what_a_vault_cannot_keep_in_the_same_go(tmp_path):
    path = tmp_path / "policy.toml"
    path.write_text('quasi = ["age", "age"]\nsensitive = "ill"\nguarantee = { beta = 1 }\npartition = "topdwon"\n')
    with pytest.raises(PolicyError) as caught:
        Policy.load(path, check=vault_mistakes)
    assert [mistake.key for mistake in caught.value.mistakes] == [
        *("publication", "quasi", "guarantee", "partition", "partition")
    ]


@pytest.mark.parametrize("options", [{"growth": "insert"}, {"growth": "settle"}, {"growth": "insert", "withheld": 1}])
def test_options_that_a_command_would_ignore(options):
    policy = Policy(quasi=["age"], sensitive="ill", publication="generalization", guarantee={"l": 2}, options=options)
    table = columns(age="integer", ill="string")
    assert found(lambda: policy.fit(table)) == [f"options.{name}" for name in options]
    policy.fit(table, vault=True)
    assert not list(vault_mistakes(policy))
    assert not list(vault_mistakes(Meant.of({"publication": "generalization", "guarantee": {"l": 2}})))
    idle = Policy(
        quasi=["age"], sensitive="ill", publication="generalization", guarantee={"l": 2}, options={"withheld": 0.1}
    )
    assert [mistake.key for mistake in vault_mistakes(idle)] == ["options.withheld"]
    other = Policy(
        quasi=["age"], sensitive="ill", publication="generalization", guarantee={"l": 2}, options={"median": "relaxed"}
    )
    other.fit(table)
    assert [mistake.key for mistake in vault_mistakes(other)] == ["options.median"]
