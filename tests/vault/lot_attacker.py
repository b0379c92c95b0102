"""An attacker who holds every release of a vault, and knows of everybody the quasi-identifier and the append.

Shares nothing with the vault: it reads the released files, and knows how the vault works. Tables have one
quasi-identifier, a number that no two people share, so it finds who is in which group: whoever was in none, has come,
and lies in the box of a new one; where boxes overlap, it has to be told. People who missed a release, with nobody between them who did not, and were shown by
the same one later, waited together; a vault lets go whoever is diverse together, so they were not. The attacker deals
the values of every group to its people in all ways that agree with that (a sample of them, drawn alike), and believes
each as much as any other.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

DEALS, FEWEST = 10_000, 50  # ways to deal that are tried, and that must agree for anything to be believed


@dataclass(frozen=True)
class Belief:
    """What is thought of somebody who missed a release: the likeliest value, and how likely."""

    person: int
    value: str
    chance: float

    @property
    def certain(self):
        return self.chance == 1.0


def groups_of(folder):
    """The groups that a release shows: the ends of the box, and how often each value occurs."""
    about = json.loads((Path(folder) / "datapackage.json").read_text())["discreet"]
    side, rows = about["boxes"][0], pq.read_table(Path(folder) / "generalized.parquet").to_pylist()
    shown: dict[int, tuple[tuple[float, float], Counter[str]]] = {}
    for row in rows:
        _, values = shown.setdefault(row[about["group"]], ((row[side["low"]], row[side["high"]]), Counter()))
        values[row[about["sensitive"]]] += 1
    return Counter((box, tuple(sorted(values.items()))) for box, values in shown.values())


class Attacker:
    """Who came with which append, and what was released after it: a folder, or None if no release could be made.

    `told` are all groups that were ever shown, each a set of people: boxes overlap unless one column is all that was
    cut, and whoever knows who is in which group knows more than the files say.
    """

    def __init__(self, arrivals, folders, l, told=()):
        self.l, self.folders = l, folders
        self.place = {person: at for people in arrivals for person, at in people.items()}
        self.members: list[tuple[list[int], tuple[tuple[str, int], ...]]] = []  # the people and values of each group
        self.gone: dict[int, int] = {}  # the append after which each person was shown
        self.runs: list[list[int]] = []  # people who waited on, with nobody between them who did not
        self.missed: set[int] = set()  # people who were there when a release was made, and are not in it
        self.waited: set[int] = set()  # or when one could not be made
        boxes = {(min(places), max(places)): sorted(group) for group, places in self._placed(told)}
        known, here = Counter(), set()
        for time, (people, folder) in enumerate(zip(arrivals, folders, strict=True)):
            here |= people.keys()
            left = set()
            if folder is not None:
                shown = groups_of(folder)
                for (low, high), values in (shown - known).elements():
                    inside = boxes.get((low, high)) or self._inside(here, low, high)
                    assert len(inside) == sum(count for _, count in values)
                    self.members.append((inside, values))
                    left.update(inside)
                    self.gone.update(dict.fromkeys(inside, time))
                known = shown
            self._note(here, left, made=folder is not None)
            here -= left

    def _placed(self, groups):
        return [(group, [self.place[person] for person in group]) for group in groups]

    def _inside(self, here, low, high):
        return [person for person in here if low <= self.place[person] <= high]

    def _note(self, here, left, *, made):
        """Who waited on, run by run."""
        run: list[int] = []
        for person in [*sorted(here, key=self.place.__getitem__), None]:
            if person is None or person in left:
                self.runs += [run] if run else []
                run = []
            else:
                run.append(person)
        (self.missed if made else self.waited).update(here - left)

    def beliefs(self, chance, *, due=False, fewest=2):
        """Of everybody who missed a release with others; if one was `due` after every append, of who waited for it.

        That fewer than `fewest` wait tells nothing: so few always do.
        """
        about = self.missed | self.waited if due else self.missed
        return [belief for part in self._parts(about, fewest) for belief in self._of(*part, chance)]

    def _parts(self, about, fewest):
        """Groups that hang together by sets of people who waited, and these sets."""
        home = {person: at for at, (people, _) in enumerate(self.members) for person in people}
        parts_of_runs = [set(part) for run in self.runs for _, part in groupby(run, self.gone.get)]
        sets = [waited for waited in parts_of_runs if len(waited) >= fewest and waited <= home.keys() & about]
        parts: list[tuple[set[int], list[set[int]]]] = []
        for waited in sets:
            met, all_sets = {home[person] for person in waited}, [waited]
            for part in [part for part in parts if part[0] & met]:
                parts.remove(part)
                met, all_sets = met | part[0], all_sets + part[1]
            parts.append((met, all_sets))
        return parts

    def _of(self, groups, sets, chance):
        names = sorted({value for at in groups for value, _ in self.members[at][1]})
        dealt = np.concatenate([self._dealt(*self.members[at], names, chance) for at in sorted(groups)], axis=1)
        order = [person for at in sorted(groups) for person in self.members[at][0]]
        column = {person: at for at, person in enumerate(order)}
        agrees = np.ones(DEALS, bool)
        for waited in sets:
            held = dealt[:, [column[person] for person in waited]]
            top = np.max([(held == value).sum(axis=1) for value in range(len(names))], axis=0)
            agrees &= top * self.l > len(waited)
        if agrees.sum() < FEWEST:  # nothing is learned from what hardly ever happens: the groups alone
            agrees[:] = True
        for person in sorted(set.union(*sets)):
            counts = np.bincount(dealt[agrees, column[person]], minlength=len(names))
            best = int(counts.argmax())
            yield Belief(person, names[best], counts[best] / counts.sum())

    def _dealt(self, people, values, names, chance):
        """The values of a group, dealt to its people in many ways."""
        held = np.repeat([names.index(value) for value, _ in values], [count for _, count in values])
        return chance.permuted(np.tile(held, (DEALS, 1)), axis=1)
