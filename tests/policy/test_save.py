"""A policy written to a file loads as the same policy; from a file or a dictionary it is the same, too."""

import pytest

import discreet
from discreet import Policy
from discreet.errors import InputError, PolicyError

PLAIN = {"quasi": ["age", 'say "hi"\n'], "sensitive": "ill", "guarantee": {"l": 3}}
POLICIES = {
    "plain": PLAIN,
    "a name that is a default elsewhere": {**PLAIN, "name": "anatomy"},
    "everything": {
        "name": "people",
        "identifiers": ["name"],
        "quasi": ["age", "zip code"],
        "sensitive": "ill",
        "drop": "rest",
        "guarantee": {"l": 3, "enhanced_beta": 1.5},
        "partition": "mondrian",
        "publication": "generalization",
        "missing_sensitive": "withhold",
        "hierarchies": {"age": {"intervals": [5, 10]}},
        "ordered": ["zip code"],
        "options": {"median": "relaxed"},
        "accept": {"tells": {"zip code": "looked at"}, "looks": "it may"},
        "csv": {"separator": "\t", "missing": ["NA"], "dates": "DD.MM.YYYY"},
        "excel": {"sheet": "2026"},
    },
    "harmless": {**PLAIN, "harmless": ["none", "it's \\ \t"], "partition": "deal"},
    "several rows": {"quasi": ["age"], "person": "who", "sensitive": "ill", "guarantee": {"l": 2, "k": 4}},
    "slicing": {**PLAIN, "publication": "slicing", "together": [PLAIN["quasi"]]},
}


@pytest.mark.parametrize("keys", POLICIES.values(), ids=list(POLICIES))
def test_a_saved_policy_loads_as_it_was(tmp_path, keys):
    policy = Policy(**keys)
    policy.save(tmp_path / "policy.toml")
    assert Policy.load(tmp_path / "policy.toml") == policy
    assert Policy.of(tmp_path / "policy.toml") == Policy.of(str(tmp_path / "policy.toml")) == Policy.of(keys) == policy
    policy.save(tmp_path / "policy.toml")  # the same once more changes nothing


def test_a_file_of_a_hierarchy_is_found_from_the_new_place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "there").mkdir()
    (tmp_path / "age.csv").write_text("20;young;any\n40;old;any\n")
    policy = Policy(**{**PLAIN, "quasi": ["age"]}, hierarchies={"age": "age.csv"}, publication="generalization")
    policy.save("there/policy.toml")
    assert '"../age.csv"' in (tmp_path / "there" / "policy.toml").read_text()
    assert (tmp_path / Policy.load("there/policy.toml").hierarchies["age"]).resolve() == (
        tmp_path / "age.csv"
    ).resolve()


def test_no_policy_is_overwritten(tmp_path):
    (tmp_path / "policy.toml").write_text("# mine\n")
    with pytest.raises(InputError, match="exists already"):
        Policy(**PLAIN).save(tmp_path / "policy.toml")
    assert (tmp_path / "policy.toml").read_text() == "# mine\n"
    with pytest.raises(InputError, match="cannot be written"):
        Policy(**PLAIN).save(tmp_path / "no" / "such" / "policy.toml")


def test_publish_takes_a_file_or_a_dictionary(tmp_path, capsys):
    import pandas as pd

    frame = pd.DataFrame({"age": range(30), "ill": list("abc") * 10})
    keys = {"quasi": ["age"], "sensitive": "ill", "guarantee": {"l": 3}}
    Policy(**keys).save(tmp_path / "policy.toml")
    made = [
        discreet.publish(frame, given, to=tmp_path / str(number), seed=4).promise
        for number, given in enumerate((Policy(**keys), keys, tmp_path / "policy.toml", str(tmp_path / "policy.toml")))
    ]
    assert all(promise == made[0] for promise in made)
    (tmp_path / "wrong.toml").write_text('quasi = ["Age"]\nsensitive = "ill"\nguarantee = { l = 1 }\n')
    with pytest.raises(PolicyError) as caught:
        discreet.publish(frame, tmp_path / "wrong.toml", to=tmp_path / "none")
    told = str(caught.value)
    assert "line 1, `quasi`: the table has no column `Age`; did you mean `age`?" in told
    assert "line 3, `guarantee.l`: expected 2 or more" in told
    with pytest.raises(PolicyError, match=r"`quasy`: is not a key of a policy; did you mean `quasi`\?"):
        discreet.publish(frame, {**keys, "quasy": []}, to=tmp_path / "none")
    with pytest.raises(InputError, match=r"a policy cannot be a list\nHint: pass a Policy, the path of a TOML file"):
        discreet.publish(frame, [keys], to=tmp_path / "none")
    with pytest.raises(InputError, match="there is no policy file"):
        discreet.publish(frame, "absent.toml", to=tmp_path / "none")
