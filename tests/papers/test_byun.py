"""Alice and Bob: figures 1 to 4 of Byun et al. (SDM 2006), and the same rows from a vault."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet
from discreet.publication.publish import publish_groups

PATIENTS = pa.table(  # figure 3; figure 1 is the first four rows
    {
        "age": [21, 23, 52, 57, 27, 53, 59],
        "gender": ["Male", "Male", "Male", "Female", "Female", "Male", "Female"],
        "diagnosis": ["Asthma", "Flu", "Alzheimer", "Diabetes", "Cancer", "Heart Disease", "Flu"],
    }
)
GROUPS = ([0, 0, 1, 1], [0, 0, 1, 2, 0, 1, 2])  # figures 2 and 4
AS_PRINTED = {
    "age": {"intervals": [5, 10], "origin": 1},
    "gender": {"tree": {"Person": ["Male", "Female"]}},
}


def policy(**more):
    columns = {"quasi": ["age", "gender"], "sensitive": "diagnosis", "accept": {"looks": "to compare with the paper"}}
    return discreet.Policy(**columns, guarantee={"distinct_l": 2}, publication="generalization", **more)


@pytest.fixture(params=["as tight as can be", "as printed"])
def releases(request, tmp_path):
    """Figures 2 and 4: with boxes around the rows; or from 21 to 25 and so on, where the paper has 50 for our 51."""
    rules = policy(hierarchies=AS_PRINTED if request.param == "as printed" else {})
    made = []
    for number, groups in enumerate(GROUPS, 1):
        with discreet.read(PATIENTS.slice(0, len(groups))) as table:
            codes = table.codes("diagnosis")
            made.append(publish_groups(table, rules, codes, np.array(groups, np.int32), to=tmp_path / str(number)))
    if request.param == "as printed":
        boxes = {tuple(row.values())[:3] for row in pq.read_table(made[1].file("generalized")).to_pylist()}
        assert boxes == {(21, 30, "Person"), (51, 55, "Male"), (56, 60, "Female")}
    return made


def left(found, kind, groups):
    """The values that the channels between two groups leave."""
    return [dict(of.values) for of in found.channels if of.kind == kind and of.groups == groups]


def test_alice_and_bob(releases):
    found = discreet.audit(releases)
    assert not found.ok
    assert left(found, "new_inside", (1, 1)) == [{"Cancer": 1}]  # Alice, in her late twenties, is new
    assert left(found, "both_overlap", (2, 2)) == [{"Alzheimer": 1}]  # Bob, 52, is in both
    # "three other records in the new dataset are also vulnerable to similar inferences"
    assert left(found, "both_overlap", (2, 3)) == [{"Diabetes": 1}]
    assert left(found, "new_overlap", (2, 2)) == [{"Heart Disease": 1}]
    assert left(found, "new_overlap", (2, 3)) == [{"Flu": 1}]
    (pair,) = found.pairs
    assert {kind: n for kind, n in pair.channels.items() if n} == {"both_overlap": 2, "new_inside": 1, "new_overlap": 2}
    assert (pair.compatible, pair.vulnerable, pair.posterior) == (3, 5, 1.0)
    assert (found.chain.vulnerable, found.chain.complete) == (5, True)
    assert [version.vulnerable for version in found.releases] == [0, 5]
    assert [version.posterior for version in found.releases] == [0.5, 1.0]


def test_who_does_not_know_about_alice_finds_bob(releases):
    found = discreet.audit(releases, insertions="unknown")
    assert found.vulnerable == 2
    assert {value for channel in found.channels for value, _ in channel.values} == {"Alzheimer", "Diabetes"}


def test_tom_is_safe(releases):
    """21 and in both: asthma or flu, as in one release alone."""
    found = discreet.audit(releases)
    assert left(found, "both_inside", (1, 1)) == []
    assert "Asthma" not in {value for channel in found.channels for value, _ in channel.values}


def test_the_vault_keeps_their_secrets(tmp_path):
    """The same rows, each time with others: a vault shows no lot as small as theirs."""
    chance = np.random.default_rng(1)
    more = pa.table(
        {
            "age": chance.integers(20, 60, 80),
            "gender": chance.choice(["Male", "Female"], 80),
            "diagnosis": chance.choice(np.unique(PATIENTS["diagnosis"]), 80),
        }
    )
    others = [more.slice(start, 20) for start in range(0, 80, 20)]
    theirs = [PATIENTS.slice(0, 4), PATIENTS.slice(4)]
    increments = [
        *(pa.concat_tables(both, promote_options="permissive") for both in zip(theirs, others[:2], strict=True)),
        *others[2:],
    ]
    made = []
    with discreet.Vault.create(tmp_path / "vault", policy()) as vault:
        for number, rows in enumerate(increments, 1):
            vault.append(rows)
            made.append(vault.release(tmp_path / "releases" / str(number)))
    for count in range(2, len(made) + 1):
        found = discreet.audit(made[:count])
        assert found.ok
        assert found.vulnerable == 0
        assert found.releases[-1].posterior <= 1 / 2
    assert made[-1].promise.rows == len(PATIENTS) + 80
