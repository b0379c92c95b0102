"""The glossary knows every relation of an answer and every word of a registry; and what it names stands in the code."""

import re
from pathlib import Path

import pytest
import sqlglot
from sqlglot import exp

from discreet import Policy, publish
from discreet.errors import QueryError
from discreet.guarantees import PROMISES
from discreet.partition import PARTITIONS
from discreet.publication import PUBLICATIONS

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
FOR_USERS, FOR_READERS = TEXT.split("\n## For readers of the code\n")
# What stands in bold at the start of an entry; several words of one entry have commas between them.
ENTRIES = {
    word for entry in re.findall(r"^\*\*(.+?)\*\*:", FOR_READERS, flags=re.MULTILINE) for word in entry.split(", ")
}
QUESTIONS = (
    """SELECT sex, COUNT(*), SUM(salary), AVG(salary), MIN(salary), MEDIAN(salary) FROM microdata
    WHERE age > 50 AND salary > 30000 GROUP BY sex""",
    "SELECT COUNT(*), SUM(salary), AVG(salary), QUANTILE_DISC(salary, 0.5) FROM microdata WHERE age > 50",
    "SELECT AVG(age) FROM microdata WHERE salary > 30000",
)


@pytest.fixture(scope="module")
def relations(people, tmp_path_factory):
    """The names of all relations by which releases of every kind with own layout answer, without their numbers."""
    found = set()
    for publication in ("anatomy", "permutation", "full_permutation", "slicing", "generalization", "swap"):
        windows = publication == "swap"
        policy = Policy(
            quasi=["age", "sex"],
            sensitive="salary",
            drop="rest",
            publication=publication,
            partition="auto" if windows else "deal",
            guarantee={"k": 3, "e": 0} if windows else {"k": 3},
            together=[["age", "sex"]] if publication == "slicing" else None,
        )
        to = tmp_path_factory.mktemp("glossary") / publication
        with publish(people.slice(0, 60), policy, to=to, seed=1) as release:
            for question in QUESTIONS:
                found |= named(release, question)
    return found


def named(release, question):
    try:
        statements = sqlglot.parse(release.explain(question), read="duckdb")
    except QueryError:  # not every publication answers every question
        return set()
    names = {each.alias for one in statements if one for each in one.find_all(exp.CTE)}
    names |= {each.name for one in statements if one for each in one.find_all(exp.Table)}
    return {re.sub(r"_\d+", "", name).removesuffix(" file") for name in names if name}


def test_every_relation_is_explained(relations):
    assert {"qit", "frame", "answer"} <= relations
    missing = sorted(name for name in relations if not explained(name))
    assert not missing, ", ".join(missing)


def explained(name):
    """A name with its own entry, or one that adds explained endings to it."""
    start, _, end = name.rpartition("_")
    return name in ENTRIES or (bool(start) and f"_{end}" in ENTRIES and explained(start))


@pytest.mark.parametrize(
    "registry", [PROMISES, PARTITIONS, PUBLICATIONS], ids=["guarantees", "partitions", "publications"]
)
def test_every_word_of_a_registry_is_explained(registry):
    missing = [word for word in registry if not re.search(rf"\b{word}\b|\b{word.replace('_', ' ')}\b", TEXT)]
    assert missing == []


def test_what_the_glossary_names_is_in_the_code():
    code = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "src").rglob("*.py"))
    words = ENTRIES | set(re.findall(r"`([a-zA-Z_]\w*)`", FOR_READERS))
    assert sorted(word for word in words if not re.search(rf"{re.escape(word)}\b", code)) == []
    files = set(re.findall(r"`([\w/]+(?:/|\.py))`", FOR_READERS))
    assert files
    assert sorted(file for file in files if not (ROOT / "src" / "discreet" / file).exists()) == []
