"""`discreet store`: questions stored with a release in a database, for who asks there without `discreet`."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from discreet.cli import show
from discreet.cli.places import place


def store(
    release: Annotated[
        Any, typer.Argument(metavar="URL", parser=place, help="The database: postgresql://host/database.")
    ],
    question: Annotated[
        str | None,
        typer.Argument(help="A question in SQL about `microdata`. Without one, those that are stored are shown."),
    ] = None,
    name: Annotated[str | None, typer.Option("--release", help="The name of the release there.")] = None,
    under: Annotated[
        str | None, typer.Option("--as", help="The name of the question, also of a view and a function there.")
    ] = None,
    forget: Annotated[str | None, typer.Option(help="Take away the question of this name.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Store a question with a release in a PostgreSQL database, to be asked there in psql, DBeaver or Grafana.

    Whoever may read the release may ask it, by its view or by the function `ask`, and gets what `discreet ask
    --estimator even` gives.

    Example: discreet store postgresql://db.example/registry --release patients_2026 --as by_sex "SELECT sex,
    AVG(salary) FROM microdata GROUP BY sex"
    """
    import discreet

    if (question is None) != (under is None):
        raise typer.BadParameter("give a question and its name, as --as NAME", param_hint="--as")
    if forget is not None and question is not None:
        raise typer.BadParameter("store or take away, not both", param_hint="--forget")
    with discreet.open_release(release, release=name) as opened:
        if forget is not None:
            opened.forget(forget)
        asked = opened.store(question, name=under) if question is not None and under is not None else None
        found = opened.stored()
    if json:
        show.as_json({"questions": found})
    elif asked is not None:
        print(f"{asked};")
    else:
        show.as_table(["name", "question"], [[*each] for each in found.items()], left=2)
