"""A vault in a server, where the server or the steward is killed for real: all of an act is done, or nothing of it.

The postmaster with all that it started, the backend, or the process of the steward, in turn. DISCREET_KILLS=50 kills 100
times.
"""

import os
from random import Random
from threading import Thread
from time import monotonic, sleep

import pytest

import discreet
from discreet import Vault
from discreet.errors import DiscreetError
from server import Server
from vault.kills import killed
from vault.steward import inspect, left_in, people, policy

MOMENTS = int(os.environ.get("DISCREET_KILLS", "3"))  # of each act
MOST = 10 * MOMENTS  # as many are tried until one kill was not too late
NEW = 40  # rows of an append


@pytest.fixture
def place(tmp_path):
    """A server that nobody else needs, with a vault that has a release; in a process that is warm."""
    server = Server()
    try:
        url = f"{server.make().url()}#vault"
        with Vault.create(url, policy()) as vault:
            vault.append(people(60))
            vault.release(tmp_path / "000")
        yield server, url, tmp_path
    finally:
        server.stop()


def interrupted(server, act, after, moment):
    """Kill somebody some seconds after an act began; whether the act had ended well."""
    if moment % 3 == 2:
        return killed(act, after)
    told = []

    def outcome():
        try:
            act()
        except DiscreetError as error:
            told.append(error)
        else:
            told.append(None)

    thread = Thread(target=outcome, daemon=True)
    thread.start()
    sleep(after)
    server.interrupt(backend=moment % 3 == 1)
    thread.join(120)
    assert len(told) == 1, "the act does not end, or ends with an error of another kind"
    return told == [None]


def names(start, rows=NEW):
    return [f"nemo {i}" for i in range(start, start + rows)]


def test_append_is_whole_or_nothing_in_a_server(place, record_property):
    server, url, _ = place
    chance, there, done, nothing = Random(1), names(0, 60), 0, 0  # noqa: S311

    def append(start):
        with Vault.open(url) as vault:
            vault.append(people(NEW, start=start))

    begun = monotonic()
    append(1_000)
    lasts, there = monotonic() - begun, there + names(1_000)
    for moment in range(MOST):
        if moment >= MOMENTS and nothing:
            break
        start = 10_000 + 100 * moment
        well = interrupted(server, lambda start=start: append(start), chance.uniform(0.1, 1.1) * lasts, moment)
        with Vault.open(url) as vault:
            whole = vault.status().rows != len(there)
        assert whole or not well, "it said that all was well, and nothing is there"
        if not whole:
            append(start)
        there += names(start)
        inspect(url, names=there)
        done, nothing = done + whole, nothing + (not whole)
        lasts *= 0.85 if whole else 1.1  # so that kills come early and late, however busy the machine is
    told = f"append killed {done + nothing} times: {done} times all of it was there, {nothing} times nothing"
    record_property("told", told)
    assert nothing, "all kills came too late to prove anything"


def test_release_is_whole_or_nothing_in_a_server(place, record_property):
    server, url, folder = place
    chance, made, nothing = Random(2), 0, 0  # noqa: S311

    def append(number):
        with Vault.open(url) as vault:
            vault.append(people(NEW, start=1_000 * number))

    def release(number):
        with Vault.open(url) as vault:
            vault.release(folder / f"{number:03}")

    append(1)
    begun = monotonic()
    release(1)
    lasts = monotonic() - begun
    for number in range(2, MOST + 2):
        if number >= MOMENTS + 2 and nothing:
            break
        append(number)
        well = interrupted(server, lambda number=number: release(number), chance.uniform(0.1, 1.1) * lasts, number)
        with Vault.open(url) as vault:
            listed = [made.path.name for made in vault.status().releases]
        whole = (folder / f"{number:03}").exists()
        assert whole or not well
        assert left_in(folder) == listed, "a hidden folder is left, or a release has no record"
        if not whole:
            release(number)
        inspect(url)
        made, nothing = made + whole, nothing + (not whole)
        lasts *= 0.85 if whole else 1.1
    assert discreet.audit([folder / name for name in left_in(folder)]).ok
    told = f"release killed {made + nothing} times: {made} times it was there, {nothing} times nothing of it"
    record_property("told", told)
    assert nothing, "all kills came too late to prove anything"
