"""Give every row of a prepared table its group, by the partition that the policy names."""

from __future__ import annotations

import numpy as np

from discreet.partition import PARTITIONS
from discreet.publication import PUBLICATIONS
from discreet.publication.axes import axes
from discreet.publication.draft import Grouped, Prepared
from discreet.publication.people import People


def by_partition(prepared: Prepared) -> Grouped:
    """Run the partition over the codes of the sensitive values, and of the quasi-identifiers if it looks at them."""
    policy, sensitive, guarantee = prepared.policy, prepared.sensitive.codes, prepared.guarantee
    if prepared.people is not None:
        return _whole_people(prepared, prepared.people)
    partition = PARTITIONS[policy.grouping].chosen(policy.options)
    wanted = partition.sees != "nothing" or PUBLICATIONS[policy.publication].boxed
    quasi = axes(prepared.table, policy) if wanted else []
    placed = partition.place(partition.view(quasi), sensitive, guarantee, prepared.secret, policy.options)
    return Grouped(np.asarray(placed.groups, np.int32), quasi, randomness=partition.randomness, cells=placed.cells)


def _whole_people(prepared: Prepared, people: People) -> Grouped:
    """The groups of people who may have several rows."""
    from discreet.partition.people.people import assign

    policy = prepared.policy
    quasi = axes(prepared.table, policy)
    people.check_constant(quasi, policy.person or "")
    seen = [axis.codes.codes for axis in quasi] if PARTITIONS[policy.grouping].sees != "nothing" else []
    whose = people.numbers - np.int32(1)
    return Grouped(assign(seen, whose, prepared.sensitive.codes, prepared.guarantee, prepared.secret), quasi)
