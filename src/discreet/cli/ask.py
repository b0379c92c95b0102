"""`discreet ask`: answer an SQL aggregate from a release."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from discreet.cli import show
from discreet.visible import in_a_line


def ask(
    release: Annotated[Path, typer.Argument(help="The folder of a release.")],
    question: Annotated[str, typer.Argument(help="An SQL aggregate over `microdata`.")],
    explain: Annotated[
        bool, typer.Option("--explain", help="Print the SQL that answers it, and do not run it.")
    ] = False,
    generalized: Annotated[
        bool,
        typer.Option("--generalized", help="Show the bounds that a generalized table with the same groups would give."),
    ] = False,
    estimator: Annotated[
        str | None,
        typer.Option(help="What makes the estimate: even, design, shrunk or learned; else what the release names."),
    ] = None,
    table: Annotated[
        list[str] | None,
        typer.Option(help="A table of your own to join with, as NAME=FILE, for estimator learned; may be repeated."),
    ] = None,
    timeout: Annotated[float | None, typer.Option(help="Seconds after which to give up; 0 for never.", min=0)] = 600,
    memory_limit: Annotated[
        str | None,
        typer.Option(help="What the engine may hold in memory, like 8GB; else 30 times the files, 1 GB or more."),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Answer a question with an estimate, its standard error, and bounds that contain the truth.

    Example: discreet ask releases/2026-11 "SELECT AVG(salary) FROM microdata WHERE age > 50"
    """
    import discreet
    from discreet.answer.answer import said

    with show.steps(2) as step:
        step("opening")
        opened = discreet.open_release(release, memory_limit=memory_limit)
        if explain:
            print(opened.explain(question, generalized=generalized, estimator=estimator))
            return
        step("answering")
        answer = opened.ask(
            question,
            generalized=generalized,
            timeout=timeout or None,
            estimator=estimator,
            tables=dict(_named(each) for each in table or ()),
        )
    if json:
        told = {"question": question, "estimator": answer.estimator, "estimators": dict(answer.estimators)}
        show.as_json({**told, "columns": answer.columns, "rows": answer.rows(), "notes": said(answer)})
        return
    show.as_table(answer.columns, answer.cells())
    for note in said(answer):
        print(f"note: {in_a_line(note)}", file=sys.stderr)


def _named(table: str) -> tuple[str, str]:
    name, equals, file = table.partition("=")
    if not (name and equals and file):
        raise typer.BadParameter("write NAME=FILE", param_hint="--table")
    return name, file
