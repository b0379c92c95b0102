"""The sixty questions: every bound holds the truth, every refusal says what to write instead, and the page shows it."""

import re
import sys
import warnings
from pathlib import Path

import pyarrow as pa
import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tools"))

from questions import outcomes  # noqa: E402
from sixty import judge  # noqa: E402
from sixty.page import PAGE, matrix, section  # noqa: E402
from sixty.table import ASKED  # noqa: E402

from discreet.answer.answer import Answer  # noqa: E402

QUESTIONS = judge.questions()
FIRST, *OTHERS = ASKED
OFTEN = 10  # of the other publications every so manieth question is asked here; `make docs-sixty` asks all
TELL = "`make docs-sixty` writes the page anew"


def asked_of(name, place, questions):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return outcomes(name, place, questions)


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    return asked_of(FIRST, tmp_path_factory.mktemp("sixty"), QUESTIONS)


def test_there_are_sixty():
    assert [each.number for each in QUESTIONS] == list(range(1, 61))
    assert len({each.title for each in QUESTIONS} | {each.sql for each in QUESTIONS}) == 120


def test_bounds_hold_and_refusals_are_followed(answers):
    faults = {number: outcome.every_fault() for number, outcome in answers.items() if outcome.every_fault()}
    assert faults == {}
    assert len(answers) == 60


@pytest.mark.parametrize("asked", QUESTIONS, ids=lambda asked: f"{asked.number}")
def test_the_page_shows_the_answer(answers, asked):
    page = PAGE.read_text(encoding="utf-8")
    shown = section(asked, answers[asked.number]).rstrip()
    at = page.find(f"### {asked.number}. ")
    end = min((place for mark in ("\n### ", "\n## ") if (place := page.find(mark, at + 1)) > 0), default=len(page))
    found, shown = (re.sub(r"\.0(?=\D)", "", text).splitlines() for text in (page[at:end].rstrip(), shown))  # rounding
    if "ORDER BY" not in asked.sql:  # rows may come in any order
        found, shown = sorted(found), sorted(shown)
    assert found == shown, TELL


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in OTHERS if name != "`learned`"])  # a model takes too long to fit
def test_of_other_publications(name, tmp_path):
    some = QUESTIONS[[*ASKED].index(name) % OFTEN :: OFTEN]
    found = asked_of(name, tmp_path, some)
    assert {number: outcome.every_fault() for number, outcome in found.items() if outcome.every_fault()} == {}
    page = PAGE.read_text(encoding="utf-8").splitlines()
    column = [*ASKED].index(name) + 2
    for each in some:
        [row] = [line for line in page if line.startswith(f"| [{each.number}](")]
        [_, _, line] = matrix([each], {name: found})
        assert row.split("|")[column].strip() == line.split("|")[2].strip(), (each.number, TELL)


def answer(columns, *notes):
    return Answer("", pa.table(columns), "", notes)


@pytest.mark.parametrize(
    ("sql", "columns", "fault"),
    [
        ("SELECT COUNT(*) AS n FROM staff", {"n": [2], "n_stderr": [0], "n_low": [1], "n_high": [2]}, "lies outside"),
        (
            "SELECT sex, COUNT(*) AS n FROM staff GROUP BY sex",
            {"sex": ["f"], "n": [1], "n_stderr": [0.0], "n_low": [0], "n_high": [9_000]},
            "rows of the truth are missing",
        ),
        ("SELECT COUNT(DISTINCT sex) AS n FROM staff", {"n": [3]}, "is not the truth"),
        ("SELECT sex, COUNT(*) FROM staff GROUP BY sex", {"n": [3]}, "1 columns in the answer, 2 in the truth"),
        (
            "SELECT sex, COUNT(*) AS n FROM staff GROUP BY sex ORDER BY n LIMIT 1",
            {"sex": ["f"], "n": [1], "n_stderr": [0.0], "n_low": [0], "n_high": [9_000]},
            "no note says why",
        ),
        (
            "SELECT dept, COUNT(*) AS n FROM staff WHERE dept = 'D01' GROUP BY dept",
            {"dept": ["D01", "D0"], "n": [1, 1], "n_stderr": [0, 0], "n_low": [0, 1], "n_high": [9_000, 2]},
            "n of ('D0',): 0 lies outside 1 to 2",
        ),
    ],
)
def test_what_is_wrong_is_found(sql, columns, fault):
    [found] = judge.faults(sql, answer(columns), judge.truth(sql))
    assert fault in found


def test_a_refusal_without_anything_to_write_is_a_fault():
    from discreet.errors import QueryError

    class Release:
        def ask(self, sql, **_):
            raise QueryError("no", hint="no", instead="" if "1" in sql else "SELECT 1")

    assert judge.judged(Release(), "SELECT 1").every_fault() == ("the refusal says nothing to write instead",)
    assert judge.judged(Release(), "SELECT 2").faults == ("what the refusal says to write instead is refused",)
