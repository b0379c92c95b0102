"""`discreet audit`: measure a release from its files alone."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from discreet.cli import show

MEANINGS = {
    "rows": "rows that are published",
    "groups": "groups that they are in",
    "average_group": "rows in a group",
    "c_avg": "the same, divided by the k that is promised",
    "ncp": "twice the sides of all boxes, over all rows",
    "ncp_normalised": "sides as shares of their columns, over all rows and columns",
    "ncp_share": "the same, from 0 (all exact) to 1 (nothing told)",
    "il": "information loss of the average row: its shares, summed over columns",
    "dm": "discernibility: the squares of the sizes of groups",
    "rce": "error of sensitive values rebuilt row by row",
}


def audit(
    release: Annotated[Path, typer.Argument(help="The folder of a release.")],
    metrics: Annotated[bool, typer.Option("--metrics", help="How much the release blurs; shown in any case.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Measure from its files alone how much a release blurs. Anyone who holds it can.

    Example: discreet audit releases/2026-11 --metrics
    """
    from dataclasses import asdict

    import discreet

    with show.steps(1) as step:
        step("measuring")
        found = asdict(discreet.metrics(release))
    if json:
        show.as_json({"release": release, "metrics": found})
        return
    from discreet.answer.answer import measure

    del metrics  # there is nothing else to show yet
    print(f"{release}: {found['publication']} by {found['partition']}\n")
    show.as_table(
        ["metric", "what it is", "value"],
        [[name, meaning, measure(found[name])] for name, meaning in MEANINGS.items()],
        left=2,
    )
    if any(found[name] is None for name in MEANINGS):
        print("\nA dash stands for what has no meaning here, or what the release does not tell.")
