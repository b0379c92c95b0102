"""Turn a private table into a release, or refuse: the one act that crosses the waist.

A table is prepared (read, held against its policy, encoded), its rows are given groups, groups and rows become a
draft, and the draft is written; which of this a publication does in its own way, its `Publication` says.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, cast

import numpy as np
import numpy.typing as npt

from discreet.engines import Address, spark_at_hand
from discreet.errors import DiscreetWarning, InputError, InternalError
from discreet.guarantees import Histograms
from discreet.guarantees.dominance import largest_share
from discreet.guarantees.harmless import as_told, harmless
from discreet.partition import PARTITIONS
from discreet.policy import Given, Policy
from discreet.policy.about import members
from discreet.publication import PUBLICATIONS
from discreet.publication.axes import Axis, axes
from discreet.publication.draft import Draft, Grouped, Prepared
from discreet.publication.earlier import doubts as earlier_doubts
from discreet.publication.earlier import opened as opened_earlier
from discreet.publication.earlier import watched
from discreet.publication.holdout import checked as checked_holdout
from discreet.publication.holdout import parted
from discreet.publication.prepare import nothing, prepare, promised
from discreet.publication.source import opened_under, opened_with
from discreet.release import Release
from discreet.release.database.move import check_columns, check_place, put
from discreet.release.layouts import LAYOUTS
from discreet.release.manifest import WHOLE, Promise
from discreet.release.parts import check_rows_per_part
from discreet.release.release import meant
from discreet.release.write import Extend, Watch, free, write
from discreet.scratch import workplace
from discreet.table import Table
from discreet.table.database import Remote
from discreet.values.codes import Codes
from discreet.values.columns import exact_in_csv
from discreet.values.names import fresh
from discreet.values.random import RandomSource
from discreet.warnings.checks import AFTER, BEFORE, judged
from discreet.warnings.formulas import formulas

FORMATS = ("parquet", "csv")
STEPS = ("encoding", "grouping", "writing", "verifying")
ON_SPARK = ("checking", "copying", "counting", "grouping", "writing", "verifying")


def publish(
    table: Any,
    policy: Given,
    *,
    to: str | Path | Address,
    release: str | None = None,
    grant: Sequence[str] = (),
    public: Any = None,
    earlier: Sequence[str | Path | Release] = (),
    seed: int | None = None,
    strict: bool = False,
    format: Literal["parquet", "csv"] = "parquet",
    rows_per_part: int | None = None,
    plausible: int | None = None,
    holdout: float | None = None,
    holdout_to: str | Path | None = None,
    engine: Any = "duckdb",
    memory_limit: str | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> Release:
    """Publish `table` (a `Table`, or anything that `read` takes) under `policy` as the folder `to`.

    The policy is a `Policy`, the path of a TOML file, or a dictionary with the same keys.
    If `to` is the URL of a database, the release is put there under the name `release`, for roles to read that it is
    granted to (`grant`). Its files are made and verified in a private folder first, unless the table is in the same
    database and the partition needs no more than counts: then rows are assigned there, and none leaves it.
    A table of more than 20 million rows (on Spark 2 million) is written as several Parquet files, or one of more than
    `rows_per_part` rows, of about so many rows each.
    The publication `join` needs a `public` table, which is read in the same way. A release that together with `earlier`
    ones of the same people would tell more of somebody than is promised is refused. With `plausible`, so many plausible
    tables are added, drawn from the other files of the release alone. A `holdout` of 0.1 leaves out a tenth of the
    rows, drawn at random, and writes them to the private file `holdout_to`, for attacks on people who were not there.

    A frame of Spark is published there, by its session; and so are Parquet files (`'rows/*.parquet'`) if the `engine`
    is a `SparkSession`, classic or Connect, or `"spark"`: the one that is active here, or one that is started, which
    takes at most `memory_limit`. Then rows stay with the executors; the page on engines says what can be done there.

    The release is verified from its own files before it appears; if anything fails, nothing
    does. A `seed` is for tests: such a release says that it is not for publication. What is doubtful is
    warned about (`DiscreetWarning`), unless the policy accepts it; if `strict`, it stops the release.
    `progress` is told each of `STEPS` (of `ON_SPARK` there) as it starts, and of `learning` after `writing` if any.
    """
    if meant(engine) or _is_frame_of_spark(table):
        more = {"release": release, "grant": grant, "public": public, "seed": seed, "plausible": plausible}
        more |= {"format": None if format == "parquet" else format, "holdout": holdout, "holdout_to": holdout_to}
        given: dict[str, Any] = {"earlier": earlier, "strict": strict, "rows_per_part": rows_per_part}
        given |= {"engine": engine if meant(engine) else "spark", "memory_limit": memory_limit, "progress": progress}
        return _on_spark(table, policy, to, more, given)
    if (address := Address.of(to, release)) is not None:
        also: dict[str, Any] = {"public": public, "seed": seed, "format": format, "plausible": plausible}
        also |= {"rows_per_part": rows_per_part, "earlier": earlier, "holdout": holdout, "holdout_to": holdout_to}
        return _into(address, table, policy, also, grant=grant, strict=strict, progress=progress)
    if release is not None or grant:
        raise InputError("a folder has no name and no roles", hint="leave them out, or publish into a database")
    to = Path(cast("str | Path", to))
    free(to)
    if format not in FORMATS:
        raise InputError(f"unknown format `{format}`", hint="expected one of: `parquet`, `csv`")
    check_rows_per_part(rows_per_part, format)
    with ExitStack() as opened:
        private, policy = opened_under(table, policy, opened)
        if (public is not None) != PUBLICATIONS[policy.publication].needs_public:
            raise InputError(
                "the publication `join` needs a public table" if public is None else "only `join` uses a public table",
                hint="pass public=…, or --public FILE"
                if public is None
                else 'set publication = "join", or leave it out',
            )
        extend = None if plausible is None else _extension(plausible, policy, progress)
        secret, before = RandomSource(seed), opened_earlier(earlier, policy)
        left_out = checked_holdout(holdout, holdout_to, policy, to)
        if holdout is not None and left_out is not None:
            private = opened.enter_context(parted(private, policy, holdout, secret, left_out))
        others = None if public is None else opened_with(public, policy.csv, policy.excel, opened)
        if format == "csv":
            _fits_csv(private, policy)
        private.hold(policy.needed)
        progress("encoding")
        doubts: list[DiscreetWarning] = [*earlier_doubts(before, policy)]
        prepared = replace(prepare(private, policy, secret, public=others), warn=doubts.append)
        for check in (*BEFORE, *([formulas] if format == "csv" else [])):
            doubts += check(prepared)
        progress("grouping")
        drafted = draft(prepared, PUBLICATIONS[policy.publication].group(prepared))
        for check_groups in AFTER:
            doubts += check_groups(drafted)
        warned = judged(doubts, policy, strict=strict)
        form: Any = {"format": format, "rows_per_part": rows_per_part}
        written = _write(drafted, to=to, **form, progress=progress, watch=watched(before), extend=extend)
        return replace(written, warnings=warned)


def _is_frame_of_spark(table: Any) -> bool:
    """Whether a table is a frame of Spark, classic or Connect; without looking for Spark if it is none."""
    return type(table).__name__ == "DataFrame" and type(table).__module__.startswith("pyspark.sql.")


def _on_spark(table: Any, policy: Given, to: Any, more: Mapping[str, Any], given: Mapping[str, Any]) -> Release:
    """Publish on Spark, unless something else is asked for that is not done there."""
    asked = next((name for name, value in more.items() if value not in (None, ())), None)
    if asked is not None or Address.of(to) is not None:
        raise InputError(
            "on Spark a release is a folder of Parquet files" if asked is None else f"`{asked}` is not for Spark",
            hint="leave it out, or publish without Spark if one machine holds the table; see the page on engines",
        )
    with spark_at_hand():
        from discreet.publication.on_spark import publish_on_spark
    return publish_on_spark(table, policy, to=Path(to), **given)


def _into(
    address: Address,
    table: Any,
    policy: Given,
    also: Mapping[str, Any],
    *,
    grant: Sequence[str],
    strict: bool,
    progress: Callable[[str], None],
) -> Release:
    """Publish into a database: in the server if the table is there and counts are enough, else by way of a folder."""
    from discreet.publication.in_server import publish_in_server, suits

    check_place(address, grant)
    plain = all(not value or (key, value) == ("format", "parquet") for key, value in also.items())
    with ExitStack() as opened, workplace() as folder:
        private, rules = opened_under(table, policy, opened)
        check_columns(address, rules.columns)
        if plain and also["seed"] is None and isinstance(private, Remote) and suits(private, rules, address):
            return publish_in_server(private, rules, address, grant=grant, strict=strict, progress=progress)
        made = publish(private, rules, to=folder / "release", **also, strict=strict, progress=progress)
        return put(made, address, grant=grant)


def _extension(tables: int, policy: Policy, progress: Callable[[str], None]) -> Extend:
    """What adds plausible tables to a release; it is given the folder of the written files, and nothing else."""
    from discreet.learn.resource import extension
    from discreet.learn.view import check_shows_rows

    check_shows_rows(policy.publication)
    return extension(tables, progress=progress)


def grouped(table: Table, policy: Policy, secret: RandomSource) -> npt.NDArray[np.int32]:
    """The groups that a table would be published in by itself."""
    policy.fit(table.columns)
    return PUBLICATIONS[policy.publication].group(prepare(table, policy, secret)).groups


def publish_groups(
    table: Table,
    policy: Policy,
    sensitive: Codes | None,
    groups: npt.NDArray[np.int32],
    *,
    quasi: Sequence[Axis] = (),
    to: Path,
    format: Literal["parquet", "csv"] = "parquet",
    secret: RandomSource | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> Release:
    """Publish rows whose groups are decided; those with none (-1) are left out.

    A policy without a sensitive column needs no codes of it.
    """
    sensitive = nothing(groups.size) if sensitive is None else sensitive
    prepared = Prepared(table, policy, sensitive, promised(policy, sensitive), secret or RandomSource())
    made = draft(prepared, Grouped(groups, quasi))
    return _write(made, to=to, format=format, progress=progress, cuts=None)  # nobody knows how they were made


def draft(prepared: Prepared, grouped: Grouped) -> Draft:
    """Rows in their groups, without those that have none; raise if a group breaks the guarantee."""
    table, policy, sensitive, groups = prepared.table, prepared.policy, prepared.sensitive, grouped.groups
    publication, quasi = PUBLICATIONS[policy.publication], grouped.axes
    kept = None if groups.min(initial=0) >= 0 else groups >= 0
    if publication.boxed and not quasi:
        quasi = axes(table, policy)
    if kept is not None:
        groups, sensitive = groups[kept], replace(sensitive, codes=sensitive.codes[kept])
        quasi = [axis.kept(kept) for axis in quasi]
    histograms = Histograms.of(groups, sensitive.codes)
    # what is promised may be about all rows that are published: those that were left out are none of them
    if not publication.of_values(policy, promised(policy, sensitive)).holds(histograms).all():
        raise InternalError(f"the partition `{policy.grouping}` broke the guarantee; nothing was published")
    people = prepared.people
    if people is not None and not people.holds(groups, histograms, prepared.guarantee):
        raise InternalError(
            f"the partition `{policy.grouping}` broke the guarantee about people; nothing was published"
        )
    return Draft(
        *(table, policy, sensitive, groups, histograms, prepared.secret, quasi, kept, grouped.shown, people),
        randomness=grouped.randomness,
        cells=grouped.cells,
    )


def _write(
    draft: Draft,
    *,
    to: Path,
    format: Literal["parquet", "csv"],
    progress: Callable[[str], None],
    watch: Watch | None = None,
    extend: Extend | None = None,
    rows_per_part: int | None = None,
    **more: Any,
) -> Release:
    """Write a draft, its manifest with `more`; the release says how many rows of the table are not in it."""
    promise, rows = promise_of(draft, **more), int(draft.groups.size)
    files = PUBLICATIONS[draft.policy.publication].files(draft)
    about = members(draft.policy.about)
    form: Any = {"format": format, "rows_per_part": rows_per_part}
    release = write(to, promise, files, **form, progress=progress, about=about, watch=watch, extend=extend)
    suppressed = 0 if draft.kept is None else int(draft.kept.size - rows)
    return replace(release, withheld=draft.table.rows - rows - suppressed, suppressed=suppressed)


def promise_of(draft: Draft, **more: Any) -> Promise:
    """What the manifest says of a draft, and `more`."""
    counted = {"rows": int(draft.groups.size), "groups": int(draft.histograms.sizes.size)}
    if draft.people is not None:
        counted["people"] = draft.people.number
    about = {"for_publication": not draft.secret.seeded, **counted, **_of_values(draft), **_of_chance(draft)}
    about |= PUBLICATIONS[draft.policy.publication].members(draft)
    return describe(draft.policy, **about, **more)


def describe(policy: Policy, **more: Any) -> Promise:
    """What a manifest says: what the policy does, and `more` that is counted, or that only some publications have."""
    group, count, row, person = (fresh(name, policy.columns) for name in ("group", "count", "row", "person"))
    about = {
        "format": WHOLE,  # unless tables are written in parts
        "publication": policy.publication,
        "partition": policy.grouping,
        "guarantee": dict(policy.guarantee),
        "table": policy.name or "microdata",
        "quasi": tuple(policy.quasi),
        "sensitive": policy.sensitive,
        "group": group,
        "count": count,
        "row": row,
        "person": None if policy.person is None else person,
        "missing_sensitive": policy.missing_sensitive,
        "suppression": policy.options.get("suppression") or None,
        "cuts": "blind" if policy.blind else None,
    }
    return Promise(**{**about, **more})


def _fits_csv(table: Table, policy: Policy) -> None:
    for name in policy.columns:
        if not exact_in_csv(table[name].type):
            raise InputError(
                f"the column `{name}` of type {table[name].type} cannot be read back exactly from CSV",
                hint="publish as Parquet",
            )


def _of_chance(draft: Draft) -> dict[str, Any]:
    """What the manifest says of the chance behind the groups, and by what answers are estimated, where it matters."""
    if LAYOUTS[draft.policy.publication].matching != "counted":
        return {}
    estimator = "even" if draft.randomness is None else PARTITIONS[draft.policy.grouping].estimator
    return {"randomness": draft.randomness, "estimator": estimator, "cells": draft.cells}


def _of_values(draft: Draft) -> dict[str, Any]:
    """What the manifest says of sensitive values: which are harmless, and how large a share of a group one has."""
    spared = harmless(draft.policy.harmless, draft.sensitive, draft.policy.sensitive or "")
    about: dict[str, Any] = {}
    if spared is not None:
        there = np.flatnonzero(spared & (draft.sensitive.counts() > 0))  # others are in no file
        about["harmless"] = tuple(as_told(draft.sensitive.decode(there))) or None
    if "e" in draft.policy.guarantee and PUBLICATIONS[draft.policy.publication].grouped:
        about["largest_share"] = largest_share(draft.histograms, spared)
    return about
