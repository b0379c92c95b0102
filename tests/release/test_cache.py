"""The cache of what is derived from a release: kept, found, never trusted."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from discreet import Policy, publish
from discreet.answer.accelerate.grouped import grouped
from discreet.engines import Engine, connect
from discreet.release import Release
from discreet.release import cache as module
from discreet.release.cache import Cache

ITEM = {"codes": np.arange(5, dtype=np.uint8), "values": np.zeros(0, np.uint8)}


@pytest.fixture
def release(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Release:
    """A small release that counts as a large one."""
    monkeypatch.setenv("DISCREET_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(module, "LARGE", 1)
    table = pa.table({"age": [31, 42, 53, 64] * 5, "town": ["Ulm", "Bonn", None, "Kiel"] * 5, "pay": [*range(10)] * 2})
    policy = Policy(quasi=["age", "town"], sensitive="pay", guarantee={"l": 2}, partition="deal")
    return publish(table, policy, to=tmp_path / "release", seed=1)


class Watched:
    """An engine that counts what it is asked of files."""

    def __init__(self, release: Release) -> None:
        self.engine: Engine = connect()
        self.reads = 0
        for each in release.manifest.resources:
            self.engine.load(f"{each.name} file", release.file(each.name), keep=False, kinds=each.kinds())

    def __getattr__(self, name: str) -> Any:
        return getattr(self.engine, name)

    def run(self, query: Any) -> pa.Table:
        self.reads += 1
        return self.engine.run(query)


def reads(release: Release) -> int:
    """How often the files are read to know the groups and two columns; they must come out as they are."""
    engine = Watched(release)
    found = grouped(engine, release.promise, Cache.of(release))  # type: ignore[arg-type]
    assert found is not None
    found.quasi.read(["age", "town"])
    for name in ("age", "town"):
        column = found.quasi.columns[name]
        assert column is not None
        wanted = engine.engine.run(f'SELECT "{name}" FROM "qit file"').column(0).to_pylist()
        assert [column.values[int(code)].as_py() for code in column.codes] == wanted
    engine.close()
    return engine.reads


def test_the_next_process_only_maps_it(release: Release) -> None:
    assert reads(release) > 0
    assert reads(release) == 0


def test_only_the_user_may_enter(release: Release, tmp_path: Path) -> None:
    reads(release)
    [folder] = (tmp_path / "cache").iterdir()
    assert folder.stat().st_mode & 0o077 == 0
    files = list(folder.iterdir())
    assert all(file.suffix == ".npy" and file.stat().st_mode & 0o077 == 0 for file in files)


@pytest.mark.parametrize("harm", ["cut off", "emptied", "other codes", "other type", "shared", "a link"])
def test_what_is_broken_is_made_anew(harm: str, release: Release, tmp_path: Path) -> None:
    reads(release)
    for file in list((tmp_path / "cache").rglob("*-codes.npy")):
        content = file.read_bytes()
        match harm:
            case "cut off":
                file.write_bytes(content[:-1])
            case "emptied":
                file.write_bytes(b"")
            case "other codes":
                np.save(file, np.full_like(np.load(file), 255))
            case "other type":
                np.save(file, np.load(file).astype(np.int64))
            case "shared":
                file.chmod(0o666)
            case "a link":
                other = tmp_path / file.name
                file.rename(other)
                other.chmod(0o666)
                file.symlink_to(other)
    assert reads(release) > 0
    assert reads(release) == 0


def test_other_files_have_another_cache(release: Release) -> None:
    reads(release)
    os.utime(release.file("qit"), (1, 1))
    assert reads(release) > 0


def test_it_can_be_switched_off(release: Release, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISCREET_CACHE", "off")
    assert reads(release) == reads(release) > 0
    assert not (tmp_path / "cache").exists()


def test_without_room_nothing_is_kept(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    Cache(tmp_path / "file" / "x").put("item", ITEM)
    assert Cache(tmp_path / "file" / "x").get("item", [*ITEM]) is None


def test_what_was_not_used_for_long_goes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_BYTES", 600)  # room for two
    names = [character * 64 for character in "abc"]
    (tmp_path / "not ours").mkdir()
    for age, name in enumerate(names[:2]):
        Cache(tmp_path / name).put("item", ITEM)
        os.utime(tmp_path / name, (1000 + age, 1000 + age))
    assert Cache(tmp_path / names[0]).get("item", [*ITEM]) is not None  # now it was used
    Cache(tmp_path / names[2]).put("item", ITEM)
    assert {each.name for each in tmp_path.iterdir()} == {"not ours", names[0], names[2]}


@pytest.mark.parametrize("place", [8, 10, 59, 127])
def test_no_byte_of_a_header_can_stop_a_question(place: int, tmp_path: Path) -> None:
    kept = Cache(tmp_path / "kept")
    kept.put("age", ITEM)
    path = kept._path("age", "codes")
    whole = path.read_bytes()
    for byte in b"\x00(\n'\xff":
        path.write_bytes(whole[:place] + bytes([byte]) + whole[place + 1 :])
        kept.get("age", tuple(ITEM))  # found or not


def test_a_full_disk_is_left_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise OSError

    monkeypatch.setattr(np, "save", full)
    Cache(tmp_path / "kept").put("age", ITEM)
    assert not [*(tmp_path / "kept").iterdir()]
