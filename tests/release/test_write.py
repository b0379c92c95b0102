"""Writing a release: all of it or nothing, and nothing in it that should have stayed behind."""

import datetime as dt
import json
import math
import os
import subprocess
import sys
import tempfile
from collections import Counter
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet import Policy, open_release, publish, verify
from discreet.errors import GuaranteeError, InputError, ReleaseError, VerificationError
from discreet.release.manifest import FieldSpec, Promise, TableSpec
from discreet.release.write import EPOCH, FileToWrite, write

POLICY = Policy(quasi=["age", "zip"], sensitive="ill", guarantee={"l": 3}, partition="deal")


def people(n=300, seed=1):
    rng = np.random.default_rng(seed)
    return pa.table({"age": rng.integers(0, 90, n), "zip": rng.integers(0, 999, n), "ill": np.arange(n) % 7})


def left_in(place):
    """Everything in a folder, at any depth."""
    return sorted(str(path.relative_to(place)) for path in place.rglob("*"))


def sheets(qit=None, st=None):
    """A release of four people written by hand, with acts to do while its files are written."""
    integer = {name: FieldSpec(name=name, type="integer") for name in ("age", "group", "ill", "count")}
    rows = {
        "qit": pa.table({"age": [1, 2, 3, 4], "group": [1, 1, 2, 2]}),
        "st": pa.table({"group": [1, 1, 2, 2], "ill": [1, 2, 1, 2], "count": [1, 1, 1, 1]}),
    }
    acts = {"qit": qit, "st": st}

    def store(name, path):
        pq.write_table(rows[name], path, store_schema=False)
        if acts[name]:
            acts[name](path)

    return [
        FileToWrite(
            name, TableSpec(fields=tuple(integer[c] for c in rows[name].column_names)), lambda p, n=name: store(n, p)
        )
        for name in ("qit", "st")
    ]


def promise(**changes):
    values = {
        "format": 1,
        "publication": "anatomy",
        "partition": "deal",
        "guarantee": {"l": 2},
        "table": "people",
        "quasi": ("age",),
        "sensitive": "ill",
        "group": "group",
        "count": "count",
        "row": "row",
        "rows": 4,
        "groups": 2,
        "missing_sensitive": "error",
        "for_publication": False,
    }
    return Promise.model_validate({**values, **changes})


def written(to, files, **changes):
    return write(to, promise(**changes), files, format="parquet", progress=lambda step: None)


def test_a_release_by_hand(tmp_path):
    written(tmp_path / "release", sheets())
    assert verify(tmp_path / "release").ok
    assert left_in(tmp_path) == [
        "release",
        *(f"release/{name}" for name in ("README.md", "datapackage.json", "dcat.jsonld")),
        *(f"release/{name}" for name in ("qit.parquet", "st.parquet")),
    ]


@pytest.mark.parametrize("kind", ["folder", "empty folder", "file", "link to nothing", "link to a folder"])
def test_the_target_exists(tmp_path, kind):
    to = tmp_path / "release"
    if kind.endswith("folder") and not kind.startswith("link"):
        to.mkdir()
        if kind == "folder":
            (to / "mine").write_text("x")
    elif kind == "file":
        to.write_text("x")
    else:
        (tmp_path / "elsewhere").mkdir() if kind.endswith("folder") else None
        to.symlink_to(tmp_path / "elsewhere")
    before = left_in(tmp_path)
    with pytest.raises(ReleaseError, match="exists already"):
        publish(people(), POLICY, to=to)
    with pytest.raises(ReleaseError, match="exists already"):
        written(to, sheets())
    assert left_in(tmp_path) == before


def test_the_target_is_inside_a_release(tmp_path):
    made = publish(people(), POLICY, to=tmp_path / "release")
    with pytest.raises(ReleaseError, match="is inside the release `release`"):
        publish(people(), POLICY, to=tmp_path / "release" / "more" / "of it")
    assert verify(made.path).ok


def test_the_target_appears_while_writing(tmp_path):
    def intrude(path):
        (tmp_path / "release").mkdir()
        (tmp_path / "release" / "theirs").write_text("x")

    with pytest.raises(ReleaseError, match="exists already"):
        written(tmp_path / "release", sheets(st=intrude))
    assert left_in(tmp_path) == ["release", "release/theirs"]


def test_the_target_is_hidden_until_it_is_whole(tmp_path):
    seen = []
    written(tmp_path / "release", sheets(qit=seen.append, st=seen.append))
    assert all(path.parent.name.startswith(".") and path.parent.parent == tmp_path for path in seen)
    assert len({path.parent for path in seen}) == 1


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), ValueError("x"), KeyboardInterrupt()])
def test_nothing_is_left_when_writing_fails(tmp_path, error):
    def fail(path):
        raise error

    expected = ReleaseError if isinstance(error, OSError) else type(error)
    with pytest.raises(expected):
        written(tmp_path / "release", sheets(st=fail))
    assert left_in(tmp_path) == []


def test_nothing_is_left_when_a_draft_does_not_verify(tmp_path):
    leak = pa.table({"age": [1, 2, 3, 4], "group": [1, 1, 2, 2], "name": list("abcd")})
    with pytest.raises(VerificationError, match="columns"):
        written(tmp_path / "release", sheets(qit=lambda path: pq.write_table(leak, path, store_schema=False)))
    with pytest.raises(VerificationError, match="guarantee l = 3"):
        written(tmp_path / "release", sheets(), guarantee={"l": 3})
    assert left_in(tmp_path) == []


def test_nothing_is_left_when_the_guarantee_cannot_be_met(tmp_path):
    policy = Policy(quasi=["age", "zip"], sensitive="ill", guarantee={"l": 8})
    with pytest.raises(GuaranteeError, match="the largest that works is"):
        publish(people(), policy, to=tmp_path / "deep" / "release")
    assert left_in(tmp_path) == []


def test_the_parents_are_made(tmp_path):
    assert publish(people(), POLICY, to=tmp_path / "a" / "b" / "release").verify().ok


def test_a_parent_that_is_a_file(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(ReleaseError, match="could not be written"):
        publish(people(), POLICY, to=tmp_path / "file" / "release")
    assert left_in(tmp_path) == ["file"]


@pytest.mark.parametrize("name", ["it's", "a [b] *", 'say "hi"; DROP TABLE qit; --', "línea", ".hidden", "%20"])
@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_any_name_of_the_folder(tmp_path, name, form):
    release = publish(people(), POLICY, to=tmp_path / name, format=form)
    assert verify(tmp_path / name).ok
    assert open_release(str(tmp_path / name)).ask("SELECT COUNT(*) FROM microdata").rows()[0]["count"] == 300
    assert release.path == tmp_path / name
    assert [entry.name for entry in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_file_times_tell_nothing(tmp_path, form):
    release = publish(people(), POLICY, to=tmp_path / "release", format=form)
    times = {path.name: path.stat().st_mtime_ns for path in [release.path, *release.path.iterdir()]}
    assert set(times.values()) == {EPOCH * 10**9}
    assert len(times) == 6


def test_the_same_seed_writes_the_same_bytes(tmp_path):
    for name in "ab":
        publish(people(), POLICY, to=tmp_path / name, seed=4)
    for path in (tmp_path / "a").iterdir():
        assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes()
    assert not json.loads((tmp_path / "a" / "datapackage.json").read_text())["discreet"]["for_publication"]


def test_the_order_of_the_source_changes_no_byte(tmp_path):
    """Every value once: the groups differ only by the draw, so with given groups the files must not differ at all."""
    table, order = people(60), np.random.default_rng(0).permutation(60)
    policy = Policy(quasi=["age", "zip"], sensitive="ill", guarantee={"k": 60}, partition="deal")
    for name, source in {"a": table, "b": table.take(order)}.items():
        publish(source, policy, to=tmp_path / name, seed=1)
    for path in (tmp_path / "a").iterdir():
        assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes()


SECRETS = [f"SECRET{i:03d}" for i in range(60)]


@pytest.mark.parametrize("form", ["parquet", "csv"])
@pytest.mark.parametrize("source", ["arrow", "pandas", "csv", "parquet"])
def test_what_stays_behind_is_nowhere_in_the_bytes(tmp_path, form, source):
    """Neither the names nor the values of identifiers and dropped columns, nor the index, the file or the seed."""
    table = pa.table(
        {
            "full name": SECRETS,
            "age": [i % 9 for i in range(60)],
            "memo": [f"{secret} memo" for secret in SECRETS],
            "ill": [f"d{i % 5}" for i in range(60)],
            "hidden column": [987654000 + i for i in range(60)],
        },
    ).replace_schema_metadata({"comment": "SECRET metadata"})
    given = {
        "arrow": lambda: table,
        "pandas": lambda: table.to_pandas().set_axis(SECRETS, axis=0).rename_axis("SECRET index"),
        "csv": lambda: as_csv(table, tmp_path / "patients.csv"),
        "parquet": lambda: as_parquet(table, tmp_path / "patients.parquet"),
    }[source]()
    policy = Policy(
        quasi=["age"],
        sensitive="ill",
        identifiers=["full name"],
        drop=["memo", "hidden column"],
        guarantee={"l": 4},
        name="people",
    )
    release = publish(given, policy, to=tmp_path / "release", format=form, seed=91736455)
    raw = b"".join(path.read_bytes() for path in release.path.iterdir())
    for name in ("qit", "st"):  # compressed pages do not show their values: look at the rows too
        file = release.file(name)
        raw += (
            (str(pq.read_table(file).to_pylist()).encode() + str(pq.read_schema(file)).encode())
            if form == "parquet"
            else b""
        )
    for word in (
        b"SECRET",
        b"full name",
        b"memo",
        b"hidden column",
        b"987654",
        b"__index",
        b"91736455",
        b"patients",
        b"pandas",
    ):
        assert word.lower() not in raw.lower(), word
    assert str(tmp_path).encode() not in raw
    assert left_in(release.path) == sorted(
        ["README.md", "datapackage.json", "dcat.jsonld", f"qit.{form}", f"st.{form}"]
    )


def as_csv(table, path):
    table.to_pandas().to_csv(path, index=False)
    return path


def as_parquet(table, path):
    pq.write_table(table, path)
    return path


def test_the_secret_test_can_fail(tmp_path):
    """The same search finds a quasi-identifier, which is published."""
    policy = Policy(quasi=["age"], sensitive="ill", guarantee={"l": 2})
    table = pa.table({"age": SECRETS, "ill": [i % 5 for i in range(60)]})
    release = publish(table, policy, to=tmp_path / "release")
    assert "SECRET" in str(pq.read_table(release.file("qit")).to_pylist())
    assert b"SECRET" not in b"".join(path.read_bytes() for path in release.path.glob("*.md"))


MOMENT = dt.datetime(2020, 7, 1, 12, 30, 15, 250)  # noqa: DTZ001 - most tables have none
VALUES = {
    "integers": pa.array([-5, 0, 7]),
    "large integers": pa.array([2**63, 2**64 - 1, 0], pa.uint64()),
    "floats": pa.array([0.1 + 0.2, -1 / 3, 5e-324]),
    "single floats": pa.array([0.1, 1e30, -7.5], pa.float32()),
    "infinite floats": pa.array([-math.inf, math.inf, 0.0]),
    "decimals": pa.array([Decimal("-0.01"), Decimal("1.50"), Decimal(2)], pa.decimal128(9, 2)),
    "decimals beyond floats": pa.array(
        [Decimal(10**30), Decimal(10**30 + 1), Decimal(10**30 + 2)], pa.decimal128(38, 0)
    ),
    "dates": pa.array([dt.date(1, 1, 1), dt.date(2020, 2, 29), dt.date(9999, 12, 31)]),
    "times": pa.array([dt.time(0), dt.time(1, 2, 3, 4), dt.time(23, 59, 59, 999_999)]),
    "moments": pa.array([MOMENT, MOMENT + dt.timedelta(microseconds=1), MOMENT - dt.timedelta(9999)]),
    "moments by the nanosecond": pa.array([1, 2, 3], pa.timestamp("ns")),
    "moments somewhere": pa.array(
        [MOMENT, MOMENT + dt.timedelta(1), MOMENT + dt.timedelta(2)], pa.timestamp("us", "UTC")
    ),
    "truth values": pa.array([True, False]),
    "texts": pa.array(["", "it's", 'say "hi";\n--,\t\\']),
    "texts of digits": pa.array(["007", "10", "9"]),
    "texts like other things": pa.array(["NULL", "nan", "2020-01-01"]),
    "texts beyond ASCII": pa.array(["é", "\U0001f600", "z"]),
    "categories": pa.array(["b", "a", "c"]).dictionary_encode(),
}


BEYOND_CSV = [
    *("large integers", "single floats", "decimals", "decimals beyond floats"),
    *("moments by the nanosecond", "moments somewhere"),
]


def of_one_kind(kind):
    """A table of one kind of values; the first is the rarest."""
    values = VALUES[kind]
    column = pa.chunked_array([values, values, values.slice(1 if len(values) > 2 else 2)]).combine_chunks()
    return pa.table({"q": column, "s": column})


@pytest.mark.parametrize("form", ["parquet", "csv"])
@pytest.mark.parametrize("kind", list(VALUES))
def test_every_kind_of_value(tmp_path, kind, form):
    """As quasi-identifier and as sensitive value: it comes out as it went in, or is refused before anything is."""
    table, policy = of_one_kind(kind), Policy(quasi=["q"], sensitive="s", guarantee={"l": 2}, partition="deal")
    if form == "csv" and kind in BEYOND_CSV:
        with pytest.raises(InputError, match="cannot be read back exactly from CSV"):
            publish(table, policy, to=tmp_path / "release", format=form)
        assert left_in(tmp_path) == []
        return
    release = publish(table, policy, to=tmp_path / "release", format=form)
    assert verify(release.path).ok
    values = table["q"].to_pylist()
    answer = release.ask("SELECT q, COUNT(*) FROM microdata GROUP BY q").rows()
    assert Counter({row["q"]: row["count"] for row in answer}) == Counter(values)
    answer = release.ask("SELECT s, COUNT(*) FROM microdata GROUP BY s").rows()
    assert Counter({row["s"]: row["count"] for row in answer}) == Counter(values)


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_missing_values(tmp_path, form):
    table = pa.table({"q": [None, "", "x", None, "", "x"], "s": pa.array([1, 2, 3, None, None, 1])})
    policy = Policy(quasi=["q"], sensitive="s", guarantee={"l": 2}, missing_sensitive="value")
    release = publish(table, policy, to=tmp_path / "all", format=form)
    answer = release.ask("SELECT COUNT(*) AS rows, COUNT(s) AS held FROM microdata").rows()[0]
    assert (answer["rows"], answer["held"]) == (6, 4)
    [answer] = release.ask("SELECT COUNT(*) FROM microdata WHERE q IS NULL").rows()
    assert answer["count"] == 2
    policy = Policy(quasi=["q"], sensitive="s", guarantee={"l": 2}, missing_sensitive="withhold")
    assert publish(table, policy, to=tmp_path / "some", format=form).promise.rows == 4


def test_every_sensitive_value_missing(tmp_path):
    """As a value of its own it can carry k, and nothing else; withheld, there is nothing left."""
    for kind in (pa.string(), pa.int64(), pa.date32()):
        table = pa.table({"q": [1, 2, 3, 4], "s": pa.nulls(4, kind)})
        policy = Policy(quasi=["q"], sensitive="s", guarantee={"k": 2}, missing_sensitive="value")
        assert publish(table, policy, to=tmp_path / str(kind)).verify().ok
        policy = Policy(quasi=["q"], sensitive="s", guarantee={"k": 2}, missing_sensitive="withhold")
        with pytest.raises(InputError, match="every value of the sensitive column `s` is missing"):
            publish(table, policy, to=tmp_path / "none")


# Publishing in children of a process that has imported and compiled everything, so that a run takes a moment.
NURSERY = """
import gc, json, os, resource, sys, time, traceback
from pathlib import Path

import numpy as np
import pyarrow as pa
import sqlglot.dialects.duckdb

import discreet.engines.duckdb
import discreet.publication.anatomy
from discreet import Policy, publish, verify
from discreet.errors import DiscreetError
from discreet.guarantees.tally import tally
from discreet.guarantees import Guarantee
from discreet.partition import PARTITIONS
from discreet.values.random import RandomSource

n, place = int(sys.argv[1]), Path(sys.argv[2])
rng = np.random.default_rng(7)
table = pa.table({"age": rng.integers(0, 90, n), "zip": rng.integers(0, 10**6, n), "ill": np.arange(n) % 7})
policy = Policy(quasi=["age", "zip"], sensitive="ill", guarantee={"l": 3}, partition="deal")
codes = np.arange(6, dtype=np.int32)
tally(PARTITIONS["deal"].assign([], codes, Guarantee.of(policy.guarantee), RandomSource(1)), codes)


def run(target):
    try:
        publish(table, policy, to=target, seed=1)
    except DiscreetError as error:
        return f"{type(error).__name__}: {error.message}"
    except BaseException:
        return traceback.format_exc()
    return "published"


def tell(*told):
    print(json.dumps(told), flush=True)


def child(act):
    gc.freeze()  # a child that closes a connection of its parent waits for threads that it does not have
    pid = os.fork()
    if pid == 0:
        act()
        os._exit(0)
    return pid
"""


def nursery(script, *arguments, prefix=()):
    """Run a script after the nursery; return the lines that it prints, as JSON."""
    with tempfile.TemporaryDirectory() as scratch:  # those who are killed leave theirs behind
        done = subprocess.run(
            [*prefix, sys.executable, "-c", NURSERY + script, *map(str, arguments)],
            env={**os.environ, "TMPDIR": scratch},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


KILLER = """
events = {"os.mkdir", "open", "os.listdir", "os.scandir", "os.utime", "os.rename", "shutil.rmtree", "os.rmdir", "os.remove"}


def killed_at(number, target):
    # Die when about to touch the file system at the target, or beside it, for the n-th time.
    seen = 0

    def watch(event, arguments):
        nonlocal seen
        if event in events and any(str(place) in str(argument) for argument in arguments):
            if seen == number:
                os.kill(os.getpid(), 9)
            seen += 1

    sys.addaudithook(watch)
    tell(target.name, run(target))


for number in range(200):
    target = place / f"event {number}"
    _, status = os.waitpid(child(lambda: killed_at(number, target)), 0)
    if status == 0:
        break
    tell(target.name, status)
"""


def test_killed_before_any_touch_of_the_file_system(tmp_path):
    """SIGKILL at every single event of the folder's life: never half a release under the final name."""
    place = tmp_path / "there"
    place.mkdir()
    *killed, (last, outcome) = nursery(KILLER, 300, place)
    assert outcome == "published"
    assert len(killed) >= 12
    assert {status for _, status in killed} == {9}
    there = [entry for entry in place.iterdir() if not entry.name.startswith(".")]
    assert place / last in there
    assert len(there) <= 3, "only after the folder got its name, when the hidden one is looked after"
    assert all(verify(entry).ok for entry in there)


RANDOM_KILLER = """
started = time.monotonic()
os.waitpid(child(lambda: run(place / "whole")), 0)
takes = time.monotonic() - started
for number, moment in enumerate(np.random.default_rng(11).uniform(0.0, 1.3, 24)):
    pid = child(lambda: run(place / f"moment {number}"))
    time.sleep(moment * takes)
    os.kill(pid, 9)
    os.waitpid(pid, 0)
"""


def test_killed_at_random_moments(tmp_path):
    """SIGKILL whenever: nothing under the final name, or a release that verifies; the name can be used again."""
    place = tmp_path / "there"
    place.mkdir()
    nursery(RANDOM_KILLER, 20_000, place)
    there = [entry for entry in place.iterdir() if not entry.name.startswith(".")]
    assert place / "whole" in there
    assert all(verify(entry).ok for entry in there)
    free = next(f"moment {number}" for number in range(24) if not (place / f"moment {number}").exists())
    assert publish(people(), POLICY, to=place / free).verify().ok


LIMITED = """
def limited(limit):
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    tell(limit, run(place / str(limit)))


for limit in map(int, sys.argv[3:]):
    os.waitpid(child(lambda: limited(limit)), 0)
"""


def test_a_file_that_may_not_grow(tmp_path):
    """RLIMIT_FSIZE at many sizes, below the tables, between them and the manifest, above all of them."""
    place = tmp_path / "there"
    place.mkdir()
    release = publish(people(40), POLICY, to=tmp_path / "whole", seed=1)
    sizes = sorted(path.stat().st_size for path in release.path.iterdir())
    limits = [1, 100, *(size + by for size in sizes for by in (-1, 0)), 10**6]
    outcomes = dict(nursery(LIMITED, 40, place, *limits))
    assert set(outcomes) == set(limits)
    published = {limit for limit, outcome in outcomes.items() if outcome == "published"}
    assert 10**6 in published
    assert not {limit for limit in published if limit < sizes[0]}
    assert len(outcomes) - len(published) >= 3
    assert sorted(entry.name for entry in place.iterdir()) == sorted(map(str, published))
    assert all(verify(entry).ok for entry in place.iterdir())
    failed = [outcome for outcome in outcomes.values() if outcome != "published"]
    assert not [outcome for outcome in failed if not outcome.startswith(("EngineError", "ReleaseError"))]


def test_no_room_even_for_a_scratch_folder(tmp_path):
    """When the whole disk is full the engine has no place to spill to; that is said like everything else."""
    [(_, outcome)] = nursery(LIMITED, 40, tmp_path, 0)
    assert outcome.startswith(("EngineError", "ReleaseError"))
    assert left_in(tmp_path) == []


FULL = """
filler, target = place / "filler", place / "release"
for spare in map(int, sys.argv[3:]):
    room = os.statvfs(place)
    filler.write_bytes(b"x" * max(0, room.f_bavail * room.f_bsize - spare))
    os.waitpid(child(lambda: tell(spare, run(target))), 0)
    tell(spare, sorted(entry.name for entry in place.iterdir()))
    filler.unlink()
    if target.exists():
        os.waitpid(child(lambda: tell(spare, verify(target).ok)), 0)
        break
"""


def test_a_disk_that_is_full(tmp_path):
    """A small file system of its own, with more and more room on it."""
    place = tmp_path / "small"
    place.mkdir()
    inside = [
        "unshare",
        "--map-root-user",
        "--mount",
        "sh",
        "-c",
        'mount -t tmpfs -o size=512k tmpfs "$0" && "$@"',
        place,
    ]
    if subprocess.run([*inside, "true"], capture_output=True, check=False).returncode:
        pytest.skip("this machine does not let us mount a small file system")
    spares = [0, 4096, 8192, 16_384, 20_480, 24_576, 32_768, 40_960, 49_152, 65_536, 400_000]
    lines = nursery(FULL, 1500, place, *spares, prefix=inside)
    outcomes = {}
    for spare, told in lines:
        outcomes.setdefault(spare, []).append(told)
    *failed, last = outcomes.values()
    assert len(failed) >= 3
    for message, left in failed:
        assert message.startswith(("EngineError", "ReleaseError"))
        assert left == ["filler"]
    assert any("disk is full" in message or "No space left" in message for message, _ in failed)
    assert last == ["published", ["filler", "release"], True]
