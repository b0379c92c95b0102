"""A policy cannot be changed in place: by no method of a dictionary or a list, at any depth; and it is still a value."""

import copy
import operator
import pickle
from collections.abc import Mapping

import pytest

from discreet import Policy
from discreet.errors import PolicyError

GIVEN = {
    "quasi": ["age", "job"],
    "sensitive": "ill",
    "identifiers": ["name"],
    "drop": ["notes"],
    "guarantee": {"l": 3, "k": 5},
    "publication": "generalization",
    "partition": "full_domain",
    "hierarchies": {
        "age": {"intervals": [5, 10]},
        "job": {"tree": {"any": {"office": ["clerk", "boss"], "field": ["farmer"]}}},
    },
    "options": {"loss": "ncp", "suppression": 0.1},
}
# What changes a dictionary or a list, by what it is called with; found below, not listed here.
ARGUMENTS = [(), ("l",), ("l", 1), ("m", 1), ({"l": 1},), ([("l", 1)],), (0,), (0, 1), (0, "x"), (["x"],), (2,)]


def parts(value):
    """A value and everything inside it."""
    yield value
    for inner in value.values() if isinstance(value, Mapping) else value if isinstance(value, tuple) else ():
        yield from parts(inner)


def mutators(kind, sample):
    """The methods of a type that change it, each with arguments by which it does."""
    for name in dir(kind):
        method = getattr(kind, name)
        if not callable(method) or name in {"__init__", "__new__", "__class__", "__setattr__", "__delattr__"}:
            continue
        for arguments in ARGUMENTS:
            victim = copy.deepcopy(sample)
            try:
                method(victim, *arguments)
            except Exception:  # noqa: BLE001, S112 - whatever it does not like
                continue
            if victim != sample:
                yield name, arguments


def test_the_mutators_are_found():
    of_a_dict = {name for name, _ in mutators(dict, {"l": 3, "k": 5})}
    assert of_a_dict >= {"__setitem__", "__delitem__", "__ior__", "clear", "pop", "popitem", "update", "setdefault"}
    of_a_list = {name for name, _ in mutators(list, [3, 1, 2])}
    assert of_a_list >= {
        *("__setitem__", "__delitem__", "__iadd__", "__imul__", "append", "clear", "extend", "insert", "pop", "remove"),
        *("reverse", "sort"),
    }


@pytest.mark.parametrize("key", sorted(GIVEN))
def test_no_method_changes_it(key):
    policy, before = Policy(**GIVEN), Policy(**GIVEN)
    for part in parts(getattr(policy, key)):
        for kind, sample in ((dict, {"l": 3, "k": 5}), (list, [3, 1, 2])):
            for name, arguments in mutators(kind, sample):
                with pytest.raises(TypeError):
                    getattr(kind, name)(part, *arguments)
                own = getattr(part, name, None)
                if own is not None and not isinstance(part, str | int | float):
                    with pytest.raises((TypeError, AttributeError)):
                        own(*arguments)
    assert policy == before


def test_an_alias_does_not_change_it_either():
    policy = Policy(**GIVEN)
    weaker = policy.guarantee
    with pytest.raises(TypeError):
        weaker |= {"l": 1}
    with pytest.raises(TypeError):
        operator.ior(policy.options, {"suppression": 1})
    with pytest.raises(TypeError):
        policy.guarantee |= {"l": 1}
    with pytest.raises(TypeError):
        policy.hierarchies["age"]["intervals"][0] = 100
    assert policy == Policy(**GIVEN)
    assert policy.guarantee == {"l": 3, "k": 5}


def test_what_it_was_made_of_does_not_change_it():
    given = copy.deepcopy(GIVEN)
    policy = Policy(**given)
    given["guarantee"]["l"] = 2
    given["quasi"].append("ill")
    given["hierarchies"]["age"]["intervals"].clear()
    given["hierarchies"]["job"]["tree"]["any"]["office"].append("thief")
    given["options"]["suppression"] = 1
    assert policy == Policy(**GIVEN)


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda policy: pickle.loads(pickle.dumps(policy))])  # noqa: S301 - our own bytes
def test_copies_are_the_same_and_as_frozen(again):
    policy = again(Policy(**GIVEN))
    assert policy == Policy(**GIVEN)
    with pytest.raises(TypeError):
        policy.guarantee["l"] = 2


def test_hierarchies_that_never_end():
    endless = {}
    endless["any"] = endless
    with pytest.raises(PolicyError, match="nested too deeply"):
        Policy(**{**GIVEN, "hierarchies": {"age": {"tree": endless}, "job": "jobs.csv"}})
