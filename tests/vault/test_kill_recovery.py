"""Killed while it mends what an earlier kill or failure left, a vault still ends as before the command, or as after it."""

import os
import random
import re
import shutil
from pathlib import Path
from uuid import uuid4

import pytest

import discreet
from discreet import Vault, verify
from discreet.errors import ReleaseError, VaultError
from discreet.vault import recover
from discreet.vault.store.database import opened
from discreet.vault.store.store import VaultStore
from vault.kills import die, died, killed, took
from vault.steward import dump, inspect, left_in, people, policy

KILLS = 4  # recoveries of each state in each store that are killed at random, up to three times
MOST = 10 * KILLS  # as many are tried until one kill was not too late
STEPS = {
    "begun": ("removing", "forgetting", "mended"),
    "intended": ("revealing", "revealed", "completing", "mended"),
    "renamed": ("completing", "mended"),
    "moved": ("completing", "mended"),
    "copied": ("removing", "completing", "mended"),
    "torn": ("withdrawing", "withdrawn", "removing", "forgetting", "mended"),
    "taken": ("withdrawing", "withdrawn", "removing", "forgetting", "mended"),
}
SHOWN = {"intended", "renamed", "moved", "copied"}  # these end as after the command
HERE = {"intended", "renamed", "copied", "taken"}  # in these a folder stands under the name in the end, ours or not


class Scene:
    """A vault and its releases as a kill left them in each state, and as they are in the end, one kill or many later."""

    def __init__(self, place):
        self.place, self.vault = place, place / "vault"
        self.releases = place / "releases"
        self.ends = ()  # what the database holds if the release is not there, and if it is

    def keep(self, state):
        self.keep_vault(self.place / "kept" / state)
        shutil.copytree(self.releases, self.place / "kept" / state / "releases")

    def put(self, state):
        self.put_vault(self.place / "kept" / state)
        shutil.rmtree(self.releases)
        shutil.copytree(self.place / "kept" / state / "releases", self.releases)

    def keep_vault(self, to):
        shutil.copytree(self.vault, to / "vault")

    def put_vault(self, kept):
        shutil.rmtree(self.vault)
        shutil.copytree(kept / "vault", self.vault)

    def open(self):
        with Vault.open(self.vault) as vault:
            vault.status()

    def append(self, start, rows=20):
        with Vault.open(self.vault) as vault:
            vault.append(people(rows, start=start))

    def release(self, number):
        with Vault.open(self.vault) as vault:
            vault.release(self.releases / f"{number}")

    def noted(self):
        """What the vault says of the release that was under way."""
        database = opened(self.vault)
        try:
            found = database.rows("SELECT status FROM releases WHERE number = 2")
        finally:
            database.close()
        return found[0][0] if found else None

    def check(self, state):
        """The next command mends all of it."""
        self.open()
        appears = state in SHOWN
        assert left_in(self.releases) == (["1", "2"] if state in HERE else ["1"])
        assert self.noted() == ("done" if appears else None)
        inspect(self.vault, releases=state != "moved")
        assert timeless(dump(self.vault)) == self.ends[appears]


class Served(Scene):
    """The same of a vault in a server: what is kept of it are databases."""

    def __init__(self, place, server):
        super().__init__(place)
        self.server, self.name = server, f"scene_{uuid4().hex[:12]}"  # a process may make the scene anew
        server.run(f"CREATE DATABASE {self.name} TEMPLATE template0 STRATEGY wal_log")
        self.vault = f"{server.url(self.name)}#vault"

    def keep_vault(self, to):
        self.server.run(f"CREATE DATABASE {self.name}_{to.name} TEMPLATE {self.name} STRATEGY wal_log")

    def put_vault(self, kept):
        self.server.run(
            f"DROP DATABASE {self.name} WITH (FORCE)",
            f"CREATE DATABASE {self.name} TEMPLATE {self.name}_{kept.name} STRATEGY wal_log",
        )


def timeless(text):
    """A dump without the times at which appends and releases were made."""
    return re.sub(r"\d{4}-\d\d-\d\dT[\d:]+", "", text)


@pytest.fixture(scope="module", params=["file", "server"])
def scene(request, tmp_path_factory):
    place = tmp_path_factory.mktemp("recovery")
    scene = Scene(place) if request.param == "file" else Served(place, request.getfixturevalue("server"))
    with Vault.create(scene.vault, policy()) as vault:
        vault.append(people(60))
        vault.release(scene.releases / "1")
    scene.append(1_000, 200)
    scene.keep("before")
    before = dump(scene.vault)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("discreet.release.write.verify_alone", die)  # its files are there, but were not looked at
        died(lambda: scene.release(2))
    scene.keep("begun")
    scene.put("before")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("discreet.release.write.reveal", die)
        died(lambda: scene.release(2))
    scene.keep("intended")
    hidden = next(path for path in (scene.releases).iterdir() if path.name.startswith("."))
    (hidden / "generalized.parquet").unlink()
    scene.keep("torn")
    scene.put("intended")
    (scene.releases / "2").mkdir()  # by somebody else
    scene.keep("taken")
    scene.put("intended")
    shutil.copytree(hidden, scene.releases / "2")
    scene.keep("copied")
    scene.put("intended")
    hidden.rename(scene.releases / "2")
    scene.keep("renamed")
    (scene.releases / "2").rename(place / "moved")
    scene.keep("moved")
    scene.put("intended")
    scene.open()
    assert verify(scene.releases / "2").ok
    scene.ends = timeless(before), timeless(dump(scene.vault))
    return scene


def test_what_kills_left_is_as_it_should_be(scene):
    for state in STEPS:
        scene.put(state)
        assert scene.noted() == ("begun" if state == "begun" else "intended")
        assert len(left_in(scene.releases)) == {"moved": 1, "copied": 3, "taken": 3}.get(state, 2)
        scene.check(state)


def then_die(act):
    def both(*given, **options):
        act(*given, **options)
        die()

    return both


def then_die_removing(act, remove=shutil.rmtree):
    """As `rmtree`, but a hidden folder is the last that it removes."""

    def both(folder, *given, **options):
        if Path(folder).suffix != ".partial":  # the folder of an engine
            remove(folder, *given, **options)
        else:
            act(folder)
            die()

    return both


def remove_one(folder):
    min(Path(folder).iterdir()).unlink()


@pytest.mark.parametrize(("state", "step"), [(state, step) for state, steps in STEPS.items() for step in steps])
def test_killed_at_every_step_of_recovery(scene, state, step, monkeypatch):
    """Inside the transactions too: what they wrote must be gone."""
    scene.put(state)

    def act():
        if step == "removing":
            monkeypatch.setattr("discreet.vault.recover.shutil.rmtree", then_die_removing(remove_one))
        elif step == "revealing":
            monkeypatch.setattr("discreet.vault.recover.reveal", die)
        elif step == "revealed":
            monkeypatch.setattr("discreet.vault.recover.reveal", then_die(recover.reveal))
        elif step == "completing":
            monkeypatch.setattr(VaultStore, "mark_released", then_die(VaultStore.mark_released))
        elif step == "withdrawing":
            monkeypatch.setattr(VaultStore, "forget", then_die(VaultStore.forget))
        elif step == "withdrawn":
            monkeypatch.setattr("discreet.vault.recover.withdraw", then_die(recover.withdraw))
        elif step == "forgetting":
            monkeypatch.setattr("discreet.vault.recover._forget", die)  # once the folder is gone
        else:
            monkeypatch.setattr("discreet.vault.vault.status", die)
        scene.open()

    died(act)
    assert (scene.noted() in {None, "done"}) == (step == "mended")
    scene.check(state)


@pytest.mark.parametrize("state", STEPS)
def test_killed_at_random_in_recovery(scene, state):
    """Again and again until one recovery comes to its end: a kill may find what the kill before it left."""
    chance = random.Random(7)  # noqa: S311
    scene.put(state)
    limit, early = took(scene.open) * 1.5, 0
    for turn in range(MOST):
        if turn >= KILLS and early:
            break
        scene.put(state)
        for _ in range(3):
            done = killed(scene.open, chance.uniform(0, limit))
            early += scene.noted() in {"begun", "intended"}
            limit *= 0.7 if done else 1.1
            if done:
                break
        scene.check(state)
    assert early, "all kills came too late to prove anything"


def test_a_release_that_was_shown_is_recorded(scene):
    """Killed before it was noted as done, then moved away: no later one is made without it."""
    scene.put("moved")
    scene.append(2_000, 200)
    with Vault.open(scene.vault) as vault:
        assert [made.there for made in vault.status().releases] == [True, False]
        with pytest.raises(VaultError, match="release 2 of the vault is not at") as caught:
            vault.release(scene.releases / "3")
        assert "--earlier" in caught.value.hint
        vault.release(scene.releases / "3", earlier=[scene.place / "moved"])
    inspect(scene.vault)
    releases = [scene.releases / "1", scene.place / "moved", scene.releases / "3"]
    assert discreet.audit(releases).ok
    assert "back to the first: 2;" in verify(releases[-1], earlier=[scene.place / "moved"]).checks[-1].detail


FAILING = ("withdrawing", "withdrawn", "removing", "removed", "forgetting")


@pytest.mark.parametrize("step", FAILING)
def test_killed_while_a_release_that_failed_is_taken_back(scene, step, monkeypatch):
    """Its intent goes before its folder: else the next command would take it for one that was shown."""
    scene.put("before")

    def fail(*_):
        raise OSError(28, "No space left on device")

    def act():
        monkeypatch.setattr("discreet.release.write.reveal", fail)
        if step == "withdrawing":
            monkeypatch.setattr(VaultStore, "forget", then_die(VaultStore.forget))
        elif step == "withdrawn":
            monkeypatch.setattr("discreet.vault.release.withdraw", then_die(recover.withdraw))
        elif step == "removing":
            monkeypatch.setattr("discreet.scratch.shutil.rmtree", then_die_removing(remove_one))
        elif step == "removed":
            monkeypatch.setattr("discreet.scratch.shutil.rmtree", then_die_removing(shutil.rmtree))
        else:
            monkeypatch.setattr("discreet.vault.recover._forget", die)
        scene.release(2)

    died(act)
    assert scene.noted() == ("intended" if step == "withdrawing" else "begun")
    scene.check("intended" if step == "withdrawing" else "begun")


def test_a_release_that_cannot_be_taken_back_keeps_its_folder(scene, monkeypatch):
    """What is noted as intended is there, until the note can be changed."""
    scene.put("before")

    def fail(*_):
        raise OSError(28, "No space left on device")

    def full(*_):
        raise VaultError("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr("discreet.release.write.reveal", fail)
        patch.setattr("discreet.vault.release.withdraw", full)
        patch.setattr("discreet.vault.release.recover", full)
        with pytest.raises(ReleaseError, match="No space left on device"):
            scene.release(2)
    assert scene.noted() == "intended"
    assert len(left_in(scene.releases)) == 2
    scene.check("intended")


def test_what_is_noted_as_intended_is_safe_on_disk(scene, monkeypatch):
    """Else a power cut could take the hidden folder, and it would seem to have been shown."""
    scene.put("before")
    to, flushed, safe = scene.releases / "a" / "b" / "2", set(), []
    flush = os.fsync

    def settle(store, states):
        hidden = next(to.parent.iterdir())
        places = (*hidden.iterdir(), hidden, *to.parents[:3])
        safe.append({place.stat().st_ino for place in places} <= flushed)

    with monkeypatch.context() as patch, Vault.open(scene.vault) as vault:
        patch.setattr(os, "fsync", lambda handle: flushed.add(os.fstat(handle).st_ino) or flush(handle))
        patch.setattr(VaultStore, "record", settle)
        vault.release(to)
    assert safe == [True]


def test_a_failure_after_a_release_was_shown_does_not_take_it_back(scene, monkeypatch):
    scene.put("before")

    def interrupted(folder, to):
        recover.reveal(folder, to)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("discreet.release.write.reveal", interrupted)
        with pytest.raises(KeyboardInterrupt):
            scene.release(2)
    scene.check("renamed")


def test_a_folder_that_cannot_be_looked_at_is_not_taken_for_gone(scene, monkeypatch):
    """Such as one on a disk that fails."""
    scene.put("intended")
    look = Path.lstat

    def fail(path, *given):
        if path.name.endswith(".partial"):
            raise OSError(5, "Input/output error")
        return look(path, *given)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "lstat", fail)
        patch.setattr("discreet.vault.recover.reveal", fail)
        patch.setattr("discreet.vault.recover.identity", fail)
        with pytest.raises(VaultError, match="cannot be read now: Input/output error"):
            scene.append(2_000)
        scene.open()  # who only looks need not wait
        assert scene.noted() == "intended"
    scene.check("intended")
