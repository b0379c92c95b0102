"""`discreet draw`: write plausible tables of a release as files, for any analysis."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from discreet.cli import show
from discreet.cli.places import RELEASE, place
from discreet.cli.publish import Form
from discreet.visible import in_a_line


def draw(
    release: Annotated[Path, typer.Argument(metavar="RELEASE", parser=place, help=RELEASE)],
    to: Annotated[Path, typer.Option(help="The folder to make; it must not exist.")],
    tables: Annotated[int, typer.Option(help="How many plausible tables.")] = 20,
    form: Annotated[Form, typer.Option("--format", help="The format of the files.")] = Form.parquet,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Write plausible tables of a release: complete, each with the values of every group given to its rows.

    Compute what you want to know on each, and combine the results with `discreet.pool`.

    Example: discreet draw releases/2026-11 --tables 20 --to drawn
    """
    import discreet
    from discreet.learn.draws import STEPS
    from discreet.learn.files import save

    with show.steps(STEPS + 1) as step:
        found = discreet.open_release(release).plausible(tables, progress=step)
        step("writing")
        paths = save(found, to, format=form.value)
    if json:
        show.as_json({"release": release, "files": paths, "notes": found.notes})
        return
    print(f"{to}: {len(paths)} tables of {len(found.shown):,} rows, `{paths[0].name}` to `{paths[-1].name}`")
    for note in found.notes:
        print(f"note: {in_a_line(note)}", file=sys.stderr)
