"""`discreet compare`: several ways to publish one table, at the same guarantee."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from discreet.cli import show


def compare(
    file: Annotated[Path, typer.Argument(help="A .csv or .parquet file.")],
    policy: Annotated[Path, typer.Option(help="The policy, a TOML file; its guarantee holds for every method.")],
    methods: Annotated[
        list[str],
        typer.Option(help="A method like anatomy/local, or several with commas between; may be repeated."),
    ] = [],  # noqa: B006 - typer reads it once
    queries: Annotated[int, typer.Option(help="How many random questions to ask.", min=1)] = 200,
    public: Annotated[
        Path | None, typer.Option(help="For joins: a table that lists people of the same kind, .csv or .parquet.")
    ] = None,
    chart: Annotated[Path | None, typer.Option(help="Draw a chart into this .png or .svg file.")] = None,
    memory_limit: Annotated[str | None, typer.Option(help="Spill to disk beyond this, like 8GB.")] = None,
    seed: Annotated[int | None, typer.Option(help="The same questions and groups again.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Publish a table in several ways, ask each the same random questions, and compare errors, loss and time.

    The releases are deleted. The output is about private data: keep it to yourself.

    Example: discreet compare patients.csv --policy policy.toml --methods anatomy/local,generalization/mondrian
    """
    import discreet
    from discreet.comparison.chart import check
    from discreet.comparison.comparison import COLUMNS, NOTE

    if chart is not None:
        check(chart)
    rules = discreet.Policy.load(policy)
    named = [name for given in methods for name in given.split(",")] or None
    with show.warnings(), show.steps(2 + len(named or [1] * 8)) as step:
        step("reading")
        with discreet.read(file, memory_limit=memory_limit) as table:
            found = discreet.compare(
                table, rules, methods=named, queries=queries, seed=seed, public=public, progress=step
            )
        if chart is not None:
            found.chart(chart)
    if json:
        about = {"table": found.table, "rows": found.rows, "guarantee": found.guarantee, "queries": found.queries}
        show.as_json({**about, "outcomes": found.outcomes, "chart": chart, "note": NOTE})
        return
    print(f"{found.title}\n")
    show.as_table(COLUMNS, found.cells())
    for line in (*found.remarks(), *([f"chart: {chart}"] if chart else []), NOTE):
        print(f"\n{line}")
