"""Processes that are killed for real: acts in a child of a process that is warm, at a random time or at a chosen step."""

from __future__ import annotations

import os
import signal
import sqlite3
import time

from discreet import Vault
from forked import forked
from vault.steward import people


def killed(act, after):
    """Run an act in a process of its own, kill it after some seconds, and tell whether it had ended by itself."""
    pid = forked(act)
    time.sleep(after)
    os.kill(pid, signal.SIGKILL)
    _, how = os.waitpid(pid, 0)
    assert os.WIFSIGNALED(how) or os.waitstatus_to_exitcode(how) == 0, "the child failed by itself"
    return not os.WIFSIGNALED(how)


def die(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)


def died(act):
    """Run an act in a process of its own that must kill itself on the way."""
    _, how = os.waitpid(forked(act), 0)
    assert os.waitstatus_to_exitcode(how) == -signal.SIGKILL, "the child came to another end"


def took(act):
    start = time.perf_counter()
    os.waitpid(forked(act), 0)
    return time.perf_counter() - start


def append(place, start, rows=20):
    with Vault.open(place / "vault") as vault:
        vault.append(people(rows, start=start))


def release(place, number):
    with Vault.open(place / "vault") as vault:
        vault.release(place / "releases" / f"{number}")


def noted(place, number=2):
    """What the vault says of a release that was under way."""
    connection = sqlite3.connect(place / "vault" / "vault.sqlite")
    try:
        found = connection.execute("SELECT status FROM releases WHERE number = ?", (number,)).fetchone()
    finally:
        connection.close()
    return None if found is None else found[0]
