"""`discreet inspect`: what an outsider could do with the table as it is today."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from discreet.cli import show

if TYPE_CHECKING:
    from collections.abc import Sequence

    from discreet.table.telling import Telling


def inspect(
    file: Annotated[Path, typer.Argument(help="A .csv or .parquet file.")],
    quasi: Annotated[
        list[str], typer.Option(help="A quasi-identifier, or several with commas between; may be repeated.")
    ] = [],  # noqa: B006 - typer reads it once
    sensitive: Annotated[str | None, typer.Option(help="The sensitive column.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show the columns of a private table, and how far quasi-identifiers single people out today.

    The output is about private data: keep it to yourself.

    Example: discreet inspect patients.csv --quasi age,zipcode,sex --sensitive salary
    """
    import discreet

    with show.steps(2) as step:
        step("reading")
        table = discreet.read(file)
        step("counting")
        names = [name for given in quasi for name in ([given] if given in table.names() else given.split(","))]
        profile = table.inspect(quasi=names, sensitive=sensitive)
    if json:
        show.as_json(profile)
        return
    print(f"{profile.name}: {profile.rows:,} rows, {len(profile.columns)} columns\n")
    show.as_table(
        ["column", "kind", "distinct", "missing", "unique rows", "perhaps"],
        [
            [
                column.name,
                column.kind,
                f"{column.distinct:,}",
                f"{column.missing:,}",
                f"{column.unique:,}",
                column.suggestion,
            ]
            for column in profile.columns
        ],
        left=2,
    )
    if about := profile.quasi:
        share = about.unique / profile.rows if profile.rows else 0
        print(f"\nBy {', '.join(about.quasi)}:")
        print(f"  {about.unique:,} rows ({share:.1%}) are unique: whoever knows these values knows the person's row")
        print(f"  {about.below_5:,} rows share their values with fewer than four others")
        print(f"  {about.combinations:,} combinations: a linked row is the right person's in {about.risk:.1%} of cases")
    if value := profile.sensitive:
        print(
            f"\n{value.sensitive}: {value.distinct:,} distinct values, the top one in {value.top_share:.1%} of the rows"
        )
        print(f"  the largest guarantee l that this column allows is {value.largest_l}")
        _print_tells(profile.tells, value.sensitive)
    if not profile.quasi:
        print("\nNext: --quasi with the columns an outsider may know, --sensitive with the one to protect")


def _print_tells(tells: Sequence[Telling], sensitive: str) -> None:
    """What quasi-identifiers tell of the sensitive value, beside a blind guess."""
    if not tells:
        return
    print(f"\nPeople whose {sensitive} is nearly certain to whoever knows a column, or two:\n")
    show.as_table(
        ["known", "people", "share", "right", "blind guess", "too few alike"],
        [
            [
                " and ".join(telling.columns),
                f"{telling.told:,}",
                f"{telling.told / telling.rows:.1%}",
                f"{telling.certainty:.1%}" if telling.told else "–",
                f"{telling.blind:.1%}",
                f"{telling.rows - telling.judged:,}",
            ]
            for telling in tells
        ],
    )
    drawn = max(telling.rows for telling in tells)
    if any(telling.sampled for telling in tells):
        print(f"  measured on {drawn:,} rows drawn at random, and pairs on fewer")
