"""`discreet demo`: all of it on a table made on the spot."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli import show

if TYPE_CHECKING:
    from discreet.answer import Answer
    from discreet.table import Table

QUASI = ("age", "sex", "zipcode", "education", "marital_status", "country")
L, WITHIN = 10, "within 2 stderr"
QUESTIONS = (
    (
        "How many people under 40 earn more than 100,000?",
        "SELECT COUNT(*) FROM people WHERE age < 40 AND salary > 100000",
    ),
    ("What do women and men earn on average?", "SELECT sex, AVG(salary) FROM people GROUP BY sex"),
    (
        "What is the median salary of people with a doctorate?",
        "SELECT MEDIAN(salary) FROM people WHERE education = 'doctorate'",
    ),
    (
        "What do the widowed in one part of town earn in all?",
        "SELECT SUM(salary) FROM people WHERE zipcode LIKE '100%' AND marital_status = 'widowed'",
    ),
    (
        "What is the top salary of those with primary school only?",
        "SELECT MAX(salary) FROM people WHERE education = 'primary'",
    ),
    ("How old are those who earn less than 30,000?", "SELECT AVG(age) FROM people WHERE salary < 30000"),
)


def demo(
    rows: Annotated[int, typer.Option(help="How many people to invent.", min=1000)] = 100_000,
    keep: Annotated[Path | None, typer.Option(help="Keep the release in this folder.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Invent a table of people, publish it, ask it six questions, verify it.

    Example: discreet demo --keep releases/demo
    """
    import discreet
    from discreet.errors import VerificationError
    from discreet.publication.publish import STEPS
    from discreet.table.people import people

    policy = discreet.Policy(
        name="people",
        identifiers=["name"],
        quasi=QUASI,
        sensitive="salary",
        drop=["diagnosis"],
        partition="mixed",
        guarantee={"l": L},
    )
    with tempfile.TemporaryDirectory() as folder, show.steps(3 + len(STEPS)) as step:
        step("inventing people")
        table = discreet.read(people(rows), name="people")
        step("inspecting")
        today = table.inspect(quasi=QUASI, sensitive="salary")
        release = discreet.publish(table, policy, to=keep or Path(folder) / "people", progress=step)
        step("asking")
        answers = [(title, release.ask(question), truth(table, question)) for title, question in QUESTIONS]
        report = release.verify()
    if json:
        told = [
            {
                "title": title,
                "question": answer.question,
                "estimator": answer.estimator,
                "answer": answer.rows(),
                "truth": real,
                "within_two_stderr": [*_within(answer, real)],
            }
            for title, answer, real in answers
        ]
        show.as_json({"rows": rows, "promise": release.promise.model_dump(), "questions": told, "verified": report.ok})
        return
    unique = today.quasi.unique if today.quasi else 0
    print(f"{rows:,} invented people. By {', '.join(QUASI)}, {unique:,} of them are unique today.")
    print(f"Published by anatomy: in none of {release.promise.groups:,} groups do more than 1 in {L} share a salary.\n")
    for title, answer, real in answers:
        print(f"{title}\n  {answer.question}")
        _print_beside(answer, real)
    _print_limits([answer for _, answer, _ in answers], [real for _, _, real in answers])
    print(f"Verified from the files alone: {len(report.checks)} checks, {'all passed' if report.ok else 'FAILED'}.\n")
    print("With your own file:\n  discreet inspect FILE --quasi COLUMNS --sensitive COLUMN")
    print("  discreet publish FILE --policy policy.toml --to FOLDER      (the README has a policy of ten lines)")
    print('  discreet ask FOLDER "SELECT COUNT(*) FROM microdata WHERE …"')
    if not report.ok:
        raise typer.Exit(VerificationError.exit_status)


def truth(table: Table, question: str) -> list[dict[str, Any]]:
    """What the private table itself would answer."""
    from sqlglot import exp, parse_one

    from discreet.table.table import RELATION

    query = parse_one(question, dialect="duckdb", into=exp.Select).from_(RELATION)
    if keys := query.args.get("group"):
        query = query.order_by(*(key.copy() for key in keys.expressions))
    rows: list[dict[str, Any]] = table.engine.run(query).to_pylist()
    return rows


def _print_limits(answers: list[Answer], truths: list[list[dict[str, Any]]]) -> None:
    """Count the truths that lie where they should, and say why they do."""
    pairs = list(zip(answers, truths, strict=True))
    inside = [true for answer, real in pairs for true in _inside(answer, real)]
    within = [true for answer, real in pairs for true in _within(answer, real) if true is not None]
    print(f"{sum(inside)} of {len(inside)} truths lie between low and high; they always do. Of those with a stderr,")
    print(f"{sum(within)} of {len(within)} lie within two of it, and 19 of 20 can be expected, whatever the data is:")
    print("chance alone brought people to groups (partition `mixed`), so that estimates by `design` have no bias.")
    print("Cite an estimate with its stderr, or low and high. Groups of people who are alike (`local`) have closer")
    print(
        "bounds, but estimates that need a model. `discreet compare FILE --policy POLICY` shows what each comes to.\n"
    )


def _inside(answer: Answer, real: list[dict[str, Any]]) -> Iterator[bool]:
    """Whether each truth lies between its bounds, but for what is rounded in floating-point numbers."""
    name = answer.columns[-4]
    for row, true in zip(answer.rows(), real, strict=True):
        truth, slack = float(list(true.values())[-1]), 1e-9 * abs(float(row[f"{name}_high"]))
        yield float(row[f"{name}_low"]) - slack <= truth <= float(row[f"{name}_high"]) + slack


def _within(answer: Answer, real: list[dict[str, Any]]) -> Iterator[bool | None]:
    """Whether each truth lies within two standard errors of its estimate, where it has one that is not 0."""
    name = answer.columns[-4]
    for row, true in zip(answer.rows(), real, strict=True):
        stderr = row[f"{name}_stderr"]
        yield abs(row[name] - float(list(true.values())[-1])) <= 2 * stderr if stderr else None


def _print_beside(answer: Answer, real: list[dict[str, Any]]) -> None:
    from discreet.answer.answer import measure

    keys = len(answer.columns) - 4
    said = {True: "yes", False: "no", None: "–"}
    rows = [
        [*cells, measure(list(true.values())[-1]), said[within]]
        for cells, true, within in zip(answer.cells(), real, _within(answer, real), strict=True)
    ]
    show.as_table([*answer.columns[:keys], "estimate", "stderr", "low", "high", "truth", WITHIN], rows, left=keys)
    print()
