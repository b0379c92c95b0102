"""`discreet publish`: turn a private table into a release."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from discreet.cli import show

if TYPE_CHECKING:
    from discreet.release.manifest import Promise


class Form(StrEnum):
    """The format of the data files."""

    parquet = "parquet"
    csv = "csv"


def publish(
    file: Annotated[Path, typer.Argument(help="A .csv or .parquet file.")],
    policy: Annotated[Path, typer.Option(help="The policy, a TOML file.")],
    to: Annotated[Path, typer.Option(help="The folder to make; it must not exist.")],
    public: Annotated[
        Path | None, typer.Option(help="For a join: a table that lists people of the same kind, .csv or .parquet.")
    ] = None,
    form: Annotated[Form, typer.Option("--format", help="The format of the data files.")] = Form.parquet,
    memory_limit: Annotated[str | None, typer.Option(help="Spill to disk beyond this, like 8GB.")] = None,
    seed: Annotated[
        int | None, typer.Option(help="For tests only: the release will say that it is not for publication.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Publish a table under a policy. The release is verified from its own files before it appears.

    Example: discreet publish patients.csv --policy policy.toml --to releases/2026-11
    """
    import discreet
    from discreet.policy import unfit
    from discreet.publication.publish import STEPS

    with show.warnings(), show.steps(1 + len(STEPS)) as step:
        step("reading")
        with discreet.read(file, memory_limit=memory_limit) as table:
            rules = discreet.Policy.load(policy, check=unfit(table.columns))
            release = discreet.publish(table, rules, to=to, public=public, seed=seed, format=form.value, progress=step)
    left_out, suppressed = release.withheld, release.suppressed
    if json:
        told = {"withheld": left_out, "suppressed": suppressed}
        show.as_json({"release": to, **told, "promise": release.promise.model_dump(exclude_none=True)})
        return
    promise = release.promise
    if promise.join is not None:
        shown = f"{promise.rows:,} rows, of which {promise.join.people:,} are private, in {promise.groups:,} boxes"
        print(f"{to}: {shown}, verified")
    elif promise.window is None:
        print(f"{to}: {promise.rows:,} rows in {promise.groups:,} groups, verified")
    else:
        print(f"{to}: {promise.rows:,} rows, values swapped, verified")
        sized = f"windows are sized to k = {promise.window.k}, e = {promise.window.e}"
        print(f"  promised: NOTHING; swapping is a baseline for comparison ({sized}, which is no guarantee)")
    for sentence in _sentences(promise):
        print(f"  promised: {sentence}")
    if release.promise.sensitive is None:
        print("  not promised: that the people of a group differ; where they do not, their values are known")
    print("  not promised: that nobody learns anything new; see the page on the promise in the docs")
    if left_out:
        print(f"  withheld: {left_out:,} rows whose {promise.sensitive} is missing (this count is not in the release)")
    if suppressed:
        print(f"  suppressed: {suppressed:,} rows that fit no group (this count is not in the release)")
    if not promise.for_publication:
        print("  made with a seed: NOT FOR PUBLICATION")


def _sentences(promise: Promise) -> list[str]:
    """What is promised, in words; of a join, boxes and sensitive values are in different groups."""
    from discreet.guarantees import sentences

    if promise.join is None:
        return sentences(promise.guarantee)
    rest = {name: threshold for name, threshold in promise.guarantee.items() if name != "k"}
    k = promise.guarantee["k"]
    groups = "of all sensitive values together" if promise.join.variant == "direct" else "of sensitive values"
    boxes = f"every box holds at least {k:g} people, and nothing says which of them are private"
    return [boxes, *(f"{sentence} (a group {groups})" for sentence in sentences(rest))]
