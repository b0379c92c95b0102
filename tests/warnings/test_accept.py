"""Warnings: shown until the policy accepts them by name, errors if asked for, and all of them in `--json`."""

import json
import warnings

import pyarrow as pa
import pyarrow.csv
import pytest

import discreet
from discreet.errors import DiscreetWarning, PolicyError, UnacceptedError
from discreet.warnings.kinds import KINDS

PLAIN = {"quasi": ["age"], "sensitive": "ill", "guarantee": {"l": 2}, "partition": "deal"}
REASON = "the register is public anyway"


@pytest.fixture
def people():
    return pa.table({"age": list(range(8)), "ill": list("abcdabcd")})


@pytest.fixture
def two_doubts(monkeypatch):
    """One check of the table and one of its groups, the second of a kind that refuses."""
    monkeypatch.setattr(
        "discreet.publication.publish.BEFORE",
        (lambda _: iter([DiscreetWarning("public.age", "one says so", hint="look at it")]),),
    )
    monkeypatch.setattr(
        "discreet.publication.publish.AFTER",
        (lambda made: iter([DiscreetWarning("public", f"{made.groups.size} rows", refuses=True)]),),
    )


def test_a_warning_that_refuses_stops_the_release(people, two_doubts, tmp_path):
    with pytest.raises(UnacceptedError, match="nothing was published") as found:
        discreet.publish(people, discreet.Policy(**PLAIN), to=tmp_path / "r", seed=1)
    assert [warning.name for warning in found.value.warnings] == ["public"]
    assert 'accept.public = "…"' in found.value.hint
    assert list(tmp_path.iterdir()) == []


def test_strict_stops_at_any_warning(people, two_doubts, tmp_path):
    policy = discreet.Policy(**PLAIN, accept={"public": REASON})
    with pytest.raises(UnacceptedError) as found:
        discreet.publish(people, policy, to=tmp_path / "r", seed=1, strict=True)
    assert [str(warning) for warning in found.value.warnings] == ["public.age: one says so; look at it"]
    assert list(tmp_path.iterdir()) == []


def test_what_is_accepted_is_not_shown_again(people, two_doubts, tmp_path):
    policy = discreet.Policy(**PLAIN, accept={"public": REASON})
    with pytest.warns(DiscreetWarning) as shown:
        release = discreet.publish(people, policy, to=tmp_path / "r", seed=1)
    assert [warning.message.name for warning in shown] == ["public.age"]
    assert [(warning.name, warning.reason) for warning in release.warnings] == [("public.age", ""), ("public", REASON)]
    both = discreet.Policy(**PLAIN, accept={"public": REASON, "public.age": REASON})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        discreet.publish(people, both, to=tmp_path / "s", seed=1, strict=True)


def test_nothing_of_it_is_in_the_release(people, two_doubts, tmp_path):
    policy = discreet.Policy(**PLAIN, accept={"public": REASON})
    discreet.publish(people, policy, to=tmp_path / "r", seed=1)
    assert not [path.name for path in (tmp_path / "r").iterdir() if REASON.encode() in path.read_bytes()]


def test_the_shell(people, two_doubts, tmp_path, monkeypatch, capsys):
    from discreet.cli import main

    pyarrow.csv.write_csv(people, tmp_path / "people.csv")
    rules = 'quasi = ["age"]\nsensitive = "ill"\npartition = "deal"\nguarantee = { l = 2 }\n'
    (tmp_path / "policy.toml").write_text(f'{rules}[accept]\npublic = "{REASON}"\n')
    monkeypatch.chdir(tmp_path)

    def run(*words):
        monkeypatch.setattr("sys.argv", ["discreet", "publish", "people.csv", "--policy", "policy.toml", *words])
        try:
            main()
        except SystemExit as stop:
            return stop.code, capsys.readouterr()
        return 0, capsys.readouterr()

    status, printed = run("--to", "r", "--json")
    assert (status, printed.err) == (0, "warning: public.age: one says so; look at it\n")
    assert json.loads(printed.out)["warnings"] == [
        {"name": "public.age", "message": "one says so", "hint": "look at it", "accepted": None},
        {"name": "public", "message": "8 rows", "hint": "", "accepted": REASON},
    ]
    status, printed = run("--to", "s", "--strict", "--json")
    assert (status, printed.out) == (3, "")
    assert [each["name"] for each in json.loads(printed.err)["error"]["warnings"]] == ["public.age"]
    both = f'"public" = "{REASON}"\n"public.age" = "{REASON}"\n'
    (tmp_path / "policy.toml").write_text(f"{rules}[accept]\n{both}")
    status, printed = run("--to", "s", "--strict")
    assert (status, printed.err) == (0, "")


def test_a_policy_nests_names_as_toml_does(tmp_path):
    path = tmp_path / "policy.toml"
    path.write_text(
        'quasi = ["post code"]\nsensitive = "ill"\nguarantee = { l = 2 }\n[accept.public]\n"post code" = "so it is"\n'
    )
    assert discreet.Policy.load(path).accept == {"public.post code": "so it is"}


@pytest.mark.parametrize(
    ("accept", "mistake"),
    [
        (["public"], "`accept`: expected a table like"),
        ({"publik.age": "why"}, "`accept.publik.age`: `publik` is no kind of warning; did you mean `public`?"),
        ({"public": ""}, "`accept.public`: expected the reason as a text, got ''"),
        ({"public": {"age": 3}}, "`accept.public.age`: expected the reason as a text, got 3"),
    ],
)
def test_mistakes_in_accept(accept, mistake):
    with pytest.raises(PolicyError) as found:
        discreet.Policy(**PLAIN, accept=accept)
    assert mistake in str(found.value)


def test_every_kind_is_explained():
    from pathlib import Path

    page = (Path(__file__).parents[2] / "docs" / "policy.md").read_text(encoding="utf-8")
    assert [kind for kind in KINDS if f"| `{kind}" not in page] == []
