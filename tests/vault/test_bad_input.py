"""Whatever goes wrong with a vault: a clear error that tells nothing private, and the vault is as it was."""

import datetime as dt
import errno
import json
import os
import re
import resource
import shutil
import signal
import sqlite3
import subprocess

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet import Policy, Vault
from discreet.errors import DiscreetError, GuaranteeError, InputError, PolicyError, ReleaseError, VaultError
from discreet.release import write
from forked import forked
from vault.steward import ILLS, TOWNS, dump, inspect, left_in, people, policy

SECRETS = (*(town for town in TOWNS if town), *ILLS, "nemo", "424242")


@pytest.fixture
def place(tmp_path):
    """A vault with a release and rows that came since."""
    with Vault.create(tmp_path / "vault", policy()) as vault:
        vault.append(people(120))
        vault.release(tmp_path / "releases" / "1")
        vault.append(people(120, start=1_000))
    return tmp_path


def refused(place, act, error=VaultError, match=None, *, releases=True):
    """An act fails with an error that tells nothing private, and leaves the vault and its releases as they were."""
    before, folders = dump(place / "vault"), left_in(place / "releases")
    with pytest.raises(error, match=match) as caught, Vault.open(place / "vault") as vault:
        act(vault)
    assert isinstance(caught.value, DiscreetError)
    assert not any(secret in str(caught.value) for secret in SECRETS)
    assert dump(place / "vault") == before
    assert left_in(place / "releases") == folders
    inspect(place / "vault", releases=releases)
    return str(caught.value)


def appends(place, table, error=InputError, match=None):
    return refused(place, lambda vault: vault.append(table), error, match)


def test_another_column(place):
    rows = people(20, start=5_000)
    appends(place, rows.append_column("x", pa.array(range(20))), PolicyError, "`x` has no role")
    appends(place, rows.drop_columns(["town"]), PolicyError, "no column `town`")
    appends(place, rows.rename_columns(["name", "Age", "town", "weight", "ill"]), PolicyError, "no column `age`")


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("age", pa.array(["424242"] * 20)),
        ("age", pa.array([1.5] * 20)),
        ("age", pa.array([dt.date(2020, 1, 1)] * 20)),
        ("age", pa.array([True] * 20)),
        ("town", pa.array([424242] * 20)),
        ("weight", pa.array(["70.5"] * 20)),
        ("ill", pa.array([424242] * 20)),
        ("name", pa.array([424242 + i for i in range(20)])),
    ],
    ids=str,
)
def test_another_type(place, name, values):
    at = ["name", "age", "town", "weight", "ill"].index(name)
    rows = people(20, start=5_000).set_column(at, name, values)
    appends(place, rows, match=f"`{name}` holds .*, expected .* as in the vault")


def test_a_number_that_does_not_fit(tmp_path):
    (tmp_path / "releases").mkdir()
    small = people(120, age=pa.array([30] * 120, pa.int8()))
    with Vault.create(tmp_path / "vault", policy()) as vault:
        vault.append(small)
    appends(tmp_path, people(20, start=500, age=[424242] * 20), match="`age` holds numbers that do not fit")


@pytest.mark.parametrize("values", [[2**53 + 1] * 20, [float("inf")] * 20], ids=["too many digits", "infinite"])
def test_a_value_that_cannot_be_kept(place, values):
    name = "age" if isinstance(values[0], int) else "weight"
    appends(place, people(20, start=5_000, **{name: values}), match=f"`{name}` holds")


def test_a_type_that_cannot_be_published(place):
    appends(place, people(2, start=5_000, town=[["a"], ["b"]]), PolicyError, "cannot be published")


def test_a_duplicate_identifier(place):
    names = [f"nemo {i}" for i in range(9_000, 9_020)]
    told = appends(place, people(20, name=[*names[:-1], names[3]]), match="1 row repeats the identifier")
    assert "row 20" in told
    told = appends(place, people(20, name=[names[0]] * 20), match="19 rows repeat the identifier")
    assert "row 2" in told
    appends(place, people(20, name=[*names[:-1], "nemo 7"]), match="1 of 20 rows has an identifier")
    appends(place, people(20, start=1_000), match="20 of 20 rows")
    appends(place, people(20, name=[*names[:-1], None]), match=r"1 row has no identifier \(`name`\): row 20")


def test_missing_sensitive_values(place):
    appends(place, people(20, start=5_000, ill=[None] * 3 + [ILLS[0]] * 17), match="`ill` has 3 missing values")


def test_missing_sensitive_values_that_are_left_out(tmp_path):
    (tmp_path / "releases").mkdir()
    with Vault.create(tmp_path / "vault", policy(missing_sensitive="withhold")) as vault:
        vault.append(people(50))
    nobody = people(20, start=5_000, ill=pa.nulls(20, pa.string()))
    appends(tmp_path, nobody, match="every value of the sensitive column `ill` is missing")


def test_no_rows(place):
    appends(place, people(20).slice(0, 0), match="no rows")


def test_what_is_no_table(place, tmp_path):
    appends(place, tmp_path / "nothing.csv", match="there is no file")
    appends(place, object(), match="cannot read")
    (tmp_path / "broken.csv").write_text("name,age,town,weight,ill\nnemo 1,424242\n")
    appends(place, tmp_path / "broken.csv")


@pytest.mark.parametrize(("version", "told"), [(5, "upgrade"), (1, "version of discreet that made it")])
def test_a_vault_of_another_version(place, version, told):
    connection = sqlite3.connect(place / "vault" / "vault.sqlite")
    connection.execute(f"PRAGMA user_version = {version}")
    connection.close()
    before = dump(place / "vault")
    with pytest.raises(VaultError, match=f"version {version}, expected 2 to 4") as caught:
        Vault.open(place / "vault")
    assert told in caught.value.hint
    assert dump(place / "vault") == before


def test_what_is_no_vault(place, tmp_path):
    with pytest.raises(VaultError, match="there is no vault"):
        Vault.open(tmp_path / "nowhere")
    with pytest.raises(VaultError, match="there is no vault"):
        Vault.open(place / "releases" / "1")
    (place / "vault" / "vault.sqlite").write_bytes(b"424242" * 1_000)
    with pytest.raises(VaultError, match="is not a vault"):
        Vault.open(place / "vault")


def test_a_damaged_vault(place):
    path = place / "vault" / "vault.sqlite"
    content = bytearray(path.read_bytes())
    content[4096:] = os.urandom(len(content) - 4096)
    path.write_bytes(content)
    with pytest.raises(VaultError, match=r"damaged|could not be read"), Vault.open(place / "vault") as vault:
        vault.append(people(20, start=5_000))


def test_two_writers_at_once(place):
    def writing(act):
        with Vault.open(place / "vault") as other, other._writing():
            refused(place, act, match="another process is writing")

    writing(lambda vault: vault.append(people(20, start=5_000)))
    writing(lambda vault: vault.release(place / "releases" / "2"))
    with Vault.open(place / "vault") as vault, Vault.open(place / "vault") as other, other._writing():
        assert vault.status().rows == 240  # who only looks need not wait


def test_another_process_is_writing(place):
    reading, writing = os.pipe()

    def hold():
        with Vault.open(place / "vault") as vault, vault._writing():
            os.write(writing, b"!")
            signal.pause()

    pid = forked(hold)
    os.close(writing)
    try:
        assert os.read(reading, 1) == b"!"
        refused(place, lambda vault: vault.append(people(20, start=5_000)), match="another process is writing")
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(reading)
    with Vault.open(place / "vault") as vault:
        vault.append(people(20, start=5_000))


def test_no_file_can_be_removed_to_let_a_second_writer_in(place):
    with Vault.open(place / "vault") as other, other._writing():
        for path in (place / "vault").iterdir():
            if path.name != "policy.json" and not path.name.startswith("vault.sqlite"):
                path.unlink()
        refused(place, lambda vault: vault.append(people(20, start=5_000)), match="another process is writing")


def test_a_lock_that_the_disk_does_not_know(place, monkeypatch):
    def flock(*_):
        raise OSError(errno.EBADF, "Bad file descriptor")

    monkeypatch.setattr("discreet.vault.store.file.fcntl.flock", flock)
    act = lambda vault: vault.append(people(20, start=5_000))  # noqa: E731
    refused(place, act, match="cannot be kept from other writers: Bad file descriptor")


@pytest.mark.parametrize(("name", "mode"), [("", 0o755), ("", 0o710), ("vault.sqlite", 0o644), ("policy.json", 0o602)])
def test_a_vault_that_others_can_open(place, name, mode):
    """As a backup may bring it back."""
    path = place / "vault" / name
    path.chmod(mode)
    before = dump(place / "vault")
    with pytest.raises(VaultError, match=f"its owner's alone: `{path}` has mode {mode:04o}") as caught:
        Vault.open(place / "vault")
    told, command = caught.value.message, re.search("`(chmod .*)`", caught.value.hint)[1]
    assert told.count("has mode") == 1
    assert dump(place / "vault") == before
    subprocess.run(command, shell=True, check=True)  # noqa: S602
    inspect(place / "vault")


def on_a_full_disk(act, room):
    """Run an act in a process whose files may not grow beyond some bytes; give the error that it raised."""
    reading, writing = os.pipe()

    def limited():
        os.close(reading)
        told = "nothing"
        try:
            resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))
            act()
        except BaseException as error:  # noqa: BLE001 - whatever it is, it is told
            told = f"{type(error).__name__}: {error}"
        os.write(writing, told.encode())

    pid = forked(limited)
    os.close(writing)
    with os.fdopen(reading) as found:
        told = found.read()
    os.waitpid(pid, 0)
    return told


@pytest.mark.parametrize("room", [0, 4_096, 20_000, 60_000])
def test_a_full_disk_while_appending(place, room):
    before = dump(place / "vault")

    def act():
        with Vault.open(place / "vault") as vault:
            vault.append(people(2_000, start=5_000))

    told = on_a_full_disk(act, room)
    assert told.startswith("VaultError: the vault")
    assert "the disk is full" in told
    assert dump(place / "vault") == before
    inspect(place / "vault")
    with Vault.open(place / "vault") as vault:
        assert vault.append(people(2_000, start=5_000)).rows == 2_000


@pytest.mark.parametrize("room", [0, 100, 2_000, 4_096, 20_000])
def test_a_full_disk_while_releasing(place, room):
    before = dump(place / "vault")

    def act():
        with Vault.open(place / "vault") as vault:
            vault.release(place / "releases" / "2")

    told = on_a_full_disk(act, room)
    assert told.split(":")[0] in {"VaultError", "ReleaseError", "EngineError", "VerificationError"}
    with Vault.open(place / "vault") as vault:
        assert len(vault.status().releases) == 1
    assert left_in(place / "releases") == ["1"]
    assert dump(place / "vault") == before
    inspect(place / "vault")
    with Vault.open(place / "vault") as vault:
        vault.release(place / "releases" / "2")
    inspect(place / "vault")


@pytest.mark.parametrize("step", ["_stored", "verify_alone", "settle", "reveal"])
@pytest.mark.parametrize(
    "error", [OSError(28, "No space left on device"), KeyboardInterrupt()], ids=["full", "stopped"]
)
def test_whatever_fails_while_releasing(place, monkeypatch, step, error):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr(write, step, fail)
    expected = ReleaseError if isinstance(error, OSError) else KeyboardInterrupt
    before = dump(place / "vault")
    with pytest.raises(expected), Vault.open(place / "vault") as vault:
        vault.release(place / "releases" / "2")
    monkeypatch.undo()
    assert dump(place / "vault") == before
    assert left_in(place / "releases") == ["1"]
    inspect(place / "vault")


def test_a_release_that_would_open_a_channel(place, monkeypatch):
    class Found:
        ok, vulnerable = False, 7

    monkeypatch.setattr("discreet.audit.sequence.auditor.stand", lambda releases: False)
    monkeypatch.setattr("discreet.audit.sequence.auditor.audit", lambda releases: Found())
    refused(place, lambda vault: vault.release(place / "releases" / "2"), ReleaseError, "would be given away")


def deleted(folder):
    shutil.rmtree(folder)


def replaced(folder):
    rows = pq.read_table(folder / "generalized.parquet")
    pq.write_table(rows.slice(1), folder / "generalized.parquet")


def halved(folder):
    (folder / "generalized.parquet").unlink()


def swapped(folder):
    """One byte is another, and the size the same: only a look into the file tells."""
    path = folder / "generalized.parquet"
    path.write_bytes(path.read_bytes()[:-1] + b"2")


def forged(folder):
    path = folder / "datapackage.json"
    about = json.loads(path.read_text())
    about["discreet"]["rows"] += 1
    path.write_text(json.dumps(about))


def emptied(folder):
    (folder / "datapackage.json").unlink()


@pytest.mark.parametrize("how", [deleted, replaced, halved, swapped, forged, emptied])
def test_a_release_that_was_changed_by_hand(place, how):
    copy = place / "copy"
    shutil.copytree(place / "releases" / "1", copy)
    how(place / "releases" / "1")
    act = lambda vault: vault.release(place / "releases" / "2")  # noqa: E731
    told = refused(place, act, match="release 1 of the vault", releases=False)
    assert "--earlier" in told
    with Vault.open(place / "vault") as vault:
        assert not vault.status().releases[0].there
        vault.append(people(20, start=5_000))  # rows can still come in
        if how is forged:  # by its manifest it is of this vault, and who can say that another copy did not make it?
            with pytest.raises(VaultError, match="has no record of it") as caught:
                vault.release(place / "releases" / "2", earlier=[copy])
            assert "move it away" in caught.value.hint
            deleted(place / "releases" / "1")
        vault.release(place / "releases" / "2", earlier=[copy])


def test_an_earlier_folder_that_is_not_there(place):
    act = lambda vault: vault.release(place / "releases" / "2", earlier=[place / "nowhere"])  # noqa: E731
    refused(place, act, ReleaseError, "there is no folder")


def test_the_place_of_a_release_is_taken(place):
    refused(place, lambda vault: vault.release(place / "releases" / "1"), ReleaseError, "exists already")


def test_a_release_inside_the_vault(place):
    refused(place, lambda vault: vault.release(place / "vault" / "1"), ReleaseError, "inside the vault")


def test_nothing_to_release(place, tmp_path):
    with Vault.open(place / "vault") as vault:
        vault.release(place / "releases" / "2")
    refused(place, lambda vault: vault.release(place / "releases" / "3"), match="nothing to release: no group changed")
    (tmp_path / "few" / "releases").mkdir(parents=True)
    with Vault.create(tmp_path / "few" / "vault", policy()) as vault:
        with pytest.raises(InputError, match="the vault has no rows"):
            vault.release(tmp_path / "few" / "releases" / "1")
        vault.append(people(2))
    act = lambda vault: vault.release(tmp_path / "few" / "releases" / "1")  # noqa: E731
    refused(tmp_path / "few", act, GuaranteeError, "2 rows wait to be shown, expected at least 30")


@pytest.mark.parametrize("how", ["edited", "deleted", "in the database"])
def test_a_policy_that_was_changed(place, how):
    path = place / "vault" / "policy.json"
    text = path.read_text()
    if how == "edited":
        path.write_text(text.replace('"distinct_l": 3', '"distinct_l": 2'))
    elif how == "deleted":
        path.unlink()
    else:
        connection = sqlite3.connect(place / "vault" / "vault.sqlite")
        connection.execute(
            "UPDATE meta SET value = replace(value, '\"distinct_l\": 3', '\"distinct_l\": 2') WHERE key = 'policy'"
        )
        connection.commit()
        connection.close()
    before = dump(place / "vault")
    with pytest.raises(VaultError, match=r"policy of the vault .* was changed"):
        Vault.open(place / "vault")
    assert dump(place / "vault") == before


def test_a_policy_that_is_changed_while_the_vault_is_open(place):
    with Vault.open(place / "vault") as vault:
        (place / "vault" / "policy.json").write_text("{}")
        with pytest.raises(VaultError, match="was changed"):
            vault.append(people(20, start=5_000))


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"publication": "anatomy"}, "publication"),
        ({"partition": "topdown"}, "partition"),
        ({"guarantee": {"k": 3, "e": 5}}, "guarantee"),
        ({"guarantee": {"l": 3, "distinct_l": 2}}, "guarantee"),
        ({"hierarchies": {"age": {"intervals": [5]}}}, "hierarchies"),
        ({"ordered": ["town"]}, "ordered"),
        ({"options": {"median": "relaxed"}}, "options.median"),
        ({"options": {"withheld": 0}}, "options.withheld"),
        ({"options": {"cuts": "fitted"}}, "options.cuts"),
        ({"partition": "compact", "options": {"median": "relaxed"}}, "options.median"),
        ({"partition": "compact", "options": {"growth": "insert"}}, "options.growth"),
        ({"partition": "compact", "person": "name", "identifiers": []}, "partition"),
    ],
    ids=str,
)
def test_a_policy_that_a_vault_cannot_keep(tmp_path, changes, key):
    with pytest.raises(PolicyError) as caught:
        Vault.create(tmp_path / "vault", policy(**changes))
    assert key in [mistake.key for mistake in caught.value.mistakes]
    assert left_in(tmp_path) == []


def test_a_policy_that_a_vault_can_keep(tmp_path):
    kept = [{"l": 2}, {"distinct_l": 2}, {"l": 2, "k": 5}, {"k": 5, "distinct_l": 2}, {"k": 5}]
    for at, guarantee in enumerate(kept):
        rules = policy(
            guarantee=guarantee, partition="mondrian", name="them", options={"withheld": 0.1, "growth": "insert"}
        )
        with Vault.create(tmp_path / f"{at}", rules) as vault:
            assert vault.policy == rules
            assert isinstance(vault.policy, Policy)


@pytest.mark.parametrize("kind", ["folder", "file", "vault"])
def test_the_place_of_a_vault_is_taken(tmp_path, kind):
    path = tmp_path / "vault"
    if kind == "folder":
        path.mkdir()
    elif kind == "file":
        path.write_text("mine")
    else:
        Vault.create(path, policy()).close()
    before = left_in(path) if path.is_dir() else path.read_text()
    with pytest.raises(DiscreetError, match="exists already"):
        Vault.create(path, policy())
    assert (left_in(path) if path.is_dir() else path.read_text()) == before
    assert left_in(tmp_path) == ["vault"]


def test_an_older_copy_of_a_vault_does_not_release(tmp_path):
    """Two copies that grew apart know nothing of each other; what they release together would give people away."""
    with Vault.create(tmp_path / "vault", policy()) as vault:
        vault.append(people(200))
        vault.release(tmp_path / "releases" / "1")
    shutil.copytree(tmp_path / "vault", tmp_path / "copy")
    for name in ("vault", "copy"):
        with Vault.open(tmp_path / name) as vault:
            vault.append(people(200, start=1_000))
    with Vault.open(tmp_path / "vault") as vault:
        vault.release(tmp_path / "releases" / "2")
    with Vault.open(tmp_path / "copy") as copy:
        for to in (tmp_path / "releases" / "2b", tmp_path / "elsewhere" / "2"):
            with pytest.raises(VaultError, match="this is an older copy"):
                copy.release(to)
            assert not to.exists()


def test_a_copy_from_before_the_first_release_does_not_release(tmp_path):
    """Neither release has one before it, by which they could be known."""
    with Vault.create(tmp_path / "vault", policy()) as vault:
        vault.append(people(200))
    shutil.copytree(tmp_path / "vault", tmp_path / "copy")
    with Vault.open(tmp_path / "vault") as vault:
        vault.release(tmp_path / "releases" / "1")
    with Vault.open(tmp_path / "copy") as copy:
        copy.append(people(100, start=1_000))
        for to, earlier in ((tmp_path / "releases" / "1b", []), (tmp_path / "other" / "1", [tmp_path / "releases"])):
            with pytest.raises(VaultError, match="this is an older copy"):
                copy.release(to, earlier=earlier)
            assert not to.exists()
    with Vault.create(tmp_path / "another", policy()) as another:  # of other people, perhaps
        another.append(people(200))
        another.release(tmp_path / "releases" / "of another")


def test_a_copy_that_is_two_releases_older_does_not_release(tmp_path):
    """The release that follows its last one is elsewhere; one that follows that is here."""
    with Vault.create(tmp_path / "vault", policy()) as vault:
        vault.append(people(200))
        vault.release(tmp_path / "releases" / "1")
        shutil.copytree(tmp_path / "vault", tmp_path / "copy")
        for number in (2, 3):
            vault.append(people(200, start=1_000 * number))
            vault.release(tmp_path / "releases" / f"{number}")
    (tmp_path / "releases" / "2").rename(tmp_path / "moved")
    with Vault.open(tmp_path / "copy") as copy:
        copy.append(people(200, start=1_000))
        with pytest.raises(VaultError, match=r"`.*3` is a release of this vault, but it has no record of it"):
            copy.release(tmp_path / "releases" / "2b")


def test_a_release_is_not_written_into_the_vault_by_another_way(tmp_path):
    with Vault.create(tmp_path / "vault", policy()) as vault:
        vault.append(people(200))
        (tmp_path / "door").symlink_to(tmp_path / "vault")
        with pytest.raises(ReleaseError, match="inside the vault"):
            vault.release(tmp_path / "door" / "1")


def test_a_table_that_lacks_columns_is_told_so(tmp_path):
    wrong = "the table, checked against the policy of the vault, has 1 mistake"
    with Vault.create(tmp_path / "vault", policy()) as vault, pytest.raises(PolicyError, match=wrong):
        vault.append(people(20).drop_columns(["age"]))
