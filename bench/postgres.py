"""PostgreSQL beside itself: what publishing, loading and asking cost there, as ratios in one run on one server.

    python bench/postgres.py [ROWS] [SECONDS]

`deal` in the server, beside CREATE TABLE AS … ORDER BY random() of the same table (at most 4 times that); `local`
from a table of the server and into it, beside reading its rows out and writing them in by COPY (at most 6 times that);
medians of 3, in turns; questions, each beside the same aggregate over the original table (at most 2.5 times, median of
20, with another constant each time); and 20 analysts at once for some SECONDS, whose answers must be the single one.
A speed that is missed is told; an analyst who has an error or another answer ends it with status 1.
"""

import statistics
import sys
import time
from pathlib import Path
from threading import Thread

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

import psycopg

import discreet
import measure
from alike import alike
from discreet.engines.postgres.files import columns_of, copied_in, copied_out
from discreet.table.people import people
from server import Server

TIMES, PATIENCE = 20, 60  # how often a question is asked; seconds after which it is asked no more, but at least thrice
QUESTIONS = {
    "COUNT of both sides": "SELECT COUNT(*) FROM microdata WHERE age > {} AND salary > 60000",
    "AVG by key": "SELECT sex, AVG(salary) FROM microdata WHERE age > {} GROUP BY sex",
    "AVG by two keys": "SELECT sex, education, AVG(salary) FROM microdata WHERE age > {} GROUP BY sex, education",
    "SUM": "SELECT SUM(salary) FROM microdata WHERE age > {} AND education = 'master'",
    "SUM of some salaries": "SELECT SUM(salary) FROM microdata WHERE age > {} AND salary > 60000",
    "MIN": "SELECT MIN(salary) FROM microdata WHERE age > {}",
    "MAX": "SELECT MAX(salary) FROM microdata WHERE age > {}",
    "MEDIAN": "SELECT MEDIAN(salary) FROM microdata WHERE age > {}",
}
SERVERS = {  # words of a question, and what the server has for them
    "microdata": "people",
    "MEDIAN(salary)": "PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY salary)",
}
ANALYSTS = 20


def timed(act):
    start = time.perf_counter()
    act()
    return time.perf_counter() - start


def main(rows=1_000_000, seconds=60):
    server = Server()
    try:
        server.make()
        table = people(rows, seed=1)
        names = [name for name in table.column_names if name not in {"name", "id"}][:8]
        with psycopg.connect(server.url(), autocommit=True) as connection:
            source = discreet.read(table.select(names))
            original = source.engine.run(source.select(names))
            for name in ("people", "copied"):
                made = psycopg.sql.SQL("CREATE TABLE {} ({})")
                connection.execute(made.format(psycopg.sql.Identifier(name), columns_of(original.schema)))
            copied_in(connection, psycopg.sql.Identifier("people"), original)
            connection.execute("ANALYZE people")
            quasi = [name for name in names if name != "salary"]
            policy = {"quasi": quasi, "sensitive": "salary", "guarantee": {"l": 10}}
            for partition in ("local", "deal"):
                publish_once(server, policy, partition)

            def copied():
                connection.execute("TRUNCATE copied")
                copied_in(connection, psycopg.sql.Identifier("copied"), copied_out(connection, "SELECT * FROM people"))

            def shuffled():
                connection.execute("DROP TABLE IF EXISTS shuffled")
                connection.execute("CREATE TABLE shuffled AS SELECT * FROM people ORDER BY random()")

            def publish(partition):
                connection.execute(f"DROP SCHEMA IF EXISTS {partition} CASCADE")
                with discreet.read(server.url(), table="people") as private:
                    to = {"to": server.url(), "release": partition}
                    discreet.publish(private, {**policy, "partition": partition}, **to).close()

            copies, shuffle, local, deal = measure.seconds(
                copied, shuffled, lambda: publish("local"), lambda: publish("deal")
            )
            print(f"{rows:,} rows x {len(names)}: the two COPYs {copies:.2f} s, in random order {shuffle:.2f} s")
            print(f"publish by local: {local:.2f} s, times the two COPYs {measure.verdict(local / copies, 6)}")
            print(f"publish by deal: {deal:.2f} s, times ORDER BY random() {measure.verdict(deal / shuffle, 4)}")
            for partition in ("local", "deal"):
                release = discreet.open_release(server.url(), release=partition)
                print(f"questions to the release by {partition}, times the aggregate over the original:")
                for title, question in QUESTIONS.items():
                    compared(connection, release, title, question)
            well = analysts(server, release, seconds)
    finally:
        server.stop()
    if not well:
        sys.exit(1)


def publish_once(server, policy, partition):
    """A first release of few rows, but enough to be compiled, so that nothing is while it is measured."""
    with discreet.read(server.url(), query="SELECT * FROM people LIMIT 20000") as private:
        discreet.publish(
            private, {**policy, "partition": partition}, to=server.url(), release=f"first_{partition}"
        ).close()


def compared(connection, release, title, question):
    """One line: how long a question takes, and how many times as long as the same aggregate over the original."""
    plain, asked, begun = [], [], time.monotonic()
    while len(asked) < TIMES and (len(asked) < 3 or time.monotonic() < begun + PATIENCE):
        sql = question.format(25 + len(asked))
        servers = sql
        for ours, theirs in SERVERS.items():
            servers = servers.replace(ours, theirs)
        plain.append(timed(lambda servers=servers: connection.execute(servers).fetchall()))
        asked.append(timed(lambda sql=sql: release.ask(sql, estimator="even")))
    ours, original = statistics.median(asked), statistics.median(plain)
    told = f"{ours * 1000:6.0f} ms beside {original * 1000:5.0f}, times {measure.verdict(ours / original, 2.5)}"
    print(f"  {title:22}{told}" + ("" if len(asked) == TIMES else f"  (median of {len(asked)})"))


def analysts(server, release, seconds):
    """Whether all of them have the answer of one, and none has an error."""
    question = QUESTIONS["AVG by key"].format(40)
    expected, end, found, wrong = release.ask(question, estimator="even"), time.monotonic() + seconds, [], []

    def ask():
        try:
            with discreet.open_release(server.url(), release=release.address.name) as own:
                while time.monotonic() < end:
                    found.append(alike(own.ask(question, estimator="even"), expected))
        except Exception as error:  # noqa: BLE001 - whatever it is, an analyst had no answer
            wrong.append(f"{type(error).__name__}: {error}")

    threads = [Thread(target=ask, daemon=True) for _ in range(ANALYSTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(max(end + 60 - time.monotonic(), 0))
    wrong += ["an analyst waits for an answer since a minute" for thread in threads if thread.is_alive()]
    differ = found.count(False)
    print(f"{ANALYSTS} analysts, {seconds} s: {len(found)} answers, {differ} differ, {len(wrong)} errors")
    for error in dict.fromkeys(wrong):
        print(f"  {error}")
    return bool(found) and not differ and not wrong


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
