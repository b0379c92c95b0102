"""The rows of a release beside their groups, for one who plays a partition again.

A release that shows rows tells them itself. Where it shows boxes, the attacker of Wong et al. knows the
quasi-identifiers of everybody in the table from elsewhere (a register, colleagues), and finds out who is in which box:
of people who look alike, each box has as many as are left for it by what others can take. If that leaves more than one
way, nothing is played.
Cost: different people x the boxes that hold them, in each of up to `ROUNDS` rounds.
Claim: everybody_is_in_their_box — or nobody is.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from discreet.audit.enclosed import Pairs, enclosing, read_shown
from discreet.audit.files import numbers, read_tables
from discreet.errors import ReleaseError
from discreet.learn.view import View, present
from discreet.release import Release
from discreet.release.groups import PUBLICATIONS
from discreet.values.coded import Coded, code, combined

ROUNDS = 100
Ints = npt.NDArray[np.int64]
HINT = "nothing is known of this risk: choose blind cuts to be sure"


def rows_of(release: Release, everybody: pa.Table) -> View:
    """The rows of a release, by the quasi-identifiers of everybody where it does not show them; raise if none fit."""
    promise = release.promise
    if promise.publication in PUBLICATIONS:
        return View.of(release)
    if promise.boxes is None:
        raise ReleaseError(
            f"a release by `{promise.publication}` tells nobody which rows share a group, so that its partition cannot"
            " be played again",
            hint=HINT,
        )
    if len(everybody) != promise.rows:
        raise ReleaseError(
            "with boxes, a partition is played again by one who knows the quasi-identifiers of everybody in the table,"
            " and these are not as many people",
            hint="name the whole table that was published as the truth",
        )
    shown = read_shown(release)
    columns = [code(everybody[name]) for name in promise.quasi]
    look, first = combined([each.codes for each in columns])
    box = placed(look, enclosing(shown, everybody.take(pa.array(first))), shown.rows)
    order = np.lexsort((look, shown.group[box]))
    st = read_tables(release).st
    values, groups = code(st["value"]), numbers(st["grp"])
    by_group = np.lexsort((values.codes, groups))
    held = present(Coded(np.repeat(values.codes[by_group], numbers(st["n"])[by_group]), values.values))
    starts = np.append(0, np.cumsum(shown.rows[np.argsort(shown.group)]))
    quasi = {
        name: present(Coded(each.codes[order], each.values)) for name, each in zip(promise.quasi, columns, strict=True)
    }
    return View(starts, quasi, held.codes.astype(np.int32), held.values, promise.sensitive_column)


def placed(look: npt.NDArray[np.int32], may: Pairs, room: Ints) -> Ints:
    """The box of every person, by how they look; those of a look may be in the same boxes, which have so much room."""
    people = np.bincount(look, minlength=may.ends.size - 1)
    of, box = may.people, may.boxes
    low, high = np.zeros(of.size, np.int64), np.minimum(people[of], room[box])
    for _ in range(ROUNDS):
        before = int(low.sum()), int(high.sum())
        for key, total in ((of, people), (box, room)):
            others = np.bincount(key, low, total.size)[key] - low
            high = np.minimum(high, (total[key] - others).astype(np.int64))
            others = np.bincount(key, high, total.size)[key] - high
            low = np.maximum(low, (total[key] - others).astype(np.int64))
        if (int(low.sum()), int(high.sum())) == before:
            break
    full = np.array_equal(np.bincount(of, high, people.size), people)
    if not full or (low != high).any() or not np.array_equal(np.bincount(box, high, room.size), room):
        raise ReleaseError(
            "some boxes overlap, so that not even one who knows everybody can tell who is in which group, or these are"
            " other people: the partition cannot be played again",
            hint=HINT,
        )
    found = np.empty(look.size, np.int64)
    found[np.argsort(look, kind="stable")] = np.repeat(box, high)
    return found
