"""`discreet init`: draft a policy for a table."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import Annotated

import typer

from discreet.cli import show


def init(
    file: Annotated[Path, typer.Argument(help="A .csv, .csv.gz, .parquet or .xlsx file.")],
    to: Annotated[Path, typer.Option(help="The policy to write; it must not exist.")] = Path("policy.toml"),
    sheet: Annotated[str | None, typer.Option(help="Which sheet to read, if the file is a workbook.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Write a policy with a suggested role for each column, in comments for you to confirm.

    The policy does not load until you have: `publish` says which lines to look at. Nothing is overwritten.

    Example: discreet init patients.csv --to policy.toml
    """
    from discreet.policy.toml import store
    from discreet.table.suggest import drafted

    with show.steps(1) as step:
        step("reading")
        draft = drafted(file, sheet=sheet)
    store(to, draft.text)
    if json:
        show.as_json({"policy": to, "roles": draft.roles})
        return
    print(f"{to}: a policy for {file}, with suggestions in comments")
    print(f"Next: open {to} in an editor, check each suggestion, and remove the `#` before those that are right. Then:")
    print(f"  discreet publish {quote(str(file))} --policy {quote(str(to))} --to RELEASE")
