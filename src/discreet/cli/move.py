"""`discreet load` and `discreet dump`: put a release into a database, and write one of a database to a folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from discreet.cli import show
from discreet.cli.places import place


def load(
    release: Annotated[Path, typer.Argument(help="The folder of a release.")],
    to: Annotated[Any, typer.Argument(metavar="URL", parser=place, help="The database: postgresql://host/database.")],
    name: Annotated[
        str | None, typer.Option("--release", help="The name of the release there, a schema to make.")
    ] = None,
    grant: Annotated[
        list[str] | None, typer.Option(help="A role that may read the release, and nothing else; may be repeated.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Put a release into a PostgreSQL database, where it can be asked: all at once, or not at all.

    The release becomes a schema of its own. User and password may stand in PGUSER, PGPASSWORD, ~/.pgpass or a service
    file.

    Example: discreet load releases/2026-11 postgresql://db.example/registry --release patients_2026 --grant analysts
    """
    import discreet

    with show.steps(2) as step:
        made = discreet.load(release, to, name=name, grant=grant or (), progress=step)
    address = made.address  # type: ignore[attr-defined]
    if json:
        show.as_json({"release": address, "promise": made.promise.model_dump(exclude_none=True)})
        return
    print(f"{address}: {release}, {made.promise.rows:,} rows in {made.promise.groups:,} groups")
    print(f"  may be read by: {', '.join(grant) if grant else 'its owner alone'}")


def dump(
    source: Annotated[
        Any, typer.Argument(metavar="URL", parser=place, help="The database: postgresql://host/database.")
    ],
    to: Annotated[Path, typer.Argument(metavar="FOLDER", help="The folder to make; it must not exist.")],
    name: Annotated[str | None, typer.Option("--release", help="The name of the release there.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Write a release of a PostgreSQL database to a folder, byte by byte as it was loaded, and verify it.

    Example: discreet dump postgresql://db.example/registry --release patients_2026 releases/2026-11
    """
    import discreet

    with show.steps(1) as step:
        step("writing")
        made = discreet.dump(source, to, name=name)
    if json:
        show.as_json({"release": made.path, "promise": made.promise.model_dump(exclude_none=True)})
        return
    print(f"{made.path}: {made.promise.rows:,} rows in {made.promise.groups:,} groups, verified")
