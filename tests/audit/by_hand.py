"""What releases tell together, written down in plain Python: boxes are sets of points, values are counted one by one."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from datetime import date

import pyarrow.parquet as pq


@dataclass(frozen=True)
class Group:
    """The values that a box allows in each column, and how often each sensitive value stands in the group."""

    box: tuple[frozenset, ...]
    values: Counter = field(hash=False)


@dataclass(frozen=True)
class Rule:
    l: int
    distinct_l: int
    k: int = 1

    def diverse(self, values):
        largest, rows = max(values.values()), values.total()
        return len(+values) >= self.distinct_l and largest * self.l <= rows >= self.k

    def posterior(self, values):
        if self.l > 1:
            return max(values.values()) / values.total()
        return 1 / (len(+values) if self.distinct_l > 1 else values.total())


@dataclass
class Pair:
    compatible: int = 0
    channels: Counter = field(default_factory=Counter)
    shown: Counter = field(default_factory=Counter)  # by later group and value
    fresh: dict = field(default_factory=dict)
    posterior: float = 0.0

    @property
    def vulnerable(self):
        return self.shown.total()

    def judge(self, rule, kind, group, left):
        """Note a channel if there is one; whether there is."""
        left = +left
        if not left:
            return False
        self.posterior = max(self.posterior, rule.posterior(left))
        if rule.diverse(left):
            return False
        self.channels[kind] += 1
        self.shown |= Counter({(group, value): n for value, n in left.items()})
        return True


def meet(a, b):
    """What two boxes have in common, if anything."""
    both = tuple(x & y for x, y in zip(a, b, strict=True))
    return both if all(both) else None


def partners(earlier, later):
    """The kind of link, and the numbers of the later groups in which the rows of an earlier one can be."""
    same = [j for j, other in enumerate(later) if other.box == earlier.box and earlier.values <= other.values]
    if same:
        alike = [j for j in same if later[j].values == earlier.values]
        return "same", alike or same
    met = [j for j, other in enumerate(later) if meet(earlier.box, other.box)]
    held = len(met) == 1 and all(x <= y for x, y in zip(earlier.box, later[met[0]].box, strict=True))
    return ("inside" if held else "overlap"), met


def pair(earlier, later, rule, *, known):
    """All sets of two releases."""
    found, links = Pair(), [partners(group, later) for group in earlier]
    alone = set()
    for i, (group, (kind, met)) in enumerate(zip(earlier, links, strict=True)):
        found.compatible += len(met)
        left = sum((later[j].values for j in met), Counter()) - group.values
        for j in met:
            nowhere_else = (e.values for k, e in enumerate(earlier) if k != i and links[k][1] == [j])
            found.judge(rule, f"both_{kind}", j, (later[j].values - sum(nowhere_else, Counter())) & group.values)
            if known and found.judge(rule, f"new_{kind}", j, left & later[j].values):
                alone.add(j)
    for j, other in enumerate(later):
        found.fresh[j] = other.values
        mine = [met for _, met in links if j in met]
        if not known or not mine:
            continue
        for met in mine:
            held = sum((later[k].values for k in met), Counter())
            gone = sum((e.values for e, (_, m) in zip(earlier, links, strict=True) if set(m) <= set(met)), Counter())
            found.fresh[j] = found.fresh[j] & (held - gone)
        if found.judge(rule, "new_together", j, found.fresh[j]) and j in alone:
            found.channels["new_together"] -= 1
    found.channels = +found.channels
    return found


def lines(releases, fresh, cohort, rule):
    """All lines of those who first were in one release; `fresh` has of each release and group what can be theirs."""
    found, last = Pair(), len(releases) - 1
    links = {
        (t, u): [partners(group, releases[u])[1] for group in releases[t]] for u in range(last + 1) for t in range(u)
    }
    waiting = [(j,) for j in range(len(releases[last]))]  # lines, the last release first
    while waiting:
        line = waiting.pop()
        on = {last - back: j for back, j in enumerate(line)}
        box = None
        for t, j in on.items():
            box = releases[t][j].box if box is None else box and meet(box, releases[t][j].box)
        if not box:
            continue
        first = min(on)
        left = intersection(fresh[t][j] for t, j in on.items())
        for t, i in on.items():
            for u, j in on.items():
                if u > t and len(links[t, u][i]) > 1:
                    nowhere_else = (e.values for e, met in zip(releases[t], links[t, u], strict=True) if met == [j])
                    left &= releases[u][j].values - sum(nowhere_else, Counter())
        if not found.judge(rule, "chain", line[0], left) and +left and first > cohort:
            waiting += [(*line, i) for i, met in enumerate(links[first - 1, first]) if on[first] in met]
    return found


def intersection(sets):
    sets = list(sets)
    left = sets[0]
    for one in sets[1:]:
        left = left & one
    return left


def chain(releases, rule, *, known):
    """All pairs by their places, and the lines of every cohort."""
    fresh = [{j: group.values for j, group in enumerate(release)} for release in releases]
    pairs, cohorts = {}, []
    for i, earlier in enumerate(releases):
        if known or i == 0:
            cohorts.append(lines(releases, fresh, i, rule))
        for t in range(i + 1, len(releases)):
            pairs[i, t] = pair(earlier, releases[t], rule, known=known)
            fresh[t] = {j: left & pairs[i, t].fresh[j] for j, left in fresh[t].items()}
    return pairs, cohorts


def shown(release):
    """The groups of a release, in the order of their numbers, as its Parquet files show them."""
    promise, groups = release.promise, {}
    labels = {}
    if any(side.label for side in promise.boxes):
        for row in pq.read_table(release.file("labels")).to_pylist():
            labels.setdefault((row["column"], row["label"]), set()).add(row["value"])
    for row in pq.read_table(release.file("generalized")).to_pylist():
        box = []
        for side in promise.boxes:
            if side.label is not None:
                text = row[side.label]
                box.append(frozenset({None}) if text is None else frozenset(labels[side.name, text]))
                assert text is None or text in {*map(str, labels[side.name, text])} or json.loads(text)
                continue
            low, high = row[side.low], row[side.high]
            allowed = set()
            if low is not None:
                low, high = (end.toordinal() if isinstance(end, date) else end for end in (low, high))
                allowed |= set(range(low, high + 1))
            if side.missing and row[side.missing]:
                allowed.add(None)
            box.append(frozenset(allowed))
        groups.setdefault(row[promise.group], (tuple(box), Counter()))[1][row[promise.sensitive]] += 1
    return [Group(*groups[number]) for number in sorted(groups)]
