r"""What all releases together leave open about a person in a group, and whether that is safe.

A group has a *line*: the states in which it, and the groups it was cut from, were released. Its box meets no other
released box than those of its line and of what was cut from them. Let S be the values of a state of the line, T those
of the group as it would be released now, U those of all groups under the node of the state whose boxes meet it now
(any number of them), and F = U \ S what is fresh since. All are multisets, as vectors of counts. A person in the group

    known to be in both releases       has a value of S ∩ T
    known to be in the later one only  has a value of F ∩ T
    first released with state a        has a value of all S from a on, of T, and of every F, then and now, of states
                                       before a: the chain

for each state that meets the group. The first two are the six sets of Byun et al. (SDM 2006), figure 6, for any number
of groups; the chain is what three and more releases tell. A group is safe if each of these sets is diverse or empty.
Cost: states x values for a group, and cohorts x values for its chain.
Claim: sets_are_as_listed_by_hand — the same sets as found by going through rows one by one.
Claim: chain_adds_up — a chain kept from release to release is what all states from the first on leave open.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.vault.safety.rule import Rule
from discreet.vault.tree.model import Flags, Ints


@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """The states that a group's box meets, oldest first: their releases, values (S) and what is fresh since (F).

    `cohorts` and `chain` are those of the last state of the line, none if the box does not meet that.
    """

    releases: Ints
    held: Ints
    fresh: Ints
    cohorts: Ints
    chain: Ints


def in_both(line: Line, values: Ints) -> Ints:
    """For each state, what is open about a person in both."""
    return np.minimum(line.held, values)


def only_later(line: Line, values: Ints) -> Ints:
    """For each state, what is open about a person who was not in it."""
    return np.minimum(line.fresh, values)


def chained(line: Line, values: Ints, release: int) -> tuple[Ints, Ints]:
    """The cohorts of a group, the last of them new with a release, and what is open about each; but no empty ones."""
    cohorts = np.append(line.cohorts, release)
    chain = np.minimum(np.concatenate([line.chain, values[None, :]]), values)
    for at, cohort in enumerate(cohorts):
        before = line.fresh[line.releases < cohort]
        if len(before):
            chain[at] = np.minimum(chain[at], before.min(axis=0))
    kept = chain.any(axis=1)
    return cohorts[kept], chain[kept]


def is_safe(line: Line, values: Ints, rule: Rule) -> bool:
    """Whether a group may be released with these values."""
    if not len(line.releases):
        return True
    latest = int(line.releases.max()) + 1
    return (
        rule.safe(in_both(line, values))
        and rule.safe(only_later(line, values))
        and rule.safe(chained(line, values, latest)[1])
    )


def are_safe(fresh: Ints, groups: Ints, rule: Rule) -> bool:
    """Whether groups that stay as they are may be released, now that more or less is fresh since a state they meet."""
    return rule.safe(np.minimum(groups, fresh))


def shrunk(before: Ints, after: Ints) -> bool:
    """Whether less of some value is fresh than was: then chains that stood may not stand."""
    lost: Flags = after < before
    return bool(lost.any())
