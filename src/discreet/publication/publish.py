"""Turn a private table into a release, or refuse: the one act that crosses the waist."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from discreet.errors import GuaranteeError, InputError, InternalError
from discreet.guarantees import Guarantee, Histograms, Scale
from discreet.partition import PARTITIONS
from discreet.policy import Policy
from discreet.publication import PUBLICATIONS
from discreet.publication.axes import Axis, axes
from discreet.publication.draft import Draft, present
from discreet.publication.external import joint_axes
from discreet.publication.generalization import sides
from discreet.publication.join import joint, joint_sheets, of_values
from discreet.release import FORMAT, Release
from discreet.release.manifest import Promise, Window
from discreet.release.write import free, write
from discreet.table import Table, read
from discreet.values.codes import Codes
from discreet.values.columns import exact_in_csv
from discreet.values.random import RandomSource

FORMATS = ("parquet", "csv")
STEPS = ("encoding", "grouping", "writing", "verifying")


def publish(
    table: Any,
    policy: Policy,
    *,
    to: str | Path,
    public: Any = None,
    seed: int | None = None,
    format: Literal["parquet", "csv"] = "parquet",
    progress: Callable[[str], None] = lambda _: None,
) -> Release:
    """Publish `table` (a `Table`, or anything that `read` takes) under `policy` as the folder `to`.

    The publication `join` needs a `public` table, which is read in the same way.

    The release is verified from its own files before it appears; if anything fails, nothing
    does. A `seed` is for tests: such a release says that it is not for publication.
    `progress` is told each of `STEPS` as it starts.
    """
    free(Path(to))
    if format not in FORMATS:
        raise InputError(f"unknown format `{format}`", hint="expected one of: `parquet`, `csv`")
    if (public is not None) != (policy.publication == "join"):
        raise InputError(
            "the publication `join` needs a public table" if public is None else "only `join` uses a public table",
            hint="pass public=…, or --public FILE" if public is None else 'set publication = "join", or leave it out',
        )
    secret = RandomSource(seed)
    if not isinstance(table, Table):
        with read(table) as private:
            return publish(private, policy, to=to, public=public, seed=seed, format=format, progress=progress)
    if public is not None and not isinstance(public, Table):
        with read(public) as others:
            return publish(table, policy, to=to, public=others, seed=seed, format=format, progress=progress)
    policy.fit(table.columns)
    if format == "csv":
        _fits_csv(table, policy)
    progress("encoding")
    sensitive = _sensitive(table, policy)
    guarantee = _promised(policy, sensitive)
    _feasible(of_values(policy, guarantee), sensitive, policy.sensitive or "")
    progress("grouping")
    if public is not None:
        return _publish_joined(
            table, public, policy, sensitive, to=Path(to), format=format, secret=secret, progress=progress
        )
    quasi = _axes(table, policy)
    if PUBLICATIONS[policy.publication].grouped:
        groups = _partition(policy, quasi, sensitive, guarantee, secret)
    else:
        groups = np.zeros(sensitive.codes.size, np.int32)
    return publish_groups(
        table, policy, sensitive, groups, quasi=quasi, to=Path(to), format=format, secret=secret, progress=progress
    )


def grouped(table: Table, policy: Policy, secret: RandomSource) -> npt.NDArray[np.int32]:
    """The groups that a table would be published in by itself."""
    policy.fit(table.columns)
    sensitive = _sensitive(table, policy)
    guarantee = _promised(policy, sensitive)
    _feasible(guarantee, sensitive, policy.sensitive or "")
    return _partition(policy, _axes(table, policy), sensitive, guarantee, secret)


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
    sensitive = _nothing(groups.size) if sensitive is None else sensitive
    kept = None if groups.min(initial=0) >= 0 else groups >= 0
    if kept is not None:
        groups, sensitive = groups[kept], replace(sensitive, codes=sensitive.codes[kept])
        quasi = [axis.kept(kept) for axis in quasi]
    boxed = PUBLICATIONS[policy.publication].boxed
    if boxed and not quasi:
        quasi = [axis if kept is None else axis.kept(kept) for axis in axes(table, policy)]
    histograms = Histograms.of(groups, sensitive.codes)
    if not _promised(policy, sensitive).holds(histograms).all():
        raise InternalError(f"the partition `{policy.grouping}` broke the guarantee; nothing was published")
    secret = secret or RandomSource()
    draft = Draft(table, policy, sensitive, groups, histograms, secret, quasi, kept)
    more = {"window": _window(policy), "boxes": sides(draft) if boxed else None}
    promise = stated(draft, rows=int(groups.size), groups=int(histograms.starts.size), **more)
    release = write(to, promise, PUBLICATIONS[policy.publication].sheets(draft), format=format, progress=progress)
    suppressed = 0 if kept is None else int(kept.size - groups.size)
    return replace(release, withheld=table.rows - int(groups.size) - suppressed, suppressed=suppressed)


def _publish_joined(
    table: Table,
    public: Table,
    policy: Policy,
    sensitive: Codes,
    *,
    to: Path,
    format: Literal["parquet", "csv"],
    secret: RandomSource,
    progress: Callable[[str], None],
) -> Release:
    """Publish rows in boxes together with public ones."""
    nobody = np.zeros(sensitive.codes.size, np.int32)
    draft = Draft(table, policy, sensitive, nobody, Histograms.of(nobody, sensitive.codes), secret)
    found = joint(draft, joint_axes(table, public, policy), _promised(policy, sensitive))
    more = {"boxes": sides(found.draft), "join": found.about()}
    promise = stated(found.draft, rows=int(found.groups.size), groups=int(found.sizes.size), **more)
    release = write(to, promise, joint_sheets(found), format=format, progress=progress)
    return replace(release, withheld=table.rows - int(nobody.size))


def stated(draft: Draft, *, rows: int, groups: int, **more: Any) -> Promise:
    """What the manifest of a draft says; `more` is what only some publications have, or say otherwise."""
    policy = draft.policy
    more.setdefault("partition", policy.grouping)
    return Promise(
        format=FORMAT,
        publication=policy.publication,
        guarantee={} if more.get("window") else dict(policy.guarantee),
        table=policy.name or "microdata",
        quasi=tuple(policy.quasi),
        sensitive=policy.sensitive,
        group=draft.group,
        count=draft.count,
        row=draft.row,
        rows=rows,
        groups=groups,
        missing_sensitive=policy.missing_sensitive,
        for_publication=not draft.secret.seeded,
        suppression=policy.options.get("suppression") or None,
        **more,
    )


def _window(policy: Policy) -> Window | None:
    """What windows are sized to, where values are swapped: that is no guarantee."""
    if policy.publication != "swap":
        return None
    from discreet.comparison.swap import window

    return window(policy)


def _fits_csv(table: Table, policy: Policy) -> None:
    for name in policy.columns:
        if not exact_in_csv(table[name].type):
            raise InputError(
                f"the column `{name}` of type {table[name].type} cannot be read back exactly from CSV",
                hint="publish as Parquet",
            )


def _sensitive(table: Table, policy: Policy) -> Codes:
    if table.rows == 0:
        raise InputError("the table has no rows", hint="there is nothing to publish")
    if policy.sensitive is None:
        return _nothing(table.rows)
    codes = table.codes(policy.sensitive, present=present(policy))
    if codes.missing and policy.missing_sensitive == "error":
        raise InputError(
            f"the sensitive column `{policy.sensitive}` has {codes.counts()[-1]:,} missing values",
            hint='set missing_sensitive = "withhold" to leave those rows out'
            + ("" if "e" in policy.guarantee else ', or "value" to publish them as a value of their own'),
        )
    if codes.codes.size == 0:
        raise InputError(f"every value of the sensitive column `{policy.sensitive}` is missing")
    real = PUBLICATIONS[policy.publication].numeric and pa.types.is_floating(codes.domain.type)
    if real and not np.isfinite(codes.domain.to_numpy()).all():
        raise InputError(
            f"the sensitive column `{policy.sensitive}` holds infinite values", hint="leave those rows out"
        )
    return codes


def _nothing(rows: int) -> Codes:
    """The codes of a sensitive column that is not there: every value is missing."""
    return Codes(np.zeros(rows, np.int32), pa.array([], pa.int32()), missing=True)


def _promised(policy: Policy, sensitive: Codes) -> Guarantee:
    """The guarantee of a policy, on the scale of the sensitive column if it promises ranges."""
    scale = Scale.of(sensitive.domain, policy.sensitive_column) if "e" in policy.guarantee else None
    return Guarantee.of(policy.guarantee, scale)


def _feasible(guarantee: Guarantee, sensitive: Codes, name: str) -> None:
    """Raise unless the whole table, as one group, keeps every promise: then no partition of it can."""
    counts = sensitive.counts()
    held = np.flatnonzero(counts).astype(np.int32)
    size = np.array([counts.sum()])
    whole = Histograms(np.zeros_like(held), held, counts[held].astype(np.int32), np.array([0]), size)
    for promise in guarantee.promises:
        if promise.holds(whole).all():
            continue
        largest = promise.largest(counts)
        at_most = f"the largest that works is {largest:,}" if largest >= promise.least else "no value of it works"
        most = int(counts.argmax())
        top = sensitive.domain[most].as_py() if most < len(sensitive.domain) else None
        why = promise.why_not(counts, name, top)
        raise GuaranteeError(
            f"{promise.name} = {promise.threshold} cannot be met: {why}; {at_most}",
            hint="lower the guarantee, or publish more rows"
            + (", or coarsen or split the frequent value" if promise.name == "l" else ""),
        )


def _axes(table: Table, policy: Policy) -> list[Axis]:
    """The quasi-identifiers, if the partition or the publication looks at them."""
    wanted = PUBLICATIONS[policy.publication].boxed
    wanted |= policy.grouping in PARTITIONS and PARTITIONS[policy.grouping].uses_quasi
    return axes(table, policy) if wanted else []


def _partition(
    policy: Policy,
    quasi: Sequence[Axis],
    sensitive: Codes,
    guarantee: Guarantee,
    secret: RandomSource,
) -> npt.NDArray[np.int32]:
    partition = PARTITIONS[policy.grouping]
    if not partition.spatial:
        codes = [axis.codes.codes for axis in quasi] if partition.uses_quasi else []
        return np.asarray(partition.assign(codes, sensitive.codes, guarantee, secret), np.int32)
    space = [axis.halved if partition.trees else axis.dimension for axis in quasi]
    return np.asarray(partition.place(space, sensitive.codes, guarantee, secret, policy.options), np.int32)
