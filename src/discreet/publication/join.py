"""Join: boxes of private and public rows together, and the sensitive values of the private ones beside them.

Source: Sacharidis et al., "k-anonymity in the presence of external databases", TKDE 2010, section 3.2.
Rows of a group show the same box and the same sensitive group, so nothing tells private from public ones;
the identifier by which they were joined goes no further than this file.
Claim: public_rows_that_are_not_needed_never_appear — a group without a private row leaves no trace.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from discreet.errors import GuaranteeError, InternalError
from discreet.guarantees import Guarantee, Histograms
from discreet.partition import PARTITIONS
from discreet.partition.spatial.join.join import join
from discreet.policy import Policy
from discreet.publication.axes import Axis
from discreet.publication.draft import Draft, number, store_rows
from discreet.publication.generalization import Boxes, box_fields, labels_sheet
from discreet.release.layouts.file import link
from discreet.release.manifest import Join, TableSpec
from discreet.release.write import Sheet


@dataclass(frozen=True)
class Joint:
    """A draft whose groups are sensitive groups, and the boxes of all rows that are shown."""

    draft: Draft
    groups: npt.NDArray[np.int32]  # of every row that is shown
    parts: npt.NDArray[np.int32]  # the sensitive group of every row that is shown

    @cached_property
    def group(self) -> str:
        """The name of the column that holds the sensitive group."""
        return self.draft.fresh("sensitive_group")

    @cached_property
    def sizes(self) -> npt.NDArray[np.int64]:
        return np.bincount(self.groups)

    def about(self) -> Join:
        """What the manifest says of the join."""
        people, parts = self.draft.groups.size, self.draft.histograms.sizes.size
        variant = self.draft.policy.options.get("variant", "refinement")
        return Join(variant=variant, group=self.group, groups=parts, people=people)


def of_values(policy: Policy, guarantee: Guarantee) -> Guarantee:
    """What is promised of groups of sensitive values: of a `direct` join not k, which is about all rows."""
    if policy.publication != "join" or policy.options.get("variant") != "direct":
        return guarantee
    return Guarantee(tuple(promise for promise in guarantee.promises if promise.name != "k"))


def joint(draft: Draft, axes: Sequence[Axis], guarantee: Guarantee) -> Joint:
    """Form the groups of a draft that has none yet, with the rows of `axes` beyond its own."""
    policy, private = draft.policy, draft.sensitive.codes.size
    space = [axis.dimension for axis in axes]
    k = guarantee.thresholds.k
    if space[0].codes.size < k:
        everyone = f"the private and the public table have {space[0].codes.size:,} people together"
        raise GuaranteeError(f"k = {k} cannot be met: {everyone}", hint="lower k, or use a larger public table")
    variant = policy.options.get("variant", "refinement")
    partition = PARTITIONS[policy.grouping]
    codes = draft.sensitive.codes
    groups, parts = join(space, codes, guarantee, partition, policy.options, variant, draft.secret)
    histograms = Histograms.of(parts[:private], codes)
    shown = groups >= 0
    sizes = np.bincount(groups[shown])
    if not (shown[:private].all() and of_values(policy, guarantee).holds(histograms).all() and sizes.min() >= k):
        raise InternalError(f"the partition `{policy.grouping}` broke the guarantee; nothing was published")
    kept = [axis.kept(shown) for axis in axes]
    return Joint(replace(draft, axes=kept, groups=parts[:private], histograms=histograms), groups[shown], parts[shown])


def joint_sheets(found: Joint) -> Sequence[Sheet]:
    """The boxes, the sensitive values, and the values that labels stand for."""
    draft, own = found.draft, number(found.group)
    boxes = Boxes(draft.axes, found.groups, found.sizes.size)
    fields = (*box_fields(draft), number(draft.group), own)
    joined = TableSpec(fields=fields, foreign_keys=(link(found.group, "si"),))
    si = TableSpec(fields=(own, draft.field(draft.policy.sensitive_column), number(draft.count)))
    sheets = [
        Sheet("joined", joined, lambda path: _store(found, boxes, [field.name for field in fields], path)),
        Sheet("si", si, lambda path: store_rows(draft.counts().rename_columns(si.names()), path)),
    ]
    return [*sheets, labels_sheet(boxes)] if any(axis.labelled for axis in draft.axes) else sheets


def _store(found: Joint, boxes: Boxes, names: Sequence[str], path: Path) -> None:
    """Write as many rows as each group has; those of a group are all alike."""
    part = np.zeros(found.sizes.size, np.int32)
    part[found.groups] = found.parts
    numbers = np.arange(1, found.sizes.size + 1, dtype=np.int32)
    columns = [*boxes.columns(), pa.array(numbers), pa.array(part + np.int32(1))]
    of_row = pa.array(np.repeat(np.arange(found.sizes.size), found.sizes))
    store_rows(pa.table(columns, names=list(names)).take(of_row), path)
