"""`discreet inspect`: what an outsider could do with the table as it is today."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli import show
from discreet.errors import DiscreetError, InputError, ProblemsError

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from discreet.policy.meant import Meant
    from discreet.table import Table


def inspect(
    file: Annotated[Path, typer.Argument(help="A .csv, .csv.gz, .parquet or .xlsx file.")],
    quasi: Annotated[
        list[str], typer.Option(help="A quasi-identifier, or several with commas between; may be repeated.")
    ] = [],  # noqa: B006 - typer reads it once
    sensitive: Annotated[str | None, typer.Option(help="The sensitive column.")] = None,
    policy: Annotated[
        Path | None,
        typer.Option(help="A policy, finished or not: how the file is written, and the roles of columns."),
    ] = None,
    sheet: Annotated[str | None, typer.Option(help="Which sheet to read, if the file is a workbook.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show the columns of a private table, and how far quasi-identifiers single people out today.

    The output is about private data: keep it to yourself.

    Example: discreet inspect patients.csv --quasi age,zipcode,sex --sensitive salary
    """
    from discreet.policy.meant import Meant
    from discreet.policy.toml import parse
    from discreet.table.summary import summary

    meant = Meant.of({} if policy is None else parse(policy)[0])
    excel = {**(meant.excel or {}), **({} if sheet is None else {"sheet": sheet})}
    with show.steps(2) as step:
        step("reading")
        with _read(file, meant, excel, policy) as table:
            step("counting")
            names = [name for given in quasi for name in _listed(given, table.names())] or meant.quasi or ()
            profile = table.inspect(
                quasi=names, sensitive=sensitive or meant.sensitive, person=meant.person, harmless=meant.harmless or ()
            )
            found = () if policy is None else _problems(table, policy)
    if json:
        show.as_json({**asdict(profile), "problems": [show.about(each) for each in found]})
        return
    for part in summary(profile):
        if isinstance(part, str):
            print(part)
        else:
            show.as_table(part.columns, part.rows, left=part.left)
    if found:
        print("\nBefore the table can be published:")
        for problem in found:
            print(f"  {problem}".replace("\n", "\n  "))
    if not profile.quasi:
        print("\nNext: --quasi with the columns an outsider may know, --sensitive with the one to protect")
        print("  or: discreet init FILE, which drafts a policy")


def _read(file: Path, meant: Meant, excel: Mapping[str, Any], policy: Path | None) -> Table:
    """The table; if it is written in an unusual way that no policy states, the message names the command that does."""
    import discreet

    try:
        return discreet.read(file, csv=meant.csv, excel=excel)
    except InputError as error:
        if policy is not None or "[csv]" not in error.hint:
            raise
        init = f"`discreet init {quote(str(file))}` writes a policy that says how the file is written"
        raise InputError(error.message, hint=f"{init}; then inspect with --policy policy.toml") from None


def _problems(table: Table, policy: Path) -> tuple[DiscreetError, ...]:
    """What `publish` would say of the table under the policy."""
    from contextlib import ExitStack

    from discreet.publication.prepare import prepare
    from discreet.publication.source import opened_under
    from discreet.values.random import RandomSource

    try:
        with ExitStack() as opened:
            _, rules = opened_under(table, policy, opened)
            prepare(table, rules, RandomSource())
    except ProblemsError as error:
        return error.problems
    except DiscreetError as error:
        return (error,)
    return ()


def _listed(given: str, names: Collection[str]) -> list[str]:
    """The names in a text with commas between them, spaces or none around these; a name may hold commas itself."""
    if given in names:
        return [given]
    return [name if name in names else name.strip() for name in given.split(",") if name.strip()]
