"""Whatever a steward hands in by mistake: each failure says why, writes nothing and tells no cell of the table."""

import csv
import datetime as dt
import decimal
import math
import os
import re
import tempfile
from collections import Counter
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet import Policy, open_release, publish, read, verify
from discreet.errors import DiscreetError, GuaranteeError, InputError, PolicyError, ReleaseError
from discreet.partition import PARTITIONS

TOWNS = ("Quixoteville", "Zanzibarton", "Xanaduburg")
ILLS = ("asthmatosis", "bronchobia", "cardiomania", "dermatopsy")
SECRETS = (*TOWNS, *ILLS, "424242")
ROWS = [(20 + i % 5, TOWNS[i % 3], ILLS[i % 4]) for i in range(24)]
PLAIN = {"quasi": ["age", "town"], "sensitive": "ill", "guarantee": {"l": 2}, "partition": "deal"}


def table(**columns):
    """The table of this file, with columns added or replaced."""
    age, town, ill = (list(column) for column in zip(*ROWS, strict=True))
    return pa.table({"age": age, "town": town, "ill": ill, **columns})


def cycle(*values, type_=None):
    return pa.array([values[i % len(values)] for i in range(24)], type_)


def csv_text(rows=ROWS, header=("age", "town", "ill")):
    return "".join(",".join(map(str, row)) + "\n" for row in [header, *rows])


@pytest.fixture
def to(tmp_path):
    place = tmp_path / "out"
    place.mkdir()
    return place / "release"


@pytest.fixture
def file(tmp_path):
    def write(content, name="people.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


@pytest.fixture
def refused(to):
    """Publish what must be refused: the error, after checking that it is all that is left."""

    def act(source, error, *messages, told=(), **policy):
        with pytest.raises(error) as caught:
            publish(source, Policy(**{**PLAIN, **policy}), to=to)
        text = str(caught.value)
        assert [message for message in messages if message not in text] == [], text
        assert list(to.parent.iterdir()) == [], "something is left behind"
        assert [secret for secret in SECRETS if secret in text and secret not in told] == [], text
        return caught.value

    return act


@contextmanager
def as_somebody():
    """As a user who is not the superuser, for whom no file is closed."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


@contextmanager
def closed(path, mode=0):
    path.chmod(mode)
    try:
        with as_somebody():
            yield
    finally:
        path.chmod(0o700)


@pytest.fixture
def open_folder():
    """A folder that anyone may enter; those of pytest are for one user only."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


def test_the_table_of_this_file_can_be_published(to, file):
    assert verify(publish(file(csv_text()), Policy(**PLAIN), to=to).path).ok


def test_missing_file(refused, tmp_path):
    refused(tmp_path / "nowhere.csv", InputError, "there is no file", "nowhere.csv", "check the path")


def test_missing_folder_of_a_file(refused, tmp_path):
    refused(tmp_path / "no" / "where.parquet", InputError, "there is no file")


@pytest.mark.parametrize("name", ["people.csv", "people.parquet"])
def test_unreadable_file(open_folder, name):
    path = open_folder / name
    pq.write_table(table(), path) if path.suffix == ".parquet" else path.write_text(csv_text())
    with closed(path), pytest.raises(InputError, match="cannot be read"):
        read(path)


def test_file_in_an_unreadable_folder(open_folder):
    folder = open_folder / "closed"
    folder.mkdir()
    (folder / "people.csv").write_text(csv_text())
    with closed(folder), pytest.raises(InputError, match=r"people\.csv"):
        read(folder / "people.csv")


def test_file_with_a_name_that_is_too_long(refused, tmp_path):
    refused(tmp_path / f"{'x' * 300}.csv", InputError, "x" * 300)


def test_folder_instead_of_a_file(refused, tmp_path):
    refused(tmp_path, InputError, "is a folder, expected a file")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("people.txt", "is not a `.csv`, `.csv.gz`, `.parquet` or `.xlsx` file"),
        ("people", "is not a `.csv`, `.csv.gz`, `.parquet` or `.xlsx` file"),
        ("people.xlsx", "is not an Excel file, or it is damaged"),
        ("people.csv.gz", "is not compressed by gzip"),
    ],
)
def test_wrong_suffix(refused, file, name, message):
    refused(file(csv_text(), name), InputError, message)


@pytest.mark.parametrize("source", [None, 7, b"people.csv", {"age": [1]}, [1, 2]])
def test_no_table_at_all(refused, source):
    refused(source, InputError, "cannot read a ", "__arrow_c_stream__")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (csv_text() + "31,Zanzibarton\n", "line 26 has 2 fields, expected 3"),
        (csv_text() + "31,Zanzibarton,asthmatosis,424242\n", "line 26 has 4 fields, expected 3"),
        (csv_text().encode() + "31,Zanzibart\xf6n,flu\n".encode("latin-1"), "line 26 is not UTF-8"),
        (csv_text().encode("utf-16"), "line 1 is not UTF-8"),
        (csv_text() + '31,"Zanzibarton,flu\n', "opens a quote that is never closed"),
        ("", "is empty, expected a header and rows"),
        ("\n\n", "is empty, expected a header and rows"),
        (b"\xef\xbb\xbf", "is empty, expected a header and rows"),
        ("age,town,ill\n", "the table has no rows"),
        (",,\n1,2,3\n", "a column has no name"),
        ("age,,ill\n1,Zanzibarton,3\n", "a column has no name"),
    ],
    ids=[
        "too few",
        "too many",
        "latin-1",
        "utf-16",
        "open quote",
        "empty",
        "blank",
        "mark only",
        "header",
        "no names",
        "no name",
    ],
)
def test_damaged_csv(refused, file, content, message):
    refused(file(content), InputError, message)


@pytest.mark.parametrize("rows", [b"PAR1 nonsense PAR1", b"", b"age,town,ill\n"])
def test_damaged_parquet(refused, file, rows):
    refused(file(rows, "people.parquet"), InputError, "is not a Parquet file, or it is damaged", "people.parquet")


def test_parquet_with_a_damaged_page(refused, tmp_path):
    path = tmp_path / "people.parquet"
    pq.write_table(table(), path)
    content = bytearray(path.read_bytes())
    content[4:40] = bytes(36)
    path.write_bytes(content)
    refused(path, DiscreetError)


def test_no_rows(refused, to):
    refused(table().slice(0, 0), InputError, "the table has no rows")


def test_no_columns(refused):
    refused(pa.table({}), InputError)


def test_one_row(refused):
    refused(table().slice(0, 1), GuaranteeError, "l = 2 cannot be met", "1 of 1 rows", "no l works", told=ILLS)


@pytest.mark.parametrize(
    "header", ["age,age,ill", "age,AGE,ill", "age,town,Town,ill", "town,ill,age,town", "age, age,ill", '"age",age ,ill']
)
def test_duplicate_names_in_csv(refused, file, header):
    row = ",".join(["424242"] * len(header.split(",")))
    refused(file(f"{header}\n{row}\n{row}\n"), InputError, "stands twice", "a name of its own")


@pytest.mark.parametrize("names", [["age", "age", "ill"], ["age", "Age", "ill"]])
def test_duplicate_names_in_parquet_and_frames(refused, tmp_path, names):
    doubled = pa.table([[1, 2], [3, 4], [5, 6]], names=names)
    pq.write_table(doubled, tmp_path / "people.parquet")
    for source in (tmp_path / "people.parquet", doubled, pd.DataFrame([[1, 2, 3]] * 4, columns=names)):
        refused(source, InputError, "the column name `age` stands twice")


ODD_NAMES = (
    *(
        "two words",
        'a "quoted" name',
        "it's",
        "semi;colon",
        "x'); DROP TABLE qit; --",
        "a;b;c;d",
        "-- comment",
        "/* */",
    ),
    *(
        "select",
        "ORDER",
        "from",
        "null",
        "true",
        "interval",
        "100",
        "*",
        "?",
        ":number",
        "$1",
        "a.b",
        "a,b",
        "back`tick",
    ),
    *("group", "COUNT", "value", "grp", "key_0", "qit", "st", "n", "signature", "size", "urn", "least_0", "estimate"),
    *("low", "frame", "rows", "source", "private", "microdata", "c0_1", "help", "naïve", "名前", "x" * 200),
)


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


def odd_table():
    """One column per odd name, each with values of its own."""
    columns = {name: [(i + at) % (2 + at % 5) for i in range(40)] for at, name in enumerate(ODD_NAMES)}
    return pa.table({**columns, "ill": [i % 4 for i in range(40)]})


@pytest.fixture(scope="module", params=["parquet", "csv"])
def odd(request, tmp_path_factory):
    """A release of a table all of whose columns have odd names, and the table; from and to either format."""
    place, private = tmp_path_factory.mktemp("odd"), odd_table()
    path = place / f"odd.{request.param}"
    if request.param == "parquet":
        pq.write_table(private, path)
    else:
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, quoting=csv.QUOTE_ALL)
            writer.writerows([private.column_names, *zip(*private.to_pydict().values(), strict=True)])
    policy = Policy(quasi=ODD_NAMES, sensitive="ill", guarantee={"l": 2}, partition="local")
    release = publish(path, policy, to=place / "release", format=request.param)
    assert verify(release.path).ok
    return open_release(release.path), private


def test_odd_names_of_quasi_identifiers(odd):
    release, private = odd
    for name in ODD_NAMES:
        column, values = quoted(name), private[name].to_pylist()
        counted = release.ask(f'SELECT {column}, COUNT(*) AS "how many" FROM microdata GROUP BY {column}').rows()
        assert {row[name]: row["how many"] for row in counted} == Counter(values)


@pytest.mark.parametrize(
    "name", ['a "quoted" name', "x'); DROP TABLE qit; --", "group", "value", "key_0", "qit", "c0_1", "urn"]
)
def test_odd_names_of_quasi_identifiers_beside_the_sensitive_column(odd, name):
    release, private = odd
    column, values = quoted(name), private[name].to_pylist()
    [answer] = release.ask(
        f"SELECT COUNT(*) AS n, AVG(ill) AS a FROM microdata WHERE {column} >= 1 AND ill <= 3"
    ).rows()
    assert answer["n_low"] == answer["n_high"] == sum(v >= 1 for v in values)
    truth = np.mean([ill for ill, v in zip(private["ill"].to_pylist(), values, strict=True) if v >= 1])
    assert answer["a_low"] - 1e-9 <= truth <= answer["a_high"] + 1e-9


@pytest.mark.parametrize(
    "name",
    ['a "b" c', "x'); DROP TABLE qit; --", "value", "count", "group", "key_0", "qit", "n", "signature", "select"],
)
def test_odd_names_of_the_sensitive_column(to, name):
    private = pa.table({"age": [i % 5 for i in range(24)], name: [i % 6 for i in range(24)]})
    release = publish(private, Policy(quasi=["age"], sensitive=name, guarantee={"l": 3}, partition="deal"), to=to)
    assert verify(to).ok
    column = quoted(name)
    counted = release.ask(f"SELECT {column}, COUNT(*) AS people FROM microdata GROUP BY {column}").rows()
    assert [(row[name], row["people"]) for row in counted] == [(v, 4) for v in range(6)]
    [answer] = release.ask(f"SELECT SUM({column}) AS x FROM microdata WHERE age > 1 AND {column} > 2").rows()
    truth = sum(i % 6 for i in range(24) if i % 5 > 1 and i % 6 > 2)
    assert answer["x_low"] <= truth <= answer["x_high"]


@pytest.mark.parametrize("name", ["semi;colon;s", "x'); DROP TABLE qit; --", "tab\tand|bar|s", "a b"])
def test_odd_names_that_a_csv_header_does_not_quote(to, file, name):
    path = file(f"{name},ill\n" + "".join(f"{i},{i % 3}\n" for i in range(12)))
    release = publish(path, Policy(quasi=[name], sensitive="ill", guarantee={"l": 2}), to=to)
    assert release.ask(f"SELECT SUM({quoted(name)}) AS x FROM microdata").rows()[0]["x"] == 66


@pytest.mark.parametrize(
    "name",
    ["two words", 'say "hi"', "it's", "x; DROP TABLE qit", "-- c", "qit", "st", "help", "select", "名前", "<b>", "a.b"],
)
def test_odd_names_of_the_table(to, name):
    release = publish(table(), Policy(**PLAIN, name=name), to=to)
    assert verify(to).ok
    for source in ("microdata", quoted(name)):
        assert open_release(to).ask(f"SELECT COUNT(*) FROM {source}").rows()[0]["count"] == 24
    assert release.promise.table == name
    assert re.fullmatch(r"[a-z0-9-]+", release.manifest.name)


def test_unknown_columns(refused):
    error = refused(table(), PolicyError, "the table has no column `agee`; did you mean `age`?", quasi=["agee", "town"])
    assert [mistake.key for mistake in error.mistakes] == ["quasi", "drop"]
    refused(table(), PolicyError, "the table has no column `il`; did you mean `ill`?", sensitive="il", drop="rest")
    refused(table(), PolicyError, "the table has no column `x`; expected one of: `age`, `town`", identifiers=["x"])
    refused(table(), PolicyError, "the table has no column `AGE`; did you mean `age`?", quasi=["AGE"], drop="rest")


def test_unlisted_columns(refused):
    more = table(name=["Xanaduburg"] * 24, shoe=[424242] * 24)
    error = refused(
        more, PolicyError, "the column `name` has no role", "the column `shoe` has no role", 'drop = "rest"'
    )
    assert len(error.mistakes) == 2
    refused(more, PolicyError, "the column `shoe` has no role", identifiers=["name"])


@pytest.mark.parametrize(
    ("roles", "message"),
    [
        ({"quasi": ["age", "ill"]}, "the column `ill` stands in `quasi` too; a column has one role"),
        ({"identifiers": ["age"]}, "the column `age` stands in `identifiers` too"),
        ({"drop": ["town"]}, "the column `town` stands in `quasi` too"),
        ({"quasi": ["age", "town", "age"]}, "the column `age` stands twice"),
    ],
)
def test_one_column_in_two_roles(refused, roles, message):
    refused(table(), PolicyError, message, **roles)


@pytest.mark.parametrize("l", [1, 0, -3])
def test_l_below_2(refused, l):
    refused(table(), PolicyError, "`guarantee.l`: expected 2 or more", f"got {l}", guarantee={"l": l})


@pytest.mark.parametrize(
    ("guarantee", "message"),
    [
        ({"k": 3}, "`anatomize` needs the guarantee `l`; add it, or use `deal` or `local`"),
        ({"distinct_l": 2}, "`anatomize` needs the guarantee `l`"),
        ({"l": 2, "k": 3}, "`anatomize` makes groups of l = 2 rows, too few for the other promises"),
        ({"l": 2, "distinct_l": 3}, "`anatomize` makes groups of l = 2 rows"),
    ],
)
def test_combinations_that_make_no_sense(refused, guarantee, message):
    refused(table(), PolicyError, message, guarantee=guarantee, partition="anatomize")


def test_l_that_is_impossible(refused):
    """The steward is told the value that is too frequent; nobody else sees this message."""
    frequent = table(ill=["asthmatosis"] * 9 + ["bronchobia"] * 8 + ["cardiomania"] * 7)
    error = refused(
        frequent,
        GuaranteeError,
        "l = 3 cannot be met",
        "the value 'asthmatosis' of `ill` is held by 9 of 24 rows (37.5%)",
        "at most 1/3 may share a value",
        "the largest that works is 2",
        told=["asthmatosis"],
        guarantee={"l": 3},
    )
    assert error.exit_status == 3


@pytest.mark.parametrize(
    ("guarantee", "message"),
    [
        ({"k": 25}, "k = 25 cannot be met: the table has 24 rows; the largest that works is 24"),
        ({"distinct_l": 5}, "distinct_l = 5 cannot be met: `ill` has 4 distinct values; the largest that works is 4"),
        ({"l": 10**30}, "the largest that works is 4"),
        ({"k": 2**63}, "the largest that works is 24"),
    ],
)
def test_guarantees_that_are_impossible(refused, guarantee, message):
    refused(table(), GuaranteeError, message, told=ILLS, guarantee=guarantee)


@pytest.mark.parametrize("partition", ["anatomize", "deal", "local"])
def test_the_largest_l_that_is_named_works(to, partition):
    frequent = table(ill=["a"] * 6 + ["b"] * 5 + ["c"] * 5 + ["d"] * 4 + ["e"] * 4)
    policy = {**PLAIN, "partition": partition}
    with pytest.raises(GuaranteeError, match="the largest that works is 4"):
        publish(frequent, Policy(**{**policy, "guarantee": {"l": 5}}), to=to)
    publish(frequent, Policy(**{**policy, "guarantee": {"l": 4}}), to=to)
    assert verify(to).ok


RANGES = {
    "quasi": ["age", "town"],
    "sensitive": "ill",
    "guarantee": {"k": 3, "e": 2},
    "publication": "permutation",
    "partition": "auto",
}
BY_RANGE = [name for name, way in PARTITIONS.items() if way.keeps and "e" in way.keeps]
ANY_RANGE = [*BY_RANGE, "deal", "local"]


@pytest.mark.parametrize(("publication", "partition"), [("permutation", "tightest"), ("anatomy", "local")])
@pytest.mark.parametrize(
    ("ill", "guarantee", "message"),
    [
        (
            range(24),
            {"k": 25, "e": 2},
            "k = 25 cannot be met: `ill` has 24 distinct values; the largest that works is 24",
        ),
        (
            [0, 1, 2, 9] * 6,
            {"k": 5, "e": 2},
            "k = 5 cannot be met: `ill` has 4 distinct values; the largest that works is 4",
        ),
        (
            [0, 1, 2, 9] * 6,
            {"k": 3, "e": 10},
            "e = 10 cannot be met: the values of `ill` span a range of 9; the largest that works is 9",
        ),
        ([0, 1, 2, 9] * 6, {"k": 3, "e": 9.001}, "e = 9.001 cannot be met"),
        ([0, 1, 2, 9] * 6, {"k": 3, "e": 10**30}, "the largest that works is 9"),
        ([0, 1, 2, 9] * 6, {"k": 10**30, "e": 1}, "the largest that works is 4"),
        ([7] * 24, {"k": 2, "e": 0}, "k = 2 cannot be met: `ill` has 1 distinct value; no k works"),
    ],
    ids=["k", "k of values", "e", "a part of e", "huge e", "huge k", "one value"],
)
def test_ranges_that_are_impossible(refused, partition, publication, ill, guarantee, message):
    """Said before any partition is asked."""
    roles = {**RANGES, "partition": partition, "publication": publication, "guarantee": guarantee}
    error = refused(table(ill=list(ill)), GuaranteeError, message, **roles)
    assert error.exit_status == 3


@pytest.mark.parametrize("partition", ANY_RANGE)
@pytest.mark.parametrize("guarantee", [{"k": 4, "e": 9}, {"k": 2, "e": 8.5}], ids=str)
def test_the_largest_k_and_e_that_are_named_work(to, partition, guarantee):
    roles = {**RANGES, "partition": partition, "guarantee": guarantee}
    release = publish(table(ill=[0, 1, 2, 9] * 6), Policy(**roles), to=to)
    assert verify(to).ok
    assert release.ask("SELECT MAX(ill) AS x FROM microdata").rows()[0]["x"] == 9


@pytest.mark.parametrize(
    ("kind", "e", "largest"),
    [
        (cycle(*(decimal.Decimal(cents) / 100 for cents in (10, 25, 40, 51))), 0.5, "0.41"),
        (cycle(0.5, 0.75, 1.0, 2.25), 2, "1.75"),
        (cycle(*(dt.date(2020, 2, day) for day in (1, 2, 9, 29))), 29, "28"),
        (cycle(*(hour * 3_600_000_000 for hour in (0, 1, 5, 36)), type_=pa.timestamp("us")), 2, "1.5"),
        (cycle(-128, 0, 5, 127, type_=pa.int8()), 256, "255"),
        (cycle(0, 1, 2, 2**63 - 1), 2**63, f"{2**63 - 1:,}"),
    ],
    ids=["decimal", "float", "date", "timestamp", "small integer", "integer"],
)
def test_the_largest_range_of_every_type(refused, to, kind, e, largest):
    refused(
        table(ill=kind),
        GuaranteeError,
        f"the largest that works is {largest}",
        **{**RANGES, "guarantee": {"k": 3, "e": e}},
    )
    works = float(largest) if "." in largest else int(largest.replace(",", ""))
    publish(table(ill=kind), Policy(**{**RANGES, "guarantee": {"k": 3, "e": works}}), to=to)
    assert verify(to).ok


@pytest.mark.parametrize(
    ("guarantee", "message"),
    [
        ({"k": 1, "e": 2}, "`guarantee.k`: expected 2 or more, got 1: a smaller number promises nothing"),
        ({"k": 0, "e": 2}, "`guarantee.k`: expected 2 or more, got 0"),
        ({"k": 3, "e": -1}, "`guarantee.e`: expected 0 or more, got -1"),
        ({"k": 3, "e": -0.5}, "`guarantee.e`: expected 0 or more, got -0.5"),
        ({"k": 3, "e": float("nan")}, "`guarantee.e`: expected a number, got nan"),
        ({"k": 3, "e": float("inf")}, "`guarantee.e`: expected a number, got inf"),
        ({"k": 3, "e": "2"}, "`guarantee.e`: expected a number, got '2'"),
        ({"k": 3, "e": True}, "`guarantee.e`: expected a number, got True"),
        ({"k": 2.5, "e": 2}, "`guarantee.k`: expected a whole number, got 2.5"),
        ({"e": 2}, "`guarantee.e`: is promised together with k, the number of distinct values; add it"),
    ],
    ids=str,
)
def test_ranges_that_promise_nothing(refused, guarantee, message):
    refused(table(ill=list(range(24))), PolicyError, message, **{**RANGES, "guarantee": guarantee})


@pytest.mark.parametrize("partition", ["tightest", "local"])
@pytest.mark.parametrize("odd", [float("inf"), float("-inf")])
def test_infinite_sensitive_values_have_no_range(refused, partition, odd):
    ill = [odd, *map(float, range(23))]
    for publication in ("permutation", "anatomy"):
        roles = {**RANGES, "partition": partition, "publication": publication}
        refused(
            table(ill=ill),
            InputError,
            "the sensitive column `ill` holds infinite values",
            "leave those rows out",
            **roles,
        )


@pytest.mark.parametrize("source", [lambda odd: odd, lambda odd: odd.to_pandas(), pl.from_arrow])
def test_sensitive_values_that_are_no_numbers(refused, to, source):
    """NaN is a missing value: refused, or withheld with its row."""
    odd = table(ill=[float("nan"), *map(float, range(23))])
    refused(source(odd), InputError, "the sensitive column `ill` has 1 missing values", '"withhold"', **RANGES)
    release = publish(source(odd), Policy(**RANGES, missing_sensitive="withhold"), to=to)
    assert release.promise.rows == 23
    assert verify(to).ok


@pytest.mark.parametrize(
    "ill",
    [
        [-(2**63), 2**63 - 1, *range(22)],
        [-1e308, 1e308, *map(float, range(22))],
        pa.array([0, 2**64 - 1, *range(22)], pa.uint64()),
        pa.array([decimal.Decimal(10) ** 30, decimal.Decimal(-1) * 10**30, *map(decimal.Decimal, range(22))]),
        pa.array([-(10**37), 10**37, *range(22)], pa.decimal128(38, 0)),
    ],
    ids=["integers", "floats", "unsigned", "decimals", "huge integers"],
)
@pytest.mark.parametrize("publication", ["permutation", "anatomy"])
def test_values_too_far_apart(refused, ill, publication):
    refused(
        table(ill=ill),
        InputError,
        "the values of `ill` lie too far apart for their differences to be computed",
        "leave the extreme values out, or publish them in a coarser unit",
        **{**RANGES, "publication": publication},
    )


NOT_MEASURABLE = {
    "text": cycle("7", "8", "9", "10"),
    "boolean": cycle(True, False),
    "time": cycle(dt.time(1), dt.time(2), dt.time(3)),
}


@pytest.mark.parametrize("kind", NOT_MEASURABLE)
def test_permutations_need_numbers(refused, to, kind):
    """Text, even of digits, is pointed to `anatomy`, under which it can be published."""
    strange = table(ill=NOT_MEASURABLE[kind])
    error = refused(
        strange, PolicyError, "`publication`: `permutation` needs numbers or dates", "use `anatomy`", **RANGES
    )
    assert [mistake.key for mistake in error.mistakes] == ["publication", "guarantee.e"]
    plain = {**RANGES, "guarantee": {"l": 2}}
    error = refused(strange, PolicyError, "`permutation` needs numbers or dates", "use `anatomy`", **plain)
    assert [mistake.key for mistake in error.mistakes] == ["publication"]
    error = refused(
        strange,
        PolicyError,
        "`guarantee.e`: a range needs numbers or dates, but `ill` holds",
        "use `l` or `distinct_l`",
        **{**RANGES, "publication": "anatomy"},
    )
    assert [mistake.key for mistake in error.mistakes] == ["guarantee.e"]
    publish(strange, Policy(**{**plain, "publication": "anatomy"}), to=to)
    assert verify(to).ok


def test_missing_values_have_no_place_in_a_range(refused, to):
    gaps = table(ill=[None, *range(23)])
    refused(gaps, PolicyError, "a missing value has no place in a range", **RANGES, missing_sensitive="value")
    refused(gaps, InputError, "the sensitive column `ill` has 1 missing values", **RANGES)
    refused(
        table(ill=pa.nulls(24, pa.int64())),
        InputError,
        "every value of the sensitive column `ill` is missing",
        **RANGES,
        missing_sensitive="withhold",
    )
    release = publish(gaps, Policy(**RANGES, missing_sensitive="withhold"), to=to)
    assert (release.promise.rows, release.withheld) == (23, 1)
    assert verify(to).ok


@pytest.mark.parametrize("partition", BY_RANGE)
def test_partitions_that_know_only_ranges(refused, partition):
    numbers = table(ill=list(range(24)))
    needs = f"`partition`: `{partition}` needs the guarantee `e`; add it, or use `deal` or `local`"
    refused(numbers, PolicyError, needs, **{**RANGES, "partition": partition, "guarantee": {"k": 3}})
    refused(numbers, PolicyError, needs, **{**RANGES, "partition": partition, "guarantee": {"l": 3}})
    for more in ("l", "distinct_l"):
        cannot = f"`partition`: `{partition}` cannot keep the promise `{more}`; use `deal` or `local`"
        refused(
            numbers, PolicyError, cannot, **{**RANGES, "partition": partition, "guarantee": {"k": 3, "e": 2, more: 2}}
        )


@pytest.mark.parametrize(
    ("partition", "form"), [*((partition, "parquet") for partition in ANY_RANGE), ("tightest", "csv")]
)
def test_ranges_may_be_published_as_anatomy(to, partition, form):
    roles = {**RANGES, "partition": partition, "publication": "anatomy"}
    release = publish(table(ill=[i % 9 for i in range(24)]), Policy(**roles), to=to, format=form)
    assert [resource.name for resource in release.manifest.resources] == ["qit", "st"]
    assert verify(to).ok
    [answer] = open_release(to).ask("SELECT SUM(ill) AS x, MIN(ill) AS m FROM microdata WHERE age > 21").rows()
    hits = [i % 9 for i in range(24) if 20 + i % 5 > 21]
    assert answer["x_low"] <= sum(hits) <= answer["x_high"]
    assert answer["m_low"] <= min(hits) <= answer["m_high"]


def test_the_exact_partition_is_gone(refused):
    refused(
        table(), PolicyError, "`min_max_exact` is gone", "use `min_max`", **{**RANGES, "partition": "min_max_exact"}
    )


def with_gaps():
    return table(ill=[None if i % 6 == 5 else ILLS[i % 4] for i in range(24)])


def test_missing_sensitive_values_are_an_error(refused):
    refused(with_gaps(), InputError, "the sensitive column `ill` has 4 missing values", '"value"', '"withhold"')


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_missing_sensitive_values_as_a_value(to, form):
    release = publish(with_gaps(), Policy(**PLAIN, missing_sensitive="value"), to=to, format=form)
    assert verify(to).ok
    [answer] = release.ask("SELECT COUNT(*) AS n, COUNT(ill) AS known FROM microdata").rows()
    assert (answer["n"], answer["known"]) == (24, 20)
    [answer] = release.ask("SELECT COUNT(*) AS n FROM microdata WHERE ill IS NULL").rows()
    assert answer["n_low"] == answer["n_high"] == 4
    assert release.ask("SELECT ill, COUNT(*) FROM microdata GROUP BY ill").rows()[-1]["ill"] is None


def test_missing_sensitive_values_count_for_the_guarantee(refused):
    gaps = table(ill=[None] * 13 + [ILLS[i % 4] for i in range(11)])
    refused(gaps, GuaranteeError, "the value None of `ill` is held by 13 of 24 rows", missing_sensitive="value")


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_missing_sensitive_values_withheld(to, form):
    release = publish(with_gaps(), Policy(**PLAIN, missing_sensitive="withhold"), to=to, format=form)
    assert verify(to).ok
    assert release.promise.rows == 20
    assert release.ask("SELECT COUNT(*) FROM microdata").rows()[0]["count"] == 20
    assert "24" not in (to / "datapackage.json").read_text(encoding="utf-8").split('"discreet"')[1]


@pytest.mark.parametrize(
    ("missing_sensitive", "error", "message"),
    [
        ("error", InputError, "has 24 missing values"),
        ("withhold", InputError, "every value of the sensitive column `ill` is missing"),
        ("value", GuaranteeError, "is held by 24 of 24 rows"),
    ],
)
def test_all_sensitive_values_missing(refused, missing_sensitive, error, message):
    gone = table(ill=pa.nulls(24, pa.string()))
    refused(gone, error, message, missing_sensitive=missing_sensitive)


@pytest.mark.parametrize("missing_sensitive", ["error", "withhold", "value"])
def test_a_sensitive_column_without_a_type(refused, missing_sensitive):
    refused(table(ill=pa.nulls(24)), DiscreetError, "`ill`", missing_sensitive=missing_sensitive)


@pytest.mark.parametrize("form", ["parquet", "csv"])
@pytest.mark.parametrize("town", [["Xanaduburg"] * 24, pa.nulls(24, pa.string())], ids=["one value", "all missing"])
def test_constant_quasi_identifiers(to, town, form):
    same = table(age=[40] * 24, town=town)
    release = publish(same, Policy(**{**PLAIN, "partition": "local"}), to=to, format=form)
    assert verify(to).ok
    [answer] = release.ask("SELECT town, COUNT(*) AS n FROM microdata WHERE age = 40 GROUP BY town").rows()
    assert answer["n"] == 24
    [answer] = release.ask("SELECT COUNT(*) AS n FROM microdata WHERE age = 40 AND ill = 'asthmatosis'").rows()
    assert answer["n_low"] == answer["n_high"] == 6


@pytest.mark.parametrize(
    "make", [Path.mkdir, Path.touch, lambda to: to.symlink_to("nowhere")], ids=["folder", "file", "link"]
)
def test_target_exists(to, make):
    make(to)
    with pytest.raises(ReleaseError, match=r"exists already\s+Hint: a release is never overwritten"):
        publish(table(), Policy(**PLAIN), to=to)
    assert [entry.name for entry in to.parent.iterdir()] == ["release"]


def test_target_exists_is_said_before_anything_is_read(to):
    to.mkdir()
    with pytest.raises(ReleaseError, match="exists already"):
        publish("nowhere.csv", Policy(**PLAIN), to=to)


@pytest.mark.parametrize("name", ["x" * 300, "x" * 250, "a\0b", "../people.csv/release"])
def test_targets_that_cannot_be(to, file, name):
    file(csv_text())
    with pytest.raises(ReleaseError):
        publish(table(), Policy(**PLAIN), to=to.parent / name)
    assert list(to.parent.iterdir()) == []


def test_target_in_a_folder_that_may_not_be_entered(open_folder):
    with closed(open_folder), pytest.raises(ReleaseError):
        publish(table(), Policy(**PLAIN), to=open_folder / "release")
    assert list(open_folder.iterdir()) == []


def test_target_in_a_folder_that_may_not_be_written(open_folder):
    with closed(open_folder, 0o555), pytest.raises(ReleaseError, match="could not be written: Permission denied"):
        publish(table(), Policy(**PLAIN), to=open_folder / "release")
    assert list(open_folder.iterdir()) == []


@pytest.mark.parametrize("options", [{"format": "xml"}, {"seed": -1}, {"seed": "x"}])
def test_options_that_cannot_be(to, options):
    with pytest.raises(DiscreetError):
        publish(table(), Policy(**PLAIN), to=to, **options)
    assert list(to.parent.iterdir()) == []


UNSUPPORTED = {
    "list": pa.array([[1], [2], [3]] * 8),
    "struct": pa.array([{"x": 1}, {"x": 2}, {"x": 3}] * 8),
    "map": pa.array([[("x", 1)]] * 24, pa.map_(pa.string(), pa.int64())),
    "blob": pa.array([b"a", b"b", b"c"] * 8),
    "duration": pa.array([dt.timedelta(days=i) for i in range(24)]),
    "decimal of 60 digits": pa.array([decimal.Decimal(10) ** 50 + i for i in range(24)], pa.decimal256(60, 0)),
}


@pytest.mark.parametrize("kind", UNSUPPORTED)
def test_unsupported_types(refused, to, kind):
    strange = table(town=UNSUPPORTED[kind])
    refused(strange, DiscreetError, "`town`", "cannot be published", "drop")
    refused(strange, DiscreetError, "`town`", "cannot be published", quasi=["age"], sensitive="town", drop="rest")
    publish(strange, Policy(**{**PLAIN, "quasi": ["age"]}, drop=["town"]), to=to)
    assert verify(to).ok


@pytest.mark.parametrize("kind", UNSUPPORTED)
def test_unsupported_types_can_be_inspected(kind):
    profile = read(table(town=UNSUPPORTED[kind])).inspect(quasi=["age"], sensitive="ill")
    assert [column.suggestion for column in profile.columns if column.name == "town"] == ["drop"]


def test_half_floats(to):
    """They are published or refused; either way a table that has some can be published without them."""
    halves = table(town=cycle(np.float16(0.5), np.float16(2.0), type_=pa.float16()))
    with suppress(DiscreetError):
        publish(halves, Policy(**PLAIN), to=to.with_name("halves"))
    publish(halves, Policy(**{**PLAIN, "quasi": ["age"]}, drop=["town"]), to=to)


def test_frames_with_columns_of_mixed_types(refused):
    """Arrow quotes the value that it could not convert; the message must not."""
    for mixed in (["Xanaduburg", 424242, 3.5], [object(), "Xanaduburg", None], [{"x": 1}, "Xanaduburg", 2]):
        refused(table().to_pandas().assign(town=mixed * 8), InputError, "mixed types")


@pytest.mark.parametrize("values", [[2**70 + i for i in range(24)], [1j] * 24], ids=["huge", "complex"])
def test_frames_with_numbers_that_arrow_does_not_know(refused, values):
    refused(table().to_pandas().assign(town=values), InputError, "cannot be read as Arrow")


def test_a_lazy_frame(refused):
    refused(pl.DataFrame({"age": [1]}).lazy(), InputError, "cannot read a LazyFrame")


TYPES = {
    "boolean": cycle(True, False),
    "small integer": cycle(-128, 127, 0, 5, type_=pa.int8()),
    "unsigned": cycle(0, 255, 7, type_=pa.uint8()),
    "extreme integer": cycle(2**63 - 1, -(2**63), 0, -1),
    "extreme unsigned": cycle(2**64 - 1, 2**63, 0, type_=pa.uint64()),
    "huge integer": cycle(*(10**20 + i for i in range(4)), type_=pa.decimal128(38, 0)),
    "float": cycle(0.1 + 0.2, 0.3, -0.0, 0.0, 1e300, 5e-324),
    "single float": cycle(0.1, 0.5, 2.0, type_=pa.float32()),
    "infinity": cycle(float("inf"), float("-inf"), 1.5),
    "decimal": cycle(*map(decimal.Decimal, ("12345678901234567.88", "12345678901234567.89", "-0.10"))),
    "date": cycle(dt.date(1, 1, 1), dt.date(2000, 2, 29), dt.date(9999, 12, 31)),
    "timestamp": cycle(*(1_577_923_199_999_999 + day * 86_400_000_000 for day in (1, 2, 3)), type_=pa.timestamp("us")),
    "timestamp in nanoseconds": cycle(1_600_000_000_000_000_001, 1_600_000_000_000_000_002, type_=pa.timestamp("ns")),
    "timestamp with zone": cycle(
        *(dt.datetime(2020, 1, day, 23, 30, tzinfo=dt.UTC) for day in (1, 2, 3)), type_=pa.timestamp("us", tz="UTC")
    ),
    "time": cycle(dt.time(0, 0), dt.time(12, 30, 15), dt.time(23, 59, 59, 999_999)),
    "text": cycle("", " ", "a\nb", 'say "x", y', "NULL", "é", "a\0b", "1e5"),
    "text of digits": cycle("10", "9", "8", "010"),
    "text of dates": cycle("2020-1-1", "2020-01-01", "2020-01-02"),
    "category": cycle("a", "b", "c").dictionary_encode(),
}


# What CSV would blur: two values that are written differently are read back as one, or lose their zone.
NOT_IN_CSV = {
    *("extreme unsigned", "huge integer", "single float", "decimal"),
    *("timestamp in nanoseconds", "timestamp with zone"),
}


def agrees(counted, private):
    """Whether an answer counts every value of `town`, in order."""
    return [(row["town"], row["n"]) for row in counted] == sorted(Counter(private["town"].to_pylist()).items())


@pytest.mark.parametrize("kind", TYPES)
def test_types_as_quasi_identifiers(to, kind):
    private = table(town=TYPES[kind])
    publish(private, Policy(**{**PLAIN, "partition": "local"}), to=to)
    assert agrees(open_release(to).ask("SELECT town, COUNT(*) AS n FROM microdata GROUP BY town").rows(), private)


@pytest.mark.parametrize("kind", TYPES)
def test_types_as_sensitive_values(to, kind):
    private = table(town=TYPES[kind])
    policy = {**PLAIN, "quasi": ["age"], "sensitive": "town", "drop": ["ill"]}
    publish(private, Policy(**policy), to=to)
    release = open_release(to)
    assert agrees(release.ask("SELECT town, COUNT(*) AS n FROM microdata GROUP BY town").rows(), private)
    [answer] = release.ask("SELECT MIN(town) AS x FROM microdata WHERE age > 22").rows()
    assert answer["x_low"] <= answer["x"] <= answer["x_high"]


@pytest.mark.parametrize("kind", TYPES)
def test_types_in_csv(to, kind):
    """Either each value comes back from CSV as it was, or CSV is refused."""
    private = table(town=TYPES[kind])
    roles = [PLAIN, {**PLAIN, "quasi": ["age"], "sensitive": "town", "drop": ["ill"]}]
    for number, policy in enumerate(roles):
        place = to.with_name(str(number))
        if kind in NOT_IN_CSV:
            with pytest.raises(
                InputError, match=r"`town` .* cannot be read back exactly from CSV\s+Hint: publish as Parquet"
            ):
                publish(private, Policy(**policy), to=place, format="csv")
            assert list(to.parent.iterdir()) == []
        else:
            publish(private, Policy(**policy), to=place, format="csv")
            assert agrees(
                open_release(place).ask("SELECT town, COUNT(*) AS n FROM microdata GROUP BY town").rows(), private
            )


def test_huge_integers_in_csv(to, file):
    rows = [(10**20 + i % 4, "x", ILLS[i % 4]) for i in range(24)]
    release = publish(file(csv_text(rows)), Policy(**PLAIN), to=to)
    counted = release.ask("SELECT age, COUNT(*) AS n FROM microdata GROUP BY age").rows()
    assert [(int(row["age"]), row["n"]) for row in counted] == [(10**20 + i, 6) for i in range(4)]


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_periods_of_pandas_are_not_published_as_numbers(to, form):
    frame = table().to_pandas().assign(town=pd.period_range("2020-01", periods=24, freq="M"))
    try:
        release = publish(frame, Policy(**PLAIN), to=to, format=form)
    except DiscreetError:
        return
    assert "2020" in str(release.ask("SELECT MIN(town) AS x FROM microdata").rows()[0]["x"])


def test_a_million_distinct_values(to):
    n = 1_000_000
    chance = np.random.default_rng(1)
    many = pa.table({"age": chance.permutation(n), "ill": chance.integers(0, 50, n).astype(np.int32)})
    policy = Policy(quasi=["age"], sensitive="ill", guarantee={"l": 10}, partition="local")
    release = publish(many, policy, to=to)
    assert verify(to).ok
    [answer] = release.ask("SELECT COUNT(*) AS n, MAX(age) AS x FROM microdata WHERE age >= 10").rows()
    assert (answer["n"], answer["x"]) == (n - 10, n - 1)


@pytest.mark.parametrize("partition", ANY_RANGE)
def test_the_largest_range_that_is_named_works(tmp_path, partition):
    """Told in days it is rounded: down, or the kernels would be asked for what cannot be."""
    moments = pa.array([0, 200_000_000_000_000, 400_000_000_000_000], pa.timestamp("us"))
    table = pa.table({"q": [1, 2, 3], "s": moments})
    plain = {"quasi": ["q"], "sensitive": "s", "publication": "permutation", "partition": partition}
    with pytest.raises(GuaranteeError) as refused:
        publish(table, Policy(**plain, guarantee={"k": 2, "e": 5000}), to=tmp_path / "r")
    largest = float(re.search(r"largest that works is ([\d,.]+\d)", str(refused.value))[1].replace(",", ""))
    with pytest.raises(GuaranteeError):
        publish(table, Policy(**plain, guarantee={"k": 2, "e": math.nextafter(largest, 9e9)}), to=tmp_path / "r")
    release = publish(table, Policy(**plain, guarantee={"k": 2, "e": largest}), to=tmp_path / "r")
    assert release.promise.groups == 1


@pytest.mark.parametrize("guarantee", [{"k": 2}, {"l": 2}, {"k": 2, "e": 1}])
def test_infinite_values_are_not_permuted(tmp_path, guarantee):
    table = pa.table({"q": [1, 2, 3], "s": [1.0, 2.0, math.inf]})
    policy = Policy(quasi=["q"], sensitive="s", publication="permutation", guarantee=guarantee, partition="deal")
    with pytest.raises(InputError, match="`s` holds infinite values"):
        publish(table, policy, to=tmp_path / "r")


def test_a_range_told_by_numpy(tmp_path):
    table = pa.table({"q": [1, 2, 3], "s": [1.0, 2.0, 9.0]})
    policy = Policy(quasi=["q"], sensitive="s", publication="permutation", guarantee={"k": 2, "e": np.float64(2.5)})
    assert publish(table, policy, to=tmp_path / "r").promise.guarantee == {"k": 2, "e": 2.5}
