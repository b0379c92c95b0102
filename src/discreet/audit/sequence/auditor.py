"""The cross-release auditor: what releases of a growing table tell together, from the released files alone.

Of every release with those before it, each pair and the whole chain are searched for channels (see `pairs` and
`lineage`). The rows that a channel shows are vulnerable: of each group and value of the later release, as many as the
largest channel shows. Groups that stand as they were are left out (see `standing`): only what changed is compared.
Cost: the groups of all releases; of those that changed, links of all pairs of releases x values, and the lines of the
chain of each release.
Claim: a_release_is_judged_with_those_before_it — what is said of a release is the same whatever comes after it.
Claim: auditor_never_excludes_the_truth — in every set that a person belongs to, the person's own value is left.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np
import pyarrow as pa

from discreet.audit.sequence.channels import of_lines, of_pair, surest
from discreet.audit.sequence.comparable import in_order, rule
from discreet.audit.sequence.groups import Counts, Groups, Ranks, read_groups, some
from discreet.audit.sequence.lineage import Chain, Lines, Unattributed, unattributed
from discreet.audit.sequence.links import Links, link
from discreet.audit.sequence.overlap import plant
from discreet.audit.sequence.pairs import CHANNELS, Found, Rule, compare
from discreet.audit.sequence.report import Channel, Inferences, Line, Pair, Version
from discreet.audit.sequence.standing import standing
from discreet.errors import InputError, ReleaseError
from discreet.release import Release

LIMIT = 50_000_000  # steps along lines
INSERTIONS = ("known", "unknown")


def audit(releases: Sequence[Release | str | Path], *, insertions: Literal["known", "unknown"] = "known") -> Inferences:
    """Compare releases of one table, or the folders that hold them, oldest first.

    Unless `insertions` are unknown, the attacker knows of each person in which release it first was.
    """
    if insertions not in INSERTIONS:
        raise InputError(f"unknown insertions `{insertions}`", hint="expected one of: `known`, `unknown`")
    opened = in_order(releases)
    return _Search(opened, *read_groups(opened), known=insertions == "known").inferences()


def stand(releases: Sequence[Release | str | Path]) -> bool:
    """Whether every group of every release is in the next as it was, and all keep the promise: then nothing is told.

    If it is so of releases up to some, and of that one and the next, it is so up to the next.
    """
    opened = in_order(releases)
    groups, _ = read_groups(opened)
    return all(flags.all() for flags in standing(groups, rule(opened[0])).flags)


class _Search:
    """All pairs and the chain of every release with those before it, oldest first."""

    def __init__(self, releases: Sequence[Release], groups: Sequence[Groups], values: pa.Array, *, known: bool) -> None:
        self.releases, self.known, self.rule, self.values = releases, known, rule(releases[0]), values
        self.standing = standing(groups, self.rule)
        self.posterior = [_alone(of.counts, self.rule) for of in groups]
        flags = list(zip(groups, self.standing.flags, strict=True))
        self.groups = [some(of, np.flatnonzero(~stands)) for of, stands in flags]
        # what groups tell that stand: with others no more than alone
        self.still = [_alone(some(of, np.flatnonzero(stands)).counts, self.rule) for of, stands in flags]
        self.trees = [plant(of.boxes) for of in self.groups]
        self.exposed = [np.zeros_like(of.counts.counts) for of in self.groups]
        self.by_pairs, self.channels = list[int](), list[Channel]()

    def inferences(self) -> Inferences:
        pairs, links, lines = dict[tuple[int, int], Pair](), list[Links](), list[Line]()
        between = list[Unattributed]()
        fresh = list[list[Ranks]]()  # of each cohort, how much of each release can be of who first was in its release
        for j, later in enumerate(self.groups):
            left = [later.counts.counts]
            for i in range(j):
                linked = link(self.groups[i], later, self.trees[j])
                found = self._compared(i, j, linked)
                left.append(np.minimum(left[-1], found.fresh))
                pairs[i, j] = self._pair(i, j, linked, found)
                spare = unattributed(i, j, later.counts, linked, found.unattributed)
                between += [] if spare is None else [spare]
                links += [linked] if j == i + 1 else []
            if self.known or not j:
                fresh.append([of.counts.counts for of in self.groups[:j]])
            for of, mine in zip(fresh, left, strict=False):
                of.append(mine)
            self.by_pairs.append(int(self.exposed[j].sum()))
            if j:
                lines.append(self._line(Chain(self.groups[: j + 1], links, between), fresh))
        return Inferences(
            dict(self.releases[0].promise.guarantee),
            INSERTIONS[not self.known],
            tuple(self._version(t) for t in range(len(self.groups))),
            tuple(pairs[at] for at in sorted(pairs)),
            replace(lines[-1], complete=all(of.complete for of in lines)),
            surest(self.channels),
        )

    def _compared(self, i: int, j: int, linked: Links) -> Found:
        earlier, later = self.groups[i].counts, self.groups[j].counts
        found = compare(earlier, later, linked, self.rule, values=len(self.values), known=self.known)
        if found.vanished:
            raise ReleaseError(
                f"`{self.releases[j].path}` lacks rows of `{self.releases[i].path}` before it",
                hint="name versions of one table that only grew, oldest first",
            )
        return found

    def _pair(self, i: int, j: int, linked: Links, found: Found) -> Pair:
        worst, compatible = max(found.worst, self.still[i]), linked.later.size + self.standing.links(i, j)
        self.exposed[j] = np.maximum(self.exposed[j], found.exposed)
        self.posterior[j] = max(self.posterior[j], worst)
        if found.kinds.size:
            told = of_pair(self.groups, i, j, linked, found, self.values)
            self.channels = list(surest(self.channels + told))
        numbers = np.bincount(found.kinds, minlength=len(CHANNELS)).tolist()
        channels = dict(zip(CHANNELS, numbers, strict=True))
        return Pair(i + 1, j + 1, compatible, channels, int(found.exposed.sum()), worst)

    def _line(self, chain: Chain, fresh: Sequence[Sequence[Ranks]]) -> Line:
        """Follow all lines that end in the last release of a chain."""
        last = len(fresh[0]) - 1
        lines: list[Lines] = []
        for cohort, theirs in enumerate(fresh):
            lines.append(chain.follow(cohort, theirs, self.rule, LIMIT - sum(of.steps for of in lines)))
            if len(self.groups) > 2 and last == len(self.groups) - 1:  # lines of two are pairs
                self.channels += of_lines(self.groups, chain, cohort, theirs, lines[-1], self.values)
        exposed, worst = np.maximum.reduce([of.exposed for of in lines]), max(of.worst for of in lines)
        worst = max(worst, self.still[last])
        self.exposed[last] = np.maximum(self.exposed[last], exposed)
        self.posterior[last] = max(self.posterior[last], worst)
        channels = {"both": lines[0].channels, "new": sum(of.channels for of in lines[1:])}
        steps, complete = sum(of.steps for of in lines), all(of.complete for of in lines)
        return Line(steps, complete, channels, int(exposed.sum()), worst)

    def _version(self, t: int) -> Version:
        promise, vulnerable = self.releases[t].promise, int(self.exposed[t].sum())
        figures = (vulnerable, self.by_pairs[t], self.posterior[t])
        return Version(self.releases[t].path, promise.rows, promise.groups, *figures)


def _alone(counts: Counts, rule: Rule) -> float:
    """How sure of a value, or of a row, one release makes an attacker by itself, at most."""
    starts = counts.starts[:-1]
    if not starts.size:
        return 0.0
    tops, sizes = np.maximum.reduceat(counts.counts, starts), np.add.reduceat(counts.counts, starts)
    if rule.l > 1:
        return float((tops / sizes).max())
    return float(1 / (np.diff(counts.starts) if rule.distinct_l > 1 else sizes).min())
