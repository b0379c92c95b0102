"""Make the next release of a vault, so that there is never one without its record, nor a record without its release.

Four steps, after each of which the process may be killed: the hidden folder is noted and written; its digest and
what it shows of every changed group is noted, once it is verified, audited with all releases before it and safe on
disk; it gets its name; it is noted as done. `recover` finishes what was noted last, or takes it back. Where it fails
on the way, the note is taken back before the hidden folder goes.
Cost: the groups of the vault, writing and verifying the release, and comparing it with the one before; if some of its
groups have changed, with all of them.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pyarrow as pa

from discreet.errors import GuaranteeError, ReleaseError, UnacceptedError, VaultError, VerificationError
from discreet.policy import Policy
from discreet.policy.about import members
from discreet.publication.generalization import files
from discreet.publication.groups import sides
from discreet.publication.publish import describe
from discreet.release import Release
from discreet.release.chain import identity, shelf
from discreet.release.manifest import Manifest
from discreet.release.release import open_release
from discreet.release.write import Watch, free, write
from discreet.values.boxes import box_of
from discreet.vault.doubts import of_policy, of_rows
from discreet.vault.groups import groups_of
from discreet.vault.growth.divide import of_people
from discreet.vault.recover import complete, note_machine, recover, withdraw
from discreet.vault.safety.history import states
from discreet.vault.safety.rule import Rule
from discreet.vault.store.store import VaultStore
from discreet.vault.tree.pool import Pool
from discreet.warnings.checks import Warned, judged
from discreet.words import counted

WAIT = "append more rows; if some of these were shown, that the others were not would tell about them"
STEPS = ("gathering", "writing", "verifying", "auditing")


@dataclass(frozen=True, slots=True)
class Past:
    """A release that was made: its number, where it is now, and the digest of its manifest."""

    number: int
    path: Path
    digest: str


def make_release(
    store: VaultStore,
    policy: Policy,
    rule: Rule,
    schema: pa.Schema,
    *,
    to: Path,
    earlier: Sequence[Path],
    strict: bool,
    progress: Callable[[str], None],
) -> Release:
    """Write the next release to `to`; the caller is the only writer, and has recovered."""
    database = store.database
    if database.holds(to):
        raise ReleaseError(f"`{to}` is inside the vault, which is private", hint="choose another folder")
    free(to)
    before = past(store, earlier)
    sequence = database.meta("sequence")
    _check_not_forked(sequence, before, [to.parent, *(release.path.parent for release in before), *earlier])
    number = before[-1].number + 1 if before else 1
    progress("gathering")
    changed = store.changed()
    if not changed:
        raise _nothing_new(store, policy, rule)
    found = states(store, number, rule)
    shown = groups_of(store, policy, schema)
    warned = _warned(store, policy, schema, strict=strict)
    sizes = shown.histograms.sizes
    rows, groups = int(sizes.sum()), int(sizes.size)
    promise = describe(
        policy,
        for_publication=True,
        rows=rows,
        groups=groups,
        boxes=sides(policy, [extents.axis for extents in shown.boxes.extents]),
        partition="vault",
        cuts="blind" if rule.cuts == "blind" else None,
        sequence=sequence,
        growth=None if rule.growth == "settle" else rule.growth,
        person=None,
        lots=rule.lots,
        predecessor=before[-1].digest if before else None,
    )

    def begun(folder: Path) -> None:
        with database.transaction():
            appends = database.one("SELECT COALESCE(MAX(number), 0) FROM appends")[0]
            home = to.parent.resolve()
            time = datetime.now(UTC).isoformat(timespec="seconds")
            moved = [(str(release.path.resolve()), release.number) for release in before]
            database.run_many("UPDATE releases SET path = ? WHERE number = ?", moved)
            database.run(
                "INSERT INTO releases VALUES (?, 'begun', ?, ?, NULL, ?, ?, ?, ?)",
                (number, str(home / folder.name), str(home / to.name), time, appends, rows, groups),
            )
            note_machine(database)

    stands = False

    def verified(folder: Path) -> None:
        nonlocal stands
        progress("auditing")
        stands = _audited(store, before, folder)

    def settled(folder: Path) -> None:
        with database.transaction():
            store.record(found)
            if rule.growth == "settle":  # otherwise rows may come to other groups
                store.keep_members(number)
            if stands:
                store.note_standing(number, identity(folder))
            database.run(
                "UPDATE releases SET status = 'intended', digest = ? WHERE number = ?",
                (identity(folder), number),
            )

    try:
        release = write(
            to,
            promise,
            files(shown),
            format="parquet",
            progress=progress,
            about=members(policy.about),
            watch=Watch(begun, verified, settled, withdrawn=lambda _: withdraw(store, number), ending="partial"),
        )
    except BaseException:
        with suppress(VaultError):  # then the next command does
            recover(store)
        raise
    complete(store, number)
    return replace(release, warnings=warned)


def _warned(store: VaultStore, policy: Policy, schema: pa.Schema, *, strict: bool) -> Warned:
    """What is doubtful about a release; raise, before anything is noted or written, if it must be accepted first."""
    try:
        return judged([*of_policy(policy), *of_rows(store, policy, schema)], policy, strict=strict)
    except UnacceptedError as error:
        name = shlex.join([str(store.database.place), error.warnings[0].name])
        raise UnacceptedError(
            error.warnings,
            hint=f'the vault is as it was; accept it with the reason: `discreet vault accept {name} --reason "…"`; or,'
            " if nothing was released from it yet, correct the rows and begin a new vault",
        ) from None


def past(store: VaultStore, earlier: Sequence[Path]) -> list[Past]:
    """The releases that were made, oldest first, each where it was or in an `earlier` folder; raise if one is gone."""
    listed = store.database.rows("SELECT number, path, digest FROM releases WHERE status = 'done' ORDER BY number")
    elsewhere = shelf(earlier) if earlier else {}
    found = []
    for number, path, name in listed:
        place = elsewhere.get(name, Path(path))
        _check_untouched(number, place, name)
        found.append(Past(number, place, name))
    return found


def _check_not_forked(sequence: str, before: Sequence[Past], places: Sequence[Path]) -> None:
    """Raise if there is a release of our sequence and this vault has no record of it: it is an older copy, then."""
    known = {release.digest for release in before}
    for name, path in shelf(sorted({place for place in places if place.is_dir()})).items():
        if name in known:
            continue
        try:
            found = Manifest.read(path).discreet.sequence
        except ReleaseError:
            continue
        if found == sequence:
            raise VaultError(
                f"`{path}` is a release of this vault, but it has no record of it: this is an older copy of the vault",
                hint="release from the vault that made it: releases of two copies tell more together than those of one;"
                " if it is a release of this one that somebody has changed, move it away",
            )


def _check_untouched(number: int, place: Path, name: str) -> None:
    """Raise unless a release is as it was made."""
    try:
        touched = identity(place) != name
    except OSError:
        raise VaultError(
            f"release {number} of the vault is not at `{place}`, where it was made",
            hint="put it back, or tell with --earlier in which folder it is now: the next one is audited with it",
        ) from None
    try:
        if not touched:
            open_release(place)
    except ReleaseError:
        touched = True
    if touched:
        raise VaultError(
            f"release {number} of the vault, `{place}`, has been changed since it was made",
            hint="get it back from whoever holds a copy, or tell with --earlier where a copy is",
        )


def _nothing_new(store: VaultStore, policy: Policy, rule: Rule) -> GuaranteeError | VaultError:
    rows = store.database.one("SELECT COUNT(*) FROM rows WHERE member = 0 AND published IS NULL")[0]
    if rows and rule.growth == "settle":
        return _lot_waits(store, policy, rule)
    waiting = counted(rows, "row waits", "rows wait")
    if store.database.one("SELECT 1 FROM releases") is None:
        return GuaranteeError(
            f"there is nothing to release: no group keeps the guarantee yet, and {waiting}",
            hint="append more rows, or begin a vault with a lower guarantee",
        )
    return VaultError(
        f"there is nothing to release: no group changed since the last release, and {waiting}",
        hint="append more rows",
    )


def _lot_waits(store: VaultStore, policy: Policy, rule: Rule) -> GuaranteeError:
    """Why those who came since the last release cannot be shown: all of them must be, or none."""
    held = np.bincount(store.unpublished().sensitive)
    rows, people = counted(int(held.sum()), "row waits", "rows wait"), int(held.sum())
    if rule.lots is not None:
        people = len(store.unpublished_keys().unique())
        rows = f"{counted(int(held.sum()), 'row')} of {counted(people, 'person waits', 'people wait')}"
    if people < rule.smallest_lot:
        return GuaranteeError(
            f"there is nothing to release: {rows} to be shown, expected at least {rule.smallest_lot:,}",
            hint="append more rows; so few are never shown, whatever their values, so that the waiting tells nothing",
        )
    if rule.lots is not None:
        return GuaranteeError(f"there is nothing to release: {rows} to be shown; {_why(store, rule)}", hint=WAIT)
    found = f"{np.count_nonzero(held)} different values, expected at least {rule.distinct_l}"
    if rule.l > 1:
        found = f"one value in 1 of {held.sum() / held.max():.1f}, expected at most 1 of {rule.l}"
    return GuaranteeError(
        f"there is nothing to release: {rows} to be shown and together have too few values of"
        f" `{policy.sensitive}` ({found})",
        hint=WAIT,
    )


def _why(store: VaultStore, rule: Rule) -> str:
    """Why people with several rows cannot be shown together."""
    lot = store.unpublished()
    pool = Pool.of(lot.points, lot.sensitive, store.columns, box_of(lot.points, store.columns))
    people = store.unpublished_keys().combine_chunks().dictionary_encode().indices.to_numpy()
    try:
        of_people(pool, people, rule, told=True)
    except GuaranteeError as error:
        often = "" if rule.lots == 1 else f" (that is {rule.lots} times l, one for each of `lots`)"
        return f"{error.message}{often}"
    return "the lot could be shown now"


def _audited(store: VaultStore, before: Sequence[Past], folder: Path) -> bool:
    """Raise if a release, with those before it, would tell more than one alone, by the auditor that anyone can run.

    Otherwise, whether all groups of all of them stand in it as they were. If the vault has noted that of the last one,
    only that has to be compared, whose groups are those of all.
    """
    if not before:
        return True
    from discreet.audit.sequence.auditor import audit, stand

    if store.stands(before[-1].number, before[-1].digest) and stand([before[-1].path, folder]):
        return True
    found = audit([*(release.path for release in before), folder])
    if not found.ok and (found.vulnerable or found.chain.complete):
        raise VerificationError(
            f"the release was not made: with those before it, {counted(found.vulnerable, 'row')} would be given away",
            hint="that is a mistake of ours, please report it; the vault is as it was",
        )
    if not found.ok:
        raise VerificationError(
            "the release was not made: with those before it, its groups overlap in too many ways to look at all",
            hint='release less often, or begin a new vault with growth = "insert"; the vault is as it was',
        )
    return False
