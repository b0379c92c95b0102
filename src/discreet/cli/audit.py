"""`discreet audit`: measure a release from its files alone, or find what several tell together."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli import attacks, show
from discreet.cli import risks as figures
from discreet.cli.places import RELEASE, place
from discreet.errors import InputError
from discreet.words import counted

if TYPE_CHECKING:
    from discreet.audit.attacks.attack import Success

MEANINGS = {
    "rows": "rows that are published",
    "groups": "groups that they are in",
    "average_group": "rows in a group",
    "c_avg": "the same, divided by the k that is promised",
    "ncp": "twice the sides of all boxes, over all rows",
    "ncp_normalised": "sides as shares of their columns, over all rows and columns",
    "ncp_share": "the same, from 0 (all exact) to 1 (nothing told)",
    "il": "information loss of the average row: its shares, summed over columns",
    "dm": "discernibility: the squares of the sizes of groups",
    "rce": "error of rows rebuilt from the release",
    "value_rce": "the same of sensitive values alone, were the other columns known",
    "largest_share": "the largest share of a group that holds one sensitive value",
}


class Insertions(StrEnum):
    """Whether the attacker knows of each person in which release it first was."""

    known = "known"
    unknown = "unknown"


def audit(
    releases: Annotated[
        list[Path], typer.Argument(metavar="RELEASES...", parser=place, help=RELEASE + " Or several, oldest first.")
    ],
    metrics: Annotated[
        bool,
        typer.Option("--metrics", help="Show how much each release blurs; for a single release this is always shown."),
    ] = False,
    risks: Annotated[
        bool,
        typer.Option(
            "--risks", help="Prosecutor, journalist and marketer risk, uniques, and k, l, t and beta as measured."
        ),
    ] = False,
    insertions: Annotated[
        Insertions | None,
        typer.Option(
            help="For releases by generalization: whether the attacker knows in which release a person first appeared.",
            show_default="known",
        ),
    ] = None,
    same_people: Annotated[
        bool,
        typer.Option(
            "--same-people", help="For releases that show rows: everybody in a release is also in every larger one."
        ),
    ] = False,
    truth: Annotated[
        Path | None,
        typer.Option(
            help="The private table, .csv or .parquet, to tell of real people: how often a model that was fitted"
            " to the release guesses their values; how present they are in a full permutation; or how much"
            " several releases that show rows tell of them."
        ),
    ] = None,
    attack: Annotated[
        list[str] | None,
        typer.Option(help="Attack the release by this attack, or by `all`: see the page on attacks. Needs --truth."),
    ] = None,
    holdout: Annotated[
        Path | None, typer.Option(help="For attacks: people who were not in the table, as by `publish --holdout`.")
    ] = None,
    population: Annotated[
        Path | None,
        typer.Option(
            help="For attacks: other people, of whom the attacker learned before. For --risks: the population that the"
            " table is a sample of, as a table or as a number of people."
        ),
    ] = None,
    public: Annotated[Path | None, typer.Option(help="For attacks: a public table of people.")] = None,
    other: Annotated[list[Path] | None, typer.Option(help="For attacks: another release of the same people.")] = None,
    exclude: Annotated[
        int | None, typer.Option(help="For attacks: how many values or neighbours are known.", show_default="1")
    ] = None,
    within: Annotated[
        float | None, typer.Option(help="For attacks: how near a guess of a number must be.", show_default="0.05")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Measure from its files alone how much a release blurs, or find what several of them give away together.

    Anyone who holds them can. Exit status 4 if somebody is given away.

    Example: discreet audit releases/2026-11 --metrics

    Example: discreet audit releases/2026-11 --risks --population 1000000

    Example: discreet audit releases/2026-11 --truth patients.csv

    Example: discreet audit releases/2026-11 --attack all --truth patients.csv

    Example: discreet audit releases/2026-10 releases/2026-11 releases/2026-12

    Example: discreet audit releases/2026-10 releases/2026-11 --same-people
    """
    if risks:
        attacks.check_none(holdout=holdout, public=public, other=other, exclude=exclude, within=within)
        figures.of_releases(releases, population, json=json, others=attack is not None or truth is not None)
        return
    if attack is not None:
        tables = {"truth": truth, "holdout": holdout, "population": population, "public": public}
        attacks.attacked(releases, attack, json=json, **tables, others=other, exclude=exclude, within=within)
        return
    attacks.check_none(
        holdout=holdout, population=population, public=public, other=other, exclude=exclude, within=within
    )
    if len(releases) > 1:
        _compare(releases, metrics=metrics, insertions=insertions, same_people=same_people, truth=truth, json=json)
        return
    if same_people:
        raise InputError("--same-people goes with several releases", hint="name them all, or leave it out")
    _measure(releases[0], truth, json=json)


def _measure(release: Path, truth: Path | None, *, json: bool) -> None:
    """Measure one release."""
    from dataclasses import asdict

    import discreet
    from discreet.audit.attacks.attack import Given
    from discreet.audit.attacks.learner import Learner
    from discreet.audit.guessing.learned import STEPS
    from discreet.audit.replay import minimality
    from discreet.release.groups import PUBLICATIONS

    opened = discreet.open_release(release)
    learns = truth is not None and opened.promise.publication in PUBLICATIONS
    with show.steps(2 + STEPS * learns) as step:
        step("measuring")
        found = asdict(discreet.metrics(opened, truth=None if learns else truth))
        cuts = minimality.attack(opened)
        guessed = Learner().run(opened, Given.read(opened, truth=truth), progress=step) if learns else None
    if json:
        told: dict[str, Any] = {}
        if cuts is not None:
            told["minimality"] = {
                "certain": cuts.people,
                "unique": cuts.named,
                "blind": cuts.blind,
                "supposing": cuts.supposing,
            }
        if guessed is not None:
            told["learner"] = {"people": guessed.people, **_guessers(guessed)}
        show.as_json({"release": release, "metrics": found, **told})
        return
    _print_metrics(release, found)
    if cuts is not None:
        whose = counted(cuts.people, "person's value is", "people's values are")
        print(f"\nMinimality attack: {whose} certain from the cuts that were not made, {cuts.named:,} of them unique;")
        print(f"without them, guesses inside each group are right for {cuts.blind:.1%} of all.")
        if cuts.supposing is not None:
            print(f"This supposes that {cuts.supposing}; the release does not say so.")
    if guessed is not None:
        _print_guessed(guessed)


def _guessers(found: Success) -> dict[str, Any]:
    """The rates of all who guess, by name."""
    rates = {"learner": found.attacker, "blind": found.blind, "frequent": found.details["frequent"]}
    return {**rates, "without": found.without}


def _print_guessed(found: Success) -> None:
    """How often each guesser is right."""
    print(f"\nHow often a person's value is guessed from the quasi-identifiers, of {found.people:,} real people:\n")
    guessers = {
        "learner": "a model fitted to this release alone",
        "blind": "any value of the person's group",
        "without": "a model of other people, without the release",
        "frequent": "the table's most frequent value, for everybody",
    }
    rates = _guessers(found)
    rows = [
        [n, what, *(f"{x:.1%}" for x in (rates[n].share, rates[n].low, rates[n].high))] for n, what in guessers.items()
    ]
    show.as_table(["guesser", "who guesses", "right", "from", "to"], rows, left=2)
    print(f"\n{show.STEWARD}")


def _compare(
    releases: list[Path],
    *,
    metrics: bool,
    insertions: Insertions | None,
    same_people: bool,
    truth: Path | None,
    json: bool,
) -> None:
    """Find what several releases tell together."""
    from dataclasses import asdict

    import discreet
    from discreet.audit.composition.report import Composed
    from discreet.cli import composed, inferences
    from discreet.errors import VerificationError

    with show.steps(1) as step:
        step("comparing")
        found = discreet.audit(
            releases,
            insertions=None if insertions is None else insertions.value,
            same_people=same_people,
            truth=truth,
        )
        measured = [asdict(discreet.metrics(release)) for release in releases] if metrics else []
    if json:
        plain = composed.as_plain(found) if isinstance(found, Composed) else inferences.as_plain(found)
        show.as_json({**plain, **({"metrics": measured} if metrics else {})})
    else:
        for release, of in zip(releases, measured, strict=metrics):
            _print_metrics(release, of)
            print()
        if isinstance(found, Composed):
            composed.as_text(found)
        else:
            inferences.as_text(found)
    if not found.ok:
        raise typer.Exit(VerificationError.exit_status)


def _print_metrics(release: Path, found: dict[str, Any]) -> None:
    from discreet.answer.answer import measure

    print(f"{release}: {found['publication']} by {found['partition']}\n")
    show.as_table(
        ["metric", "what it is", "value"],
        [[name, meaning, measure(found[name])] for name, meaning in MEANINGS.items()],
        left=2,
    )
    if any(found[name] is None for name in MEANINGS):
        print("\nA dash stands for what has no meaning here, or what the release does not tell.")
    if found["presence"] is not None:
        from discreet.cli.presence import print_presence

        print_presence(found["presence"])
