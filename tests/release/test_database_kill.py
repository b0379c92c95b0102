"""The server is really killed while a release is loaded: afterwards all of it is there, or nothing, and it works again."""

import os
import signal
from random import Random
from threading import Thread
from time import monotonic, sleep

import psycopg
import pytest

import discreet
from discreet.errors import DiscreetError
from server import Server

MOMENTS = int(os.environ.get("DISCREET_KILLS", "10"))


@pytest.fixture
def own_server():
    """A server that nobody else needs."""
    server = Server()
    try:
        yield server.make()
    finally:
        server.stop()


def test_a_load_is_whole_or_nothing(own_server, people, tmp_path):
    policy = {"quasi": ["age", "sex", "education"], "sensitive": "salary", "drop": "rest", "guarantee": {"l": 4}}
    made = discreet.publish(people, policy, to=tmp_path / "r")
    start = monotonic()
    discreet.load(made, own_server.url(), name="first").close()
    lasts, rng, whole, nothing = monotonic() - start, Random(1), 0, 0  # noqa: S311
    for moment in range(MOMENTS):
        name, told = f"r{moment}", []
        thread = Thread(
            target=lambda name=name, told=told: told.append(_loaded(made, own_server.url(), name)), daemon=True
        )
        thread.start()
        sleep(rng.uniform(0.3, 1.1) * lasts)
        _kill(own_server, backend=moment % 2 == 1)
        thread.join(120)
        assert not thread.is_alive()
        with psycopg.connect(own_server.url()) as connection:
            found = connection.execute("SELECT 1 FROM pg_namespace WHERE nspname = %s", [name]).fetchall()
        if found:
            assert discreet.verify(f"{own_server.url()}#{name}").ok
            whole += 1
        else:
            assert told != [None]  # nobody was told that it is there
            discreet.load(made, own_server.url(), name=name).close()
            nothing += 1
    print(f"killed {MOMENTS} times: {whole} times the whole release was there, {nothing} times nothing of it")
    assert nothing > 0


def _loaded(made, url, name):
    try:
        discreet.load(made, url, name=name).close()
    except DiscreetError as error:
        return error
    return None


def _kill(server, *, backend):
    """The postmaster with all that it started; or the backend that writes, after which the server starts anew."""
    if backend:
        query = "SELECT pid FROM pg_stat_activity WHERE application_name = 'discreet'"
        for (process,) in server.run(query):
            os.kill(process, signal.SIGKILL)
        end = monotonic() + 30
        while monotonic() < end:
            try:
                server.run("SELECT 1")
            except psycopg.OperationalError:
                sleep(0.02)
            else:
                return
        raise TimeoutError
    server.kill()
    server.start()
