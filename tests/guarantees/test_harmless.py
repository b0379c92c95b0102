"""Harmless values: found by their type, refused where nothing comes of them, and advice that can be followed."""

import datetime as dt
import re
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from discreet import Policy, Vault, publish
from discreet.errors import GuaranteeError, PolicyError
from discreet.guarantees import gaps, sentences
from discreet.guarantees.harmless import harmless
from discreet.release.harmless import harmless_values
from discreet.values.codes import encode
from discreet.values.columns import exact_in_csv

DAY, ZONED = dt.date(2026, 11, 17), dt.datetime(2026, 11, 17, 12, tzinfo=dt.UTC)
NOON = ZONED.replace(tzinfo=None)
# The values of a column, what a policy writes for the first, and how a manifest tells it.
TYPES = {
    "integer": (pa.array([0, 1, 2]), 0, 0),
    "small integer": (pa.array([0, 1, 2], pa.uint8()), 0, 0),
    "wide integer": (pa.array([Decimal(0), Decimal(1), Decimal(10**30)], pa.decimal128(38, 0)), 0, 0),
    "float": (pa.array([0.0, 0.5, 1.5]), 0, 0.0),
    "single": (pa.array([0.1, 0.5, 1.5], pa.float32()), 0.1, 0.10000000149011612),
    "minus zero": (pa.array([-0.0, 0.5, 1.5]), 0.0, -0.0),
    "decimal": (pa.array([Decimal("0.10"), Decimal("2.00"), Decimal("3.00")]), 0.1, "0.10"),
    "text": (pa.array(["none", "flu", "cold"]), "none", "none"),
    "date": (pa.array([DAY, DAY + dt.timedelta(1), DAY + dt.timedelta(2)]), DAY, "2026-11-17"),
    "timestamp": (pa.array([NOON + dt.timedelta(day) for day in range(3)]), NOON, "2026-11-17 12:00:00.000000"),
    "zoned": (
        pa.array([ZONED + dt.timedelta(day) for day in range(3)], pa.timestamp("us", "UTC")),
        ZONED,
        "2026-11-17 12:00:00.000000Z",
    ),
    "time": (pa.array([dt.time(9, 30), dt.time(10), dt.time(11)]), dt.time(9, 30), "09:30:00.000000"),
    "boolean": (pa.array([False, True]), False, False),
}


def table(values, copies=1):
    return pa.table({"q": list(range(len(values) * copies)), "s": list(values) * copies})


def policy(**keys):
    return Policy(**{"quasi": ["q"], "sensitive": "s", "guarantee": {"l": 2}, **keys})


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_harmless_values_are_found_by_type(kind, form, tmp_path):
    """Published, told in the manifest as it is meant, verified from the files; and refused where it is all there is."""
    values, written, told = TYPES[kind]
    found = harmless([written], encode(pa.chunked_array([values])), "s")
    assert np.count_nonzero(found) == 1
    assert harmless_values([told], values.type).equals(values.take(pa.array([0])))
    if form == "csv" and not exact_in_csv(values.type):
        return
    rows = pa.table(
        {
            "q": range(45),
            "s": values.take(pa.array([0] * 36 + ([1, 2] if len(values) > 2 else [0, 1]) * 4 + [len(values) - 1])),
        }
    )
    asked = policy(harmless=[written], guarantee={"distinct_l": 2})
    if len(values) > 2:
        release = publish(rows, asked, to=tmp_path / "r", format=form, seed=1)
        assert release.promise.harmless == (told,)
        assert release.promise.groups > 1
    with pytest.raises(PolicyError, match="every value of `s` is named, so nothing is left to protect"):
        publish(rows.slice(0, 36), asked, to=tmp_path / "none")


@pytest.mark.parametrize(
    ("values", "named", "message"),
    [
        ([0, 1, 2], "0", "got '0', expected a whole number, like 0: the column holds int64"),
        ([0, 1, 2], 0.0, "got 0.0, expected a whole number"),
        ([0, 1, 2], False, "got False, expected a whole number"),
        ([0.5, 1.5], "0.5", "got '0.5', expected a number"),
        (["0", "1"], 0, 'got 0, expected a text in quotes, like "none": the column holds string'),
        ([True, False], 0, "got 0, expected true or false"),
        ([DAY], "2026-11-17", "expected a date without quotes, like 2026-11-30"),
        ([DAY], NOON, "expected a date without quotes"),
        ([NOON], DAY, "expected a date and time without quotes"),
        ([NOON], ZONED, "expected a time without a zone"),
        ([0, 10, 20], 9, "no row has 9 in `s`; did you mean 10?"),
        ([0.5, 1.5], 0.6, "no row has 0.6 in `s`; did you mean 0.5?"),
        ([Decimal("0.10")], 0.2, "no row has 0.2 in `s`; did you mean Decimal('0.10')?"),
        ([0, 1], 10**30, "in `s`; did you mean 1?"),
        (["none", "flu"], "None", "no row has 'None' in `s`; did you mean 'none'?"),
        (["none", "flu"], "xyz", "no row has 'xyz' in `s`; write it as it stands in the table"),
        ([DAY], dt.date(2026, 11, 20), "did you mean datetime.date(2026, 11, 17)?"),
    ],
)
def test_values_that_the_column_does_not_have(values, named, message, tmp_path):
    with pytest.raises(PolicyError) as caught:
        publish(table(values, 12), policy(harmless=[named]), to=tmp_path / "r")
    assert message in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_a_value_that_few_hold_is_not_told(tmp_path):
    with pytest.raises(PolicyError) as caught:
        publish(table(["influenza", "flu"], 9), policy(harmless=["influensa"]), to=tmp_path / "r")
    assert "no row has 'influensa' in `s`; write it as it stands in the table" in str(caught.value)


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"harmless": 0}, 'expected a list of values, like [0] or ["none"], got 0'),
        ({"harmless": "none"}, "expected a list of values"),
        ({"harmless": [None]}, "expected values of the sensitive column, got None"),
        ({"harmless": [[0]]}, "expected values of the sensitive column, got [0]"),
        ({"harmless": [float("nan")]}, "expected values of the sensitive column, got nan"),
        ({"harmless": [0, 0]}, "0 stands twice"),
        ({"harmless": [0], "guarantee": {"k": 5}}, "`k` would promise the same without it; leave it out, or promise `l`"),
        ({"harmless": [0], "guarantee": {"beta": 1}}, "`beta` would promise the same without it"),
        ({"harmless": [0], "publication": "swap", "guarantee": {"k": 2, "e": 1}}, "`swap` protects every value alike"),
        (
            {"harmless": [0], "publication": "join", "join": "i", "identifiers": ["i"], "guarantee": {"k": 2, "l": 2}},
            "`join` protects every value alike; leave `harmless` out, or use `anatomy`",
        ),
        (
            {"harmless": [0], "publication": "full_permutation", "sensitive": None, "guarantee": {"k": 2}},
            "there is no `sensitive` column",
        ),
        ({"harmless": [0], "partition": "full_domain"}, "`full_domain` refuses cuts by what rows hold"),
        ({"harmless": [0], "partition": "mondrian", "options": {"cuts": "fitted"}}, "`mondrian` refuses cuts by what rows hold"),
        ({"harmless": [0], "person": "p"}, "with `person`, every value is protected alike"),
        ({"harmles": [0]}, "did you mean `harmless`?"),
    ],
)  # fmt: skip
def test_what_a_policy_refuses(keys, message, tmp_path):
    given = {"quasi": ["q"], "sensitive": "s", "guarantee": {"l": 2}, **keys}
    if "harmles" in keys:
        (tmp_path / "p.toml").write_text('quasi = ["q"]\nsensitive = "s"\nharmles = [0]\nguarantee = { l = 2 }\n')
        with pytest.raises(PolicyError) as caught:
            Policy.load(tmp_path / "p.toml")
    else:
        with pytest.raises(PolicyError) as caught:
            Policy(**given)
    assert message in str(caught.value)


def test_a_policy_file_names_values_of_any_type(tmp_path):
    path = tmp_path / "p.toml"
    path.write_text('quasi = ["q"]\nsensitive = "s"\nharmless = [0, "none", 2026-11-17]\nguarantee = { l = 2 }\n')
    assert Policy.load(path).harmless == (0, "none", DAY)


def test_a_vault_refuses_it_by_name(tmp_path):
    with pytest.raises(PolicyError, match="a vault protects every value alike; leave it out"):
        Vault.create(tmp_path / "vault", policy(publication="generalization", partition="topdown", harmless=[0]))


@pytest.mark.parametrize(
    ("values", "keys", "message", "hint"),
    [
        (
            [0] * 94 + list(range(1, 7)),
            {},
            "the value 0 of `s` is held by 94 of 100 rows (94.0%), and at most 1/2 may share a value; no l works",
            "if people who hold 0 need no protection, name it in `harmless`: then the largest l that works is 6; or",
        ),
        (
            [0] * 20 + [1, 2, 3, 4] * 20,
            {"guarantee": {"l": 6}},
            "the largest that works is 5",
            "set l = 5; or split the frequent value",
        ),
        (
            [0] * 50 + [1, 2, 3] * 20,
            {"guarantee": {"l": 3}},
            "the largest that works is 2",
            "set l = 2; or if people who hold 0 need no protection, name it in `harmless`: then the largest l that works",
        ),
        (
            [0] * 50 + [1] * 10 + [2] * 30,
            {"harmless": [0]},
            "held by 30 of 40 rows (75.0%), and at most 1/2 may share a value, without the harmless values; no l works",
            "name fewer values `harmless`",
        ),
        (
            [0, 1, 2, 3] * 5,
            {"guarantee": {"distinct_l": 4}, "harmless": [0]},
            "distinct_l = 4 cannot be met: `s` has 3 distinct values, without the harmless values; the largest that works is 3",
            "set distinct_l = 3; or name fewer values `harmless`",
        ),
        (
            [0, 10, 14] * 5,
            {"guarantee": {"k": 2, "e": 9}, "harmless": [0]},
            "e = 9 cannot be met: the values of `s` span a range of 4, without the harmless values; the largest that works is 4",
            "set e = 4; or name fewer",
        ),
        ([7] * 9, {"guarantee": {"distinct_l": 2}}, "`s` has 1 distinct value; no distinct_l works", "leave `s` out"),
        ([1, 2], {"guarantee": {"k": 3}}, "the largest that works is 2", "set k = 2; or publish more rows"),
    ],
)  # fmt: skip
def test_advice_that_can_be_followed(values, keys, message, hint, tmp_path):
    rows = pa.table({"q": range(len(values)), "s": values})
    with pytest.raises(GuaranteeError) as caught:
        publish(rows, policy(**keys), to=tmp_path / "r")
    assert message in caught.value.message
    assert hint in caught.value.hint
    if advised := re.search(r"set (\w+) = (\d+)", caught.value.hint):
        keys = {**keys, "guarantee": {**policy(**keys).guarantee, advised[1]: int(advised[2])}}
    elif advised := re.search(r"the largest l that works is (\d+)", caught.value.hint):
        keys = {"harmless": [0], "guarantee": {"l": int(advised[1])}}
    if advised:
        publish(rows, policy(**keys), to=tmp_path / "as advised", seed=1)


def test_in_words():
    assert sentences({"l": 3, "k": 7}, '0 or "none"') == [
        'of those who do not hold 0 or "none": in every group, no sensitive value is held by more than 1 in 3 people',
        "every person shares a group with at least 6 others",
    ]
    assert gaps({"l": 3}, "0") == ["that nobody learns whether a person holds 0, or not"]


def test_what_looks_alike_is_judged_without_harmless_rows(tmp_path):
    """Twenty of 26 hold "none": counted like the others, they would break the promise, alike or not."""
    rows = pa.table({"q": range(26), "s": ["none"] * 20 + ["Flu", "a", "b", "c", "d", "flu"]})
    asked = policy(partition="deal", harmless=["none"], accept={"lookalikes.s": "a test"})
    [warned] = publish(rows, asked, to=tmp_path / "r", seed=1).warnings
    assert "if they mean the same, the promise still holds" in str(warned)
