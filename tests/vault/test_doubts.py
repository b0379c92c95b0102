"""A vault looks at what it is about to release as `publish` does: it warns and refuses in the same words."""

from __future__ import annotations

import json
import warnings
from unittest import mock

import numpy as np
import pyarrow as pa
import pytest

from discreet import Policy, Vault, publish
from discreet.errors import DiscreetWarning, PolicyError, ReleaseError, UnacceptedError
from discreet.vault.store.kept import Members, packed_rows, unpacked_rows
from vault.steward import dump, inspect

QUASI = ("age", "code")
PLAIN = {"quasi": list(QUASI), "sensitive": "ill", "publication": "generalization", "guarantee": {"l": 2}}
LOOKS = {"looks": "nobody lives here"}


def table(rows=2_000, *, code=None, ills=tuple("abcdefghijklmnopqrst"), start=0, **more):
    """People whose illness depends on nothing, unless `code` tells it; some ages are missing."""
    chance = np.random.default_rng([7, start])
    ill = np.array(ills)[chance.integers(0, len(ills), rows)]
    plain = {
        "age": pa.array(chance.integers(0, 90, rows), mask=chance.random(rows) < 0.02),
        "code": chance.choice(list("uvwxyz"), rows) if code is None else code(ill),
        "ill": ill,
        "name": [f"{start + i}" for i in range(rows)],
        "house": [f"a|b\\{i % 900}" for i in range(rows)],
    }
    return pa.table({**plain, **more})


def released(place, rows, *, strict=False, **changes):
    """What a vault warns of at its first release; raises what it refuses."""
    with Vault.create(place / "vault", Policy(**{**PLAIN, "drop": "rest", "accept": LOOKS, **changes})) as vault:
        vault.append(rows)
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always", DiscreetWarning)
            release = vault.release(place / "release", strict=strict)
        assert [str(each.message) for each in said] == [str(each) for each in release.warnings if not each.reason]
        return [each for each in release.warnings if each.name != "looks"]


def published(place, rows, **changes):
    """What `publish` says of the same rows."""
    policy = Policy(**{**PLAIN, "drop": "rest", "partition": "mondrian", "accept": LOOKS, **changes})
    try:
        return publish(rows, policy, to=place / "published", seed=1).warnings
    except UnacceptedError as error:
        return error.warnings


def told(ill):
    return np.where(np.char.less(ill, "f"), np.char.upper(ill), "other")


TELLING = table(code=told)
SPELLED = table(ills=("flu", "Flu", "gout", "pox", "ague", "rash", "cough", "fever"))


@pytest.mark.parametrize(
    ("rows", "changes", "name"),
    [
        (TELLING, {}, "tells.code"),
        (SPELLED, {}, "lookalikes.ill"),
        (table(), {"guarantee": {"l": 16}}, "near_limit"),
    ],
    ids=lambda of: of if isinstance(of, str) else "",
)
def test_a_vault_warns_as_publish_does(tmp_path, rows, changes, name):
    found = released(tmp_path, rows, **changes)
    assert [each.name for each in found] == [name]
    same = {each.name: each for each in published(tmp_path, rows, **changes)}
    if name != "lookalikes.ill":  # which counts groups, and these are others
        assert str(same[name]) == str(found[0])
    assert name in same


@pytest.mark.parametrize(
    ("rows", "changes", "name"),
    [
        (table(code=np.char.upper), {}, "tells.code"),
        (table(), {"identifiers": ["name", "house"]}, "repeats.house"),
    ],
    ids=["tells", "repeats"],
)
def test_a_vault_refuses_as_publish_does_and_stays_as_it_was(tmp_path, rows, changes, name):
    policy = Policy(**{**PLAIN, "drop": "rest", "accept": LOOKS, **changes})
    with Vault.create(tmp_path / "vault", policy) as vault:
        vault.append(rows)
        before = dump(tmp_path / "vault")
        with pytest.raises(UnacceptedError, match=f"discreet vault accept .*vault {name} --reason") as refused:
            vault.release(tmp_path / "release")
        (warning,) = refused.value.warnings
        same = {each.name: str(each) for each in published(tmp_path, rows, **changes)}
        assert same[name] == str(warning)
        assert dump(tmp_path / "vault") == before
        assert {path.name for path in tmp_path.iterdir()} <= {"vault", "published"}
        vault.accept(name, "they said so themselves")
        accepted = {each.name: each.reason for each in vault.release(tmp_path / "release", strict=True).warnings}
        assert accepted == {**LOOKS, name: "they said so themselves"}
    inspect(tmp_path / "vault")
    with Vault.open(tmp_path / "vault") as vault:  # and so it is for all releases to come
        vault.append(rows.set_column(3, "name", [[f"more {i}" for i in range(len(rows))]]))
        vault.release(tmp_path / "next", strict=True)
    for folder in ("release", "next"):
        files = [path for path in (tmp_path / folder).iterdir() if path.is_file()]
        assert not any(
            b"said so themselves" in path.read_bytes() or name.encode() in path.read_bytes() for path in files
        )
        assert "warnings" not in json.loads((tmp_path / folder / "datapackage.json").read_text())["discreet"]


def test_strict_makes_warnings_errors(tmp_path):
    with pytest.raises(UnacceptedError, match=r"tells\.code"):
        released(tmp_path, TELLING, strict=True)
    with pytest.raises(UnacceptedError, match="a vault looks at sensitive values"):
        Vault.create(tmp_path / "other", Policy(**{**PLAIN, "guarantee": {"l": 4}}), strict=True)
    assert not (tmp_path / "other").exists()


def test_all_rows_are_looked_at_and_not_only_the_new_ones(tmp_path):
    """Among few rows nothing tells; with those of before it does."""
    rows = table(240, code=told)
    with Vault.create(tmp_path / "vault", Policy(**{**PLAIN, "drop": "rest", "accept": LOOKS})) as vault:
        vault.append(rows.slice(0, 80))
        assert [each.name for each in vault.release(tmp_path / "1").warnings] == ["looks"]
        vault.append(rows.slice(80))
        with pytest.warns(DiscreetWarning, match=r"tells\.code"):
            vault.release(tmp_path / "2")


@pytest.mark.parametrize(
    ("guarantee", "found"), [({"l": 10}, []), ({"l": 9}, ["looks"]), ({"distinct_l": 4}, ["looks"])]
)
def test_a_vault_says_when_it_is_made_that_it_looks(tmp_path, guarantee, found):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DiscreetWarning)
        with Vault.create(tmp_path / "vault", Policy(**{**PLAIN, "guarantee": guarantee})) as vault:
            assert [each.name for each in vault.warnings] == found


@pytest.mark.parametrize("guarantee", [{"l": 10}, {"distinct_l": 4}], ids=str)
def test_a_vault_that_compact_divides_by_values_is_not_made_until_that_is_accepted(tmp_path, guarantee):
    """Whatever l is: nobody tries what it tells. Blind cuts look at nothing, nor does a vault that promises k alone."""
    rules = {**PLAIN, "guarantee": guarantee, "partition": "compact"}
    fitted = {**rules, "options": {"cuts": "fitted"}}
    with pytest.raises(UnacceptedError, match=r"looks: `compact` looked at sensitive values to form groups"):
        Vault.create(tmp_path / "refused", Policy(**fitted))
    assert list(tmp_path.iterdir()) == []
    with warnings.catch_warnings():
        warnings.simplefilter("error", DiscreetWarning)
        Vault.create(tmp_path / "accepted", Policy(**fitted, accept=LOOKS)).close()
        Vault.create(tmp_path / "blind", Policy(**rules)).close()
        Vault.create(tmp_path / "counts", Policy(**{**fitted, "guarantee": {"k": 5}})).close()


def test_a_vault_of_a_small_l_is_not_made_until_that_is_accepted(tmp_path):
    with pytest.raises(UnacceptedError, match=r"looks: a vault looks at sensitive values to form groups"):
        Vault.create(tmp_path / "vault", Policy(**{**PLAIN, "guarantee": {"l": 3}}))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "reason", "match"), [("tell.code", "x", "no kind of warning"), ("looks", " ", "the reason")]
)
def test_only_warnings_are_accepted_and_with_a_reason(tmp_path, name, reason, match):
    with Vault.create(tmp_path / "vault", Policy(**{**PLAIN, "accept": LOOKS})) as vault:
        with pytest.raises(PolicyError, match=match):
            vault.accept(name, reason)
        assert dict(vault.policy.accept) == LOOKS


def test_a_vault_of_before_goes_on_once_it_is_accepted_that_it_looks(tmp_path):
    """Its policy, which is kept for good, could not accept what nobody had warned of."""
    policy = Policy(**{**PLAIN, "drop": "rest"})
    with mock.patch("discreet.vault.vault.of_policy", return_value=()):
        Vault.create(tmp_path / "vault", policy).close()
    with Vault.open(tmp_path / "vault") as vault:
        vault.append(table())
        with pytest.raises(UnacceptedError, match="looks: a vault looks at sensitive values"):
            vault.release(tmp_path / "release")
        vault.accept("looks", "as it always did")
        assert vault.release(tmp_path / "release", strict=True).warnings[0].reason == "as it always did"


def test_later_releases_are_judged_by_all_rows(tmp_path):
    """What is kept of rows that were shown is what the rows themselves say, however often it was added to."""
    with Vault.create(tmp_path / "vault", Policy(**{**PLAIN, "drop": "rest", "accept": LOOKS})) as vault:
        for number in range(3):
            vault.append(table(1_000, start=5_000 * number))
            vault.release(tmp_path / f"{number}")
        vault.append(table(500, start=50_000, code=told))
        schema = vault._schema()
        kept = vault._store(schema).members()
        vault._database.run("DELETE FROM meta WHERE key LIKE 'rows first shown in %'")
        read = vault._store(schema).members()
        assert len(read.nodes) == 3_500
        for found, expected in zip(kept, read, strict=True):
            assert np.array_equal(found, expected, equal_nan=True)
        vault.release(tmp_path / "3")
        again = vault._store(schema)
        assert len(again._members[0]) == 1  # a vault that kept nothing keeps all rows at its next release
        assert np.array_equal(again.members().nodes, read.nodes)


def test_rows_of_a_release_that_was_not_made_are_not_kept(tmp_path):
    with Vault.create(tmp_path / "vault", Policy(**{**PLAIN, "drop": "rest", "accept": LOOKS})) as vault:
        vault.append(table(1_000))
        vault.release(tmp_path / "0")
        vault.append(table(1_000, start=5_000))
        with mock.patch("discreet.release.write.reveal", side_effect=OSError(28, "full")), pytest.raises(ReleaseError):
            vault.release(tmp_path / "1")
        assert vault._database.meta("rows first shown in 1") is not None
        assert vault._database.meta("rows first shown in 2") is None
        assert len(vault._store(vault._schema()).members().nodes) == 2_000


def test_groups_that_change_keep_no_rows(tmp_path):
    accept = {**LOOKS, "insert": "to be compared"}
    rules = Policy(**{**PLAIN, "drop": "rest", "accept": accept, "options": {"growth": "insert"}})
    with Vault.create(tmp_path / "vault", rules) as vault:
        vault.append(table(1_000))
        vault.release(tmp_path / "0")
        assert vault._database.meta("rows first shown in 1") is None


@pytest.mark.parametrize(
    "column", [[0.0, 5.0], [-0.0, 1.0], [np.nan, 3.0], [0.5, -7.0], [-(2.0**60), 2.0**60], [300.0, -1.0]]
)
def test_kept_rows_are_the_rows(column):
    points = np.array([column, [1.0, 2.0]]).T
    rows = Members(np.array([3, 2**40]), points, np.array([0, 200]))
    found, since = unpacked_rows(packed_rows(rows, 4))
    assert since == 4
    assert found.points.tobytes() == points.tobytes()
    assert (found.nodes.tolist(), found.sensitive.tolist()) == ([3, 2**40], [0, 200])
    nobody = Members(np.zeros(0, np.int64), np.zeros((0, 2)), np.zeros(0, np.int64))
    assert unpacked_rows(packed_rows(nobody, 1))[0].points.shape == (0, 2)
    with mock.patch("discreet.vault.store.kept.MOST", 10):
        assert packed_rows(rows, 4) is None
