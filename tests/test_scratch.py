"""Private folders of work under way go for good, or are named."""

from contextlib import suppress
from threading import Event, Thread

import pytest

from discreet import scratch
from discreet.errors import ReleaseError


def test_a_folder_that_somebody_still_writes_to_goes_for_good(tmp_path):
    place, done = tmp_path / "work", Event()
    place.mkdir()

    def write():
        for i in range(100_000):
            if done.is_set():
                return
            with suppress(OSError):
                (place / f"{i}").write_bytes(b"x")

    writer = Thread(target=write)
    writer.start()
    try:
        scratch.remove(place)
        assert not place.exists()
    finally:
        done.set()
        writer.join()


def test_a_folder_that_stays_is_named(tmp_path, monkeypatch):
    place = tmp_path / "work"
    place.mkdir()
    monkeypatch.setattr(scratch, "PATIENCE", 0.1)
    monkeypatch.setattr(scratch.shutil, "rmtree", lambda *_, **__: None)
    with pytest.raises(ReleaseError, match=r"work` cannot be removed, and may hold private rows"):
        scratch.remove(place)
