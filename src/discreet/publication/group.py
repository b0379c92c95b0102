"""Give every row of a prepared table its group, by the partition that the policy names."""

from __future__ import annotations

import numpy as np

from discreet.partition import PARTITIONS
from discreet.publication import PUBLICATIONS
from discreet.publication.axes import axes
from discreet.publication.draft import Grouped, Prepared


def by_partition(prepared: Prepared) -> Grouped:
    """Run the partition over the codes of the sensitive values, and of the quasi-identifiers if it looks at them."""
    policy, sensitive, guarantee = prepared.policy, prepared.sensitive.codes, prepared.guarantee
    partition = PARTITIONS[policy.grouping]
    wanted = partition.uses_quasi or PUBLICATIONS[policy.publication].boxed
    quasi = axes(prepared.table, policy) if wanted else []
    if partition.spatial:
        space = [axis.halved if partition.trees else axis.dimension for axis in quasi]
        groups = partition.place(space, sensitive, guarantee, prepared.secret, policy.options)
    else:
        codes = [axis.codes.codes for axis in quasi] if partition.uses_quasi else []
        groups = partition.assign(codes, sensitive, guarantee, prepared.secret)
    return Grouped(np.asarray(groups, np.int32), quasi)
