"""`discreet verify`: check the promise of a release from its files alone."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from discreet.cli import show
from discreet.cli.places import ENGINE, RELEASE, place


def verify(
    release: Annotated[Path, typer.Argument(metavar="RELEASE", parser=place, help=RELEASE)],
    earlier: Annotated[
        list[Path] | None,
        typer.Option(help="Where earlier releases of a sequence are, if not beside this one; may be repeated."),
    ] = None,
    engine: Annotated[str, typer.Option(help=ENGINE)] = "duckdb",
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Re-derive the guarantee of a release from its files, and look for what a release must never carry.

    Of a sequence of releases, those before this one are verified too, where they are found.

    Exit status 4 if anything is wrong. Example: discreet verify releases/2026-11
    """
    import discreet
    from discreet.errors import VerificationError

    with show.steps(1) as step:
        step("verifying")
        report = discreet.verify(release, earlier=earlier or (), engine=engine)
    if json:
        show.as_json({"release": release, "ok": report.ok, "checks": report.checks})
    else:
        show.as_table(
            ["", "check", "result"],
            [["ok" if check.ok else "FAILED", check.name, check.detail] for check in report.checks],
            left=3,
        )
    if not report.ok:
        raise typer.Exit(VerificationError.exit_status)
