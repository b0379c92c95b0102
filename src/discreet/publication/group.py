"""Give every row of a prepared table its group, by the partition that the policy names."""

from __future__ import annotations

import numpy as np

from discreet.partition import PARTITIONS
from discreet.publication import PUBLICATIONS
from discreet.publication.axes import axes
from discreet.publication.draft import Grouped, Prepared
from discreet.publication.people import grouped


def by_partition(prepared: Prepared) -> Grouped:
    """Run the partition over the codes of the sensitive values, and of the quasi-identifiers if it looks at them."""
    policy, sensitive, guarantee = prepared.policy, prepared.sensitive.codes, prepared.guarantee
    if prepared.people is not None:
        return Grouped(grouped(prepared.table, policy, prepared.people, sensitive, prepared.secret))
    partition = PARTITIONS[policy.grouping].chosen(policy.options)
    wanted = partition.sees != "nothing" or PUBLICATIONS[policy.publication].boxed
    quasi = axes(prepared.table, policy) if wanted else []
    placed = partition.place(partition.view(quasi), sensitive, guarantee, prepared.secret, policy.options)
    return Grouped(np.asarray(placed.groups, np.int32), quasi, randomness=partition.randomness, cells=placed.cells)
