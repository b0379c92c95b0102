"""A vault in a server: it releases what a file would, stewards wait for each other, and others see nothing."""

from contextlib import closing, suppress
from threading import Thread
from time import sleep
from uuid import uuid4

import pyarrow.parquet as pq
import pytest
from sqlglot import exp, parse_one

import discreet
from discreet import Vault
from discreet.engines import Address
from discreet.engines.postgres import ledger
from discreet.engines.postgres.engine import connected
from discreet.errors import (
    DiscreetError,
    EngineError,
    GuaranteeError,
    InputError,
    InternalError,
    PolicyError,
    VaultError,
)
from discreet.vault import recover
from discreet.vault.store import store as statements
from discreet.vault.store.server import written
from server import PASSWORD
from vault.kills import die, died
from vault.steward import ILLS, TOWNS, WAYS, dump, inspect, left_in, people, policy

SECRETS = (*(town for town in TOWNS if town), *ILLS, "nemo", "424242", "correct horse", "correct%20horse")


@pytest.fixture
def url(one_database):
    """The address of a vault that nobody else has."""
    return f"{one_database}#v{uuid4().hex}"


@pytest.fixture
def place(url, tmp_path):
    """A vault with a release and rows that came since; and where its releases are."""
    with Vault.create(url, policy()) as vault:
        vault.append(people(60))
        vault.release(tmp_path / "1")
        vault.append(people(60, start=1_000))
    return url, tmp_path


@pytest.mark.parametrize(
    "changes", [{"options": {"growth": "insert"}}, {"person": "name", "identifiers": []}, WAYS["fitted"]]
)
def test_the_same_rows_are_released_as_from_a_file(url, tmp_path, changes):
    shown = {}
    for kind, home in {"file": tmp_path / "vault", "server": url}.items():
        with Vault.create(home, policy(**changes)) as vault:
            told = []
            for at in range(2):
                told.append(vault.append(people(60, start=1_000 * at)))
                vault.release(tmp_path / kind / f"{at}")
            stands = vault.status()
            told.append((stands.rows, stands.groups, stands.waiting.rows, len(stands.releases), stands.advice))
        inspect(home)
        tables = [pq.read_table(tmp_path / kind / f"{at}" / "generalized.parquet") for at in range(2)]
        shown[kind] = told, tables if "person" not in changes else [len(table) for table in tables]  # those are drawn
    assert shown["file"] == shown["server"]
    assert discreet.audit([tmp_path / "server" / f"{at}" for at in range(2)]).ok


def test_two_stewards_append_at_once(url):
    """Each at the same time as the other, time and again: all rows are there, and each append counts."""
    Vault.create(url, policy()).close()
    wrong, times = [], 4

    def steward(start):
        try:
            with Vault.open(url) as vault:
                for at in range(times):
                    vault.append(people(10, start=start + 100 * at))
        except DiscreetError as error:
            wrong.append(error)

    stewards = [Thread(target=steward, args=(start,), daemon=True) for start in (0, 10_000)]
    for each in stewards:
        each.start()
    for each in stewards:
        each.join(60)
    assert wrong == []
    inspect(
        url, names=[f"nemo {start + 100 * at + i}" for start in (0, 10_000) for at in range(times) for i in range(10)]
    )
    with Vault.open(url) as vault:
        assert vault.status().appends == 2 * times


def test_who_comes_second_waits_and_who_looks_does_not(place, monkeypatch):
    url, _ = place
    monkeypatch.setattr("discreet.engines.postgres.ledger.SETTINGS", {"lock_timeout": "200ms"})
    with Vault.open(url) as one, Vault.open(url) as other, one._writing():
        assert other.status().rows == 120
        with pytest.raises(VaultError, match="somebody else holds what is needed here for too long"):
            other.append(people(20, start=5_000))
    with Vault.open(url) as vault:
        vault.append(people(20, start=5_000))


def test_who_looks_while_somebody_releases_does_not_wait(place, monkeypatch):
    url, folder = place
    monkeypatch.setitem(ledger.SETTINGS, "lock_timeout", "1h")  # the test would not end
    seen = []

    def look(step):
        if step == "auditing":  # the release is begun, and noted as that
            with Vault.open(url) as other:
                seen.append(len(other.status().releases))

    with Vault.open(url) as vault:
        vault.release(folder / "2", progress=look)
    assert seen == [1]


def in_thread(act):
    """What another thread comes to: an error, or None."""
    found = []

    def run():
        try:
            found.append(act())
        except DiscreetError as error:
            found.append(error)

    thread = Thread(target=run, daemon=True)
    thread.start()
    thread.join(60)
    return found[0]


def test_a_vault_is_for_the_thread_that_opened_it(place, monkeypatch):
    """Two threads would share the lock, and write in one transaction: each would commit half of what the other does."""
    url, _ = place
    grown, told = discreet.vault.vault.grown, []
    with Vault.open(url) as vault:

        def meanwhile(*given):
            told.extend(in_thread(act) for act in (vault.status, lambda: vault.append(people(20, start=5_000))))
            return grown(*given)

        monkeypatch.setattr("discreet.vault.vault.grown", meanwhile)
        vault.append(people(20, start=9_000))
    assert [type(error) for error in told] == [VaultError, VaultError]
    assert all("thread and the process that opened it" in str(error) for error in told)
    with Vault.open(url) as vault:
        assert (vault.status().rows, vault.status().appends) == (140, 3)
    inspect(url)


def test_a_connection_that_a_pool_hands_on_is_refused(place):
    """If others have our session, they have our lock; if we have another one, we have none."""
    address = Address.of(place[0])
    with closing(connected(address.url, write=True)) as session, closing(connected(address.url, write=True)) as another:
        one, other = (ledger.Ledger(address, session) for _ in range(2))
        assert one.lock()
        with pytest.raises(EngineError, match="the connection is a pool's"):
            other.lock()
        one._connection = another
        with pytest.raises(EngineError, match="the connection is a pool's"):
            one.begin()
        one._connection = session
        one.unlock()
        assert other.lock(wait=False)


def test_what_the_server_undid_is_not_taken_for_done(place):
    with closing(ledger.opened(Address.of(place[0]))) as one:
        one.begin()
        with pytest.raises(InternalError, match="inside another"):
            one.begin()
        with suppress(EngineError):
            one.run("INSERT INTO nowhere VALUES (1)")
        with pytest.raises(InternalError, match="undone by the server"):
            one.commit()


def test_a_release_may_take_longer_than_a_session_may_idle(place):
    url, folder = place
    url = url.replace("#", "?options=-c%20idle_session_timeout%3D200#")
    with Vault.open(url) as vault:
        vault.release(folder / "2", progress=lambda _: sleep(0.3))
        assert len(vault.status().releases) == 2


def test_rows_do_not_reach_the_log_of_a_server_that_stops_at_one(url, server):
    """It quotes the line that it was at, as when it ends the session, unless that is binary."""
    Vault.create(url, policy()).close()
    name, secret, log = url.partition("#")[2], uuid4().hex, server.folder / "log"
    server.run(
        f"CREATE FUNCTION {name}.stop() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'stop at {name}'; END $$",
        f"CREATE TRIGGER stop BEFORE INSERT ON {name}.people FOR EACH ROW EXECUTE FUNCTION {name}.stop()",
        database="tests",
    )
    with closing(ledger.opened(Address.of(url))) as one, pytest.raises(EngineError):
        one.run_many("INSERT INTO people VALUES (?, ?, ?)", [(1, 1, secret)])
    assert f"stop at {name}" in log.read_text()
    assert secret not in log.read_text()


def test_older_servers_can_read_every_statement():
    """Before PostgreSQL 16, a query inside FROM must have a name."""
    texts = [text for name, text in vars(statements).items() if name.isupper() and "SELECT" in str(text)]
    assert len(texts) > 5
    for text in texts:
        found = parse_one(written(text).replace("?", "NULL"), dialect="postgres").find_all(exp.Subquery)
        assert all(each.alias for each in found if isinstance(each.parent, exp.From | exp.Join)), text


REFUSED = {
    "a column that is not there": (people(20, start=9_000).drop_columns(["town"]), PolicyError, "no column `town`"),
    "another type": (people(20, start=9_000, age=["424242"] * 20), InputError, "expected int64 as in the vault"),
    "somebody who is there": (people(20, start=30), InputError, "an identifier .* that is in the vault already"),
    "a character": (people(20, start=9_000, ill=["nemo\0"] * 20), VaultError, "PostgreSQL cannot keep, such as NUL"),
    "a long name": (people(1, start=9_000, name=["nemo" * 200_000]), VaultError, "too long to be found again"),
    "no rows": (people(0), InputError, "the table has no rows"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_is_refused_changes_nothing(place, what):
    table, error, match = REFUSED[what]
    refused(place, lambda vault: vault.append(table), error, match)


def test_releases_that_are_refused_change_nothing(place):
    url, folder = place
    refused(place, lambda vault: vault.release(folder / "1"), DiscreetError, "exists already")
    with Vault.open(url) as vault:
        vault.release(folder / "2")
    refused(place, lambda vault: vault.release(folder / "3"), (VaultError, GuaranteeError), "nothing to release")
    manifest = folder / "1" / "datapackage.json"
    manifest.write_text(manifest.read_text().replace('"distinct_l": 3', '"distinct_l": 4'))
    with Vault.open(url) as vault:
        vault.append(people(60, start=7_000))
    refused(place, lambda vault: vault.release(folder / "3"), VaultError, "has been changed", whole=False)


def refused(place, act, error, match, *, whole=True):
    url, folder = place
    before, folders = dump(url), left_in(folder)
    with pytest.raises(error, match=match) as caught, Vault.open(url) as vault:
        act(vault)
    assert not any(secret in str(caught.value) for secret in SECRETS)
    assert dump(url) == before
    assert left_in(folder) == folders
    inspect(url, releases=whole)


def test_what_is_no_vault(url, one_database, server):
    with pytest.raises(VaultError, match="there is no vault"):
        Vault.open(url)
    with pytest.raises(VaultError, match="not named"):
        Vault.open(one_database)
    name = url.partition("#")[2]
    server.run(f"CREATE SCHEMA {name}", database="tests")
    with pytest.raises(VaultError, match="is not a vault, but another schema"):
        Vault.open(url)
    with pytest.raises(VaultError, match="exists in the database already"):
        Vault.create(url, policy())
    server.run(f"CREATE TABLE {name}.meta (key text, number bigint, word text, content bytea)", database="tests")
    with pytest.raises(VaultError, match="its tables were not made by discreet"):
        Vault.open(url)
    with pytest.raises(InputError, match="cannot be the name of a schema"):  # it would be that of the user
        Vault.create(f"{one_database}#$user", policy())
    with pytest.raises(VaultError, match="no server answers there"):
        Vault.open("postgresql://127.0.0.1:1/nowhere#vault")
    assert "correct" not in repr(discreet.engines.Address.of(url))


def test_a_vault_of_another_version_or_policy(place, server):
    url, name = place[0], place[0].partition("#")[2]
    server.run(f"UPDATE {name}.meta SET number = 99 WHERE key = 'version'", database="tests")
    with pytest.raises(VaultError, match="a vault of version 99"):
        Vault.open(url)
    server.run(f"UPDATE {name}.meta SET number = NULL WHERE key = 'version'", database="tests")
    with pytest.raises(VaultError, match="a vault of version None"):
        Vault.open(url)
    server.run(
        f"UPDATE {name}.meta SET number = 2 WHERE key = 'version'",
        f"UPDATE {name}.meta SET word = replace(word, '3', '2') WHERE key = 'policy'",
        database="tests",
    )
    with pytest.raises(VaultError, match="was changed since it was made"):
        Vault.open(url)
    server.run(f"DELETE FROM {name}.meta WHERE key = 'policy'", database="tests")
    with pytest.raises(VaultError, match="was changed since it was made"):
        Vault.open(url)


def test_a_vault_is_its_owners_alone(place, server):
    """Whatever the database grants by default; those who belong to the owning role may open it."""
    name, mark = place[0].partition("#")[2], uuid4().hex[:8]
    owners, steward, stranger = (f"{role}_{mark}" for role in ("owners", "steward", "stranger"))
    server.run(
        f"CREATE ROLE {owners}",
        f"CREATE ROLE {steward} LOGIN PASSWORD 'correct horse' IN ROLE {owners}",
        f"CREATE ROLE {stranger} LOGIN PASSWORD 'correct horse'",
        f"GRANT CREATE, TEMPORARY ON DATABASE tests TO {owners}",
        f"ALTER DEFAULT PRIVILEGES FOR ROLE {owners} GRANT ALL ON TABLES TO {stranger}",
        f"ALTER DEFAULT PRIVILEGES FOR ROLE {owners} GRANT ALL ON SCHEMAS TO {stranger}",
        database="tests",
    )
    own = f"{server.url('tests', steward)}?options=-c%20role%3D{owners}#own_{mark}"
    with Vault.create(own, policy()) as vault:
        vault.append(people(30))
    with Vault.open(f"{server.url('tests', steward)}#own_{mark}") as vault:  # as a member, without the role's name
        vault.append(people(30, start=1_000))
    for vault in (name, f"own_{mark}"):
        with pytest.raises(VaultError, match="is not yours to open"):
            Vault.open(f"{server.url('tests', stranger)}#{vault}")
    for right in (f"SELECT ON own_{mark}.rows", f"USAGE ON SCHEMA own_{mark}", f"SELECT (key) ON own_{mark}.people"):
        server.run(f"GRANT {right} TO {stranger}", database="tests")
        with pytest.raises(VaultError, match=f"`{stranger}` may read or change"):
            Vault.open(own)
        server.run(f"REVOKE {right} FROM {stranger}", database="tests")
    made = f"CREATE FUNCTION own_{mark}.lower(bigint) RETURNS text LANGUAGE sql RETURN 'x'"
    gone = f"DROP FUNCTION own_{mark}.lower(bigint)"
    for act, undo in (
        (f"ALTER TABLE own_{mark}.people OWNER TO {stranger}", f"ALTER TABLE own_{mark}.people OWNER TO {owners}"),
        (f"ALTER SCHEMA own_{mark} OWNER TO {stranger}", f"ALTER SCHEMA own_{mark} OWNER TO {owners}"),
        (f"{made}; ALTER FUNCTION own_{mark}.lower(bigint) OWNER TO {stranger}", gone),
    ):
        server.run(act, database="tests")
        with pytest.raises(VaultError, match=f"`{stranger}` may read or change|not yours"):
            Vault.open(own)
        server.run(undo, database="tests")
    Vault.open(own).close()
    server.run(f"GRANT SELECT ON own_{mark}.rows TO PUBLIC", database="tests")
    with pytest.raises(VaultError, match="`PUBLIC` may read or change"):
        Vault.open(own)


@pytest.mark.parametrize("step", ["begun", "settled", "renamed"])
def test_a_release_that_ended_on_another_machine(place, step, monkeypatch):
    """That its folder is gone tells something only where it was made."""
    url, folder = place
    before = dump(url)

    def release():
        act = {
            "begun": "discreet.release.write._stored",
            "settled": "discreet.release.write.reveal",
            "renamed": "discreet.vault.release.complete",
        }[step]
        monkeypatch.setattr(act, die)
        with Vault.open(url) as vault:
            vault.release(folder / "there" / "2")

    died(release)
    elsewhere = folder / "on another machine"
    (folder / "there").rename(elsewhere)
    with monkeypatch.context() as other:
        other.setattr(recover, "machine", lambda: "other 1")
        if step == "begun":
            with Vault.open(url) as vault:
                assert len(vault.status().releases) == 1
            assert dump(url) == before
            return
        with pytest.raises(VaultError, match="it is not known here whether it was"), Vault.open(url) as vault:
            vault.append(people(20, start=9_000))
        elsewhere.rename(folder / "there")
        if step == "renamed":  # a copy of it is enough to know
            with Vault.open(url) as vault:
                vault.append(people(20, start=9_000))
                assert len(vault.status().releases) == 2
            return
    with Vault.open(url) as vault:
        assert len(vault.status().releases) == 2
    assert left_in(folder / "there") == ["2"]
    inspect(url)


def test_commands_take_the_address_of_a_vault(url, tmp_path, run, monkeypatch):
    monkeypatch.setenv("PGPASSWORD", PASSWORD)  # in the URL it would be warned of
    url = url.replace(f":{PASSWORD.replace(' ', '%20')}@", "@")
    (tmp_path / "policy.toml").write_text(
        'identifiers = ["name"]\nquasi = ["age", "town", "weight"]\nsensitive = "ill"\npublication = "generalization"\n'
        '[guarantee]\ndistinct_l = 3\n[accept]\nlooks = "nobody lives here"\n'
    )
    pq.write_table(people(60), tmp_path / "rows.parquet")
    commands = [
        ("init", url, "--policy", tmp_path / "policy.toml"),
        ("append", url, tmp_path / "rows.parquet"),
        ("release", url, "--to", tmp_path / "1"),
        ("accept", url, "tells.town", "--reason", "why not"),
        ("status", url),
        ("status", url, "--json"),
    ]
    name = url.partition("#")[2]
    for words in commands:
        status, out, err = run("vault", *words)
        assert (status, err) == (0, "")
        assert "correct" not in out
        assert f"#{name}" in out or words[0] in {"append", "release"}
    status, out, err = run("vault", "append", url, tmp_path / "rows.parquet")
    assert status == 1
    assert "that is in the vault already" in err
