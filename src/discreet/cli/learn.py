"""`discreet learn`: write a release once more, with plausible tables beside its files."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from discreet.cli import show
from discreet.cli.places import RELEASE, place
from discreet.visible import in_a_line


def learn(
    release: Annotated[Path, typer.Argument(metavar="RELEASE", parser=place, help=RELEASE)],
    tables: Annotated[int, typer.Option(help="How many plausible tables.")] = 20,
    to: Annotated[
        Path | None, typer.Option(help="The folder to make; it must not exist. Default: RELEASE-plausible.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Write a release once more, with plausible tables drawn from its files by a model that was fitted to them alone.

    The release itself stays as it is, and its data files are the new one's, byte for byte.

    Example: discreet learn releases/2026-11 --tables 20 --to releases/2026-11-plausible
    """
    from discreet.learn.draws import STEPS
    from discreet.learn.resource import learn as learned

    with show.steps(2 + STEPS) as step:
        made = learned(release, to=to, tables=tables, progress=step)
    told = made.promise.plausible
    if json:
        show.as_json({"release": made.path, "promise": made.promise.model_dump(exclude_none=True)})
        return
    print(f"{made.path}: {release} with {0 if told is None else told.tables} plausible tables")
    print("  drawn from its files alone: they tell nothing that the files do not")
    for note in (told and told.notes) or ():
        print(f"note: {in_a_line(note)}", file=sys.stderr)
