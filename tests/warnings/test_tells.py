"""`publish` says which columns tell the sensitive value, and publishes nothing if one determines it."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

import discreet
from discreet.errors import UnacceptedError

ROWS = 2_000
CODED = {"quasi": ["code", "sex"], "sensitive": "ill", "guarantee": {"l": 4}, "partition": "deal"}
AGED = {"quasi": ["age", "sex"], "sensitive": "job", "guarantee": {"l": 2}, "partition": "deal"}


@pytest.fixture
def coded():
    """Every detailed code stands for one of eight illnesses."""
    code = np.arange(ROWS) % 200
    return pa.table({"code": code, "sex": np.arange(ROWS) % 2, "ill": [f"ill {c % 8}" for c in code]})


@pytest.fixture
def aged():
    """Nobody below 20 has a job: a quarter of the table."""
    age = np.arange(ROWS) % 80
    jobs = np.random.default_rng(1).choice(["none", "farmer", "smith", "baker"], ROWS)
    return pa.table({"age": age, "sex": np.arange(ROWS) // 80 % 2, "job": np.where(age < 20, "none", jobs)})


def test_a_column_that_determines_the_value_stops_the_release(coded, tmp_path):
    with pytest.raises(UnacceptedError) as found:
        discreet.publish(coded, discreet.Policy(**CODED), to=tmp_path / "r", seed=1)
    (warning,) = found.value.warnings
    assert str(warning) == (
        "tells.code: `code` determines `ill` of 2,000 of 2,000 people (100.0%): whoever knows the one can say the "
        "other, and is right in 100.0% of cases, where a blind guess is right in 12.5%; for example, 10 of 10 with "
        "code = 0 have ill = ill 0; 10 of 10 with code = 1 have ill = ill 1; 10 of 10 with code = 2 have ill = ill 2; "
        "no group can hide this: make `code` coarser, or drop it, or accept `tells.code` with the reason why it may be known"
    )
    assert 'accept.tells.code = "…"' in found.value.hint
    assert list(tmp_path.iterdir()) == []


def test_it_is_published_if_the_policy_says_so_by_name(coded, tmp_path):
    policy = discreet.Policy(**CODED, accept={"tells.code": "codes are billed, and nobody knows them"})
    release = discreet.publish(coded, policy, to=tmp_path / "r", seed=1, strict=True)
    assert [(each.name, each.refuses) for each in release.warnings] == [("tells.code", True)]


def test_a_part_of_the_table_is_warned_of(aged, tmp_path):
    with pytest.warns(discreet.errors.DiscreetWarning, match="500 of 500 with age = 0 to 19 have job = none") as shown:
        release = discreet.publish(aged, discreet.Policy(**AGED), to=tmp_path / "r", seed=1)
    assert [each.message.name for each in shown] == ["tells.age"]
    (warning,) = release.warnings
    assert warning.message.startswith("`age` tells `job` of 500 of 2,000 people (25.0%): whoever knows the one can")
    assert not warning.refuses
    with pytest.raises(UnacceptedError, match=r"tells\.age"):
        discreet.publish(aged, discreet.Policy(**AGED), to=tmp_path / "s", seed=1, strict=True)


def test_coarser_is_the_remedy(aged, tmp_path):
    """In halves of a life, the young are among others who have jobs."""
    wide = aged.set_column(0, "age", pa.array([age // 40 for age in aged["age"].to_pylist()]))
    assert discreet.publish(wide, discreet.Policy(**AGED), to=tmp_path / "r", seed=1, strict=True).warnings == ()


def test_two_columns_have_one_name(tmp_path):
    one, other = np.arange(ROWS) % 5, np.arange(ROWS) // 5 % 5
    table = pa.table({"one": one, "other one": other, "ill": (one + other) % 5})
    given = {"quasi": ["one", "other one"], "sensitive": "ill", "guarantee": {"l": 2}, "partition": "deal"}
    with pytest.raises(UnacceptedError, match="`one` and `other one` determine `ill` of 2,000 of 2,000") as found:
        discreet.publish(table, discreet.Policy(**given), to=tmp_path / "r", seed=1)
    assert 'accept."tells.one+other one" = "…"' in found.value.hint
    path = tmp_path / "policy.toml"
    path.write_text(
        'quasi = ["one", "other one"]\nsensitive = "ill"\nguarantee = { l = 2 }\npartition = "deal"\n'
        'accept."tells.one+other one" = "they are dice"\n'
    )
    release = discreet.publish(table, discreet.Policy.load(path), to=tmp_path / "r", seed=1, strict=True)
    assert [each.reason for each in release.warnings] == ["they are dice"]


def test_few_people_are_not_worth_a_word(tmp_path):
    """Forty people of two thousand in one village hold one value; sixty are told."""
    for people, names in ((40, []), (60, ["tells.village"])):
        village = np.where(np.arange(ROWS) < people, "small", "large")
        ill = np.where(np.arange(ROWS) < people, "a", np.array(list("abcd"))[np.arange(ROWS) % 4])
        table = pa.table({"village": village, "ill": ill})
        policy = discreet.Policy(quasi=["village"], sensitive="ill", guarantee={"l": 2}, partition="deal")
        release = discreet.publish(table, policy, to=tmp_path / f"r{people}", seed=1)
        assert [each.name for each in release.warnings] == names


def test_no_sensitive_column_no_warning(tmp_path):
    table = pa.table({"a": np.arange(ROWS) % 10, "b": np.arange(ROWS) % 10})
    policy = discreet.Policy(quasi=["a", "b"], guarantee={"k": 5}, publication="full_permutation")
    assert discreet.publish(table, policy, to=tmp_path / "r", seed=1).warnings == ()


def test_the_shell(coded, tmp_path, monkeypatch, capsys):
    from discreet.cli import main

    pyarrow.csv.write_csv(coded, tmp_path / "people.csv")
    rules = 'quasi = ["code", "sex"]\nsensitive = "ill"\npartition = "deal"\nguarantee = { l = 4 }\n'
    monkeypatch.chdir(tmp_path)

    def run(*words):
        monkeypatch.setattr("sys.argv", ["discreet", *words])
        try:
            main()
        except SystemExit as stop:
            return stop.code, capsys.readouterr()
        return 0, capsys.readouterr()

    (tmp_path / "policy.toml").write_text(rules)
    status, printed = run("publish", "people.csv", "--policy", "policy.toml", "--to", "r", "--json")
    assert (status, printed.out) == (3, "")
    assert [each["name"] for each in json.loads(printed.err)["error"]["warnings"]] == ["tells.code"]
    (tmp_path / "policy.toml").write_text(f'{rules}[accept]\ntells.code = "nobody knows codes"\n')
    status, printed = run("publish", "people.csv", "--policy", "policy.toml", "--to", "r", "--strict", "--json")
    assert (status, printed.err) == (0, "")
    assert [each["accepted"] for each in json.loads(printed.out)["warnings"]] == ["nobody knows codes"]
    status, printed = run("inspect", "people.csv", "--quasi", "code,sex", "--sensitive", "ill")
    assert status == 0
    lines = [line.split() for line in printed.out.splitlines()]
    assert ["code", "2,000", "100.0%", "100.0%", "12.5%", "0"] in lines
    assert ["sex", "0", "0.0%", "–", "12.5%", "0"] in lines
    status, printed = run("inspect", "people.csv", "--quasi", "code,sex", "--sensitive", "ill", "--json")
    code, sex = json.loads(printed.out)["tells"]
    assert (code["columns"], code["told"], code["blind"], sex["told"]) == (["code"], 2000, 0.125, 0)


def test_nobody_is_told_by_their_own_rows(tmp_path):
    """Of 400 people with 10 visits each, no two in one village: their visits agree, and tell nothing of anybody else."""
    who = np.repeat(np.arange(400), 10)
    table = pa.table({"who": who, "village": who, "ill": [f"ill {w % 10}" for w in who]})
    given = {"person": "who", "quasi": ["village"], "sensitive": "ill", "guarantee": {"k": 2}, "partition": "deal"}
    assert discreet.publish(table, discreet.Policy(**given), to=tmp_path / "r", seed=1).warnings == ()
    together = table.set_column(1, "village", pa.array(who % 10))  # forty people in each, of one illness
    with pytest.raises(UnacceptedError, match="`village` determines `ill` of 400 of 400 people"):
        discreet.publish(together, discreet.Policy(**given), to=tmp_path / "s", seed=1)


def test_harmless_values_may_be_told(aged, tmp_path):
    """Everybody below 20 is known to have no job, which the policy says needs no protection."""
    policy = discreet.Policy(**AGED, harmless=["none"])
    release = discreet.publish(aged, policy, to=tmp_path / "r", seed=1, strict=True)
    assert release.warnings == ()


def test_the_figures_are_of_those_who_hold_no_harmless_value(coded, tmp_path):
    with pytest.raises(UnacceptedError, match="`ill` of 1,750 of 1,750 people who hold no harmless value"):
        discreet.publish(coded, discreet.Policy(**CODED, harmless=["ill 0"]), to=tmp_path / "r", seed=1)
