"""The vault: rows go in, groups come out, and nothing else does."""

import datetime as dt
import json
import os
import re
import stat
from collections import Counter
from decimal import Decimal
from pathlib import Path
from uuid import uuid4

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet
from discreet import Vault, open_release, verify
from discreet.audit.sequence import auditor
from discreet.audit.sequence.auditor import audit
from discreet.audit.sequence.standing import nothing_stands
from discreet.errors import InputError, VaultError, VerificationError
from discreet.release.files import digest
from discreet.vault.store.store import VaultStore
from vault.steward import ILLS, WAYS, inspect, left_in, people, policy

SERVERS = {}  # by folder of a test, where its vaults are instead
BOTH = pytest.mark.parametrize("place", ["file", "server"], indirect=True)


@pytest.fixture
def place(tmp_path, request):
    """A folder; `home` says where its vaults are: in it, or in a server."""
    if getattr(request, "param", "file") == "server":
        SERVERS[tmp_path] = f"{request.getfixturevalue('one_database')}#v{uuid4().hex}"
    yield tmp_path
    SERVERS.pop(tmp_path, None)


def home(folder):
    """Where the vault is that a folder would hold."""
    for place, url in SERVERS.items():
        if folder.is_relative_to(place):
            return f"{url}_{'_'.join(folder.relative_to(place).parts)}"
    return folder


def vault_of(place, *tables, **changes):
    vault = Vault.create(home(place / "vault"), policy(**changes))
    for table in tables:
        vault.append(table)
    return vault


@BOTH
@pytest.mark.parametrize("growth", ["settle", "insert", "fitted", "blind"])
def test_a_growing_table(place, growth):
    names = []
    with vault_of(place, **WAYS.get(growth, {"options": {"growth": growth}})) as vault:
        for at in range(6):
            rows = people(150, start=1_000 * at)
            names += rows["name"].to_pylist()
            before = vault.status()
            found = vault.append(rows)
            after = vault.status()
            assert found.rows == 150
            assert found.withheld == 0
            assert found.waiting == after.waiting.rows == before.waiting.rows + 150 - found.joined
            assert growth == "insert" or not after.waiting.rows
            assert after.rows == after.members + after.waiting.rows == len(names)
            if after.pending_groups:
                release = vault.release(place / f"{at}")
                assert release.promise.rows == after.members
                assert release.promise.groups == after.groups
                assert release.promise.partition == "vault"
                assert vault.status().pending_rows == vault.status().pending_groups == 0
            inspect(home(place / "vault"), names=names)
        releases = [made.path for made in vault.status().releases]
    assert len(releases) > 3
    assert verify(releases[-1]).ok
    assert audit(releases).ok


@BOTH
def test_releases_are_linked(place):
    with vault_of(place, people(100)) as vault:
        first = vault.release(place / "first")
        vault.append(people(100, start=1_000))
        second = vault.release(place / "second")
    assert "predecessor" not in (place / "first" / "datapackage.json").read_text()
    assert first.promise.predecessor is None
    assert re.fullmatch("[0-9a-f]{32}", first.promise.sequence)
    assert second.promise.sequence == first.promise.sequence
    assert second.promise.predecessor == digest(place / "first" / "datapackage.json")
    assert (
        second.verify().checks[-1].detail == "earlier releases, back to the first: 1; all verify, and promise the same"
    )


def test_only_the_owner_can_read(place):
    vault_of(place, people(50)).close()
    assert stat.S_IMODE((place / "vault").stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in (place / "vault").iterdir()} == {0o600}
    assert left_in(place) == ["vault"]


@BOTH
def test_sequences_are_drawn_and_not_derived(place):
    """Two vaults of the same policy and rows have nothing in common that their manifests would show."""
    sequences = set()
    for name in "ab":
        with vault_of(place / name, people(50)) as vault:
            sequences.add(vault.release(place / name / "release").promise.sequence)
    assert len(sequences) == 2


def test_a_new_vault_is_safe_on_disk_before_it_has_its_name(place, monkeypatch):
    """After a power cut a file that was not flushed may be empty."""
    done = []
    flush, rename = os.fsync, Path.rename
    monkeypatch.setattr(os, "fsync", lambda handle: done.append(os.fstat(handle).st_ino) or flush(handle))
    monkeypatch.setattr(Path, "rename", lambda path, to: done.append("renamed") or rename(path, to))
    path = place / "new" / "vault"
    Vault.create(path, policy()).close()
    at = done.index("renamed")
    files = [path / "policy.json", path / "vault.sqlite", path]
    assert done[at - 1] == path.stat().st_ino
    assert {made.stat().st_ino for made in files} == set(done[:at])
    assert {above.stat().st_ino for above in (place / "new", place)} == set(done[at + 1 :])


def test_it_is_closed_and_opened_again(place):
    vault_of(place, people(50)).close()
    assert left_in(place / "vault") == ["policy.json", "vault.sqlite"]
    with Vault.open(place / "vault") as vault:
        assert vault.policy == policy()
        assert repr(vault) == f"<Vault {place / 'vault'}>"
        vault.append(people(50, start=100))
    with Vault.open(str(place / "vault")) as vault:
        assert vault.status().rows == 100


@BOTH
def test_released_boxes_are_those_of_the_groups(place):
    with vault_of(place, people(200), people(100, start=500)) as vault:
        release = vault.release(place / "release")
        store, schema = vault._store(vault._schema()), vault._schema()
        towns, ills = store.values(1, schema.field("town").type).to_pylist(), store.values(-1, pa.string()).to_pylist()
        held = Counter()
        for leaf in map(store.leaf, store.released().nodes):
            ends = [None if np.isnan(end) else end for at in (0, 2) for end in (leaf.box.lows[at], leaf.box.highs[at])]
            codes = frozenset(towns[code] for code in range(len(towns)) if leaf.box.sets[1] >> code & 1)
            values = tuple(sorted((ills[code], int(leaf.counts[code])) for code in np.flatnonzero(leaf.counts)))
            held[(*ends, codes, values)] += 1
    rows = pq.read_table(place / "release" / "generalized.parquet").to_pylist()
    shown = {}
    for row in rows:
        label = None if row["town"] is None else json.loads(row["town"])
        box = (row["age_low"], row["age_high"], row["weight_low"], row["weight_high"], frozenset(label or [None]))
        assert shown.setdefault(row["group"], (box, Counter()))[0] == box
        shown[row["group"]][1][row["ill"]] += 1
    assert Counter((*box, tuple(sorted(values.items()))) for box, values in shown.values()) == held
    assert set(rows[0]) == {
        *("age_low", "age_high", "town", "weight_low", "weight_high", "weight_missing", "group", "ill")
    }
    assert release.promise.rows == len(rows)


@BOTH
def test_groups_are_numbered_by_what_they_show(place):
    with vault_of(place, *(people(80, start=100 * at) for at in range(5))) as vault:
        vault.release(place / "release")
    rows = pq.read_table(place / "release" / "generalized.parquet", columns=["group", "age_low", "age_high"])
    boxes = [(row["age_low"], row["age_high"]) for row in rows.to_pylist()]
    assert boxes == sorted(boxes)


@BOTH
def test_rows_that_wait_are_in_no_release(place):
    few = people(2, start=900, age=pa.nulls(2, pa.int64()), town=["Atlantis"] * 2, weight=[123_456.5] * 2)
    with vault_of(place, people(200), few, options={"growth": "insert"}) as vault:
        vault.release(place / "release")
        waiting = {
            key for (key,) in vault._database.rows("SELECT key FROM people JOIN rows USING (node, id) WHERE member = 0")
        }
        assert {"nemo 900", "nemo 901"} <= waiting
        shown = pq.read_table(place / "release" / "generalized.parquet")
        assert len(shown) == vault.status().members == 202 - len(waiting)
        assert "age_missing" not in shown.column_names
        assert max(shown["weight_high"].drop_null().to_pylist()) < 123_456
    for path in (place / "release").iterdir():
        assert not any(
            word in path.read_bytes() for word in (b"nemo", b"Atlantis", b"wait", b"withheld", b'name": "name')
        )


@BOTH
def test_nobody_waits_for_ever_unseen(place):
    with vault_of(place, people(200), guarantee={"distinct_l": 4}) as vault:
        vault.release(place / "1")
        vault.append(people(1, start=900))
        status = vault.status()
        assert (
            status.waiting.rows
            == sum(status.waiting.missed.values())
            == sum(line.waiting for line in status.waiting.longest)
        )
        assert status.waiting.missed[0] >= 1
        assert dt.datetime.fromisoformat(status.waiting.oldest) <= dt.datetime.now(dt.UTC)
        assert status.waiting.longest[0].box.keys() == {"age", "town", "weight"}
        assert status.waiting.groups == len(status.waiting.longest)
        assert not status.worth_releasing
        for at in range(3):
            vault.append(people(100, start=1_000 * (at + 1)))
        status = vault.status()
        assert status.worth_releasing
        assert "worth making" in status.advice
        vault.release(place / "2")
        assert vault.status().advice == "nothing to release: no group has changed"


@BOTH
def test_status_of_an_empty_vault(place):
    with vault_of(place) as vault:
        status = vault.status()
        assert (status.rows, status.groups, status.waiting.rows, status.releases) == (0, 0, 0, ())
        assert status.advice == "nothing to release yet"
        assert not status.worth_releasing


MOMENTS = [dt.datetime(2020, 1, 1, 0, 0, 0, n) for n in (1, 2, 3, 999_999)]  # noqa: DTZ001
TYPED = {
    "small": (pa.int8(), [1, 2, 3, None]),
    "whole": (pa.uint64(), [10**12, 7, 8, 9]),
    "real": (pa.float32(), [0.1, 0.25, -3.5, None]),
    "exact": (pa.decimal128(9, 2), [Decimal("1.10"), Decimal("-2.25"), Decimal("3.00"), None]),
    "day": (pa.date32(), [dt.date(1900, 1, 1), dt.date(2020, 2, 29), None, dt.date(1970, 1, 1)]),
    "moment": (pa.timestamp("us"), MOMENTS),
    "fine": (pa.timestamp("ns"), MOMENTS),
    "hour": (pa.time64("us"), [dt.time(1), dt.time(23, 59, 59, 999_999), dt.time(0), None]),
    "flag": (pa.bool_(), [True, False, None, True]),
    "text": (pa.string(), ["", 'ü|\\"', "b", None]),
}


@BOTH
@pytest.mark.parametrize("name", TYPED)
def test_types_are_exact_in_the_release(place, name):
    kind, values = TYPED[name]
    rows = 24
    column = pa.array([values[i % 4] for i in range(rows)], kind)
    table = pa.table({"x": column, "s": [i // 4 % 3 for i in range(rows)]})
    columns = {"quasi": ["x"], "sensitive": "s", "accept": {"looks": "nobody lives here"}}
    rules = discreet.Policy(**columns, guarantee={"distinct_l": 2}, publication="generalization")
    plain = discreet.publish(table, rules, to=place / "plain", seed=1)
    with Vault.create(home(place / "vault"), rules) as vault:
        vault.append(table)
        release = vault.release(place / "release")
    assert verify(place / "release").ok
    schemas = [pq.read_schema(made.file("generalized")) for made in (plain, release)]
    assert schemas[0] == schemas[1]
    shown = pq.read_table(release.file("generalized"))
    if name in {"flag", "text"}:
        meant = {value if value is None else str(value).lower() if name == "flag" else value for value in values}
        labels = pq.read_table(release.file("labels"))["value"].to_pylist()
        assert {*labels, *([None] if shown["x"].null_count else [])} == meant
    else:
        ends = {end for which in ("x_low", "x_high") for end in shown[which].to_pylist()}
        assert ends <= set(column.to_pylist())
        present = [value for value in values if value is not None]
        assert {min(ends - {None}), max(ends - {None})} == {min(present), max(present)}


@BOTH
def test_text_stays_text_in_a_file_of_few_rows(place):
    """Types of a CSV file are guessed, and one row that says 123 looks like a number."""
    (place / "1.csv").write_text("name,age,town,weight,ill\n" + "".join(
        f"n{i},{20 + i},{('Ulm', '12', 'true')[i % 3]},60.5,{('flu', '7', '2020-01-01')[i % 3]}\n" for i in range(9)
    ))  # fmt: skip
    (place / "2.csv").write_text("town,ill,weight,age,name\n8011,7,61.5,33,77\n")
    with Vault.create(home(place / "vault"), policy()) as vault:
        vault.append(place / "1.csv")
        vault.append(place / "2.csv")
        assert vault.status().rows == 10
        inspect(home(place / "vault"), names=[*(f"n{i}" for i in range(9)), "77"])
        (place / "3.csv").write_text("town,ill,weight,age,name\n007,7,61.5,old,78\n")
        with pytest.raises(InputError, match="the column `age` holds"):
            vault.append(place / "3.csv")


@pytest.mark.parametrize("kind", ["int", "float", "decimal", "date", "timestamp", "boolean"])
def test_any_sensitive_type(place, kind):
    values = {
        "int": pa.array([3, 1, 2, 1]),
        "float": pa.array([0.1, -2.5, 1e300, 0.1]),
        "decimal": pa.array([Decimal("0.10"), Decimal("-2.50"), Decimal(7), Decimal(7)], pa.decimal128(5, 2)),
        "date": pa.array([dt.date(2020, 1, d) for d in (1, 2, 3, 4)]),
        "timestamp": pa.array(MOMENTS, pa.timestamp("us")),
        "boolean": pa.array([True, False, False, True]),
    }[kind]
    table = pa.table({"x": list(range(24)), "s": pa.concat_arrays([values] * 6)})
    columns = {"quasi": ["x"], "sensitive": "s", "accept": {"looks": "nobody lives here"}}
    rules = discreet.Policy(**columns, guarantee={"distinct_l": 2}, publication="generalization")
    with Vault.create(place / "vault", rules) as vault:
        vault.append(table)
        status = vault.status()
        release = vault.release(place / "release")
    shown = pq.read_table(release.file("generalized"))["s"]
    assert shown.type == values.type
    assert len(shown) == status.members > 0
    assert set(shown.to_pylist()) <= set(values.to_pylist())


@BOTH
def test_missing_sensitive_values(place):
    ills = pa.array([None if i % 10 == 0 else ILLS[i % 6] for i in range(100)])
    rows = people(100, ill=ills)
    with vault_of(place / "a", missing_sensitive="withhold") as vault:
        found = vault.append(rows)
        assert (found.rows, found.withheld) == (90, 10)
        assert vault.append(rows.filter(ills.is_null()).set_column(4, "ill", pa.array(["febrilosis"] * 10))).rows == 10
    with vault_of(place / "b", missing_sensitive="value") as vault:
        assert vault.append(rows).withheld == 0
        vault.release(place / "release")
        shown = pq.read_table(place / "release" / "generalized.parquet")["ill"]
        assert shown.null_count <= 10
        assert len(shown) == vault.status().members
    assert verify(place / "release").ok


@BOTH
def test_several_identifiers_and_none(place):
    two = people(50).append_column("ward", pa.array(["a", "b"] * 25))
    with vault_of(place / "a", identifiers=["name", "ward"]) as vault:
        vault.append(two)
        vault.append(two.set_column(5, "ward", pa.array(["c"] * 50)))
        assert vault.status().rows == 100
    with vault_of(place / "b", identifiers=[], drop=["name"]) as vault:
        vault.append(people(50))
        vault.append(people(50))
        assert vault.status().rows == 100
        inspect(home(place / "b" / "vault"))


@BOTH
def test_a_column_of_later_rows_may_be_missing_throughout(place):
    with vault_of(place, people(100)) as vault:
        rows = people(20, start=1_000)
        name = policy().quasi[0]
        nothing = rows.set_column(rows.column_names.index(name), name, pa.nulls(20))
        assert vault.append(nothing).rows == 20


def test_types_may_be_narrower(place):
    with vault_of(place, people(50)) as vault:
        vault.append(people(50, start=100, age=pa.array([30] * 50, pa.int8())))
        vault.append(people(50, start=200, weight=pa.array([70] * 50, pa.int32())))
        vault.append(people(50, start=300, weight=pa.nulls(50, pa.string())))
        assert vault.status().rows == 200
    inspect(place / "vault")


def test_earlier_releases_may_be_elsewhere(place):
    with vault_of(place, people(100)) as vault:
        vault.release(place / "made" / "1")
        (place / "made" / "1").rename(place / "moved")
        vault.append(people(100, start=500))
        with pytest.raises(VaultError, match="release 1"):
            vault.release(place / "made" / "2")
        vault.release(place / "made" / "2", earlier=[place / "moved"])
        assert [made.there for made in vault.status().releases] == [True, True]
        vault.append(people(100, start=900))
        vault.release(place / "made" / "3")  # the new place is known
    assert "was not found" in verify(place / "made" / "2").checks[-1].detail
    assert "back to the first" in verify(place / "made" / "2", earlier=[place / "moved"]).checks[-1].detail


def test_a_release_can_be_asked(place):
    with vault_of(place, people(300)) as vault:
        release = vault.release(place / "release")
        members = vault.status().members
    answer = open_release(place / "release").ask("SELECT COUNT(*) FROM microdata")
    assert answer.to_arrow()["count"].to_pylist() == [members]
    release.close()


def test_the_policy_option_for_how_many_wait(place):
    rows = [people(500, start=1_000 * at) for at in range(4)]
    waiting = {}
    for share in (0.01, 0.5):
        with vault_of(place / f"{share}", *rows, options={"withheld": share, "growth": "insert"}) as vault:
            waiting[share] = (vault.status().waiting.rows, vault.status().groups)
    assert waiting[0.01][0] <= waiting[0.5][0]


def test_an_append_reads_only_what_its_rows_come_to(place, monkeypatch):
    read = []
    decoded = VaultStore._rows
    monkeypatch.setattr(VaultStore, "_rows", lambda store, found: read.append(len(found)) or decoded(store, found))
    with vault_of(place, people(20_000)) as vault:
        vault.release(place / "release")
        read.clear()
        vault.append(people(10, start=50_000))
    assert sum(read) < 2_000


def test_progress_is_told(place):
    steps = []
    with vault_of(place) as vault:
        vault.append(people(100), progress=steps.append)
        vault.release(place / "release", progress=steps.append)
    assert steps == ["reading", "appending", "gathering", "writing", "verifying", "auditing"]


@pytest.mark.parametrize(("limit", "told"), [(0, "too many ways"), (None, "would be given away")])
def test_a_release_that_is_not_known_to_be_safe_is_not_made(place, monkeypatch, limit, told):
    """If the auditor cannot look at everything, or finds a channel, nothing is published and the vault is as it was."""
    with vault_of(place, people(200)) as vault:
        vault.release(place / "1")
        vault.append(people(200, start=200))
        before = vault.status()
        monkeypatch.setattr("discreet.audit.sequence.auditor.standing", lambda groups, _: nothing_stands(groups))
        if limit is not None:
            monkeypatch.setattr("discreet.audit.sequence.auditor.LIMIT", limit)
        else:
            monkeypatch.setattr("discreet.audit.sequence.report.Inferences.ok", property(lambda _: False))
        with pytest.raises(VerificationError, match=told):
            vault.release(place / "2")
        assert not (place / "2").exists()
        assert vault.status() == before
        monkeypatch.undo()
        vault.release(place / "2")


def test_a_release_is_compared_with_the_last_alone_while_groups_stand(place, monkeypatch):
    """What was found of those before it is kept, under the digest of the last; without that, all are compared."""
    compared = []
    read = auditor.read_groups
    monkeypatch.setattr(auditor, "read_groups", lambda releases: compared.append(len(releases)) or read(releases))
    with vault_of(place, people(100)) as vault:
        for number in range(4):
            vault.append(people(100, start=1_000 * (number + 1)))
            vault.release(place / f"{number}")
        assert compared == [2, 2, 2]
        with vault._database.transaction():
            vault._database.run("DELETE FROM meta WHERE key LIKE 'standing%'")
        for number in (4, 5):
            vault.append(people(100, start=1_000 * (number + 1)))
            vault.release(place / f"{number}")
        assert compared[3:] == [5, 6]
    assert auditor.stand([place / f"{number}" for number in range(6)])
    assert audit([place / f"{number}" for number in range(6)]).ok


def test_groups_that_changed_are_compared_with_all_releases(place, monkeypatch):
    rules = policy(options={"growth": "insert"}, accept={"insert": "a test", "looks": "nobody lives here"})
    compared = []
    found = auditor.audit
    monkeypatch.setattr(auditor, "audit", lambda releases: compared.append(len(releases)) or found(releases))
    with Vault.create(place / "inserting", rules) as vault:
        for number in range(3):
            vault.append(people(200, start=1_000 * number))
            vault.release(place / f"{number}")
    assert compared == [2, 3]
