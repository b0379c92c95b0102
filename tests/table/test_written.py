"""Files as offices write them: separators, decimal commas, marks for no value, encodings, dates, gzip; never a guess."""

import datetime as dt
import gzip

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet import Policy, publish, read
from discreet.errors import InputError, PolicyError

OFFICE = "name;born;height;salary\nAnn;31.12.1990;1,75;1.234,50\nZoë;01.02.1991;n/a;-\nBob;05.06.1992;1,8;900\n"
KEYS = {"decimal": ",", "thousands": ".", "missing": ["n/a", "-"], "dates": "DD.MM.YYYY"}
ROWS = [
    {"name": "Ann", "born": dt.date(1990, 12, 31), "height": 1.75, "salary": 1234.5},
    {"name": "Zoë", "born": dt.date(1991, 2, 1), "height": None, "salary": None},
    {"name": "Bob", "born": dt.date(1992, 6, 5), "height": 1.8, "salary": 900.0},
]


def rows(table):
    return table.engine.run(table.select(table.names())).to_pylist()


def written(place, text, name="office.csv", encoding="utf-8"):
    path = place / name
    data = text.encode(encoding)
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return path


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "windows-1252", "latin-1", "utf-16", "cp850", "iso-8859-15"]
)
@pytest.mark.parametrize("name", ["office.csv", "office.csv.gz", "OFFICE.CSV"])
def test_a_file_as_an_office_writes_it(tmp_path, encoding, name):
    with read(written(tmp_path, OFFICE, name, encoding), csv={**KEYS, "encoding": encoding}) as table:
        assert rows(table) == ROWS
        table.hold(["salary"])
        assert table.codes("salary").domain.to_pylist() == [900.0, 1234.5]
        assert table.name == name.split(".")[0]


def test_a_copy_in_another_encoding_has_no_name(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    monkeypatch.setattr("tempfile.tempdir", None)
    (tmp_path / "temporary").mkdir()
    with read(written(tmp_path, OFFICE, encoding="latin-1"), csv={**KEYS, "encoding": "latin-1"}) as table:
        table.hold(table.names())
        left = [path for path in (tmp_path / "temporary").rglob("*") if path.is_file() and b"Ann" in path.read_bytes()]
        assert left == []


@pytest.mark.parametrize("sign", [";", "\t", "|", ",", ":", "^", "~"])
def test_any_separator(tmp_path, sign):
    path = written(tmp_path, f"a{sign}b\n1{sign}x\n2{sign}y\n")
    assert rows(read(path, csv={"separator": sign})) == [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}]


def test_without_keys_nothing_is_taken_for_something_else(tmp_path):
    kinds = {column.name: column.kind for column in read(written(tmp_path, OFFICE)).columns}
    assert kinds == {"name": "string", "born": "string", "height": "string", "salary": "string"}


def test_a_mark_in_quotes_is_a_text(tmp_path):
    path = written(tmp_path, 'a,b\nNA,1\n"NA",2\n"",3\n,4\n')
    assert [row["a"] for row in rows(read(path, csv={"missing": ["NA"]}))] == [None, "NA", "", None]


@pytest.mark.parametrize(
    ("text", "encoding", "message", "keys"),
    [
        (
            "a;b\nZoë;1\n",
            "windows-1252",
            'line 2 is not UTF-8\nHint: set encoding = "windows-1252"',
            {"encoding": "windows-1252"},
        ),
        ("a;b\nZoë €;1\n", "windows-1252", 'encoding = "windows-1252"', {"encoding": "windows-1252"}),
        ("a;b\nZoë\x81;1\n", "latin-1", 'encoding = "latin-1"', {"encoding": "latin-1"}),
        ("a;b\nZoë;1\n", "utf-16", 'encoding = "utf-16"', {"encoding": "utf-16"}),
        ("a:b\n1:x\n2:y\n", "utf-8", 'looks separated by `:`\nHint: set separator = ":"', {"separator": ":"}),
        ("a^b\n1^x\n2^y\n", "utf-8", 'set separator = "^"', {"separator": "^"}),
    ],
    ids=["office", "euro", "neither", "utf-16", "colon", "caret"],
)
def test_a_message_that_leads_to_success(tmp_path, text, encoding, message, keys):
    path = written(tmp_path, text, encoding=encoding)
    with pytest.raises(InputError) as caught:
        read(path)
    assert message in str(caught.value)
    with read(path, csv=keys) as table:
        assert table.names() == ["a", "b"]


def test_a_separator_that_is_not_the_files(tmp_path):
    path = written(tmp_path, "a\tb\tc\n1,5\t2\t3\n1,6\t4\t5\n")
    with pytest.raises(InputError, match=r"looks separated by tabs\nHint: set separator = \"\\t\" under"):
        read(path, csv={"separator": ";"})
    other = written(tmp_path, "a;x,b,c\n1,5,2\n1,6,4\n", "two.csv")
    with pytest.raises(
        InputError, match=r"line 2 has 1 fields, expected 2.*\nHint: it looks separated by `,`: set sep"
    ):
        read(other, csv={"separator": ";"})
    with read(path, csv={"separator": "\t", "decimal": ","}) as table:
        assert table["a"].kind == "float"


def test_decimal_commas_between_commas(tmp_path):
    path = written(tmp_path, "name,height,sex\nAnn,1,75,f\nBob,1,80,m\n")
    with pytest.raises(
        InputError, match=r"line 2 has 4 fields, expected 3.*\nHint: if numbers have a decimal comma, sep"
    ):
        read(path)
    again = written(tmp_path, 'name,height,sex\nAnn,"1,75",f\nBob,"1,80",m\n', "quoted.csv")
    assert read(again)["height"].kind == "string"


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("t.csv.gz", b"a,b\n1,2\n", "is not compressed by gzip"),
        ("t.csv.gz", gzip.compress(b"a,b\n" + b"1,2\n" * 9_000)[:40], "ends too early"),
        ("t.csv.gz", gzip.compress(b""), "is empty"),
        ("t.txt.gz", gzip.compress(b"a,b\n1,2\n"), "is not a `.csv`, `.csv.gz`"),
        ("t.csv.zip", b"PK", "is not a `.csv`, `.csv.gz`"),
    ],
    ids=["plain", "cut off", "empty", "text", "zip"],
)
def test_compressed_files_that_are_none(tmp_path, name, data, message):
    (tmp_path / name).write_bytes(data)
    with pytest.raises(InputError, match=message):
        read(tmp_path / name).rows  # noqa: B018


MISTAKES = {
    'separator = ";;"': "`csv.separator`: expected one sign",
    'separator = "a"': "`csv.separator`: expected one sign",
    "separator = 1": "`csv.separator`: expected one sign",
    'decimal = ";"': "`csv.decimal`: expected `.` or `,`",
    'decimal = ","\nseparator = ","': "`csv.decimal`: is the separator, too",
    'thousands = "x"': "`csv.thousands`: expected one of",
    'thousands = "."': "`csv.thousands`: is the decimal sign, too",
    'missing = "NA"': "`csv.missing`: expected a list of texts",
    "missing = [1]": "`csv.missing`: expected a list of texts",
    'encoding = "klingon"': "`csv.encoding`: expected an encoding",
    'encoding = "base64"': "`csv.encoding`: expected an encoding",
    "encoding = 8": "`csv.encoding`: expected an encoding",
    'dates = "%d.%m.%Y"': "`csv.dates`: expected DD, MM and YYYY",
    'dates = "DD.MM.YY"': "`csv.dates`: expected DD, MM and YYYY",
    'dates = "DD.DD.YYYY"': "`csv.dates`: expected DD, MM and YYYY",
    'zone = "Europe/Paris"': '`csv.zone`: expected "UTC"',
    'seperator = ";"': "`csv.seperator`: is not a key of `csv`; did you mean `separator`?",
}


@pytest.mark.parametrize("line", MISTAKES)
def test_mistakes_in_the_keys(tmp_path, line):
    (tmp_path / "policy.toml").write_text(f'quasi = ["a"]\nsensitive = "b"\nguarantee = {{ l = 2 }}\n[csv]\n{line}\n')
    with pytest.raises(PolicyError) as caught:
        Policy.load(tmp_path / "policy.toml")
    assert MISTAKES[line] in str(caught.value)
    assert "line " in str(caught.value)


def test_mistakes_of_options_in_python(tmp_path):
    path = written(tmp_path, "a;b\n1;2\n")
    with pytest.raises(InputError, match=r"`csv.decimal`: expected"):
        read(path, csv={"decimal": "x"})
    with pytest.raises(InputError, match=r"`csv.delim` is not an option"):
        read(path, csv={"delim": ";"})
    with pytest.raises(InputError, match=r"`excel.page` is not an option"):
        read(path, excel={"page": 1})
    with pytest.raises(PolicyError, match="`csv`: expected a table, got 3"):
        Policy(quasi=["a"], sensitive="b", guarantee={"l": 2}, csv=3)


def policy(**more):
    return Policy(quasi=["seen"], sensitive="ill", guarantee={"l": 2}, **more)


def test_times_of_a_zone_are_refused_and_not_changed(tmp_path):
    seen = pd.date_range("2026-01-01", periods=4, freq="h", tz="Europe/Paris")
    frame = pd.DataFrame({"seen": seen, "ill": list("abab")})
    with pytest.raises(
        PolicyError, match=r"`quasi`: the column `seen` holds times of the zone Europe/Paris, which a release"
    ):
        publish(frame, policy(), to=tmp_path / "zone")
    frame.to_parquet(tmp_path / "zone.parquet")
    with pytest.raises(PolicyError, match="Europe/Paris"):
        publish(tmp_path / "zone.parquet", policy(), to=tmp_path / "zone")
    for number, mended in enumerate((frame.seen.dt.tz_convert("UTC"), frame.seen.dt.tz_localize(None))):
        publish(frame.assign(seen=mended), policy(), to=tmp_path / str(number), seed=1)
    assert read(frame).rows == 4, "a column that is dropped may have any zone"


def test_times_with_offsets_in_a_csv_file(tmp_path):
    path = written(tmp_path, "seen,ill\n" + "".join(f"2026-01-01 0{i}:00:00+02,{'ab'[i % 2]}\n" for i in range(4)))
    with pytest.raises(PolicyError, match=r'holds times with offsets.*; set zone = "UTC" under \[csv\]'):
        publish(path, policy(), to=tmp_path / "release")
    publish(path, policy(csv={"zone": "UTC"}), to=tmp_path / "release", seed=1)
    shown = pq.read_table(tmp_path / "release" / "qit.parquet").column("seen")
    assert min(shown.to_pylist()) == dt.datetime(2025, 12, 31, 22, tzinfo=dt.UTC)
    for offset in ("Z", "+00", "+00:00"):
        same = written(tmp_path, f"seen,ill\n2026-01-01 00:00:00{offset},a\n", f"{len(offset)}.csv")
        assert read(same)["seen"].refused is None


def test_the_keys_of_a_policy_reach_the_file(tmp_path, capsys):
    text = "age;ill;height\n" + "".join(f"{20 + i % 7};{'Angst' if i % 2 else 'Röteln'};1,{i % 9}\n" for i in range(40))
    path = written(tmp_path, text, "amt.csv.gz", "windows-1252")
    rules = Policy(
        quasi=["age", "height"], sensitive="ill", guarantee={"l": 2}, csv={"decimal": ",", "encoding": "windows-1252"}
    )
    release = publish(path, rules, to=tmp_path / "release", seed=1)
    assert {field.name: field.type for field in release.manifest.resource("qit").table.fields}["height"] == "number"
    assert "Röteln" in pq.read_table(tmp_path / "release" / "st.parquet").column("ill").to_pylist()
    assert pa.types.is_floating(pq.read_schema(tmp_path / "release" / "qit.parquet").field("height").type)
