"""A policy: frozen, the same from Python and TOML, and every mistake in it named at once."""

import copy
import dataclasses
import pickle
from collections import OrderedDict
from types import MappingProxyType

import pyarrow as pa
import pytest

from discreet import Policy
from discreet.errors import DiscreetError, InputError, PolicyError
from discreet.partition import PARTITIONS
from discreet.values.columns import Column

PLAIN = {"quasi": ["age", "zip"], "sensitive": "ill", "guarantee": {"l": 3}}


@pytest.fixture
def load(tmp_path):
    def write_and_load(text):
        path = tmp_path / "policy.toml"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return Policy.load(path)

    return write_and_load


def mistakes(act):
    """The mistakes that an act raises, as (line, key, message)."""
    with pytest.raises(PolicyError) as caught:
        act()
    assert all(str(mistake) in str(caught.value) for mistake in caught.value.mistakes)
    return [(mistake.line, mistake.key, mistake.message) for mistake in caught.value.mistakes]


SOUND = """
name        = "patients"
identifiers = ["name"]
quasi       = ["age", "zip"]
sensitive   = "ill"
drop        = ["notes"]
partition   = "deal"
publication = "anatomy"
missing_sensitive = "withhold"

[guarantee]
l = 3
k = 5
"""


KEYS = (
    "name",
    "identifiers",
    "person",
    "quasi",
    "sensitive",
    "drop",
    "guarantee",
    "partition",
    "publication",
    "missing_sensitive",
    "hierarchies",
    "ordered",
    "options",
    "join",
    "together",
    "accept",
    "harmless",
    "csv",
    "excel",
    "about",
)
UNKNOWN = "is not a key of a policy; expected one of: " + ", ".join(f"`{key}`" for key in KEYS)


def test_python_and_toml_say_the_same(load):
    assert load(SOUND) == Policy(
        name="patients",
        identifiers=["name"],
        quasi=["age", "zip"],
        sensitive="ill",
        drop=["notes"],
        partition="deal",
        publication="anatomy",
        missing_sensitive="withhold",
        guarantee={"l": 3, "k": 5},
    )


def test_what_is_left_out(load):
    policy = load('quasi = ["age", "zip"]\nsensitive = "ill"\nguarantee = { l = 3 }\n')
    assert policy == Policy(**PLAIN)
    assert (policy.identifiers, policy.drop, policy.name) == ((), (), None)
    assert (policy.partition, policy.grouping, policy.publication) == ("auto", "local", "anatomy")
    assert policy.missing_sensitive == "error"


@pytest.mark.parametrize(
    "guarantee",
    [
        "guarantee = { l = 3, k = 5 }",
        "guarantee.l = 3\nguarantee.k = 5",
        "[guarantee]\nl = 3\nk = 5",
        '"guarantee"."l" = 3\nguarantee.k = 5',
    ],
    ids=["inline", "dotted", "table", "quoted"],
)
def test_ways_to_write_a_guarantee(load, guarantee):
    assert load(f'quasi = ["age"]\nsensitive = "ill"\n{guarantee}\n').guarantee == {"l": 3, "k": 5}


def test_lists_may_be_lists_or_tuples():
    assert Policy(**{**PLAIN, "quasi": ("age", "zip")}) == Policy(**PLAIN)
    assert Policy(**{**PLAIN, "guarantee": OrderedDict(l=3)}).guarantee == {"l": 3}
    assert Policy(**{**PLAIN, "guarantee": MappingProxyType({"l": 3})}).guarantee == {"l": 3}


def test_every_mistake_at_once_with_its_line(load):
    text = """
name = ""
identifier = ["name"]
quasi = ["age", "zip", "age"]
sensitive = "zip"
drop = "others"
partition = "anatomise"
publication = "anatomi"
missing_sensitive = "widthhold"
seed = 4

[guarantee]
l = 1
k = "three"
distinct = 3
"""
    assert mistakes(lambda: load(text)) == [
        (2, "name", "expected a text, got ''"),
        (3, "identifier", "is not a key of a policy; did you mean `identifiers`?"),
        (4, "quasi", "the column `age` stands twice"),
        (5, "sensitive", "the column `zip` stands in `quasi` too; a column has one role"),
        (6, "drop", "expected a list of column names or \"rest\", got 'others'"),
        (7, "partition", "got 'anatomise'; did you mean `anatomize`?"),
        (8, "publication", "got 'anatomi'; did you mean `anatomy`?"),
        (9, "missing_sensitive", "got 'widthhold'; did you mean `withhold`?"),
        (10, "seed", UNKNOWN),
        (13, "guarantee.l", "expected 2 or more, got 1: a smaller number promises nothing"),
        (14, "guarantee.k", "expected a whole number, got 'three'"),
        (15, "guarantee.distinct", "is not a guarantee; did you mean `distinct_l`?"),
    ]


def test_the_message_has_the_file_and_the_count(load, tmp_path):
    with pytest.raises(PolicyError) as caught:
        load('quasi = ["age"]\nsensitive = "age"\nguarantee = { l = 1 }\n')
    first, *rest = str(caught.value).splitlines()
    assert first == f"`{tmp_path / 'policy.toml'}` has 2 mistakes:"
    assert rest == [
        "  line 2, `sensitive`: the column `age` stands in `quasi` too; a column has one role",
        "  line 3, `guarantee.l`: expected 2 or more, got 1: a smaller number promises nothing",
    ]


def test_the_same_mistakes_in_python():
    wrong = {
        "name": "",
        "quasi": ["age", "zip", "age"],
        "sensitive": "zip",
        "drop": "others",
        "partition": "anatomise",
        "missing_sensitive": "widthhold",
        "guarantee": {"l": 1, "k": "three", "distinct": 3},
    }
    found = mistakes(lambda: Policy(**wrong))
    assert {key for _, key, _ in found} == {
        *("name", "quasi", "sensitive", "drop", "partition", "missing_sensitive"),
        *("guarantee.l", "guarantee.k", "guarantee.distinct"),
    }
    assert {line for line, _, _ in found} == {None}
    assert len(found) == 9


def test_a_misspelt_keyword_in_python_is_named():
    with pytest.raises(TypeError, match="sensitiv'"):
        Policy(**PLAIN, sensitiv="ill")
    with pytest.raises(TypeError, match="'quasi' and 'guarantee'"):
        Policy(sensitive="ill")


@pytest.mark.parametrize(
    ("values", "key", "message"),
    [
        ({"quasi": "age"}, "quasi", "expected a list of column names, got 'age'"),
        ({"quasi": []}, "quasi", "expected at least one column, got none"),
        ({"quasi": [""]}, "quasi", "expected a list of column names, got ['']"),
        ({"quasi": [1]}, "quasi", "expected a list of column names, got [1]"),
        ({"quasi": {"age"}}, "quasi", "expected a list of column names, got {'age'}"),
        ({"quasi": list(range(99))}, "quasi", "expected a list of column names, got a list"),
        ({"identifiers": "name"}, "identifiers", "expected a list of column names, got 'name'"),
        ({"drop": "Rest"}, "drop", "expected a list of column names or \"rest\", got 'Rest'"),
        ({"sensitive": ["ill"]}, "sensitive", "expected a text, got ['ill']"),
        ({"sensitive": ""}, "sensitive", "expected a text, got ''"),
        ({"name": 3}, "name", "expected a text, got 3"),
        ({"partition": ["deal"]}, "partition", "got ['deal']; did you mean `deal`?"),
        (
            {"partition": "x"},
            "partition",
            f"got 'x'; expected one of: `auto`, {', '.join(f'`{p}`' for p in PARTITIONS)}",
        ),
        ({"guarantee": {}}, "guarantee", "expected a table like { l = 4 }, got {}"),
        ({"guarantee": 4}, "guarantee", "expected a table like { l = 4 }, got 4"),
        ({"guarantee": [("l", 4)]}, "guarantee", "expected a table like { l = 4 }, got [('l', 4)]"),
        ({"guarantee": {"l": 2.0}}, "guarantee.l", "expected a whole number, got 2.0"),
        ({"guarantee": {"l": True}}, "guarantee.l", "expected a whole number, got True"),
        ({"guarantee": {"l": None}}, "guarantee.l", "expected a whole number, got None"),
        ({"guarantee": {"k": 1}}, "guarantee.k", "expected 2 or more, got 1: a smaller number promises nothing"),
        (
            {"guarantee": {"distinct_l": 0}},
            "guarantee.distinct_l",
            "expected 2 or more, got 0: a smaller number promises nothing",
        ),
        ({"guarantee": {"L": 4}}, "guarantee.L", "is not a guarantee; did you mean `l`?"),
        (
            {"guarantee": {"t": 4}},
            "guarantee.t",
            "is not a guarantee; expected one of: `k`, `l`, `distinct_l`, `e`, `beta`, `enhanced_beta`",
        ),
        ({"identifiers": ["ill"]}, "sensitive", "the column `ill` stands in `identifiers` too; a column has one role"),
        ({"drop": ["age"]}, "drop", "the column `age` stands in `quasi` too; a column has one role"),
    ],
)
def test_each_mistake(values, key, message):
    assert mistakes(lambda: Policy(**{**PLAIN, **values})) == [(None, key, message)]


@pytest.mark.parametrize(
    "key", ["identifiers", "drop", "partition", "publication", "missing_sensitive", "quasi", "sensitive", "guarantee"]
)
def test_none_is_no_value(key):
    """A key that is set to None must not switch its check off."""
    with pytest.raises(PolicyError, match=f"`{key}`"):
        Policy(**{**PLAIN, key: None})


@pytest.mark.parametrize("name", [1, None, ("l",)])
def test_guarantees_whose_name_is_no_text(name):
    with pytest.raises(PolicyError, match="is not a guarantee"):
        Policy(**{**PLAIN, "guarantee": {name: 3}})


@pytest.mark.parametrize(
    ("guarantee", "message"),
    [
        ({"k": 5}, "`anatomize` needs the guarantee `l`; add it, or use `deal` or `local`"),
        (
            {"l": 5, "k": 20},
            "`anatomize` makes groups of l = 5 rows, too few for the other promises; use `deal` or `local`",
        ),
        (
            {"l": 5, "distinct_l": 6},
            "`anatomize` makes groups of l = 5 rows, too few for the other promises; use `deal` or `local`",
        ),
    ],
)
def test_combinations_that_make_no_sense(load, guarantee, message):
    assert mistakes(lambda: Policy(**{**PLAIN, "guarantee": guarantee, "partition": "anatomize"})) == [
        (None, "partition", message)
    ]
    promised = ", ".join(f"{name} = {threshold}" for name, threshold in guarantee.items())
    text = f'quasi = ["age"]\nsensitive = "ill"\nguarantee = {{ {promised} }}\npartition = "anatomize"\n'
    assert mistakes(lambda: load(text)) == [(4, "partition", message)]


BY_RANGE = [name for name, way in PARTITIONS.items() if way.keeps and "e" in way.keeps]


@pytest.mark.parametrize(("text", "e"), [("100", 100), ("0.5", 0.5), ("0", 0), ("1e3", 1000.0), ("2_000", 2000)])
def test_ranges_in_toml(load, text, e):
    policy = load(f"""
quasi = ["age", "zip"]
sensitive = "pay"
publication = "permutation"

[guarantee]
k = 3
e = {text}
""")
    assert policy == Policy(
        quasi=["age", "zip"], sensitive="pay", publication="permutation", guarantee={"k": 3, "e": e}
    )
    assert type(policy.guarantee["e"]) is type(e)
    assert policy.grouping == "min_sum"


@pytest.mark.parametrize("publication", ["anatomy", "permutation"])
def test_auto_is_tightest_where_ranges_are_promised_alone(publication):
    plain = {**PLAIN, "publication": publication}
    assert Policy(**{**plain, "guarantee": {"k": 3, "e": 5}}).grouping == "min_sum"
    assert Policy(**{**plain, "guarantee": {"k": 3}}).grouping == "local"
    assert Policy(**{**plain, "guarantee": {"k": 3, "e": 5, "l": 2}}).grouping == "local"


@pytest.mark.parametrize(
    ("guarantee", "key", "message"),
    [
        ({"k": 1, "e": 5}, "guarantee.k", "expected 2 or more, got 1: a smaller number promises nothing"),
        ({"k": 3, "e": -1}, "guarantee.e", "expected 0 or more, got -1: a smaller number promises nothing"),
        ({"k": 3, "e": -1e-9}, "guarantee.e", "expected 0 or more, got -1e-09: a smaller number promises nothing"),
        ({"k": 3, "e": float("nan")}, "guarantee.e", "expected a number, got nan"),
        ({"k": 3, "e": float("inf")}, "guarantee.e", "expected a number, got inf"),
        ({"k": 3, "e": float("-inf")}, "guarantee.e", "expected a number, got -inf"),
        ({"k": 3, "e": "100"}, "guarantee.e", "expected a number, got '100'"),
        ({"k": 3, "e": True}, "guarantee.e", "expected a number, got True"),
        ({"k": 3, "e": None}, "guarantee.e", "expected a number, got None"),
        ({"k": 3, "e": [5]}, "guarantee.e", "expected a number, got [5]"),
        ({"k": 3.0, "e": 5}, "guarantee.k", "expected a whole number, got 3.0"),
        ({"k": 3, "E": 5}, "guarantee.E", "is not a guarantee; did you mean `e`?"),
        ({"e": 5}, "guarantee.e", "is promised together with k, the number of distinct values; add it"),
    ],
    ids=str,
)
def test_each_mistake_about_ranges(guarantee, key, message):
    """Told once, whatever way the release is made."""
    for more in ({}, {"publication": "permutation"}, {"partition": "local"}):
        assert mistakes(lambda more=more: Policy(**{**PLAIN, "guarantee": guarantee, **more})) == [(None, key, message)]


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("nan", 5, "expected a number, got nan"),
        ("-inf", 5, "expected a number, got -inf"),
        ('"100"', 5, "expected a number, got '100'"),
        ("true", 5, "expected a number, got True"),
        ("-0.5", 5, "expected 0 or more, got -0.5: a smaller number promises nothing"),
    ],
)
def test_mistakes_about_ranges_have_their_line(load, text, line, message):
    written = f'quasi = ["age"]\nsensitive = "ill"\n[guarantee]\nk = 3\ne = {text}\n'
    assert mistakes(lambda: load(written)) == [(line, "guarantee.e", message)]


def test_missing_values_have_no_place_in_a_range(load):
    message = 'a missing value has no place in a range; use "withhold" or leave e out'
    wrong = {**PLAIN, "guarantee": {"k": 3, "e": 5}, "missing_sensitive": "value"}
    assert mistakes(lambda: Policy(**wrong)) == [(None, "missing_sensitive", message)]
    text = 'quasi = ["age"]\nsensitive = "ill"\nmissing_sensitive = "value"\nguarantee = { k = 3, e = 5 }\n'
    assert mistakes(lambda: load(text)) == [(3, "missing_sensitive", message)]
    for right in ("error", "withhold"):
        Policy(**{**wrong, "missing_sensitive": right})


@pytest.mark.parametrize("partition", BY_RANGE)
def test_partitions_that_know_only_ranges(load, partition):
    needs = f"`{partition}` needs the guarantee `e`; add it, or use `deal` or `local`"
    cannot = f"`{partition}` cannot keep the promise `{{}}`; use `deal` or `local`"
    for guarantee, messages in (
        ({"k": 3}, [needs]),
        ({"l": 3}, [needs, cannot.format("l")]),
        ({"k": 3, "e": 5, "l": 2}, [cannot.format("l")]),
        ({"k": 3, "e": 5, "distinct_l": 2}, [cannot.format("distinct_l")]),
        ({"k": 3, "e": 5}, []),
    ):
        given = {**PLAIN, "guarantee": guarantee, "partition": partition}
        expected = [(None, "partition", message) for message in messages]
        assert (mistakes(lambda given=given: Policy(**given)) if messages else Policy(**given) and []) == expected
    text = f'quasi = ["age"]\nsensitive = "ill"\npartition = "{partition}"\nguarantee = {{ k = 3 }}\n'
    assert mistakes(lambda: load(text)) == [(3, "partition", needs)]


def test_anatomize_knows_no_ranges():
    found = mistakes(lambda: Policy(**{**PLAIN, "guarantee": {"l": 5, "k": 3, "e": 2}, "partition": "anatomize"}))
    assert (None, "partition", "`anatomize` cannot keep the promise `e`; use `deal` or `local`") in found


@pytest.mark.parametrize("kind", ["integer", "float", "decimal", "date", "timestamp"])
def test_ranges_and_permutations_fit_what_has_an_order(kind):
    for publication in ("anatomy", "permutation"):
        policy = Policy(**{**PLAIN, "guarantee": {"k": 3, "e": 5}, "publication": publication})
        policy.fit(columns(age="integer", zip="string", ill=kind))


@pytest.mark.parametrize("kind", ["string", "boolean", "time"])
def test_ranges_and_permutations_do_not_fit_the_rest(kind):
    fitted = columns(age="integer", zip="string", ill=kind)
    permuted = f"`permutation` needs numbers or dates, but `ill` holds {TYPES[kind]}; use `anatomy`"
    ranged = f"a range needs numbers or dates, but `ill` holds {TYPES[kind]}; use `l` or `distinct_l`"
    for more, expected in (
        ({"publication": "permutation"}, [(None, "publication", permuted)]),
        ({"guarantee": {"k": 3, "e": 5}}, [(None, "guarantee.e", ranged)]),
        (
            {"publication": "permutation", "guarantee": {"k": 3, "e": 5}},
            [(None, "publication", permuted), (None, "guarantee.e", ranged)],
        ),
    ):
        policy = Policy(**{**PLAIN, **more})
        assert mistakes(lambda policy=policy: policy.fit(fitted)) == expected


def test_combinations_that_make_sense():
    for guarantee in ({"l": 5}, {"l": 5, "k": 5}, {"l": 5, "distinct_l": 4}):
        Policy(**{**PLAIN, "guarantee": guarantee, "partition": "anatomize"})


def test_frozen():
    policy = Policy(**PLAIN, drop=["x"])
    for field in dataclasses.fields(policy):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(policy, field.name, "other")
    for value in (policy.quasi, policy.identifiers, policy.drop):
        assert isinstance(value, tuple)


def test_the_guarantee_is_frozen_too():
    """A threshold that is changed after the check would promise what nobody checked."""
    given = {"l": 3}
    policy = Policy(**{**PLAIN, "guarantee": given})
    given["l"] = 1
    assert policy.guarantee == {"l": 3}
    with pytest.raises(TypeError):
        policy.guarantee["l"] = 1
    assert policy.guarantee == {"l": 3}


def test_policies_are_values():
    policy = Policy(**PLAIN)
    assert policy == Policy(**PLAIN) != Policy(**{**PLAIN, "guarantee": {"l": 4}})
    assert copy.deepcopy(policy) == policy == pickle.loads(pickle.dumps(policy))  # noqa: S301 - our own bytes


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('quasi = ["age"\nsensitive = "ill"\n', 2),
        ('quasi = ["age"]\nsensitive = ill\n', 2),
        ('quasi = ["age"]\nquasi = ["zip"]\n', 2),
        ("\n\nl == 3\n", 3),
        ("guarantee = { l = 3,\n k = 3 }\n", 1),
    ],
)
def test_toml_syntax(load, text, line):
    [(at, key, _)] = mistakes(lambda: load(text))
    assert (at, key) == (line, "TOML")


def test_lines_of_an_inline_table(load):
    text = 'quasi = ["age"]\nsensitive = "ill"\nguarantee = { l = 1, kk = 3 } # k = 4\n'
    assert [(line, key) for line, key, _ in mistakes(lambda: load(text))] == [(3, "guarantee.l"), (3, "guarantee.kk")]


def test_lines_of_a_table_with_spaces_and_quotes(load):
    text = 'quasi = ["age"]\nsensitive = "ill"\n[ guarantee ]\n  l = 1\n  "q q" = 2\n'
    assert [(line, key) for line, key, _ in mistakes(lambda: load(text))] == [(4, "guarantee.l"), (5, "guarantee.q q")]


def test_lines_after_a_list_of_several_lines(load):
    text = 'quasi = [\n  "age",\n  "age",\n]\nsensitive = "ill"\r\nguarantee = { l = 3 }\nnam = "x"\n'
    assert [(line, key) for line, key, _ in mistakes(lambda: load(text))] == [(1, "quasi"), (7, "nam")]


def test_missing_keys_have_no_line(load):
    assert [(line, key, text.partition(":")[0]) for line, key, text in mistakes(lambda: load(""))] == [
        (None, key, "is missing") for key in ("quasi", "sensitive", "guarantee")
    ]
    assert mistakes(lambda: load("[policy]\nname = 'x'\n"))[-1][:2] == (1, "policy")


def test_capitals_are_not_forgiven(load):
    found = mistakes(lambda: load('Quasi = ["age"]\nSENSITIVE = "ill"\n[guarantee]\nL = 3\n'))
    assert [message for line, _, message in found if line] == [
        "is not a key of a policy; did you mean `quasi`?",
        "is not a key of a policy; did you mean `sensitive`?",
        "is not a guarantee; did you mean `l`?",
    ]


@pytest.mark.parametrize("text", [b'quasi = ["\xff"]\n', 'quasi = ["é"]\n'.encode("latin-1"), SOUND.encode("utf-16")])
def test_not_utf_8(load, text):
    with pytest.raises(InputError, match=r"policy\.toml` cannot be read.*(UTF-8|Unicode)"):
        load(text)


def test_a_byte_order_mark_is_forgiven(load):
    """Some editors write one; tomllib alone calls it an invalid statement."""
    assert load("\ufeff" + SOUND) == load(SOUND)


def test_no_such_file(tmp_path):
    with pytest.raises(InputError, match="there is no policy file"):
        Policy.load(tmp_path / "nothing.toml")
    for place in (tmp_path, tmp_path / ("x" * 300), tmp_path / "a\0b"):
        with pytest.raises(InputError):
            Policy.load(place)


def test_a_file_that_nests_too_deep(load):
    with pytest.raises(DiscreetError):
        load("x = " + "[" * 5_000 + "]" * 5_000)


TYPES = {
    "integer": pa.int64(),
    "float": pa.float64(),
    "decimal": pa.decimal128(5, 2),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us"),
    "time": pa.time64("us"),
    "boolean": pa.bool_(),
    "string": pa.string(),
    None: pa.binary(),
}


def columns(**kinds):
    return [Column(name, TYPES[kind]) for name, kind in kinds.items()]


def test_everything_that_does_not_fit_the_table():
    policy = Policy(quasi=["agee", "photo"], sensitive="il", guarantee={"l": 3}, identifiers=["nam"], drop=["nothing"])
    found = mistakes(lambda: policy.fit(columns(name="string", age="integer", ill="string", photo=None)))
    assert [(key, message.split(";")[0]) for _, key, message in found] == [
        ("identifiers", "the table has no column `nam`"),
        ("quasi", "the table has no column `agee`"),
        ("sensitive", "the table has no column `il`"),
        ("drop", "the table has no column `nothing`"),
        ("drop", "the column `name` has no role"),
        ("drop", "the column `age` has no role"),
        ("drop", "the column `ill` has no role"),
        ("quasi", "the column `photo` has the type binary, which cannot be published"),
    ]
    assert [message.split("; ")[1] for _, _, message in found[:3]] == [
        "did you mean `name`?",
        "did you mean `age`?",
        "did you mean `ill`?",
    ]


def test_the_rest_can_be_dropped():
    Policy(**PLAIN, drop="rest").fit(columns(name="string", age="integer", zip="string", ill="string", photo=None))
    with pytest.raises(PolicyError, match="the column `photo` has no role"):
        Policy(**PLAIN).fit(columns(age="integer", zip="string", ill="string", photo=None))


def test_a_key_below_the_wrong_header_is_sent_above_it():
    with pytest.raises(PolicyError, match=r"`csv.accept`: is not a key of `csv`; .*write the line above `\[csv\]`"):
        Policy(quasi=["age"], sensitive="pay", guarantee={"l": 2}, csv={"accept": {"looks": "why"}})
