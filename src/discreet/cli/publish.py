"""`discreet publish`: turn a private table into a release."""

from __future__ import annotations

from contextlib import ExitStack
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from discreet.cli import show
from discreet.cli.places import PUBLISHING, place
from discreet.errors import InputError
from discreet.visible import in_a_line


class Form(StrEnum):
    """The format of the data files: parquet or csv."""

    parquet = "parquet"
    csv = "csv"


def publish(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            parser=place,
            help="A .csv, .csv.gz, .parquet or .xlsx file, postgresql://host/database, or in Spark 'rows/*.parquet'.",
        ),
    ],
    policy: Annotated[Path, typer.Option(help="The policy, a TOML file.")],
    to: Annotated[
        Path,
        typer.Option(
            metavar="FOLDER", parser=place, help="The folder to make; it must not exist. Or postgresql://host/database."
        ),
    ],
    table: Annotated[str | None, typer.Option(help="Of a database: the table, as schema.table.")] = None,
    query: Annotated[str | None, typer.Option(help="Of a database: a SELECT instead of a table.")] = None,
    name: Annotated[
        str | None, typer.Option("--release", help="Into a database: the name of the release there, a new schema.")
    ] = None,
    grant: Annotated[
        list[str] | None, typer.Option(help="Into a database: a role that may read the release; may be repeated.")
    ] = None,
    public: Annotated[
        Path | None, typer.Option(help="For a join: a table that lists people of the same kind, .csv or .parquet.")
    ] = None,
    earlier: Annotated[
        list[Path] | None,
        typer.Option(
            help="An earlier release of the same people: nothing is published if the two together give people away."
        ),
    ] = None,
    form: Annotated[
        Form, typer.Option("--format", help="The format of the data files: parquet or csv.")
    ] = Form.parquet,
    rows_per_part: Annotated[
        int | None,
        typer.Option(
            help="Write larger tables as several Parquet files of about so many rows.",
            show_default="20 million; on Spark 2 million",
        ),
    ] = None,
    plausible: Annotated[
        int | None, typer.Option(help="Add this many plausible tables, drawn from the other files alone.")
    ] = None,
    holdout: Annotated[
        float | None, typer.Option(help="Leave out this share of the rows, like 0.1, for attacks on other people.")
    ] = None,
    holdout_to: Annotated[
        Path | None, typer.Option(help="The private .parquet file for those who are left out; never in the release.")
    ] = None,
    engine: Annotated[str, typer.Option(help=PUBLISHING)] = "duckdb",
    memory_limit: Annotated[
        str | None, typer.Option(help="How much memory to use before spilling to disk, like 8GB.")
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            help="Draw the same groups in every run. For tests only: the release says that it is not for publication."
        ),
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Publish nothing if there is a warning.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Publish a table under a policy. The release is verified from its own files before it appears.

    Example: discreet publish patients.csv --policy policy.toml --to releases/2026-11

    Example: discreet publish patients.csv --policy policy.toml --to releases/2026-12 --earlier releases/2026-11

    Example: discreet publish postgresql://host/db --table clinic.patients --policy policy.toml --to releases/2026-12

    Example: discreet publish 'lake/rows/*.parquet' --engine spark --policy policy.toml --to releases/2026-12
    """
    import discreet
    from discreet.policy import Policy
    from discreet.publication.publish import ON_SPARK, STEPS
    from discreet.publication.source import opened_under
    from discreet.release.release import meant

    learning = 0 if plausible is None else 100  # what a model says of itself, at most
    lake = meant(engine)
    with show.warnings(), show.steps(len(ON_SPARK if lake else STEPS) + 1 + learning, logged=lake) as step:
        step("starting" if lake else "reading")
        with ExitStack() as opened:
            if lake:
                rows, rules = _in_files(file, table, query), Policy.load(policy)
            else:
                source = _opened(file, opened, table=table, query=query, memory_limit=memory_limit)
                rows, rules = opened_under(source, policy, opened, memory_limit=memory_limit)
            release = discreet.publish(
                rows,
                rules,
                to=to,
                release=name,
                grant=grant or (),
                public=public,
                earlier=earlier or (),
                seed=seed,
                strict=strict,
                format=form.value,
                rows_per_part=rows_per_part,
                plausible=plausible,
                holdout=holdout,
                holdout_to=holdout_to,
                engine=engine,
                memory_limit=memory_limit,
                progress=step,
            )
    if json:
        _as_json(release, getattr(release, "address", to))
        return
    _tell(
        release, rules, getattr(release, "address", to), held_out=None if holdout_to is None else (holdout, holdout_to)
    )


def _as_json(release: Any, place_of: Any) -> None:
    warned = [show.warning(each) for each in release.warnings]
    told: dict[str, Any] = {"withheld": release.withheld, "suppressed": release.suppressed, "warnings": warned}
    if release.needs is not None:
        told["memory"] = release.needs.members()
    show.as_json({"release": place_of, **told, "promise": release.promise.model_dump(exclude_none=True)})


def _tell(release: Any, rules: Any, place_of: Any, *, held_out: tuple[float | None, Path] | None) -> None:
    """Print what was published, and what is not promised."""
    from discreet.publication import PUBLICATIONS

    left_out, suppressed, promise = release.withheld, release.suppressed, release.promise
    first, *more = PUBLICATIONS[promise.publication].told(promise)
    print(f"{place_of}: {first}")
    for line in more:
        print(f"  {line}")
    if promise.plausible is not None:
        print(f"  plausible tables: {promise.plausible.tables}, drawn from the other files alone")
    if rules.person is None and not rules.identifiers:
        print("  assumed: that every row is a different person; the policy names no identifier to check it by")
    print("  not promised: that nobody learns anything new; see the page on the promise in the docs")
    if rules.partition == "auto" and promise.partition != rules.grouping:
        why = f"by `{rules.grouping}`, nearly everybody in a group would have held the same value"
        print(f"  grouped by `{promise.partition}`: {why}; to choose another, set `partition` in the policy")
    if held_out is not None:
        share, where = held_out
        print(f"  held out: {share:.0%} of the rows, at random; they are in {where}, which is private")
    if left_out:
        column = in_a_line(promise.sensitive or "")
        print(f"  withheld: {left_out:,} rows whose {column} is missing (this count is not in the release)")
    if suppressed:
        print(f"  suppressed: {suppressed:,} rows that fit no group (this count is not in the release)")
    if not promise.for_publication:
        print("  made with a seed: NOT FOR PUBLICATION")


def _in_files(file: Any, table: str | None, query: str | None) -> Any:
    """Files as Spark finds them, which a pattern may name."""
    if table is not None or query is not None:
        raise InputError("Spark publishes files, and no table of a database", hint="leave out `--table` and `--query`")
    return str(file)


def _opened(file: Any, opened: ExitStack, *, table: str | None, query: str | None, memory_limit: str | None) -> Any:
    """A file as it is, which the policy says how to read; or rows of a database."""
    import discreet

    if isinstance(file, Path) and table is None and query is None:
        return file
    return opened.enter_context(discreet.read(file, table=table, query=query, memory_limit=memory_limit))
