"""Killed while it mends what an earlier kill left, a vault still ends as before the command, or as after it."""

import random
import shutil
from pathlib import Path

import pytest

from discreet import Vault, verify
from discreet.vault import recover
from discreet.vault.store import VaultStore
from vault.kills import append, die, died, killed, noted, release, took
from vault.steward import dump, inspect, left_in, people, policy

KILLS = 20  # recoveries of each state that are killed at random, up to three times
STEPS = {
    "begun": ("removing", "forgetting", "mended"),
    "intended": ("revealing", "revealed", "completing", "mended"),
    "renamed": ("completing", "mended"),
    "torn": ("removing", "forgetting", "mended"),
}


class Scene:
    """A vault and its releases as a kill left them in each state, and as they are in the end, one kill or many later."""

    def __init__(self, place):
        self.place = place
        self.ends = ()  # what the database holds if the release is not there, and if it is

    def keep(self, state):
        for name in ("vault", "releases"):
            shutil.copytree(self.place / name, self.place / "kept" / state / name)

    def put(self, state):
        for name in ("vault", "releases"):
            shutil.rmtree(self.place / name)
            shutil.copytree(self.place / "kept" / state / name, self.place / name)

    def open(self):
        with Vault.open(self.place / "vault") as vault:
            vault.status()

    def check(self, state):
        """The next command mends all of it."""
        self.open()
        appears = state in {"intended", "renamed"}
        assert left_in(self.place / "releases") == (["1", "2"] if appears else ["1"])
        assert noted(self.place) == ("done" if appears else None)
        inspect(self.place / "vault")
        assert dump(self.place / "vault") == self.ends[appears]


@pytest.fixture(scope="module")
def scene(tmp_path_factory):
    scene = Scene(tmp_path_factory.mktemp("recovery"))
    place = scene.place
    with Vault.create(place / "vault", policy()) as vault:
        vault.append(people(60))
        vault.release(place / "releases" / "1")
    append(place, 1_000, 200)
    scene.keep("before")
    before = dump(place / "vault")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("discreet.release.write.verify_alone", die)  # its files are there, but were not looked at
        died(lambda: release(place, 2))
    scene.keep("begun")
    scene.put("before")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("discreet.release.write.reveal", die)
        died(lambda: release(place, 2))
    scene.keep("intended")
    hidden = next(path for path in (place / "releases").iterdir() if path.name.startswith("."))
    (hidden / "generalized.parquet").unlink()  # as if its removal was cut short
    scene.keep("torn")
    scene.put("intended")
    hidden.rename(place / "releases" / "2")
    scene.keep("renamed")
    scene.put("intended")
    scene.open()
    assert verify(place / "releases" / "2").ok
    scene.ends = before, dump(place / "vault")
    return scene


def test_what_kills_left_is_as_it_should_be(scene):
    for state in STEPS:
        scene.put(state)
        assert noted(scene.place) == ("begun" if state == "begun" else "intended")
        assert len(left_in(scene.place / "releases")) == 2
        scene.check(state)


def then_die(act):
    def both(*given, **options):
        act(*given, **options)
        die()

    return both


def remove_one(folder, **_):
    min(Path(folder).iterdir()).unlink()


@pytest.mark.parametrize(("state", "step"), [(state, step) for state, steps in STEPS.items() for step in steps])
def test_killed_at_every_step_of_recovery(scene, state, step, monkeypatch):
    """Inside the transactions too: what they wrote must be gone."""
    scene.put(state)

    def act():
        if step == "removing":
            monkeypatch.setattr("discreet.vault.recover.shutil.rmtree", then_die(remove_one))
        elif step == "revealing":
            monkeypatch.setattr("discreet.vault.recover.reveal", die)
        elif step == "revealed":
            monkeypatch.setattr("discreet.vault.recover.reveal", then_die(recover.reveal))
        elif step == "completing":
            monkeypatch.setattr(VaultStore, "settle", then_die(VaultStore.settle))
        elif step == "forgetting":
            monkeypatch.setattr(VaultStore, "forget", then_die(VaultStore.forget))
        else:
            monkeypatch.setattr("discreet.vault.vault.status", die)
        scene.open()

    died(act)
    assert (noted(scene.place) in {None, "done"}) == (step == "mended")
    scene.check(state)


@pytest.mark.parametrize("state", STEPS)
def test_killed_at_random_in_recovery(scene, state):
    """Again and again until one recovery comes to its end: a kill may find what the kill before it left."""
    chance = random.Random(7)  # noqa: S311
    scene.put(state)
    limit, early = took(scene.open) * 1.5, 0
    for _ in range(KILLS):
        scene.put(state)
        for _ in range(3):
            done = killed(scene.open, chance.uniform(0, limit))
            early += noted(scene.place) in {"begun", "intended"}
            limit *= 0.9 if done else 1.1
            if done:
                break
        scene.check(state)
    assert early, "all kills came too late to prove anything"
