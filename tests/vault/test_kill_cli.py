"""The real commands, as anyone types them, killed at random: the vault is as before the command, or as after it."""

import random
import subprocess
import sys
import time

import pyarrow.csv

import discreet
from discreet import Vault, verify
from forked import LIMIT
from vault.kills import append, noted
from vault.steward import dump, inspect, left_in, people, policy

ROUNDS = 10  # of an append and a release, to two vaults at the same time
COMMAND = (sys.executable, "-c", "from discreet.cli import main; main()", "vault")


def started(*words):
    return subprocess.Popen([*COMMAND, *map(str, words)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def ended(command):
    """Kill a command; whether it had ended by itself, which must be well."""
    command.kill()
    _, wrong = command.communicate()
    assert command.returncode in {0, -9}, wrong
    return command.returncode == 0


class Appends:
    """A vault to which files are appended."""

    def __init__(self, place):
        self.vault, self.file, self.names, self.made = place / "vault", place / "rows.csv", [], 0
        Vault.create(self.vault, policy()).close()

    def start(self, number):
        rows = people(20, start=100 * number)
        pyarrow.csv.write_csv(rows, self.file)
        self.new, self.before = rows["name"].to_pylist(), dump(self.vault)
        return started("append", self.vault, self.file)

    def check(self, *, done):
        changed = dump(self.vault) != self.before
        assert changed or not done
        self.names += self.new if changed else []
        self.made += changed
        inspect(self.vault, names=self.names)


class Releases:
    """A vault of which releases are made."""

    def __init__(self, place):
        self.place, self.releases, self.made = place, place / "releases", 0
        with Vault.create(place / "vault", policy()) as vault:
            vault.append(people(100))
            vault.release(self.releases / "000")

    def start(self, number):
        append(self.place, 1_000 * number, 40)
        self.before, self.number = left_in(self.releases), number
        return started("release", self.place / "vault", "--to", self.releases / f"{number:03}")

    def check(self, *, done):
        name, status = f"{self.number:03}", noted(self.place, len(self.before) + 1)
        assert status == "done" or not done
        inspect(self.place / "vault")
        there = [name] if status in {"intended", "done"} else []
        assert left_in(self.releases) == [*self.before, *there]
        self.made += len(there)


def test_commands_are_whole_or_nothing(tmp_path):
    chance = random.Random(8)  # noqa: S311
    vaults = [Appends(tmp_path / "a"), Releases(tmp_path / "r")]
    limits = [0.0, 0.0]
    for number in range(1, ROUNDS + 2):
        commands = [vault.start(number) for vault in vaults]
        start = time.perf_counter()
        waits = [chance.uniform(0.5, 1.1) * limit for limit in limits]
        for at in sorted((0, 1), key=waits.__getitem__):
            if number == 1:  # how long they take
                commands[at].wait(LIMIT)
                limits[at] = time.perf_counter() - start
            else:
                time.sleep(max(0.0, waits[at] - time.perf_counter() + start))
            done = ended(commands[at])
            limits[at] *= 0.85 if done else 1.1  # so that kills come early and late, however busy the machine is
            vaults[at].check(done=done)
    assert all(1 < vault.made <= ROUNDS for vault in vaults), "all kills came too early or too late to prove anything"
    made = left_in(vaults[1].releases)
    assert verify(vaults[1].releases / made[-1]).ok
    assert discreet.audit([vaults[1].releases / name for name in made]).ok
