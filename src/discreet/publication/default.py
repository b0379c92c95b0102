"""What the partition "auto" stands for once the table is known.

`min_sum` is best for (k,e) where values are many. Where many rows share a value, such as a wage of 0, it puts them into
one group with as few others as k asks for: these are known almost surely, and everybody else is known to have another
value. Then rows are dealt instead, so that every group has about the table's own share of each value.
Cost: linear in the rows.
Claim: default_never_fills_a_group — what "auto" makes for (k,e) is dominated by a value only if dealing is, too.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from discreet.guarantees import Guarantee, Histograms
from discreet.guarantees.dominance import dominating
from discreet.policy import Policy
from discreet.values.codes import Codes

RANGES, OTHERWISE = "min_sum", "deal"


def settled(policy: Policy, sensitive: Codes, guarantee: Guarantee) -> Policy:
    """The policy with the partition that suits the table, where it names none."""
    if policy.partition != "auto" or policy.grouping != RANGES:
        return policy
    from discreet.partition.ranges.min_sum import plan

    counts, rule = sensitive.counts(), guarantee.rule
    held = np.flatnonzero(counts if guarantee.harmless is None else np.where(guarantee.harmless, 0, counts))
    groups = plan(counts[held], rule.marks[held], rule.distinct_l, rule.e)
    population = np.zeros_like(counts)
    population[held] = counts[held]
    filled = dominating(Histograms.of(groups, np.repeat(held, counts[held])), population)
    return policy if filled is None else replace(policy, partition=OTHERWISE)
