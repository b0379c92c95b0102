"""The cross-release auditor: what releases of a growing table tell together, from the released files alone.

Every pair of releases and the whole chain are searched for channels (see `pairs` and `lineage`). The rows that a
channel shows are vulnerable: of each group and value of the later release, as many as the largest channel shows.
Cost: links of all pairs of releases x values, and the lines of the chain.
Claim: auditor_never_excludes_the_truth — in every set that a person belongs to, the person's own value is left.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import numpy as np

from discreet.audit.sequence.channels import of_lines, of_pair, surest
from discreet.audit.sequence.comparable import in_order, rule
from discreet.audit.sequence.groups import Counts, Ranks, read_groups
from discreet.audit.sequence.lineage import Chain, Lines, unattributed
from discreet.audit.sequence.links import Links, link
from discreet.audit.sequence.overlap import plant
from discreet.audit.sequence.pairs import CHANNELS, Found, Rule, compare
from discreet.audit.sequence.report import Channel, Inferences, Line, Pair, Version
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
    return _Search(in_order(releases), known=insertions == "known").inferences()


class _Search:
    """All pairs and the chain, release by release."""

    def __init__(self, releases: Sequence[Release], *, known: bool) -> None:
        self.releases, self.known, self.rule = releases, known, rule(releases[0])
        self.groups, self.values = read_groups(releases)
        self.trees = [plant(of.boxes) for of in self.groups]
        self.exposed = [np.zeros_like(of.counts.counts) for of in self.groups]
        self.posterior = [_alone(of.counts, self.rule) for of in self.groups]
        self.channels: list[Channel] = []

    def inferences(self) -> Inferences:
        count, links, between, pairs = len(self.groups), [], [], []
        fresh = [[of.counts.counts for of in self.groups]]  # what can be of those who first were in each release
        for i in range(count - 1):
            left = list(fresh[-1])
            for j in range(i + 1, count):
                linked = link(self.groups[i], self.groups[j], self.trees[j])
                found = self._compared(i, j, linked)
                left[j] = np.minimum(left[j], found.fresh)
                pairs.append(self._pair(i, j, linked, found))
                between.append(unattributed(i, j, self.groups[j].counts, linked, found.unattributed))
                links += [linked] if j == i + 1 else []
            fresh += [left] if self.known else []
        line = self._line(Chain(self.groups, links, [of for of in between if of is not None]), fresh)
        return Inferences(
            dict(self.releases[0].promise.guarantee),
            INSERTIONS[not self.known],
            tuple(self._version(t) for t in range(count)),
            tuple(pairs),
            line,
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
        self.exposed[j] = np.maximum(self.exposed[j], found.exposed)
        self.posterior[j] = max(self.posterior[j], found.worst)
        self.channels = list(surest(self.channels + of_pair(self.groups, i, j, linked, found, self.values)))
        numbers = np.bincount(found.kinds, minlength=len(CHANNELS)).tolist()
        channels = dict(zip(CHANNELS, numbers, strict=True))
        return Pair(i + 1, j + 1, linked.later.size, channels, int(found.exposed.sum()), found.worst)

    def _line(self, chain: Chain, fresh: Sequence[Sequence[Ranks]]) -> Line:
        lines: list[Lines] = []
        for cohort, theirs in enumerate(fresh):
            lines.append(chain.follow(cohort, theirs, self.rule, LIMIT - sum(of.steps for of in lines)))
            if len(self.groups) > 2:  # lines of two are pairs
                self.channels += of_lines(self.groups, chain, cohort, theirs, lines[-1], self.values)
        exposed, worst = np.maximum.reduce([of.exposed for of in lines]), max(of.worst for of in lines)
        self.exposed[-1], self.posterior[-1] = np.maximum(self.exposed[-1], exposed), max(self.posterior[-1], worst)
        channels = {"both": lines[0].channels, "new": sum(of.channels for of in lines[1:])}
        steps, complete = sum(of.steps for of in lines), all(of.complete for of in lines)
        return Line(steps, complete, channels, int(exposed.sum()), worst)

    def _version(self, t: int) -> Version:
        promise, vulnerable = self.releases[t].promise, int(self.exposed[t].sum())
        return Version(self.releases[t].path, promise.rows, promise.groups, vulnerable, self.posterior[t])


def _alone(counts: Counts, rule: Rule) -> float:
    """How sure of a value one release makes an attacker by itself, at most."""
    starts = counts.starts[:-1]
    if rule.l > 1:
        tops, sizes = np.maximum.reduceat(counts.counts, starts), np.add.reduceat(counts.counts, starts)
        return float((tops / sizes).max())
    return float(1 / np.diff(counts.starts).min())
