"""`discreet report`: what a data protection officer reads before she signs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli import show

if TYPE_CHECKING:
    from discreet.comparison import Sweep

SWEPT = 20_000  # rows of the private table that are published anew at other thresholds
STEPS = 60  # of a report, about: what models and attacks say of themselves


def report(
    release: Annotated[Path, typer.Argument(help="The folder of a release.")],
    to: Annotated[
        Path | None,
        typer.Option(
            help="A folder, or a file like report.html whose name the others share.",
            show_default="a new folder beside the release, RELEASE-report",
        ),
    ] = None,
    truth: Annotated[
        Path | None, typer.Option(help="The private table, .csv or .parquet: for the steward's report alone.")
    ] = None,
    population: Annotated[
        str | None,
        typer.Option(help="The people that the table is a part of: a .csv or .parquet file, or how many they are."),
    ] = None,
    public: Annotated[
        Path | None, typer.Option(help="A public table, .csv or .parquet, that people may be linked with.")
    ] = None,
    holdout: Annotated[
        Path | None, typer.Option(help="People who were not in the table, with the same columns, .csv or .parquet.")
    ] = None,
    other: Annotated[
        list[Path] | None, typer.Option(help="Another release about the same people; may be repeated.")
    ] = None,
    policy: Annotated[
        Path | None, typer.Option(help="The policy, to measure errors at other thresholds; goes with --truth.")
    ] = None,
    recipient: Annotated[str | None, typer.Option(help="Who gets the release, in words.")] = None,
    threshold: Annotated[float, typer.Option(help="The risk that no record should exceed.")] = 0.09,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Write what is known of a release: its promise and check, attacks, risks, errors, and what was not tested.

    What takes the private table goes into files of its own. Exit status 4 if the release does not verify.

    Example: discreet report releases/2026-11

    Example: discreet report releases/2026-11 --truth patients.csv --recipient "the city" --to reports/2026-11
    """
    import discreet
    from discreet.errors import InputError, VerificationError

    if policy is not None and truth is None:
        raise InputError("--policy goes with --truth", hint="name the private table, or leave the policy out")
    with show.warnings(), show.steps(STEPS) as step:
        found = discreet.report(
            release,
            to=to,
            truth=truth,
            population=int(population) if population is not None and population.isdecimal() else population,
            public=public,
            holdout=holdout,
            others=other or (),
            recipient=recipient,
            threshold=threshold,
            sweep=lambda: None if policy is None or truth is None else swept(truth, policy, step),
            progress=step,
        )
    if to is None:
        private = "" if found.private is None else "; what is private in it is for the steward alone"
        print(f"the report is in {found.files[0].parent}{private}", file=sys.stderr)
    if json:
        show.as_json({"release": release, "verified": found.verified, "files": [str(path) for path in found.files]})
    else:
        for path in found.files:
            shown = ".public." in path.name and found.verified
            whose = "may be handed out" if shown else "for the steward, not to be handed out"
            print(f"{path}: {whose}")
    if not found.verified:
        raise VerificationError(
            f"`{release}` does not verify, and the report says so first",
            hint="do not sign it, and do not hand the release out; `discreet verify` says what is wrong",
        )


def swept(truth: Path, policy: Path, step: show.Step) -> Sweep | None:
    """Errors at half and at twice the threshold, of some rows of the private table; None if nothing can be swept."""
    import numpy as np

    import discreet
    from discreet import comparison

    rules = discreet.Policy.load(policy)
    name = next((each for each in ("l", "distinct_l", "k") if each in rules.guarantee), None)
    if name is None:
        return None
    with discreet.read(truth, csv=rules.csv, excel=rules.excel) as table:
        whole: Any = table.engine.run(table.select(table.names()))
    chosen = np.sort(np.random.default_rng(0).permutation(len(whole))[:SWEPT])
    own = int(rules.guarantee[name])
    thresholds = sorted({max(own // 2, 2), own, own * 2})
    return comparison.sweep(whole.take(chosen), rules, name, thresholds, seed=0, attack=False, progress=step)
