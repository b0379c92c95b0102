"""`discreet ask`: answer questions in SQL from a release, one or many, or at a prompt."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli import questions, show
from discreet.cli.places import ENGINE, RELEASE, place
from discreet.errors import DiscreetError, QueryError
from discreet.visible import in_a_line

if TYPE_CHECKING:
    from discreet.answer import Answer
    from discreet.cli.asking import Asking


def ask(
    release: Annotated[Path, typer.Argument(metavar="RELEASE", parser=place, help=RELEASE)],
    question: Annotated[
        str | None,
        typer.Argument(
            help="A question in SQL about `microdata`, or several with `;` between; - reads them from stdin. Without"
            " any, a terminal shows a prompt."
        ),
    ] = None,
    name: Annotated[str | None, typer.Option("--release", help="Of a database: which of its releases.")] = None,
    engine: Annotated[str, typer.Option(help=ENGINE)] = "duckdb",
    file: Annotated[Path | None, typer.Option(help="Read the questions from this file.")] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Print the SQL that computes the answer, and do not run it.")
    ] = False,
    generalized: Annotated[
        bool,
        typer.Option("--generalized", help="Show the bounds that a generalized table with the same groups would give."),
    ] = False,
    estimator: Annotated[
        str | None,
        typer.Option(
            help="How estimates are made: even, design, shrunk or learned. The release names one if you do not."
        ),
    ] = None,
    table: Annotated[
        list[str] | None,
        typer.Option(help="A table of your own to join with, as NAME=FILE, for estimator learned; may be repeated."),
    ] = None,
    timeout: Annotated[
        float | None, typer.Option(help="Give up on a question after so many seconds; 0 for never.", min=0)
    ] = 600,
    memory_limit: Annotated[
        str | None,
        typer.Option(help="How much memory to use, like 8GB; if not given, 30 times the files, at least 1 GB."),
    ] = None,
    csv: Annotated[bool, typer.Option("--csv", help="Print CSV, with every digit of the numbers.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Answer a question with an estimate, its standard error, and bounds that contain the truth.

    Several questions are answered one after another. One that is refused does not stop the others.

    Example: discreet ask releases/2026-11 "SELECT AVG(salary) FROM microdata WHERE age > 50"

    Example: discreet ask postgresql://host/database --release patients "SELECT COUNT(*) FROM microdata"

    Example: discreet ask releases/2026-11 "SELECT COUNT(*) FROM microdata" --engine spark
    """
    import discreet
    from discreet.cli.asking import Asking

    if csv and json:
        raise typer.BadParameter("choose --csv or --json, not both", param_hint="--csv")
    text = questions.given(question, file)
    asked = None if text is None else questions.split(text)
    tables = dict(_named(each) for each in table or ())
    with discreet.open_release(release, release=name, engine=engine, memory_limit=memory_limit) as opened:
        asking = Asking(opened, generalized, estimator, tables, timeout or None)
        if asked is None:
            from discreet.cli.prompt import Prompt

            Prompt(asking, lambda answer: _print(answer, csv=csv, json=json)).run()
            return
        alone = len(asked) == 1 and question not in (None, "-")
        if explain:
            for each in asked:
                print(asking.explain(each.sql))
        elif alone:
            try:
                answer = asking.answer(asked[0].sql)
            except QueryError as error:
                if json or not error.instead:
                    raise
                options = {"--release": name, "--estimator": estimator, "--memory-limit": memory_limit}
                options["--engine"] = engine if engine != "duckdb" else None
                words = [f"{option}={value}" for option, value in options.items() if value is not None]
                words += [*(f"--table={each}" for each in table or ()), *(["--generalized"] if generalized else [])]
                words = ["discreet", "ask", str(release), error.instead, *words, *(["--csv"] if csv else [])]
                raise QueryError(error.message, hint=error.hint, instead=" ".join(map(show.quoted, words))) from None
            _print(answer, csv=csv, json=json)
        else:
            _each(asking, asked, csv=csv, json=json)


def _each(asking: Asking, asked: list[questions.Asked], *, csv: bool, json: bool) -> None:
    """Answer question after question, and leave with the status of the first that failed."""
    status, told = 0, list[dict[str, Any]]()
    for number, each in enumerate(asked, start=1):
        try:
            answer = asking.answer(each.sql)
        except DiscreetError as error:
            status = status or error.exit_status
            told.append({"question": each.sql, "error": show.about(error)})
            if not json:
                print(f"error: question {number}, line {each.line}: {error}", file=sys.stderr)
            continue
        if json:
            told.append(_as_json(answer))
            continue
        if number > 1:
            print()
        if not csv:
            print(in_a_line(each.sql.replace("\n", " ")))
        _print(answer, csv=csv, json=False)
    if json:
        show.as_json(told)
    if status:
        raise typer.Exit(status)


def _print(answer: Answer, *, csv: bool, json: bool) -> None:
    from discreet.answer.answer import said

    if json:
        show.as_json(_as_json(answer))
        return
    if csv:
        show.as_csv(answer.table)
    else:
        show.as_table(answer.columns, answer.cells())
    for note in said(answer):
        print(f"note: {in_a_line(note)}", file=sys.stderr)


def _as_json(answer: Answer) -> dict[str, Any]:
    from discreet.answer.answer import said

    told = {"question": answer.question, "estimator": answer.estimator, "estimators": dict(answer.estimators)}
    return {**told, "columns": answer.columns, "rows": answer.rows(), "notes": said(answer)}


def _named(table: str) -> tuple[str, str]:
    name, equals, file = table.partition("=")
    if not (name and equals and file):
        raise typer.BadParameter("write NAME=FILE", param_hint="--table")
    return name, file
