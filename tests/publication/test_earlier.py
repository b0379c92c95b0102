"""Publishing beside earlier releases: what would tell too much together is refused, and leaves nothing."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet
from discreet.errors import GuaranteeError, InputError, ReleaseError, VerificationError
from discreet.publication.earlier import watched
from discreet.publication.publish import publish_groups
from discreet.table.people import people as invented

QUASI = ["age", "sex", "zipcode", "education"]


def policy(**more):
    given = {"quasi": QUASI, "sensitive": "diagnosis", "drop": "rest", "guarantee": {"l": 4}, **more}
    return discreet.Policy(**given)


@pytest.fixture(scope="module")
def first(tmp_path_factory):
    rules = policy(partition="anatomize")
    return discreet.publish(
        invented(600, seed=3), rules, to=tmp_path_factory.mktemp("earlier") / "october", seed=1
    ).path


@pytest.mark.parametrize("partition", ["anatomize", "local", "deal"])
def test_refused_release_leaves_nothing(first, tmp_path, partition):
    with pytest.raises(GuaranteeError) as refused:
        discreet.publish(
            invented(700, seed=3), policy(partition=partition), to=tmp_path / "in" / "november", earlier=[first]
        )
    found = refused.value
    assert "with `october`, the release would give away" in found.message
    assert "who may be in both" in found.message
    assert "nothing was published" in found.message
    assert "publish only people who are in none of them, by themselves; or keep the table in a vault" in found.hint
    assert list(tmp_path.iterdir()) == []


def test_a_draft_is_not_called_by_the_name_of_its_folder(first, tmp_path):
    rules = policy(publication="generalization")
    with pytest.raises(ReleaseError) as refused:
        discreet.publish(invented(600, seed=3), rules, to=tmp_path / "november", earlier=[first])
    assert refused.value.message == "the new release is a release by generalization: it shows no rows as they are"
    assert list(tmp_path.iterdir()) == []


def test_the_figure_is_that_of_the_audit(first, tmp_path):
    table, rules = invented(700, seed=3), policy(partition="anatomize")
    november = discreet.publish(table, rules, to=tmp_path / "a", seed=7).path
    found = discreet.audit([first, november])
    with pytest.raises(GuaranteeError) as refused:
        discreet.publish(table, rules, to=tmp_path / "b", seed=7, earlier=[first])
    assert f"give away {found.vulnerable:,} people of the {found.people:,} who" in refused.value.message
    assert f"{found.pinned:,} would have one value left (0 by one release alone)" in refused.value.message


def test_other_people_pass(first, tmp_path):
    """Nobody is in both, and nobody looks as if: ages are others."""
    table = invented(600, seed=4)
    older = table.set_column(1, "age", pa.array(table["age"].to_numpy() + 100, pa.int32()))
    made = discreet.publish(older, policy(partition="anatomize"), to=tmp_path / "r", earlier=[first])
    assert made.verify().ok
    assert discreet.audit([first, made]).people == 0


def test_the_same_groups_again_pass(tmp_path):
    """By a partition without chance everybody is in the same group as before, or in one with new people only."""
    rules = policy(quasi=["age"], sensitive="ill", partition="anatomize", guarantee={"l": 2})
    rows = pa.table({"age": [1, 2, 3, 4, 11, 12, 13], "ill": ["a", "b", "a", "c", "a", "b", "c"]})
    groups = np.array([0, 0, 1, 1, 2, 2, 2], np.int32)
    with discreet.read(rows.slice(0, 4)) as table:
        before = publish_groups(table, rules, table.codes("ill"), groups[:4], to=tmp_path / "before")
    with discreet.read(rows) as table:
        after = publish_groups(table, rules, table.codes("ill"), groups, to=tmp_path / "after")
        mixed = publish_groups(table, rules, table.codes("ill"), groups[[0, 2, 2, 1, 0, 1, 1]], to=tmp_path / "mixed")
    watched([before]).verified(after.path)
    with pytest.raises(GuaranteeError, match="with `before`, the release would give away 4 people of the 4 who"):
        watched([before]).verified(mixed.path)


def test_growing_generalized_releases_are_followed(tmp_path):
    rules = policy(publication="generalization", partition="mondrian", options={"cuts": "fitted"})
    table = invented(900, seed=3)
    before = discreet.publish(table.slice(0, 600), rules, to=tmp_path / "before", seed=1).path
    with pytest.raises(GuaranteeError, match=r"with `before`, the release would give away [\d,]+ rows: more is told"):
        discreet.publish(table, rules, to=tmp_path / "after", seed=1, earlier=[before])
    assert not (tmp_path / "after").exists()


def test_a_column_in_other_capitals_is_not_passed_over(first, tmp_path):
    """Compared by the other columns alone, most people in both are not recognised: with few columns it was published."""
    table, rules = invented(300, seed=3), policy()
    capital = [name.upper() if name == rules.quasi[0] else name for name in table.column_names]
    renamed = policy(quasi=[rules.quasi[0].upper(), *rules.quasi[1:]])
    with pytest.raises(ReleaseError, match=f"it has the quasi-identifier `{rules.quasi[0]}`, and the policy `[A-Z]+`"):
        discreet.publish(table.rename_columns(capital), renamed, to=tmp_path / "r", earlier=[first])
    assert not (tmp_path / "r").exists()


def test_bad_earlier_releases_are_named(first, tmp_path):
    table = invented(300, seed=3)

    def refused(error, match, *, rules=None, earlier=first):
        with pytest.raises(error, match=match) as found:
            discreet.publish(table, rules or policy(), to=tmp_path / "r", earlier=[earlier])
        assert found.value.hint
        assert not (tmp_path / "r").exists()

    refused(
        ReleaseError,
        "october` is of another table: it has the sensitive column `diagnosis`, and the policy the sensitive column `sal",
        rules=policy(sensitive="salary"),
    )
    other = policy(quasi=["country"], guarantee={"l": 2})
    refused(ReleaseError, "october` is of another table: it has none of the quasi-identifiers `country`", rules=other)
    refused(ReleaseError, "there is no release", earlier=tmp_path / "nowhere")
    stray = tmp_path / "stray"
    shutil.copytree(first, stray)
    (stray / "notes.txt").write_text("a file that is not part of it")
    refused(VerificationError, "earlier release `.*stray` does not verify: files: a file that does not", earlier=stray)
    (stray / "qit.parquet").write_bytes(b"")
    refused(VerificationError, "not the one that was published", earlier=stray)
    boxes = discreet.publish(table, policy(publication="generalization"), to=tmp_path / "boxes", seed=1).path
    refused(ReleaseError, "by generalization: it shows no rows as they are", earlier=boxes)
    with pytest.raises(InputError, match="earlier releases are a list"):
        discreet.publish(table, policy(), to=tmp_path / "r", earlier=first)


def test_in_the_shell(first, tmp_path, run):
    pq.write_table(invented(600, seed=3), tmp_path / "people.parquet")
    (tmp_path / "policy.toml").write_text(
        f'quasi = {json.dumps(QUASI)}\nsensitive = "diagnosis"\ndrop = "rest"\nguarantee = {{ l = 4 }}\n'
    )
    words = ["publish", tmp_path / "people.parquet", "--policy", tmp_path / "policy.toml", "--to", tmp_path / "r"]
    status, out, err = run(*words, "--earlier", first)
    assert (status, out) == (3, "")
    assert "with `october`, the release would give away" in err
    assert not (tmp_path / "r").exists()
    assert run(*words)[0] == 0


def test_what_cannot_be_compared_is_told_before_the_work(tmp_path, monkeypatch):
    """Two releases that show blocks alone: nobody could be found in them, and nothing is grouped to find that out."""
    table, rules = invented(300, seed=3), policy(publication="slicing", together=[["age", "sex"]])
    october = discreet.publish(table, rules, to=tmp_path / "october", seed=1).path
    monkeypatch.setattr("discreet.publication.publish.prepare", None)
    with pytest.raises(InputError, match="neither the new release nor an earlier one shows whole rows"):
        discreet.publish(table, rules, to=tmp_path / "november", earlier=[october])
    boxes = policy(publication="generalization")
    with pytest.raises(ReleaseError, match="the new release is a release by generalization: it shows no rows"):
        discreet.publish(table, boxes, to=tmp_path / "november", earlier=[october])


def test_a_renamed_column_is_told(first, tmp_path):
    names = {"zipcode": "zip"}
    table = invented(600, seed=30)
    table = table.rename_columns([names.get(name, name) for name in table.column_names])
    rules = policy(quasi=["age", "sex", "zip", "education"])
    told = "`october` has `zipcode` and the policy has `zip`, which the other has not: people are recognised by `age`,"
    with (
        pytest.warns(discreet.errors.DiscreetWarning, match=told),
        pytest.raises(GuaranteeError, match="would give away"),
    ):
        discreet.publish(table, rules, to=tmp_path / "r", earlier=[first])
    with pytest.raises(discreet.errors.UnacceptedError, match="earlier: "):
        discreet.publish(table, rules, to=tmp_path / "r", earlier=[first], strict=True)
