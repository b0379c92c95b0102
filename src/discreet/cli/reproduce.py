"""`discreet reproduce`: a figure of one of the five papers, measured here and judged."""

from __future__ import annotations

import sys
from itertools import zip_longest
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Annotated

import typer

from discreet.cli import show

if TYPE_CHECKING:
    from discreet.experiments.run import Result


def reproduce(
    names: Annotated[list[str] | None, typer.Argument(help="Figures, like xiao-4 koudas-11.")] = None,
    listed: Annotated[bool, typer.Option("--list", help="List all figures with what the papers claim.")] = False,
    everything: Annotated[bool, typer.Option("--all", help="Every figure.")] = False,
    headlines: Annotated[
        bool, typer.Option("--headlines", help="The twelve figures that carry what the papers say first.")
    ] = False,
    scale: Annotated[str, typer.Option(help="quick (seconds), medium, or full (the sizes of the paper).")] = "quick",
    data: Annotated[
        Path | None,
        typer.Option(envvar="DISCREET_DATA", help="The folder with the real tables; without it, synthetic ones."),
    ] = None,
    to: Annotated[Path, typer.Option(help="The folder to write into.")] = Path("reproduced"),
    given: Annotated[list[str], typer.Option("--set", help="A parameter, like l=5 or d=3,5; may be repeated.")] = [],  # noqa: B006 - typer reads it once
    again: Annotated[bool, typer.Option("--again", help="Measure anew what an earlier run has measured.")] = False,
    charts: Annotated[bool, typer.Option(help="Draw a chart as .svg and .png.")] = True,
    report: Annotated[
        Path | None,
        typer.Option(help="Write the claims of all results in the folder into this Markdown file."),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Measure a figure of a paper: a table, a chart, and what holds of the paper's claims.

    Interrupted, it goes on where it stopped when it is started again. With several names, parameters are for all.
    Without a name, --report writes what lies in the folder.

    Example: discreet reproduce xiao-4 --scale medium --set l=5
    """
    from discreet.errors import InputError
    from discreet.experiments import HEADLINES, experiment, experiments
    from discreet.experiments.report import check, write
    from discreet.experiments.run import as_json, run, steps

    if listed:
        _print_list(json=json)
        return
    wanted = [*(names or []), *(HEADLINES if headlines else ())]
    chosen = list(experiments().values()) if everything else [experiment(name) for name in dict.fromkeys(wanted)]
    if not chosen and report is None:
        raise InputError("no figure is named", hint="`discreet reproduce --list` lists them")
    if report is not None:
        check(report)
    settings = dict(_parameter(text) for text in given)
    found: list[Result] = []
    with show.steps(sum(1 + steps(each, scale, settings) for each in chosen)) as step:
        for each in chosen:
            step(each.name)
            more = {"scale": scale, "data": data, "given": settings, "again": again, "charts": charts}
            try:
                found += [run(each, to=to, progress=step, **more)]  # type: ignore[arg-type]
            except KeyboardInterrupt:
                print(f"stopped; what was measured is kept in {to}: started again, it goes on", file=sys.stderr)
                raise
    if report is not None:
        write(to, report)
    if json:
        show.as_json([as_json(each) for each in found])
        return
    for result in found:
        _print(result, to, charts=charts)


def _print(found: Result, to: Path, *, charts: bool) -> None:
    from discreet.experiments.run import said

    print(f"{found.title}, {found.scale}\n")
    for verdict in found.verdicts:
        told = [verdict.claim, verdict.measured, *([f"Why not: {verdict.why}"] if verdict.why else [])]
        lines = [part for text in told for part in wrap(text, 100)]
        print("\n".join(f"{head:<15}{line}" for head, line in zip_longest([said(verdict)], lines, fillvalue="")))
    print(f"\n{to / found.experiment.name}.csv, .txt" + (", .svg, .png" if charts else "") + "\n")


def _print_list(*, json: bool) -> None:
    from discreet.experiments import experiments

    known = experiments().values()
    if json:
        about = [
            {"name": each.name, "title": each.title, "paper": each.paper, "parameters": dict(each.parameters)}
            | {"claims": [claim.text for claim in each.claims]}
            for each in known
        ]
        show.as_json(about)
        return
    rows = [
        [each.name * (number == 0), each.title * (number == 0), claim.text]
        for each in known
        for number, claim in enumerate(each.claims)
    ]
    show.as_table(["figure", "what it shows", "what the paper claims"], rows, left=3)


def _parameter(text: str) -> tuple[str, str]:
    """Read `l=5`."""
    from discreet.errors import InputError

    name, sign, value = text.partition("=")
    if not sign or not name.strip() or not value.strip():
        raise InputError(f"`{text}` is not a parameter", hint="name it and its value, like `l=5` or `d=3,5`")
    return name.strip(), value.strip()
