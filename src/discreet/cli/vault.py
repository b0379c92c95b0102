"""`discreet vault`: a table that grows, and releases of it that together tell no more than each alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli import show
from discreet.cli.places import place
from discreet.words import counted

if TYPE_CHECKING:
    from discreet.vault.status import Status

SHOWN = 3  # values of a set, where a group is told in a line

app = typer.Typer(
    name="vault",
    help="Keep a table that grows, and release it again and again so that all releases together tell no more than one.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
Folder = Annotated[
    Any,
    typer.Argument(metavar="VAULT", parser=place, help="The folder of a vault, or postgresql://host/database#vault."),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@app.command(no_args_is_help=True)
def init(
    vault: Annotated[
        Any,
        typer.Argument(
            metavar="VAULT",
            parser=place,
            help="The folder to make, or postgresql://host/database#vault for a schema; it must not exist.",
        ),
    ],
    policy: Annotated[Path, typer.Option(help="The policy, a TOML file; a vault keeps it for good.")],
    strict: Annotated[bool, typer.Option("--strict", help="Make no vault if there is a warning.")] = False,
    json: Json = False,
) -> None:
    """Make an empty vault: a folder, or a schema of a database, that only you can read.

    Example: discreet vault init patients.vault --policy policy.toml
    """
    import discreet
    from discreet.vault.terms import mistakes

    rules = discreet.Policy.load(policy, check=mistakes)
    with show.warnings(), discreet.Vault.create(vault, rules, strict=strict) as made:
        warned = [show.warning(each) for each in made.warnings]
    if json:
        show.as_json({"vault": vault, "guarantee": dict(rules.guarantee), "warnings": warned})
        return
    print(f"{vault}: an empty vault, which only you can read; keep it to yourself")
    for sentence in _sentences(rules.guarantee, together=False):
        print(f"  every release will promise: {sentence}")
    for sentence in _sentences(rules.guarantee, together=True):
        print(f"  every release, and all of them together, will promise: {sentence}")


@app.command(no_args_is_help=True)
def append(
    vault: Folder,
    files: Annotated[
        list[Path], typer.Argument(help=".csv, .csv.gz, .parquet or .xlsx files, appended one after the other.")
    ],
    json: Json = False,
) -> None:
    """Take the rows of files into a vault: of each file all of them or none.

    Rows that cannot be shown yet without giving somebody away wait for others; none is lost.

    Example: discreet vault append patients.vault 2026-11.csv
    """
    import discreet

    told = []
    with discreet.Vault.open(vault) as opened, show.steps(2 * len(files)) as step:
        for file in files:
            found = opened.append(file, progress=step)
            told.append({"file": file, **asdict(found)})
            if not json:
                joined = counted(found.joined, "joined a group", "joined groups")
                print(
                    f"{file}: {counted(found.rows, 'row')} taken in, {joined},"
                    f" {counted(found.waiting, 'waits now', 'wait now')}"
                )
                if found.withheld:
                    print(f"  left out: {counted(found.withheld, 'row')} whose {opened.policy.sensitive} is missing")
    if json:
        show.as_json({"vault": vault, "appended": told})


@app.command(no_args_is_help=True)
def release(
    vault: Folder,
    to: Annotated[Path, typer.Option(help="The folder to make; it must not exist.")],
    earlier: Annotated[
        list[Path] | None,
        typer.Option(help="Where earlier releases are now, if not where they were made; may be repeated."),
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Release nothing if there is a warning.")] = False,
    json: Json = False,
) -> None:
    """Publish all groups of a vault as they are now. The release is verified, and audited with all before it, first.

    Example: discreet vault release patients.vault --to releases/2026-11
    """
    import discreet
    from discreet.vault.release import STEPS

    with show.warnings(), discreet.Vault.open(vault) as opened, show.steps(len(STEPS)) as step:
        made = opened.release(to, earlier=earlier or (), strict=strict, progress=step)
        stands = opened.status()
    promise, number = made.promise, len(stands.releases)
    if json:
        warned = [show.warning(each) for each in made.warnings]
        about = {"release": to, "number": number, "waiting": stands.waiting.rows, "warnings": warned}
        show.as_json({**about, "promise": promise.model_dump(exclude_none=True)})
        return
    audited = "" if number == 1 else f", audited with the {number - 1:,} before it"
    shown = f"{counted(promise.rows, 'row')} in {counted(promise.groups, 'group')}"
    print(f"{to}: release {number:,}, {shown}, verified{audited}")
    for sentence in _sentences(promise.guarantee, together=False):
        print(f"  promised, of this release: {sentence}")
    for sentence in _sentences(promise.guarantee, together=True):
        print(f"  promised, of this release and of all together: {sentence}")
    print("  not promised: that nobody learns anything new; see the page on the promise in the docs")
    if promise.growth == "insert":
        print("  not promised: of all together, anything against who knows everybody in a group and when each came")
    if stands.waiting.rows:
        waiting = counted(stands.waiting.rows, "row that waits", "rows that wait")
        print(f"  withheld: {waiting} (this count is not in the release)")


@app.command(no_args_is_help=True)
def accept(
    vault: Folder,
    name: Annotated[str, typer.Argument(help="The name of a warning, like tells.zipcode.")],
    reason: Annotated[str, typer.Option(help="Why you accept it; the vault keeps the reason.")],
    json: Json = False,
) -> None:
    """Accept a warning for all releases to come. No release shows it, or the reason.

    Example: discreet vault accept patients.vault tells.zipcode --reason "the clinic is named after its town"
    """
    import discreet

    with discreet.Vault.open(vault) as opened:
        opened.accept(name, reason)
    if json:
        show.as_json({"vault": vault, "accepted": {name: reason}})
        return
    print(f"{vault}: {name} is accepted from now on: {reason}")


@app.command(no_args_is_help=True)
def status(vault: Folder, json: Json = False) -> None:
    """Show how a vault stands: who waits, for how long, and whether the next release is worth making.

    The output is about private rows: keep it to yourself. Example: discreet vault status patients.vault
    """
    import discreet

    with discreet.Vault.open(vault) as opened:
        stands = opened.status()
    if json:
        verdict = {"worth_releasing": stands.worth_releasing, "advice": stands.advice}
        show.as_json({**asdict(stands), **verdict})
        return
    print(f"{vault}: {counted(stands.rows, 'row')} from {counted(stands.appends, 'append')}")
    print(f"  in groups: {counted(stands.members, 'row')} in {counted(stands.groups, 'group')}")
    _print_waiting(stands)
    print(f"  {stands.advice}")
    if stands.releases:
        print()
        show.as_table(
            ["release", "made", "rows", "groups", "where"],
            [
                [f"{made.number}", made.time, f"{made.rows:,}", f"{made.groups:,}", _where(made.path, made.there)]
                for made in stands.releases
            ],
            left=2,
        )
    if stands.waiting.longest:
        print()
        show.as_table(
            ["in the group of", "waiting", "members"],
            [[_box(line.box), f"{line.waiting:,}", f"{line.members:,}"] for line in stands.waiting.longest],
        )


def _print_waiting(stands: Status) -> None:
    waiting = stands.waiting
    if not waiting.rows:
        print("  waiting: none")
        return
    where = f"in {counted(waiting.groups, 'group')}, the oldest since {waiting.oldest}"
    print(f"  waiting: {counted(waiting.rows, 'row')} ({waiting.rows / stands.rows:.1%}) {where}")
    for times, count in waiting.missed.items():
        print(f"    {count:,} of them missed {counted(times, 'release')}")


def _where(path: Path, there: bool) -> str:
    return str(path) if there else f"{path} (CHANGED OR GONE)"


def _box(box: dict[str, Any]) -> str:
    """A box in a line."""
    return "; ".join(f"{name} {_side(side)}" for name, side in box.items())


def _side(side: dict[str, str | None] | list[str | None]) -> str:
    if isinstance(side, dict):
        ends = list(dict.fromkeys(side.values()))
        return "–".join("missing" if end is None else end for end in ends)
    shown = ["missing" if value is None else value for value in side[:SHOWN]]
    return ", ".join(shown) + (f" and {len(side) - SHOWN:,} more" if len(side) > SHOWN else "")


def _sentences(guarantee: Mapping[str, float], *, together: bool) -> list[str]:
    """What is promised of all releases together, or of each alone: how many people a group has."""
    from discreet.guarantees import sentences

    return sentences({name: threshold for name, threshold in guarantee.items() if (name != "k") == together})
