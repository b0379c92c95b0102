"""Killed at any instant, a vault is as it was before the command, or as after it; hundreds of real kills."""

import random
import shutil

import pytest

from discreet import Vault, verify
from vault.kills import append, die, died, killed, noted, release, took
from vault.steward import WAYS, dump, inspect, left_in, people, policy

APPENDS, RELEASES = 130, 50


@pytest.fixture
def place(tmp_path, request):
    """A vault with a release, in a process that is warm: children start where it is."""
    way = getattr(request, "param", "least_loss")
    with Vault.create(tmp_path / "vault", policy(**WAYS[way])) as vault:
        vault.append(people(60))
        vault.release(tmp_path / "releases" / "1")
    return tmp_path


def test_append_is_whole_or_nothing(place):
    chance = random.Random(5)  # noqa: S311
    took(lambda: append(place, 1_000))
    limit = took(lambda: append(place, 2_000)) * 2
    names = [f"nemo {i}" for start in (0, 1_000, 2_000) for i in range(start, start + (60 if start == 0 else 20))]
    ended = 0
    for at in range(APPENDS):
        start = 10_000 + 100 * at
        before = dump(place / "vault")
        done = killed(lambda start=start: append(place, start), chance.uniform(0, limit))
        changed = dump(place / "vault") != before
        assert changed or not done, "it said that all was well, and nothing is there"
        if changed:
            names += [f"nemo {i}" for i in range(start, start + 20)]
            ended += 1
        limit *= 0.95 if done else 1.05  # so that kills come early and late, however busy the machine is
        if at % 5 == 0:
            inspect(place / "vault", names=names)
    inspect(place / "vault", names=names)
    assert 0 < ended < APPENDS, "all kills came too early or too late to prove anything"


def test_recovery_is_before_or_after(place):
    chance = random.Random(6)  # noqa: S311
    append(place, 1_000, 200)
    base, releases = place / "base", place / "releases"
    shutil.copytree(place / "vault", base)

    def anew(to):
        """Bring back the vault; an older copy would not release beside what it has no record of."""
        shutil.rmtree(to, ignore_errors=True)
        shutil.rmtree(place / "vault")
        shutil.copytree(base, place / "vault")

    release(place, 0)  # here: then children need not compile the auditor
    anew(releases / "0")
    limit, made = took(lambda: release(place, 0)) * 1.5, 0
    anew(releases / "0")
    for at in range(2, 2 + RELEASES):
        done = killed(lambda at=at: release(place, at), chance.uniform(0, limit))
        to = releases / f"{at}"
        there, status = to.exists(), noted(place)
        with Vault.open(place / "vault") as vault:
            listed = vault.status().releases
        assert to.exists() == (there or status == "intended"), "a release that was there is gone, or came from nowhere"
        assert to.exists() or not done
        assert [made.path.name for made in listed] == ["1", *([f"{at}"] if to.exists() else [])]
        assert [name for name in left_in(releases) if name.startswith(".")] == []
        made += to.exists()
        limit *= 0.95 if done else 1.05
        inspect(place / "vault")
        if not to.exists():
            assert dump(place / "vault") == dump(base)
        anew(to)
    assert 0 < made < RELEASES


@pytest.mark.parametrize("place", ["least_loss", "fitted"], indirect=True)
@pytest.mark.parametrize("step", ["begun", "verified", "settled", "renamed", "completed"])
def test_killed_at_every_step_of_a_release(place, step, monkeypatch):
    """The instants that random kills seldom meet."""
    append(place, 1_000, 200)
    before = dump(place / "vault")

    def act():
        if step == "begun":
            monkeypatch.setattr("discreet.release.write._stored", die)
        elif step == "verified":
            monkeypatch.setattr("discreet.vault.release._audited", die)
        elif step == "settled":
            monkeypatch.setattr("discreet.release.write.reveal", die)
        elif step == "renamed":
            monkeypatch.setattr("discreet.vault.release.complete", die)
        else:
            monkeypatch.setattr("discreet.vault.store.file.InFile.close", die)
        release(place, 2)

    died(act)
    appears = step in {"settled", "renamed", "completed"}
    assert noted(place) == {"begun": "begun", "verified": "begun", "completed": "done"}.get(step, "intended")
    with Vault.open(place / "vault") as vault:
        assert len(vault.status().releases) == 1 + appears
    assert left_in(place / "releases") == (["1", "2"] if appears else ["1"])
    if not appears:
        assert dump(place / "vault") == before
    inspect(place / "vault")
    assert all(verify(place / "releases" / name).ok for name in left_in(place / "releases"))
    append(place, 2_000, 200)
    release(place, 3)
    inspect(place / "vault")


def test_a_dead_writer_leaves_no_lock(place):
    for _ in range(3):
        killed(lambda: append(place, 500), 0.02)
    append(place, 700)
    inspect(place / "vault")
