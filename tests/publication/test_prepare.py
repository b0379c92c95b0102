"""Every problem of a table is told in one go, beside the mistakes of its policy; and one alone is told as it is."""

import pytest

import discreet
from discreet.errors import GuaranteeError, InputError, PolicyError, ProblemsError

RULES = {"identifiers": ["name"], "quasi": ["age"], "sensitive": "wage", "guarantee": {"l": 2}}


def table(**columns):
    import pyarrow as pa

    rows = {
        "name": [f"p{i}" for i in range(40)],
        "age": [i % 5 for i in range(40)],
        "wage": [f"w{i % 8}" for i in range(40)],
    }
    return pa.table({**rows, **columns})


MISSING = {"wage": [None if i == 3 else f"w{i % 8}" for i in range(40)]}
TWICE = {"name": [f"p{i // 2}" for i in range(40)]}
COMMAS = {"age": [f"{i % 5},5" for i in range(40)]}


def refused(tmp_path, rows, **rules):
    with pytest.raises((InputError, PolicyError, GuaranteeError)) as found:
        discreet.publish(rows, {**RULES, **rules}, to=tmp_path / "release")
    assert not (tmp_path / "release").exists()
    return found.value


def test_all_problems_at_once(tmp_path):
    error = refused(tmp_path, table(**MISSING, **TWICE, **COMMAS), guarantee={"l": 30})
    assert isinstance(error, ProblemsError)
    told = [each.message for each in error.problems]
    for message, begins in zip(
        told,
        (
            "the sensitive column `wage` has 1 missing values",
            "`name` repeats: 40 rows are of 20 people",
            "l = 30 cannot be met",
            "`age` is published as text, though all its values look like numbers with a decimal comma",
        ),
        strict=True,
    ):
        assert message.startswith(begins)
    assert all(each.hint in str(error) and each.hint for each in error.problems)


@pytest.mark.parametrize("columns", [MISSING, TWICE], ids=["missing", "twice"])
def test_one_problem_is_told_as_it_is(tmp_path, columns):
    assert type(refused(tmp_path, table(**columns))) is InputError


def test_a_guarantee_out_of_reach_is_told_as_it_is(tmp_path):
    assert type(refused(tmp_path, table(), guarantee={"l": 30})) is GuaranteeError


def test_problems_stand_beside_the_mistakes_of_a_policy(tmp_path):
    rows = table(**MISSING, **TWICE).append_column("more", [["x"] * 40])
    error = refused(tmp_path, rows)
    assert isinstance(error, PolicyError)
    assert [mistake.key for mistake in error.mistakes] == ["drop"]
    assert len(error.problems) == 2
    assert "and the table has problems as well:\n  the sensitive column `wage` has 1 missing values\n    Hint: " in str(
        error
    )


def test_a_policy_that_says_too_little_hides_nothing_but_itself(tmp_path):
    error = refused(tmp_path, table(**MISSING), sensitive="wages")
    assert isinstance(error, PolicyError)
    assert error.problems == ()


def test_what_to_do_if_the_identifier_becomes_the_person(tmp_path):
    """The quasi-identifiers that differ are named in the same go, and the advice, followed, publishes the table."""
    town = {"town": [f"t{i // 2 % 3}" for i in range(40)]}
    error = refused(tmp_path, table(**TWICE, **town), quasi=["age", "town"])
    assert (
        "(`age` differs between the rows of a person: make it the same in all of these, or list it in `drop`)"
        in error.hint
    )
    person = {"identifiers": [], "person": "name", "quasi": ["town"], "drop": ["age"]}
    release = discreet.publish(table(**TWICE, **town), {**RULES, **person}, to=tmp_path / "release", seed=1)
    assert release.promise.people == 20
