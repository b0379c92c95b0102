"""Join: boxes of private and public rows together, and the sensitive values of the private ones beside them.

Source: Sacharidis et al., "k-anonymity in the presence of external databases", TKDE 2010, section 3.2.
Rows of a group show the same box and the same sensitive group, so nothing tells private from public ones;
the identifier by which they were joined goes no further than this file.
Claim: public_rows_that_are_not_needed_never_appear — a group without a private row leaves no trace.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from discreet.errors import GuaranteeError, InternalError, Mistake
from discreet.guarantees import PROMISES, Guarantee, sentences
from discreet.partition import PARTITIONS
from discreet.partition.spatial.join.join import join
from discreet.policy import Policy
from discreet.policy.meant import Meant
from discreet.publication.draft import Draft, Grouped, Prepared
from discreet.publication.external import joint_axes
from discreet.publication.generalization import labels_file
from discreet.publication.groups import Boxes, sides
from discreet.publication.publication import Publication
from discreet.release.layouts.file import link
from discreet.release.manifest import Join, Promise, TableSpec
from discreet.release.rows import number, store_rows
from discreet.release.write import FileToWrite

VARIANTS = ("refinement", "direct")
PARTITIONED = ("mondrian", "topdown")


@dataclass(frozen=True)
class Shown:
    """The rows that are shown, private and public: the group of each, and its sensitive group."""

    groups: npt.NDArray[np.int32]
    parts: npt.NDArray[np.int32]


def _check(meant: Meant) -> Iterator[Mistake]:
    """What publishing together with a public table needs."""
    if meant.join is None:
        yield Mistake("join", "is missing: the identifier by which rows of the public table are found")
    elif meant.join and meant.identifiers is not None and meant.join not in meant.identifiers:
        yield Mistake("join", f"`{meant.join}` is not among the `identifiers`")
    if meant.guarantee is not None and not {"k"} <= meant.guarantee.keys() & PROMISES.keys() <= {
        "k",
        "l",
        "distinct_l",
    }:
        yield Mistake("guarantee", "a join promises k, and k alone or with l or distinct_l; write { k = 5 }")
    if meant.partition not in {"auto", *PARTITIONED, None}:
        yield Mistake("partition", "a join is made with `mondrian` or `topdown`")


def _of_values(policy: Policy, guarantee: Guarantee) -> Guarantee:
    """What is promised of groups of sensitive values: of a `direct` join not k, which is about all rows."""
    if policy.options.get("variant") != "direct":
        return guarantee
    return Guarantee(tuple(promise for promise in guarantee.promises if promise.name != "k"))


def _group(prepared: Prepared) -> Grouped:
    """Form groups of private rows together with public ones; the rows of the axes are those that are shown."""
    policy, guarantee, codes = prepared.policy, prepared.guarantee, prepared.sensitive.codes
    if prepared.public is None:
        raise InternalError("a join was to be made without a public table")
    axes = joint_axes(prepared.table, prepared.public, policy, prepared.warn)
    space = [axis.dimension for axis in axes]
    k = guarantee.rule.k
    if space[0].codes.size < k:
        everyone = f"the private and the public table have {space[0].codes.size:,} people together"
        raise GuaranteeError(f"k = {k} cannot be met: {everyone}", hint="lower k, or use a larger public table")
    partition, variant = PARTITIONS[policy.grouping], policy.options.get("variant", VARIANTS[0])
    groups, parts = join(space, codes, guarantee, partition, policy.options, variant, prepared.secret)
    shown = groups >= 0
    if not (shown[: codes.size].all() and np.bincount(groups[shown]).min() >= k):
        raise InternalError(f"the partition `{policy.grouping}` broke the guarantee; nothing was published")
    kept = [axis.kept(shown) for axis in axes]
    return Grouped(parts[: codes.size], kept, Shown(groups[shown], parts[shown]))


def _members(draft: Draft) -> Mapping[str, Any]:
    """What the manifest says of the join, and of its boxes."""
    groups, policy = draft.shown.groups, draft.policy
    about = Join(
        variant=policy.options.get("variant", VARIANTS[0]),
        group=draft.fresh("sensitive_group"),
        groups=draft.histograms.sizes.size,
        people=draft.groups.size,
    )
    return {"rows": groups.size, "groups": int(groups.max()) + 1, "boxes": sides(policy, draft.axes), "join": about}


def _boxes(draft: Draft) -> Boxes:
    groups = draft.shown.groups
    return Boxes.of_rows(draft.policy, draft.axes, groups, int(groups.max()) + 1)


def _files(draft: Draft) -> Sequence[FileToWrite]:
    """The boxes, the sensitive values, and the values that labels stand for."""
    boxes, own = _boxes(draft), number(draft.fresh("sensitive_group"))
    fields = (*boxes.fields(), number(draft.group), own)
    joined = TableSpec(fields=fields, foreign_keys=(link(own.name, "si"),))
    si = TableSpec(fields=(own, draft.field(draft.policy.sensitive_column), number(draft.count)))
    return [
        FileToWrite("joined", joined, lambda path: _store(draft, boxes, [field.name for field in fields], path)),
        FileToWrite("si", si, lambda path: store_rows(draft.counts().rename_columns(si.names()), path)),
        *labels_file(boxes),
    ]


def _store(draft: Draft, boxes: Boxes, names: Sequence[str], path: Path) -> None:
    """Write as many rows as each group has; those of a group are all alike."""
    sizes = np.bincount(draft.shown.groups)
    part = np.zeros(sizes.size, np.int32)
    part[draft.shown.groups] = draft.shown.parts
    numbers = np.arange(1, sizes.size + 1, dtype=np.int32)
    columns = [*boxes.columns(), pa.array(numbers), pa.array(part + np.int32(1))]
    store_rows(pa.table(columns, names=list(names)).take(pa.array(np.repeat(np.arange(sizes.size), sizes))), path)


def _told(promise: Promise) -> Iterator[str]:
    """Boxes and sensitive values are in different groups."""
    join, k = promise.member(Join, "join"), promise.guarantee["k"]
    yield f"{promise.rows:,} rows, of which {join.people:,} are private, in {promise.groups:,} boxes, verified"
    yield f"promised: every box holds at least {k:g} people, and nothing says which of them are private"
    rest = {name: threshold for name, threshold in promise.guarantee.items() if name != "k"}
    groups = "of all sensitive values together" if join.variant == "direct" else "of sensitive values"
    yield from (f"promised: {sentence} (a group {groups})" for sentence in sentences(rest))


PUBLICATION = Publication(
    _files,
    check=_check,
    options={"variant": VARIANTS},
    partition=lambda _: "mondrian",
    compared=PARTITIONED,
    group=_group,
    of_values=_of_values,
    members=_members,
    told=_told,
    boxed=True,
    needs_public=True,
)
