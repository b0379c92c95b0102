"""Tables that are published where they are: no row leaves the server, and what is planned is what is assigned."""

from collections import Counter
from threading import Event, Thread

import numpy as np
import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlglot import exp

import discreet
from discreet.engines.postgres import engine, files, source, store
from discreet.engines.postgres.assign import assign
from discreet.engines.postgres.engine import connected
from discreet.errors import DiscreetError, GuaranteeError, InputError, InternalError
from discreet.partition.histogram.runs import Runs
from discreet.publication import in_server
from discreet.release.database import tables
from discreet.table import database as table_database
from discreet.table.read import counted

POLICY = {"name": "p", "quasi": ["age", "sex", "seen"], "drop": "rest"}
BY_VALUE = {"sensitive": "ill", "guarantee": {"l": 3}}
BY_RANGE = {"sensitive": "pay", "guarantee": {"k": 3, "e": 10}}
WAYS = {
    **{name: {**BY_VALUE, "partition": name} for name in ("deal", "mixed", "anatomize")},
    **{name: {**BY_RANGE, "partition": name} for name in ("min_sum", "min_max", "max_groups", "tightest", "random")},
}
ROWS = """
    SELECT i AS id, 20 + i % 50 AS age, (ARRAY['f', 'm', 'É', NULL])[1 + i % 4] AS sex, date '2020-01-01' + i % 9 AS seen,
    'ill ' || i * 7 % 11 AS ill, i * i % 97 - 40 AS pay, i % 2 AS ward FROM generate_series(1, {}) i
"""


@pytest.fixture
def patients(database):
    with psycopg.connect(database) as connection:
        connection.execute("CREATE SCHEMA clinic")
        connection.execute("CREATE TABLE clinic.patients AS" + ROWS.format(600))
    return database


def published(url, policy, name="made", **more):
    with discreet.read(url, table="clinic.patients") as table:
        return discreet.publish(table, {**POLICY, **policy}, to=url, release=name, **more)


def rows_of(url, query):
    with psycopg.connect(url) as connection:
        return connection.execute(query).fetchall()


@given(st.lists(st.integers(0, 4), min_size=1, max_size=60), st.integers(1, 5))
def test_runs_are_the_plan(values, groups):
    values = np.sort(np.array(values, np.int32))
    plan = np.random.default_rng(values.size).integers(0, groups, values.size).astype(np.int32)
    for given_ in (plan, np.arange(values.size, dtype=np.int32) % groups, plan * 0):
        found = Runs.of(given_, values).expanded(values.size)
        assert sorted(zip(values, found, strict=True)) == sorted(zip(values, given_, strict=True))


@pytest.mark.parametrize(
    ("way", "publication"),
    [(way, "anatomy" if "l" in WAYS[way]["guarantee"] else "permutation") for way in WAYS] + [("min_sum", "anatomy")],
)
def test_assigned_rows_are_the_planned(patients, way, publication):
    release = published(patients, {**WAYS[way], "publication": publication})
    assert all(resource.hash.startswith("table:") for resource in release.manifest.resources)
    assert release.promise.for_publication
    assert release.verify().ok
    shown = "qit" if publication == "anatomy" else "permuted"
    quasi = "SELECT age, sex, seen FROM {} ORDER BY 1, 2, 3"
    assert rows_of(patients, quasi.format(f"made.{shown}")) == rows_of(patients, quasi.format("clinic.patients"))
    sensitive = WAYS[way]["sensitive"]
    held = f"SELECT {sensitive}, {'sum(count)' if publication == 'anatomy' else 'count(*)'} FROM made.{{}} GROUP BY 1"
    true = f"SELECT {sensitive}, count(*) FROM clinic.patients GROUP BY 1"
    found = rows_of(patients, held.format("st" if publication == "anatomy" else "permuted"))
    assert sorted(found) == sorted(rows_of(patients, true))


@pytest.mark.parametrize("publication", ["anatomy", "permutation"])
@pytest.mark.parametrize("rows", ["table", "query", "withhold"])
def test_groups_that_were_formed_of_rows_are_those_of_the_release(patients, publication, rows, monkeypatch):
    """Partitions that look at rows read them, and send groups back: every row is in the group that it was given."""
    formed, inner = [], in_server.draft
    if rows == "withhold":
        with psycopg.connect(patients) as connection:
            connection.execute("UPDATE clinic.patients SET pay = NULL WHERE id % 50 = 0")
    source_ = {"query": "SELECT * FROM clinic.patients LIMIT 588"} if rows == "query" else {"table": "clinic.patients"}
    policy = {"sensitive": "pay", "guarantee": {"l": 4}, "partition": "local", "identifiers": ["id"]}

    def drafted(*given_):
        found = inner(*given_)
        columns = [found.table.codes(name, present="pay") for name in (*POLICY["quasi"], "pay")]
        formed.extend(zip(*(each.decode(each.codes).to_pylist() for each in columns), found.groups + 1, strict=True))
        return found

    monkeypatch.setattr(in_server, "draft", drafted)
    with discreet.read(patients, **source_) as table:
        more = {"publication": publication, "missing_sensitive": "withhold"}
        release = discreet.publish(table, {**POLICY, **policy, **more}, to=patients, release="made")
    assert all(resource.hash.startswith("table:") for resource in release.manifest.resources)
    assert release.verify().ok
    assert (release.promise.rows, release.withheld) == (len(formed), 12 if rows == "withhold" else 0)
    if publication == "anatomy":
        shown, held = "made.qit", 'SELECT "group", pay, count FROM made.st'
    else:
        shown = "(SELECT * FROM made.permuted JOIN made.mapping USING (row)) AS rows"
        held = f'SELECT "group", pay, count(*) FROM {shown} GROUP BY 1, 2'
    quasi = Counter(rows_of(patients, f'SELECT age, sex, seen, "group" FROM {shown}'))
    assert quasi == Counter((*row[:3], row[4]) for row in formed)
    values = Counter((int(row[4]), row[3]) for row in formed)
    assert {(group, value): n for group, value, n in rows_of(patients, held)} == values


def test_rows_that_a_partition_leaves_out_are_told_as_suppressed(patients):
    policy = {**BY_VALUE, "partition": "full_domain", "options": {"suppression": 0.2}, "guarantee": {"k": 4}}
    policy |= {"ordered": POLICY["quasi"]}
    with published(patients, policy, "made") as release:
        assert release.promise.rows + release.suppressed == 600
        assert release.suppressed > 0
        assert rows_of(patients, "SELECT count(*) FROM made.qit") == [(release.promise.rows,)]


def test_identifiers_that_repeat_are_refused_where_rows_are_read(patients):
    with psycopg.connect(patients) as connection:
        connection.execute("UPDATE clinic.patients SET id = 1 WHERE id = 2")
    with pytest.raises(InputError, match="repeats"):
        published(patients, {**BY_VALUE, "partition": "local", "identifiers": ["id"]})


def test_rows_that_two_tables_hold_at_one_place_are_told_apart(patients):
    """Of a table that has parts, rows are no more known by where they lie."""
    with psycopg.connect(patients) as connection:
        connection.execute("CREATE TABLE clinic.others () INHERITS (clinic.patients)")
        connection.execute("INSERT INTO clinic.others SELECT * FROM ONLY clinic.patients")
    for partition in ("deal", "local"):
        with published(patients, {**BY_VALUE, "partition": partition}, partition) as release:
            assert (release.promise.rows, release.verify().ok) == (1200, True)


def test_a_group_that_went_to_another_row_is_found(patients, monkeypatch):
    """What comes back is held against what was formed, value by value."""
    inner = in_server._told

    def moved(*given_):
        found = inner(*given_)
        return found.set_column(1, "group", pa.array(np.roll(found.column("group").to_numpy(), 1)))

    monkeypatch.setattr(in_server, "_told", moved)
    with pytest.raises(InternalError, match="as planned"):
        published(patients, {**BY_VALUE, "partition": "local"})
    assert rows_of(patients, "SELECT nspname::text FROM pg_namespace WHERE nspname = 'made'") == []


def test_no_row_leaves_the_server(patients, monkeypatch):
    """All rows that are sent are counts and different values; none has two columns of the table but for a count."""
    sent, inner = [], files.copied_out
    monkeypatch.setattr(source, "read_rows", None)  # what reads all rows

    def copied(connection, query):
        rows = inner(connection, query)
        sent.append(rows)
        return rows

    for module in (source, engine, files):
        monkeypatch.setattr(module, "copied_out", copied)
    with published(patients, {**WAYS["deal"], "identifiers": ["id"]}) as release:
        assert release.ask("SELECT COUNT(*) FROM p").rows()[0]["count"] == 600
    assert sent
    for rows in sent:
        names = [name for name in rows.column_names if name not in {"n", "m0", "m1", "m2"}]
        assert len(names) <= 1 or names == ["c0", "c1"]
        assert len(rows) < 600
    assert max(len(rows) for rows in sent if rows.column_names == ["c0", "c1", "n"]) == 50 * 11


@pytest.mark.parametrize("partition", ["deal", "local"])
def test_nothing_of_the_private_table_is_left(patients, partition):
    published(patients, {**BY_VALUE, "partition": partition})
    left = "SELECT relname::text FROM pg_class WHERE relname LIKE 'discreet%' AND relnamespace <> 'made'::regnamespace"
    assert rows_of(patients, left) == []
    columns = rows_of(patients, "SELECT DISTINCT attname::text FROM pg_stats WHERE schemaname = 'made'")
    of_groups = {"grp", "size", "signature", "value", "n", "below", "sorted"}
    shown = {"age", "sex", "seen", "group", "ill", "count", "path", "part", "content"}
    assert {name for (name,) in columns} <= shown | of_groups


def test_the_order_of_rows_tells_nothing(patients):
    """Rows lie in the order of what they show: rows that show the same are alike."""
    published(patients, WAYS["deal"])
    rows = rows_of(patients, 'SELECT "group", age, sex, seen FROM made.qit ORDER BY ctid')
    assert rows == sorted(rows, key=lambda row: (row[0], row[1], row[2] is None, (row[2] or "").encode(), row[3]))


@pytest.mark.parametrize(("value", "type_"), [("'ill'", pa.string()), ("-7", pa.int32())])
def test_each_row_of_a_value_is_equally_likely_to_take_each_place(patients, value, type_):
    """Of 6 rows of one value that go to 6 groups, how often the first comes to each is as by chance."""
    times, plan = np.zeros(6), (np.array([0]), np.array([0]), np.array([1]))
    rows = f"SELECT id, {value} AS ill, ctid AS lies FROM clinic.patients WHERE id <= 6"
    columns = pa.schema([("id", pa.int32()), ("ill", type_)])
    with connected(patients, write=True) as connection:
        for _ in range(150):
            connection.execute("BEGIN")
            given_ = {"lies": "lies", "by": "ill", "missing": False, "group": "group", "plan": plan}
            assign(connection, rows, columns, **given_)
            [(group,)] = connection.execute('SELECT "group" FROM pg_temp.discreet_assigned WHERE id = 1').fetchall()
            connection.execute("ROLLBACK")
            times[group - 1] += 1
    assert ((times - 25) ** 2).sum() / 25 < 36  # chi-squared, 5 degrees: more than that once in a million


CHANGE = "UPDATE clinic.patients SET age = age + 100, ill = id % (ARRAY[7, 8, 11])[1 + age / 100 % 3]"


def test_a_table_that_changes_is_published_as_it_was_at_one_moment(patients):
    """Another connection changes all rows all the while, in one transaction each time."""
    stop, changes = Event(), []

    def change():
        with psycopg.connect(patients, autocommit=True) as connection:
            while not stop.is_set():
                connection.execute(CHANGE)
                changes.append(1)

    thread = Thread(target=change, daemon=True)
    thread.start()
    try:
        for turn, partition in enumerate(("deal", "local", "deal", "local")):
            before = len(changes)
            published(patients, {**BY_VALUE, "partition": partition}, f"r{turn}").close()
            assert len(rows_of(patients, f"SELECT DISTINCT age / 100 FROM r{turn}.qit")) == 1
            assert len(changes) > before
    finally:
        stop.set()
        thread.join(60)


@pytest.mark.parametrize("isolation", ["REPEATABLE READ", "READ COMMITTED"])
def test_what_is_counted_is_what_is_assigned(patients, isolation, monkeypatch):
    """Rows change once values are counted: that moment is not seen, unless the transaction were READ COMMITTED."""
    before = "SELECT age, sex, seen FROM {} ORDER BY 1, 2, 3"
    was, inner = rows_of(patients, before.format("clinic.patients")), in_server.draft

    def planned(*given):
        with psycopg.connect(patients) as connection:
            connection.execute(CHANGE)
        return inner(*given)

    monkeypatch.setattr(store, "ISOLATION", isolation)
    monkeypatch.setattr(in_server, "draft", planned)
    if isolation == "READ COMMITTED":
        with pytest.raises(InternalError, match="as planned"):
            published(patients, WAYS["deal"])
    else:
        published(patients, WAYS["deal"]).close()
        assert rows_of(patients, before.format("made.qit")) == was
        assert rows_of(patients, before.format("clinic.patients")) != was


@pytest.mark.parametrize("partition", ["deal", "local"])
def test_what_the_role_does_not_see_is_not_published(patients, server, partition):
    role, name = f"ward_for_{partition}", patients.rsplit("/", 1)[1]
    server.run(
        f"CREATE ROLE {role} LOGIN PASSWORD 'correct horse'",
        f"GRANT USAGE ON SCHEMA clinic TO {role}",
        f"GRANT SELECT ON clinic.patients TO {role}",
        f"GRANT CREATE, TEMPORARY ON DATABASE {name} TO {role}",
        "ALTER TABLE clinic.patients ENABLE ROW LEVEL SECURITY",
        f"CREATE POLICY own ON clinic.patients FOR SELECT TO {role} USING (ward = 1)",
        database=name,
    )
    release = published(patients.replace("postgres:", f"{role}:", 1), {**BY_VALUE, "partition": partition})
    assert release.manifest.resources[0].hash.startswith("table:")
    assert release.promise.rows == 300
    assert rows_of(patients, "SELECT count(*) FROM made.qit JOIN clinic.patients USING (age) WHERE ward = 0") == [(0,)]


WRITING = """
    CREATE FUNCTION clinic.seen(integer) RETURNS integer LANGUAGE plpgsql AS $$
    BEGIN CREATE TABLE clinic.written(); RETURN $1; EXCEPTION WHEN read_only_sql_transaction THEN RETURN $1; END $$
"""


@pytest.mark.parametrize("partition", ["deal", "local"])
@pytest.mark.parametrize("by", ["view", "policy"])
def test_functions_of_what_is_read_write_nothing(patients, server, by, partition):
    """They run with the rights of whoever publishes, in a transaction that writes."""
    role, name = f"reader_{by}_{partition}", patients.rsplit("/", 1)[1]
    server.run(
        f"CREATE ROLE {role} LOGIN PASSWORD 'correct horse'",
        f"GRANT CREATE, TEMPORARY ON DATABASE {name} TO {role}",
        f"GRANT USAGE, CREATE ON SCHEMA clinic TO {role}",
        WRITING,
        "ALTER TABLE clinic.patients RENAME TO kept",
        f"GRANT SELECT ON clinic.kept TO {role}",
        *(
            ["CREATE VIEW clinic.patients AS SELECT *, clinic.seen(1) AS one FROM clinic.kept"]
            if by == "view"
            else [
                "ALTER TABLE clinic.kept RENAME TO patients",
                "ALTER TABLE clinic.patients ENABLE ROW LEVEL SECURITY",
                "CREATE POLICY own ON clinic.patients USING (clinic.seen(ward) = 1)",
            ]
        ),
        f"GRANT SELECT ON clinic.patients TO {role}",
        database=name,
    )
    release = published(patients.replace("postgres:", f"{role}:", 1), {**BY_VALUE, "partition": partition})
    assert release.manifest.resources[0].hash.startswith("table:")
    assert rows_of(patients, "SELECT to_regclass('clinic.written')") == [(None,)]


def test_a_query_with_chance_is_drawn_once(patients):
    query = "SELECT * FROM clinic.patients ORDER BY random() LIMIT 300"
    with discreet.read(patients, query=query) as table:
        release = discreet.publish(table, {**POLICY, **WAYS["deal"]}, to=patients, release="made")
    assert release.promise.rows == 300
    assert release.manifest.resources[0].hash.startswith("table:")


def test_a_query_finds_its_own_tables_whatever_they_are_called(patients):
    """Not the one that its rows are kept in."""
    with psycopg.connect(patients) as connection:
        connection.execute("CREATE TABLE public.discreet_source AS SELECT * FROM clinic.patients WHERE id > 100")
    query = "SELECT * FROM clinic.patients WHERE id <= 100 UNION ALL SELECT * FROM Discreet_Source"
    with discreet.read(patients, query=query) as table:
        discreet.publish(table, {**POLICY, **BY_VALUE, "partition": "deal"}, to=patients, release="made")
    assert rows_of(patients, "SELECT count(*) FROM made.qit") == [(600,)]


@pytest.mark.parametrize(
    "more",
    [
        {"policy": {"partition": "mixed", "options": {"cells": 2}}},
        {"seed": 1},
        {"policy": {"harmless": ["ill 0"]}},
        {"policy": {"guarantee": {"l": 3, "beta": 4}}},
        {"format": "csv"},
    ],
    ids=str,
)
def test_what_cannot_be_assigned_there_is_read_out(patients, more):
    more = dict(more)
    policy = {**WAYS["deal"], **more.pop("policy", {})}
    release = published(patients, policy, **more)
    assert all(resource.hash.startswith("sha256:") for resource in release.manifest.resources)
    assert release.verify().ok


def test_dumped_and_loaded_it_is_the_same(patients, tmp_path):
    release = published(patients, WAYS["mixed"])
    one, two = (discreet.dump(patients, tmp_path / name, name="made") for name in "ab")
    assert [path.name for path in sorted(one.path.iterdir())] == [path.name for path in sorted(two.path.iterdir())]
    assert all((two.path / path.name).read_bytes() == path.read_bytes() for path in one.path.iterdir())
    question = "SELECT sex, AVG(age) FROM p WHERE ill = 'ill 3' GROUP BY sex"
    with discreet.load(one, patients, name="again") as again:
        assert again.ask(question).rows() == release.ask(question).rows()


def test_types_are_those_of_a_release_that_is_read_out(patients):
    """Every type that a table may have shows the same in both: what is missing, signs, blanks, the smallest of parts."""
    columns = {
        "a": "(i * 0.1)::real", "b": "CASE WHEN i % 3 = 0 THEN 'NaN' ELSE -0.0 + i % 3 END::float8", "c": "(i % 7)::numeric(9, 2)",
        "d": "('x' || i % 3)::char(5)", "e": "(i % 2 = 0)", "f": "timestamptz '2020-03-29 01:59:59.999999+01' + i * interval '1h'",
        "g": "time '23:59:59.999999' - i % 4 * interval '1us'", "h": "md5((i % 9)::text)::uuid", "i": "(i % 5)::smallint",
        "j": "(ARRAY['ß', 'ss', 'Z', 'a', NULL])[1 + i % 5]", "ill": "'ill ' || i * 7 % 11",
    }  # fmt: skip
    shown = ", ".join(f"{value} AS {name}" for name, value in columns.items())
    with psycopg.connect(patients) as connection:
        connection.execute(f"CREATE TABLE clinic.types AS SELECT {shown} FROM generate_series(1, 99) i")
    policy = {"name": "p", "quasi": [*columns][:-1], "sensitive": "ill", "guarantee": {"l": 3}, "partition": "deal"}
    found = []
    for name, seed in (("made", None), ("r1", 1)):
        with discreet.read(patients, table="clinic.types") as table:
            release = discreet.publish(table, policy, to=patients, release=name, seed=seed)
        with release:
            assert release.verify().ok
            rows = pq.read_table(release.path / "qit.parquet").drop_columns(["group"])
        found.append(rows.sort_by([(each, "ascending") for each in rows.column_names]))
    assert found[0].schema == found[1].schema
    assert found[0].equals(found[1])


def test_names_may_have_signs_that_mean_something_to_the_driver(patients):
    with psycopg.connect(patients) as connection:
        connection.execute('ALTER TABLE clinic.patients RENAME age TO "a%b"')
        connection.execute('ALTER TABLE clinic.patients RENAME sex TO "%(groups)s"')
        connection.execute('ALTER TABLE clinic.patients RENAME ill TO "i%%s"')
    policy = {"quasi": ["a%b", "%(groups)s", "seen"], "sensitive": "i%%s"}
    release = published(patients, {**WAYS["deal"], **policy}, "100%s")
    assert release.manifest.resources[0].hash.startswith("table:")
    assert release.verify().ok


def test_ranges_are_verified_of_numbers_as_far_apart_as_their_type_allows(patients):
    with psycopg.connect(patients) as connection:
        connection.execute(
            "UPDATE clinic.patients SET pay = CASE id % 2 WHEN 0 THEN 2147483640 ELSE -2147483640 END + id % 7"
        )
    assert published(patients, WAYS["random"]).verify().ok


@pytest.mark.parametrize("type_", ["numeric(9, 2)", "numeric(38, 0)"])
def test_a_decimal_that_is_no_number_is_refused_although_it_is_not_looked_at(patients, type_, monkeypatch):
    """A file could not hold it, so that nobody could read the release."""
    monkeypatch.setattr(table_database, "DRAWN", 20)
    with psycopg.connect(patients) as connection:
        connection.execute(f"ALTER TABLE clinic.patients ALTER age TYPE {type_}")
        connection.execute("UPDATE clinic.patients SET age = 'NaN' WHERE id = 7")
    with pytest.raises(InputError, match="a number of `age`"):
        published(patients, WAYS["deal"])
    assert rows_of(patients, "SELECT nspname::text FROM pg_namespace WHERE nspname = 'made'") == []


def test_texts_are_counted_byte_by_byte(patients):
    """Whatever the collation of their column, by which texts may be equal that are not the same."""
    with psycopg.connect(patients) as connection:
        connection.execute('ALTER TABLE clinic.patients ALTER ill TYPE text COLLATE "POSIX"')
    with discreet.read(patients, table="clinic.patients") as table, connected(patients, write=True) as connection:
        connection.execute("BEGIN")
        private = counted(connection, table)
        collation = exp.Anonymous(this="pg_collation_for", expressions=[exp.column("ill")])
        found = private.engine.run(exp.select(collation).from_(private.select(["ill"]).subquery("r")).limit(1))
    assert found.column(0).to_pylist() == ['"C"']


def test_missing_values_are_withheld_or_refused(patients):
    with psycopg.connect(patients) as connection:
        connection.execute("UPDATE clinic.patients SET ill = NULL WHERE id <= 10")
    with pytest.raises(InputError, match="10 missing values"):
        published(patients, WAYS["deal"])
    release = published(patients, {**WAYS["deal"], "missing_sensitive": "withhold"})
    assert (release.withheld, release.promise.rows) == (10, 590)
    assert published(patients, {**WAYS["deal"], "missing_sensitive": "value"}, "whole").verify().ok


def test_it_is_refused_as_elsewhere(patients):
    with psycopg.connect(patients) as connection:
        connection.execute("ALTER TABLE clinic.patients ADD who text")
        connection.execute("UPDATE clinic.patients SET who = 'somebody ' || id / 2")
    with pytest.raises(InputError, match="repeats"):
        published(patients, {**WAYS["deal"], "identifiers": ["who"]})
    with pytest.raises(GuaranteeError):
        published(patients, {**WAYS["deal"], "guarantee": {"l": 50}})
    with psycopg.connect(patients) as connection:
        connection.execute("UPDATE clinic.patients SET seen = 'infinity' WHERE id = 1")
    with pytest.raises(InputError, match="`seen` is infinite"):
        published(patients, WAYS["deal"])
    with psycopg.connect(patients) as connection:
        connection.execute("UPDATE clinic.patients SET seen = '2020-01-01', sex = ill")
    with pytest.raises(DiscreetError, match="`sex` determines"):
        published(patients, WAYS["deal"])
    assert rows_of(patients, "SELECT nspname::text FROM pg_namespace WHERE nspname = 'made'") == []


FAULTS = {
    "a group breaks l": "UPDATE made.st SET count = 9 WHERE ctid = (SELECT min(ctid) FROM made.st)",
    "not as many": 'DELETE FROM made.st WHERE "group" = 1',
    "the same groups": 'UPDATE made.qit SET "group" = 2 WHERE "group" = 1',
    "break a key": "UPDATE made.st SET ill = 'ill 1' WHERE \"group\" = 1",
}


@pytest.mark.parametrize("fault", FAULTS)
def test_tables_are_verified_in_the_server(patients, fault, monkeypatch):
    """A fault that is planted while the release is made stops it."""
    inner = tables.check_tables if fault != "break a key" else store.complete

    def planted(first, *more):
        connection = getattr(first, "_connection", first)
        connection.execute(FAULTS[fault])
        inner(first, *more)

    monkeypatch.setattr(*((store, "complete") if fault == "break a key" else (tables, "check_tables")), planted)
    with pytest.raises(DiscreetError, match=fault):
        published(patients, WAYS["deal"])
    assert rows_of(patients, "SELECT nspname::text FROM pg_namespace WHERE nspname = 'made'") == []
