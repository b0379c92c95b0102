"""`discreet compare`: several ways to publish one table, at the same guarantee."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli import show

if TYPE_CHECKING:
    from discreet.comparison import Sweep


def compare(
    file: Annotated[Path, typer.Argument(help="A .csv, .csv.gz, .parquet or .xlsx file.")],
    policy: Annotated[Path, typer.Option(help="The policy, a TOML file; its guarantee holds for every method.")],
    methods: Annotated[
        list[str],
        typer.Option(help="A method like anatomy/local, or several with commas between; may be repeated."),
    ] = [],  # noqa: B006 - typer reads it once
    queries: Annotated[int, typer.Option(help="How many random questions to ask.", min=1)] = 200,
    public: Annotated[
        Path | None, typer.Option(help="For joins: a table that lists people of the same kind, .csv or .parquet.")
    ] = None,
    sweep: Annotated[
        str | None,
        typer.Option(help="Try several thresholds of a guarantee, like l=2,3,5,10."),
    ] = None,
    learned: Annotated[
        bool, typer.Option("--learned", help="Fit a model to every release that shows rows, and ask by it as well.")
    ] = False,
    attack: Annotated[
        bool | None,
        typer.Option(
            "--attack/--no-attack",
            help="Let all attack every release who need nothing beside it, which is slow; or nobody.",
            show_default="the quick ones",
        ),
    ] = None,
    chart: Annotated[Path | None, typer.Option(help="Draw a chart into this .png or .svg file.")] = None,
    memory_limit: Annotated[
        str | None, typer.Option(help="How much memory to use before spilling to disk, like 8GB.")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="A number that makes questions and groups the same in every run.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Publish a table in several ways, ask each what people ask, and compare errors, loss and time.

    The releases are deleted. The output is about private data: keep it to yourself.

    Example: discreet compare patients.csv --policy policy.toml --methods anatomy/local,generalization/mondrian
    """
    import discreet
    from discreet import comparison
    from discreet.comparison.chart import check
    from discreet.comparison.comparison import NOTE

    if chart is not None:
        check(chart)
    rules = discreet.Policy.load(policy)
    named = [name for given in methods for name in given.split(",")] or None
    swept = None if sweep is None else _thresholds(sweep)
    many = len(named or [1] * 8) if swept is None else len(named or [1]) * len(swept[1])
    with show.warnings(), show.steps(2 + many) as step:
        step("reading")
        with discreet.read(file, memory_limit=memory_limit, csv=rules.csv, excel=rules.excel) as table:
            more: dict[str, Any] = {
                "methods": named,
                "queries": queries,
                "seed": seed,
                "public": public,
                "learned": learned,
                "attack": attack,
                "progress": step,
            }
            if swept is not None:
                _print_sweep(comparison.sweep(table, rules, *swept, **more), chart, json=json)
                return
            found = discreet.compare(table, rules, **more)
        if chart is not None:
            found.chart(chart)
    if json:
        about = {"table": found.table, "rows": found.rows, "guarantee": found.guarantee, "queries": found.queries}
        more = {"limit": found.limit, "remarks": found.remarks(), "chart": chart, "note": NOTE}
        show.as_json({**about, "outcomes": found.outcomes, **more})
        return
    print(f"{found.title}\n")
    show.as_table(found.columns, found.cells(), left=2)
    for line in (*found.remarks(), *([f"chart: {chart}"] if chart else []), NOTE):
        print(f"\n{line}")


def _print_sweep(found: Sweep, chart: Path | None, *, json: bool) -> None:
    from discreet.comparison.comparison import NOTE

    if chart is not None:
        found.chart(chart)
    if json:
        first = found.steps[0]
        steps = [
            {"threshold": step.guarantee[found.name], "limit": step.limit, "outcomes": step.outcomes}
            for step in found.steps
        ]
        about = {"table": first.table, "rows": first.rows, "queries": first.queries, "sweep": found.name}
        show.as_json({**about, "steps": steps, "remarks": found.remarks(), "chart": chart, "note": NOTE})
        return
    print(f"{found.title}\n")
    show.as_table(found.columns, found.cells(), left=3)
    for line in (*found.remarks(), *([f"chart: {chart}"] if chart else []), NOTE):
        print(f"\n{line}")


def _thresholds(text: str) -> tuple[str, list[float]]:
    """Read `l=2,3,5,10`."""
    from discreet.errors import InputError

    name, _, listed = text.partition("=")
    try:
        numbers = [float(part) for part in listed.split(",")]
    except ValueError:
        hint = "name a guarantee and its thresholds, like `l=2,3,5,10`"
        raise InputError(f"`{text}` is not a sweep", hint=hint) from None
    return name.strip(), [int(number) if number.is_integer() else number for number in numbers]
