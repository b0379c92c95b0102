"""Tampering with a written release, digests mended where a fault should be found by something else."""

import datetime as dt
import math
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow.csv import write_csv

from discreet import open_release, read, verify
from discreet.errors import ReleaseError, VerificationError
from discreet.policy import Policy
from discreet.publication.publish import publish_groups
from discreet.values.random import RandomSource
from release.forger import Forger

VALUES = ["angina", "bronchitis", "colic", "dyspepsia"]
GUARANTEE = {"l": 2, "k": 4, "distinct_l": 3}
KEYS = {"qit": ("group", "city"), "st": ("group", "disease")}


def made(place, form):
    """Twelve people in three groups of four, every group with all four values."""
    table = pa.table(
        {
            "name": [f"person {i}" for i in range(12)],
            "age": [30 + i for i in range(12)],
            "city": [None if i % 4 == 3 else f"{i:02d} street" for i in range(12)],
            "note": ["private"] * 12,
            "disease": [VALUES[i % 4] for i in range(12)],
        }
    )
    policy = Policy(
        quasi=["city", "age"],
        sensitive="disease",
        guarantee=GUARANTEE,
        identifiers=["name"],
        drop=["note"],
        name="folk",
    )
    private = read(table)
    groups = np.repeat(np.arange(3, dtype=np.int32), 4)
    publish_groups(private, policy, private.codes("disease"), groups, to=place, format=form)
    private.close()
    return place


@pytest.fixture(scope="module")
def releases(tmp_path_factory):
    place = tmp_path_factory.mktemp("releases")
    return {form: made(place / form, form) for form in ("parquet", "csv")}


@pytest.fixture
def forger(releases, tmp_path):
    return Forger(Path(shutil.copytree(releases["parquet"], tmp_path / "copy")), KEYS)


@pytest.fixture
def csv_forger(releases, tmp_path):
    return Forger(Path(shutil.copytree(releases["csv"], tmp_path / "copy")), KEYS)


def found(path):
    """The names of the checks that fail; `unreadable` when the manifest cannot even be read."""
    try:
        report = verify(path)
    except ReleaseError:
        return {"unreadable"}
    assert report.ok == (not report.failures)
    shown = [*(check.detail for check in report.checks), repr(report), report._repr_html_()]
    assert not [value for value in [*VALUES, "person", "street"] if any(value in text for text in shown)]
    return {check.name for check in report.failures}


L, K, DISTINCT = (f"guarantee {name} = {threshold}" for name, threshold in GUARANTEE.items())


def counted(group, counts):
    """Replace the counts of one group."""

    def change(rows):
        kept = [row for row in rows if row["group"] != group]
        return kept + [{"group": group, "disease": value, "count": count} for value, count in counts.items()]

    return change


def regrouped(numbers):
    return lambda rows: [{**row, "group": numbers[row["group"]]} for row in rows]


def both(forger, change):
    forger.rows("qit", change)
    forger.rows("st", change)


def unnumbered(forger):
    for name in ("qit", "st"):
        table = forger.table(name)
        groups = [None if group == 3 else group for group in table["group"].to_pylist()]
        at = table.column_names.index("group")
        forger.put(name, table.set_column(at, "group", pa.array(groups, table.schema.field("group").type)))


def typed(forger, name, column, type_, change=lambda values: values):
    table = forger.table(name)
    values = pa.array(change(table[column].to_pylist()), type_)
    forger.put(name, table.set_column(table.column_names.index(column), column, values))


def in_between(forger):
    numbers = {1: 1.0, 2: 1.5, 3: 3.0}
    for name in ("qit", "st"):
        typed(forger, name, "group", pa.float64(), lambda groups: [numbers[group] for group in groups])


def half_a_person(forger):
    forger.rows("st", counted(1, {"a": 1, "b": 1, "c": 2}))
    typed(forger, "st", "count", pa.float64(), lambda counts: [1.5, 1.5, 1.0, *counts[3:]])


def groups_as_text(forger):
    for name in ("qit", "st"):
        typed(forger, name, "group", pa.string(), lambda groups: [str(group) for group in groups])


def too_frequent(forger):
    forger.promise(guarantee={"l": 2})
    forger.rows("st", counted(1, {"a": 1, "b": 3}))


def one_too_few(forger):
    """Move a row from group 1 to group 2, in both tables."""
    forger.rows("qit", lambda rows: [{**row, "group": 2 if row["age"] == 30 else row["group"]} for row in rows])
    forger.rows("st", counted(1, dict.fromkeys(VALUES[1:], 1)))
    forger.rows("st", counted(2, {**dict.fromkeys(VALUES, 1), "angina": 2}))


def with_sensitive_column(forger):
    """Publish the sensitive column beside the quasi-identifiers, and say so in the manifest."""
    qit = forger.table("qit")
    qit = qit.add_column(2, "disease", pa.array(VALUES * 3))

    def change(manifest):
        manifest["discreet"]["quasi"].append("disease")
        manifest["resources"][0]["schema"]["fields"].insert(2, {"name": "disease", "type": "string"})

    forger.manifest(change)
    forger.put("qit", qit)


def one_more_quasi(manifest):
    manifest["discreet"]["quasi"].append("height")
    manifest["resources"][0]["schema"]["fields"].insert(2, {"name": "height", "type": "integer"})


def second_qit(forger):
    """A file that the manifest lists under a name that is taken: anything could be in it."""
    (forger.path / "qit.csv").write_text("name,disease\nperson 1,angina\n")
    forger.manifest(lambda m: m["resources"].append({**m["resources"][0], "path": "qit.csv", "format": "csv"}))
    forger.mend()


def listed_apart(forger):
    """Two people with one value in two lines, so that it looks like two values."""
    forger.promise(guarantee={"l": 2})
    forger.rows("st", lambda rows: [{**row, "disease": row["disease"].replace("bronchitis", "angina")} for row in rows])


def noted(table, key):
    return table.replace_schema_metadata({key: "{}"})


def listed_twice(forger):
    forger.manifest(lambda manifest: manifest["resources"].append(manifest["resources"][0]))


def replaced(path, content):
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink()
    if content is None:
        path.mkdir()
    else:
        path.write_bytes(content)


def field_type(manifest, resource, column, type_):
    fields = manifest["resources"][resource]["schema"]["fields"]
    next(field for field in fields if field["name"] == column)["type"] = type_


@dataclass(frozen=True)
class Fault:
    """A way to spoil a release, and the check that must find it (any of several, if a set)."""

    title: str
    plant: Callable[[Forger], object]
    check: str | set[str]


FAULTS = [
    # the promises
    Fault("a value held by three of four", too_frequent, L),
    Fault("two values instead of three", lambda f: f.rows("st", counted(2, {"a": 2, "b": 2})), DISTINCT),
    Fault("a group of three", one_too_few, K),
    Fault("more promised than kept", lambda f: f.promise(guarantee={"l": 5}), "guarantee l = 5"),
    Fault("a promise nobody knows", lambda f: f.promise(guarantee={"l": 2, "m": 2}), "guarantee m"),
    Fault("no promise at all", lambda f: f.promise(guarantee={}), "manifest"),
    Fault("a promise that promises nothing", lambda f: f.promise(guarantee={"l": 1}), "manifest"),
    Fault("a negative promise", lambda f: f.promise(guarantee={"k": -3}), "manifest"),
    # the groups
    Fault("a count too many", lambda f: f.rows("st", counted(1, {"a": 1, "b": 2, "c": 2})), "groups"),
    Fault("a count too few", lambda f: f.rows("st", counted(3, {"a": 1, "b": 1, "c": 1})), {"groups", K}),
    Fault("a value that counts nobody", lambda f: f.rows("st", counted(1, {"a": 2, "b": 1, "c": 1, "d": 0})), "groups"),
    Fault("a negative count", lambda f: f.rows("st", counted(1, {"a": 2, "b": 2, "c": 1, "d": -1})), "groups"),
    Fault("a missing value", lambda f: f.rows("st", counted(1, {"a": 1, "b": 2, None: 1})), "groups"),
    Fault("a missing count", lambda f: f.rows("st", counted(1, {"a": 1, "b": 1, "c": 2, "d": None})), "groups"),
    Fault("a row too few", lambda f: f.rows("qit", lambda rows: rows[1:]), "groups"),
    Fault("no rows at all", lambda f: f.rows("qit", lambda _: []), "groups"),
    Fault("no values at all", lambda f: f.rows("st", lambda _: []), {"groups", K, L, DISTINCT}),
    Fault("a group without values", lambda f: f.rows("st", lambda rows: [r for r in rows if r["group"] < 3]), "groups"),
    Fault("values of no group", lambda f: f.rows("st", counted(4, {"a": 2, "b": 1, "c": 1})), "groups"),
    Fault("groups with a gap", lambda f: both(f, regrouped({1: 1, 2: 2, 3: 4})), "groups"),
    Fault("groups from 0", lambda f: both(f, regrouped({1: 0, 2: 1, 3: 2})), "groups"),
    Fault("two groups made one in one table", lambda f: f.rows("qit", regrouped({1: 1, 2: 2, 3: 2})), "groups"),
    Fault("a group without a number", unnumbered, "groups"),
    Fault("another number of rows", lambda f: f.promise(rows=13), "groups"),
    Fault("another number of groups", lambda f: f.promise(groups=2), "groups"),
    Fault("groups between the whole numbers", in_between, "columns"),
    Fault("half a person", half_a_person, "columns"),
    # the columns
    Fault(
        "an identifier", lambda f: f.put("qit", f.table("qit").append_column("name", pa.array(["x"] * 12))), "columns"
    ),
    Fault(
        "a row number",
        lambda f: f.put("qit", f.table("qit").add_column(0, "__index_level_0__", pa.array(range(12)))),
        "columns",
    ),
    Fault(
        "a third column of values",
        lambda f: f.put("st", f.table("st").append_column("x", pa.array([1] * 12))),
        "columns",
    ),
    Fault("the sensitive column beside the others", with_sensitive_column, "manifest"),
    Fault("a quasi-identifier less", lambda f: f.put("qit", f.table("qit").drop_columns(["age"])), "columns"),
    Fault(
        "columns in another order", lambda f: f.put("qit", f.table("qit").select(["age", "city", "group"])), "columns"
    ),
    Fault(
        "a column by another name",
        lambda f: f.put("qit", f.table("qit").rename_columns(["town", "age", "group"])),
        "columns",
    ),
    Fault(
        "a column in capitals",
        lambda f: f.put("qit", f.table("qit").rename_columns(["CITY", "age", "group"])),
        "columns",
    ),
    Fault(
        "text where the manifest says integer",
        lambda f: typed(f, "qit", "age", pa.string(), lambda ages: list(map(str, ages))),
        "columns",
    ),
    Fault(
        "integer where the manifest says text",
        lambda f: f.manifest(lambda m: field_type(m, 1, "disease", "integer")),
        "columns",
    ),
    Fault("groups as text", groups_as_text, "columns"),
    Fault(
        "a field without a role",
        lambda f: f.manifest(lambda m: m["resources"][0]["schema"]["fields"].append({"name": "x", "type": "string"})),
        "manifest",
    ),
    Fault("a quasi-identifier without a field", lambda f: f.promise(quasi=["city", "age", "height"]), "manifest"),
    Fault("a quasi-identifier that the file lacks", lambda f: f.manifest(one_more_quasi), "columns"),
    # the order
    Fault("rows backwards", lambda f: f.put("qit", f.table("qit").take(list(range(12))[::-1])), "order"),
    Fault(
        "two rows of a group swapped",
        lambda f: f.put("qit", f.table("qit").take([0, 1, 2, 3, 5, 4, *range(6, 12)])),
        "order",
    ),
    Fault(
        "groups interleaved",
        lambda f: f.put("qit", f.table("qit").sort_by("age").take([0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11])),
        "order",
    ),
    Fault("a missing value first", lambda f: f.put("qit", f.table("qit").take([3, 0, 1, 2, *range(4, 12)])), "order"),
    Fault("values of a group swapped", lambda f: f.put("st", f.table("st").take([1, 0, *range(2, 12)])), "order"),
    Fault("values sorted by their number", lambda f: f.put("st", f.table("st").sort_by("disease")), "order"),
    Fault("a value listed twice", listed_apart, "order"),
    # what the files carry besides their rows
    Fault("a pandas index", lambda f: f.put("qit", noted(f.table("qit"), "pandas"), notes=True), "metadata"),
    Fault("a note", lambda f: f.put("st", noted(f.table("st"), "made by"), notes=True), "metadata"),
    Fault("an Arrow schema", lambda f: f.put("st", f.table("st"), notes=True), "metadata"),
    # the files
    Fault("a file too many", lambda f: (f.path / "private.csv").write_text("x"), "files"),
    Fault("a hidden file", lambda f: (f.path / ".seed").write_text("1"), "files"),
    Fault("a folder", lambda f: (f.path / "more").mkdir(), "files"),
    Fault("a second table under the same name", second_qit, "manifest"),
    Fault("a table listed twice", listed_twice, "manifest"),
    Fault("no README", lambda f: (f.path / "README.md").unlink(), "files"),
    Fault("another README", lambda f: f.text("README.md", lambda text: text + "\nperson 1 has angina\n"), "files"),
    Fault("a README that is no text", lambda f: (f.path / "README.md").write_bytes(b"\xff\xfe"), "files"),
    Fault("a README that is a folder", lambda f: replaced(f.path / "README.md", None), "files"),
    Fault("a table less", lambda f: (f.path / "st.parquet").unlink(), {"files", "digests"}),
    Fault("a table that is a folder", lambda f: replaced(f.path / "st.parquet", None), "digests"),
    Fault(
        "a table that is no table",
        lambda f: [replaced(f.path / "st.parquet", b"PAR1 nothing PAR1"), f.mend()],
        {"metadata", "contents"},
    ),
    Fault("an empty table file", lambda f: [replaced(f.path / "qit.parquet", b""), f.mend()], {"metadata", "contents"}),
    # the digests
    Fault(
        "another digest", lambda f: f.manifest(lambda m: m["resources"][0].update(hash="sha256:" + "0" * 64)), "digests"
    ),
    Fault("another size", lambda f: f.manifest(lambda m: m["resources"][1].update(bytes=1)), "digests"),
    Fault("no digest", lambda f: f.manifest(lambda m: m["resources"][1].update(hash="")), "digests"),
    Fault(
        "a table of another release",
        lambda f: pq.write_table(f.table("qit").slice(4), f.path / "qit.parquet"),
        "digests",
    ),
    # the manifest
    Fault("no manifest", lambda f: (f.path / "datapackage.json").unlink(), "unreadable"),
    Fault("no JSON", lambda f: f.text("datapackage.json", lambda text: text[:-3]), "unreadable"),
    Fault("JSON of another kind", lambda f: f.text("datapackage.json", lambda text: "[1]"), "unreadable"),
    Fault("JSON that is no text", lambda f: (f.path / "datapackage.json").write_bytes(b"\xff"), "unreadable"),
    Fault("promises of another kind", lambda f: f.manifest(lambda m: m.update(discreet=[1])), "unreadable"),
    Fault("a newer format", lambda f: f.promise(format=3), "unreadable"),
    Fault("a seed", lambda f: f.promise(seed=1), "unreadable"),
    Fault(
        "a note beside the promises", lambda f: f.manifest(lambda m: m.update(note="person 1 has angina")), "unreadable"
    ),
    Fault(
        "a note beside a table", lambda f: f.manifest(lambda m: m["resources"][0].update(description="x")), "unreadable"
    ),
    Fault(
        "a note beside a column",
        lambda f: f.manifest(lambda m: m["resources"][0]["schema"]["fields"][0].update(description="from table x")),
        "unreadable",
    ),
    Fault("no groups", lambda f: f.manifest(lambda m: m["discreet"].pop("groups")), "unreadable"),
    Fault("a text for a number", lambda f: f.promise(rows="twelve"), "unreadable"),
    Fault("another publication", lambda f: f.promise(publication="permutation"), "manifest"),
    Fault(
        "a table elsewhere",
        lambda f: f.manifest(lambda m: m["resources"][0].update(path="../qit.parquet")),
        "manifest",
    ),
    Fault("a table anywhere", lambda f: f.manifest(lambda m: m["resources"][0].update(name="/etc/passwd")), "manifest"),
    Fault("one table only", lambda f: f.manifest(lambda m: m["resources"].pop()), "manifest"),
    Fault(
        "a key that stands twice",
        lambda f: f.text("datapackage.json", lambda text: text.replace("{", '{\n  "name": "person 1 has angina",', 1)),
        "manifest",
    ),
    Fault(
        "a package by another name", lambda f: f.manifest(lambda m: m.update(name="person-1-has-angina")), "manifest"
    ),
    Fault(
        "a schema from elsewhere",
        lambda f: f.manifest(lambda m: m.update({"$schema": "https://example.org/x"})),
        "manifest",
    ),
    Fault(
        "a key to nowhere",
        lambda f: f.manifest(
            lambda m: m["resources"][0]["schema"].update(
                foreignKeys=[{"fields": ["age"], "reference": {"resource": "person 1", "fields": ["angina"]}}]
            )
        ),
        "manifest",
    ),
    Fault(
        "promises with a seed called fit",
        lambda f: f.text(
            "datapackage.json", lambda text: text.replace('"for_publication": true', '"for_publication": false')
        ),
        "files",
    ),
]


def caught(checks, fault):
    wanted = {fault.check} if isinstance(fault.check, str) else fault.check
    return bool(checks) and checks <= wanted


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.title)
def test_verify_finds_planted_faults(forger, fault):
    fault.plant(forger)
    checks = found(forger.path)
    assert caught(checks, fault), f"found {checks or 'nothing'}, expected {fault.check}"


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_a_release_as_it_was_written_verifies(releases, form):
    report = verify(releases[form])
    assert report.ok, report.failures
    assert {L, K, DISTINCT, "manifest", "files", "digests", "groups", "columns", "order", "metadata"} == {
        c.name for c in report.checks
    }
    assert open_release(releases[form]).verify().ok


def test_the_forger_leaves_no_trace_of_his_own(forger):
    """Rewriting the same rows, or a manifest without a change, is not a fault: what is found above is the fault itself."""
    for name in ("qit", "st"):
        forger.rows(name, lambda rows: rows)
    forger.manifest(lambda manifest: None)
    assert verify(forger.path).ok
    assert forger.table("qit").num_rows == 12


@pytest.mark.parametrize("name", ["qit.parquet", "st.parquet"])
def test_any_flipped_byte_of_a_table(forger, name):
    path = forger.path / name
    whole = path.read_bytes()
    for at in np.random.default_rng(1).choice(len(whole), 40, replace=False).tolist():
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        assert found(forger.path) == {"digests"}
        with pytest.raises(VerificationError, match=r"is not the one that was published"):
            open_release(forger.path)
    path.write_bytes(whole)
    assert verify(forger.path).ok


@pytest.mark.parametrize("name", ["qit", "st"])
def test_damage_under_a_mended_digest(forger, name):
    """Whatever a byte spoils inside the file, the answer is a report, not an exception of a library."""
    path = forger.path / f"{name}.parquet"
    whole, manifest = path.read_bytes(), (forger.path / "datapackage.json").read_bytes()
    for at in np.random.default_rng(2).choice(len(whole), 60, replace=False).tolist():
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 0x55]) + whole[at + 1 :])
        forger.mend()
        try:
            verify(forger.path)
        except ReleaseError as error:
            pytest.fail(f"byte {at}: {error}")
        (forger.path / "datapackage.json").write_bytes(manifest)


@pytest.mark.parametrize("change", [lambda data: data[:-10], lambda data: data + b"\0", lambda data: b""])
def test_opening_a_damaged_table(forger, change):
    path = forger.path / "st.parquet"
    path.write_bytes(change(path.read_bytes()))
    with pytest.raises(VerificationError, match="digest differs"):
        open_release(forger.path)
    assert found(forger.path) == {"digests"}


def test_files_of_two_formats(forger):
    """Rows that stand in CSV are compared with values that do not; here each group has other rows than values."""
    forger.rows("qit", lambda rows: [{**row, "group": 1 if row["age"] == 41 else row["group"]} for row in rows])
    write_csv(forger.table("qit"), forger.path / "qit.csv")
    (forger.path / "qit.parquet").unlink()
    forger.manifest(lambda values: values["resources"][0].update(path="qit.csv", format="csv"))
    forger.mend()
    assert found(forger.path) == {"groups"}


def test_a_table_without_quasi_identifiers(forger):
    """Sorted by the group alone, a file looks like one that has a row for each group."""
    forger.put("qit", pa.table({"group": [1] * 5 + [2] * 3 + [3] * 4}))
    forger.manifest(
        lambda values: values["resources"][0]["schema"].update(fields=[{"name": "group", "type": "integer"}])
    )
    forger.promise(quasi=[])
    assert found(forger.path) == {"manifest"}


def test_opening_without_a_table(forger):
    (forger.path / "qit.parquet").unlink()
    with pytest.raises(VerificationError, match=r"`qit.parquet` is missing"):
        open_release(forger.path)


def test_opening_a_newer_format(forger):
    forger.promise(format=3)
    for act in (open_release, verify):
        with pytest.raises(ReleaseError, match=r"format version 3, newer than the 2 .*(\n.*)*upgrade discreet"):
            act(forger.path)


@pytest.mark.parametrize(
    "fault", [fault for fault in FAULTS if fault.check == "unreadable"], ids=lambda fault: fault.title
)
def test_opening_with_a_spoilt_manifest(forger, fault):
    fault.plant(forger)
    with pytest.raises(ReleaseError) as caught_error:
        open_release(forger.path)
    assert "angina" not in str(caught_error.value)


def test_what_is_no_release(tmp_path):
    with pytest.raises(ReleaseError, match="there is no release"):
        open_release(tmp_path / "absent")
    with pytest.raises(ReleaseError, match="is not a release"):
        verify(tmp_path)


def swap_lines(a, b):
    def change(text):
        lines = text.split("\n")
        lines[a], lines[b] = lines[b], lines[a]
        return "\n".join(lines)

    return change


GROUP_1 = "".join(f"1,{value},1\n" for value in VALUES)
CSV_FAULTS = [
    ("rows in another order", "qit.csv", swap_lines(1, 2), {"order"}),
    ("values in another order", "st.csv", swap_lines(1, 2), {"order"}),
    ("another header", "qit.csv", lambda text: text.replace("city", "person 1 has angina", 1), {"columns"}),
    ("no header", "st.csv", lambda text: text.split("\n", 1)[1], {"columns", "contents", "groups", K}),
    ("a field too many", "qit.csv", lambda text: text.replace("\n", ",person\n"), {"columns", "contents"}),
    ("one row with a field too many", "qit.csv", lambda text: text[:-1] + ",person\n", {"contents"}),
    ("a row too few", "qit.csv", lambda text: text[: text.rindex("\n", 0, -1) + 1], {"groups"}),
    ("a broken promise", "st.csv", lambda text: text.replace(GROUP_1, "1,angina,1\n1,bronchitis,3\n"), {L, DISTINCT}),
    ("a text for a count", "st.csv", lambda text: text.replace("angina,1", "angina,x", 1), {"contents"}),
    ("half a person", "st.csv", lambda text: text.replace("angina,1", "angina,1.4", 1), {"contents", "groups"}),
    ("a comment", "qit.csv", lambda text: "# person 1 has angina\n" + text, {"columns", "contents", "groups"}),
    ("a quote that is never closed", "qit.csv", lambda text: text[:-3] + '"' + text[-3:], {"contents", "groups"}),
    ("not UTF-8", "qit.csv", None, {"contents"}),
]


@pytest.mark.parametrize(("title", "name", "change", "checks"), CSV_FAULTS, ids=[fault[0] for fault in CSV_FAULTS])
def test_faults_in_csv_files(csv_forger, title, name, change, checks):
    path = csv_forger.path / name
    if change is None:
        path.write_bytes(path.read_bytes().replace(b"street", b"str\xffet", 1))
    else:
        before = path.read_text()
        path.write_text(change(before))
        assert path.read_text() != before
    csv_forger.mend()
    spotted = found(csv_forger.path)
    assert spotted
    assert spotted <= checks


PAYS = [700, 703, 706, 710]
RANGES = {"k": 3, "e": 10}
K_3, E_10 = (f"guarantee {name} = {threshold}" for name, threshold in RANGES.items())


@dataclass(frozen=True)
class PermutationForger(Forger):
    """The same for a permutation."""

    def both(self, change):
        """Change the rows of both files as one, given and returned as dictionaries; sorted and numbered anew."""
        permuted, mapping = self.table("permuted"), self.table("mapping")
        together = zip(permuted.to_pylist(), mapping.to_pylist(), strict=True)
        rows = change([{**one, **other} for one, other in together])
        shown = [name for name in permuted.column_names if name != "row"]
        rows = sorted(rows, key=lambda row: (row["group"], *((row[name] is None, row[name] or 0) for name in shown)))
        numbered = [{**row, "row": at} for at, row in enumerate(rows, start=1)]
        for name, old in (("permuted", permuted), ("mapping", mapping)):
            lines = [{column: row[column] for column in old.column_names} for row in numbered]
            self.put(name, pa.Table.from_pylist(lines, schema=old.schema))

    def pays(self, group, values):
        """Replace the values of one group."""

        def change(rows):
            mine = iter(values)
            return [{**row, "pay": next(mine)} if row["group"] == group else row for row in rows]

        self.both(change)

    def numbers(self, name, numbers):
        table = self.table(name)
        self.put(name, table.set_column(0, "row", pa.array(numbers, table.schema.field("row").type)))

    def groups(self, numbers):
        table = self.table("mapping")
        self.put("mapping", table.set_column(1, "group", pa.array(numbers, table.schema.field("group").type)))

    def swap(self, name, column, one, other):
        """Swap two cells of a column."""
        table = self.table(name)
        cells = table[column].to_pylist()
        cells[one], cells[other] = cells[other], cells[one]
        at = table.column_names.index(column)
        self.put(name, table.set_column(at, column, pa.array(cells, table.schema.field(column).type)))


def made_permutation(place, form="parquet", pays=PAYS, type_=None, guarantee=RANGES):
    """Twelve people in three groups of four, every group with all four values; the first two of each are alike."""
    table = pa.table(
        {
            "name": [f"person {i}" for i in range(12)],
            "age": [30 + i - i % 4 // 2 for i in [0, 0, 2, 3, 4, 4, 6, 7, 8, 8, 10, 11]],
            "city": [None if i % 4 == 3 else f"{i - i % 2:02d} street" for i in range(12)],
            "pay": pa.array([pays[i % 4] for i in range(12)], type_),
        }
    )
    policy = Policy(
        quasi=["city", "age"],
        sensitive="pay",
        guarantee=guarantee,
        identifiers=["name"],
        name="folk",
        publication="permutation",
    )
    private = read(table)
    groups = np.repeat(np.arange(3, dtype=np.int32), 4)
    # seeded: which value the last row has decides what else is found when that row is lost
    publish_groups(private, policy, private.codes("pay"), groups, to=place, format=form, secret=RandomSource(1))
    private.close()
    return place


@pytest.fixture(scope="module")
def permutations(tmp_path_factory):
    place = tmp_path_factory.mktemp("permutations")
    return {form: made_permutation(place / form, form) for form in ("parquet", "csv")}


@pytest.fixture
def permutation(permutations, tmp_path):
    return without_shares(PermutationForger(Path(shutil.copytree(permutations["parquet"], tmp_path / "copy"))))


def without_shares(forger):
    """As before releases told the largest share: nearly every fault changes it (see `test_verify_harmless.py`)."""
    forger.manifest(lambda values: values["discreet"].pop("largest_share"))
    return forger


def alike_but_unsorted(forger):
    """Two people who are alike, the one with the larger value first: an order that content does not explain."""
    pays = forger.table("permuted")["pay"].to_pylist()
    assert pays[0] < pays[1]
    forger.swap("permuted", "pay", 0, 1)


def with_the_real_value(forger, name):
    table = forger.table(name)
    forger.put(name, table.append_column("real", pa.array(PAYS * 3)))


def told_in_the_manifest_too(forger):
    """A stray column that the manifest lists as a quasi-identifier without promising it."""
    with_the_real_value(forger, "mapping")
    forger.manifest(lambda m: m["resources"][1]["schema"]["fields"].append({"name": "real", "type": "integer"}))


def physically_backwards(forger, name):
    forger.put(name, forger.table(name).take(list(range(12))[::-1]))


def moved(forger):
    """Two rows of group 1 join group 2, in all order and with new numbers: only the promises can tell."""
    forger.both(lambda rows: [{**row, "group": 2 if row["row"] in {1, 2} else row["group"]} for row in rows])


def retyped(forger, name, column, type_):
    table = forger.table(name)
    forger.put(name, table.set_column(table.column_names.index(column), column, table[column].cast(type_)))


def as_text(forger, before, after):
    forger.text("datapackage.json", lambda text: text.replace(before, after))


ONE_TO_12 = list(range(1, 13))
PERMUTATION_FAULTS = [
    # the promises
    Fault("two distinct values", lambda f: f.pays(1, [700, 700, 710, 710]), K_3),
    Fault("one value", lambda f: f.pays(3, [700] * 4), {K_3, E_10}),
    Fault("a range one too small", lambda f: f.pays(2, [700, 703, 706, 709]), E_10),
    Fault("more range promised than kept", lambda f: f.promise(guarantee={"k": 3, "e": 11}), "guarantee e = 11"),
    Fault("a part of one more", lambda f: f.promise(guarantee={"k": 3, "e": 10.001}), "guarantee e = 10.001"),
    Fault(
        "a huge range", lambda f: f.promise(guarantee={"k": 3, "e": 10**40}), {"contents", f"guarantee e = {10**40}"}
    ),
    Fault("more values promised than kept", lambda f: f.promise(guarantee={"k": 5, "e": 10}), "guarantee k = 5"),
    Fault("two groups short of a promise", moved, {K_3, E_10}),
    Fault("a range without k", lambda f: f.promise(guarantee={"e": 10}), "manifest"),
    Fault("a range beside l only", lambda f: f.promise(guarantee={"e": 10, "l": 2}), "manifest"),
    Fault("a negative range", lambda f: f.promise(guarantee={"k": 3, "e": -1}), "manifest"),
    Fault("one distinct value promised", lambda f: f.promise(guarantee={"k": 1, "e": 10}), "manifest"),
    Fault("a range that is no number", lambda f: as_text(f, '"e": 10', '"e": NaN'), {"manifest", "files"}),
    Fault("an infinite range", lambda f: as_text(f, '"e": 10', '"e": Infinity'), {"manifest", "files"}),
    Fault("a range in words", lambda f: as_text(f, '"e": 10', '"e": "ten"'), "unreadable"),
    Fault("a range that is true", lambda f: as_text(f, '"e": 10', '"e": true'), {"manifest", "files"}),
    Fault("a range in other digits", lambda f: as_text(f, '"e": 10', '"e": 1e1'), {"manifest", "files"}),
    # the order
    Fault("people swapped", lambda f: [f.swap("permuted", c, 0, 2) for c in ("city", "age")], "order"),
    Fault("people who are alike, unsorted", alike_but_unsorted, "order"),
    Fault("rows backwards", lambda f: physically_backwards(f, "permuted"), "order"),
    Fault("mapping backwards", lambda f: physically_backwards(f, "mapping"), "order"),
    Fault("both backwards", lambda f: [physically_backwards(f, name) for name in ("permuted", "mapping")], "order"),
    Fault("groups in another order", lambda f: f.groups([2] * 4 + [1] * 4 + [3] * 4), "order"),
    Fault("groups interleaved", lambda f: f.groups([1, 2, 3] * 4), {"order", K_3, E_10}),
    # the numbers of rows
    Fault("numbers with a gap", lambda f: [f.numbers(n, [*ONE_TO_12[:-1], 13]) for n in FILES], "rows"),
    Fault("numbers from 0", lambda f: [f.numbers(n, range(12)) for n in FILES], "rows"),
    Fault("numbers of the source", lambda f: [f.numbers(n, [i * 7 for i in ONE_TO_12]) for n in FILES], "rows"),
    Fault("a gap in one file", lambda f: f.numbers("permuted", [*ONE_TO_12[:-1], 13]), {"rows", "groups", K_3, E_10}),
    Fault("a number twice", lambda f: [f.numbers(n, [1, *ONE_TO_12[:-1]]) for n in FILES], {"rows", "groups", "order"}),
    Fault(
        "no number", lambda f: f.numbers("mapping", [*ONE_TO_12[:-1], None]), {"rows", "groups", "order", "contents"}
    ),
    Fault("no number, and a gap", lambda f: f.numbers("mapping", [*range(1, 11), 12, None]), "rows"),
    Fault("numbers in between", lambda f: retyped(f, "permuted", "row", pa.float64()), "columns"),
    # the mapping
    Fault("a mapping too short", lambda f: f.put("mapping", f.table("mapping").slice(0, 11)), {"groups", "contents"}),
    Fault(
        "a mapping without rows",
        lambda f: f.put("mapping", f.table("mapping").slice(0, 0)),
        {"groups", "rows", "contents"},
    ),
    Fault("rows too few", lambda f: f.put("permuted", f.table("permuted").slice(0, 11)), {"groups", "contents"}),
    Fault("a row elsewhere", lambda f: f.groups([1, 1, 1, 2, *[2] * 4, *[3] * 4]), {"order", E_10}),
    Fault("a row in no group", lambda f: f.groups([1, 1, 1, None, *[2] * 4, *[3] * 4]), {"groups", "order", K_3, E_10}),
    Fault("groups with a gap", lambda f: f.groups([1] * 4 + [2] * 4 + [4] * 4), "groups"),
    Fault("groups from 0", lambda f: f.groups([0] * 4 + [1] * 4 + [2] * 4), "groups"),
    Fault("another number of groups", lambda f: f.promise(groups=2), "groups"),
    Fault("another number of rows", lambda f: f.promise(rows=13), "groups"),
    # the columns
    Fault("the real value beside", lambda f: with_the_real_value(f, "permuted"), "columns"),
    Fault("the real value in the mapping", lambda f: with_the_real_value(f, "mapping"), "columns"),
    Fault("the real value, and the manifest says so", told_in_the_manifest_too, "manifest"),
    Fault("a quasi-identifier less", lambda f: f.put("permuted", f.table("permuted").drop_columns(["age"])), "columns"),
    Fault("no sensitive column", lambda f: f.put("permuted", f.table("permuted").drop_columns(["pay"])), "columns"),
    Fault("text for numbers", lambda f: retyped(f, "permuted", "pay", pa.string()), "columns"),
    Fault("a missing sensitive value", lambda f: f.pays(2, [700, 703, 710, None]), "groups"),
    Fault("nothing but missing values", lambda f: f.pays(2, [None] * 4), {"groups", K_3, E_10}),
    # the rest
    Fault("called an anatomy", lambda f: f.promise(publication="anatomy"), "manifest"),
    Fault("a note", lambda f: f.put("mapping", noted(f.table("mapping"), "made by"), notes=True), "metadata"),
    Fault("a help table in a file", lambda f: (f.path / "help.parquet").write_bytes(b""), "files"),
    Fault("no mapping", lambda f: (f.path / "mapping.parquet").unlink(), {"files", "digests"}),
    Fault("the mapping as it was not", lambda f: replaced(f.path / "mapping.parquet", b"PAR1"), "digests"),
]
FILES = ("permuted", "mapping")


@pytest.mark.parametrize("fault", PERMUTATION_FAULTS, ids=lambda fault: fault.title)
def test_verify_finds_planted_faults_in_permutations(permutation, fault):
    fault.plant(permutation)
    checks = found(permutation.path)
    assert caught(checks, fault), f"found {checks or 'nothing'}, expected {fault.check}"


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_a_permutation_as_it_was_written_verifies(permutations, form):
    report = verify(permutations[form])
    assert report.ok, report.failures
    assert {check.name for check in report.checks} == {
        *(K_3, E_10, "largest share", "manifest", "files", "digests", "groups", "rows", "columns", "order", "metadata")
    }
    assert open_release(permutations[form]).verify().ok


def test_the_forger_of_permutations_leaves_no_trace_of_his_own(permutation):
    """Nor is a release at fault whose values were dealt anew, or whose range is exactly the one promised."""
    permutation.both(lambda rows: rows)
    permutation.manifest(lambda manifest: None)
    assert verify(permutation.path).ok
    permutation.pays(1, [710, 706, 703, 700])
    permutation.pays(2, [-5, 5, 0, 0])
    assert verify(permutation.path).ok


DAY = dt.date(2020, 2, 20)
NOON = dt.datetime(2020, 2, 20, 12)  # noqa: DTZ001
STEPS = {  # values that span e exactly, the largest of them less the smallest step, their type, and e
    "integer": ([0, 3, 6, 10], 9, pa.int64(), 10),
    "integer, part of a step": ([0, 3, 6, 10], 9, pa.int64(), 9.5),
    "small integer": ([-100, 0, 1, 100], 99, pa.int8(), 200),
    "large integer": ([0, 1, 2, 2**62 + 1], 2**62, pa.int64(), 2**62 + 1),
    "unsigned": ([0, 1, 2, 2**63 - 1], 2**63 - 2, pa.uint64(), 2**63 - 1),
    "negative": ([-10, -9, -8, 0], -1, pa.int32(), 10),
    "decimal": ([Decimal(cents) / 100 for cents in (0, 10, 20, 30)], Decimal("0.29"), pa.decimal128(9, 2), 0.3),
    "decimal, whole": ([Decimal(cents) / 100 for cents in (0, 10, 20, 300)], Decimal("2.99"), pa.decimal128(9, 2), 3),
    "float": ([0.0, 0.1, 0.2, 0.3], math.nextafter(0.3, 0), pa.float64(), 0.3),
    "float, whole": ([0.0, 1.0, 2.0, 10.0], math.nextafter(10, 0), pa.float64(), 10),
    "float32": ([0.0, 0.125, 0.25, 0.5], float(np.nextafter(np.float32(0.5), np.float32(0))), pa.float32(), 0.5),
    "date": ([DAY + dt.timedelta(d) for d in (0, 1, 2, 10)], DAY + dt.timedelta(9), pa.date32(), 10),
    "date, part of a day": ([DAY + dt.timedelta(d) for d in (0, 1, 2, 10)], DAY + dt.timedelta(9), pa.date32(), 9.5),
    "timestamp": (
        [NOON + dt.timedelta(d) for d in (0, 1, 2, 2.5)],
        NOON + dt.timedelta(days=2.5, microseconds=-1),
        pa.timestamp("us"),
        2.5,
    ),
}


@pytest.mark.parametrize("kind", STEPS)
def test_a_range_too_small_by_the_smallest_step(tmp_path, kind):
    values, less, type_, e = STEPS[kind]
    made_permutation(tmp_path / "release", pays=values, type_=type_, guarantee={"k": 3, "e": e})
    assert verify(tmp_path / "release").ok
    PermutationForger(tmp_path / "release").pays(2, [*values[:3], less])
    assert found(tmp_path / "release") == {f"guarantee e = {e}"}


@pytest.mark.parametrize("wild", [math.nan, math.inf])
def test_a_value_that_is_no_number(tmp_path, wild):
    """It must not pass for the end of a range, nor for one more distinct value."""
    made_permutation(tmp_path / "release", pays=[0.0, 1.0, 2.0, 20.0])
    PermutationForger(tmp_path / "release").pays(2, [0.0, 1.0, 1.0, wild])
    assert "groups" in found(tmp_path / "release")


def test_a_value_that_is_no_number_where_no_two_rows_are_alike(tmp_path):
    """So that no order of rows rests on it; it must not pass for a value far away."""
    table = pa.table({"age": list(range(12)), "pay": [float(10 * (i % 4)) for i in range(12)]})
    policy = Policy(quasi=["age"], sensitive="pay", guarantee={"k": 2, "e": 5}, publication="permutation")
    groups = np.repeat(np.arange(3, dtype=np.int32), 4)
    with read(table) as private:
        publish_groups(private, policy, private.codes("pay"), groups, to=tmp_path / "release")
    forger = without_shares(PermutationForger(tmp_path / "release"))
    assert found(tmp_path / "release") == set()
    permuted = forger.table("permuted")
    pays = pa.array([math.nan if i % 4 == 3 else 1.0 for i in range(12)])
    forger.put("permuted", permuted.set_column(permuted.column_names.index("pay"), "pay", pays))
    assert found(tmp_path / "release") == {"groups", "contents"}
    assert "NaN" in verify(tmp_path / "release").failures[-1].detail


def test_the_two_zeros_are_one_value(tmp_path):
    made_permutation(tmp_path / "release", pays=[0.0, 1.0, 2.0, 20.0])
    PermutationForger(tmp_path / "release").pays(2, [-0.0, 0.0, 20.0, 20.0])
    assert "guarantee k = 3" in found(tmp_path / "release")


def test_a_range_of_what_may_be_missing(tmp_path):
    made_permutation(tmp_path / "release", pays=[0, 1, 2, 20])
    PermutationForger(tmp_path / "release").promise(missing_sensitive="value")
    assert found(tmp_path / "release") == {"manifest"}


def test_a_timestamp_far_away(tmp_path):
    """The year 9999 often stands for never; it has no number of nanoseconds."""
    moments = [-62_135_596_800_000_000, 0, 86_400_000_000, 253_402_214_400_000_000]  # years 1, 1970 and 9999
    made_permutation(tmp_path / "release", pays=moments, type_=pa.timestamp("us"), guarantee={"k": 3, "e": 3_000_000})
    assert verify(tmp_path / "release").ok


PERMUTATION_CSV_FAULTS = [
    ("rows in another order", "permuted.csv", swap_lines(1, 2), {"order"}),
    ("mapping in another order", "mapping.csv", swap_lines(1, 2), {"order"}),
    ("a row too few", "mapping.csv", lambda text: text[: text.rindex("\n", 0, -1) + 1], {"groups", "contents"}),
    ("another header", "permuted.csv", lambda text: text.replace("city", "person 1", 1), {"columns"}),
    (
        "a row in between",
        "mapping.csv",
        lambda text: text.replace("\n2,1\n", "\n2.5,1\n"),
        {"rows", "groups", "order"},
    ),
    (
        "a group in between",
        "mapping.csv",
        lambda text: text.replace("2,1\n", "2,1.5\n"),
        {"groups", "order", K_3, E_10},
    ),
    ("a smaller range", "permuted.csv", lambda text: text.replace(",710", ",709"), {E_10}),
    ("a field too many", "mapping.csv", lambda text: text.replace("\n", ",700\n"), {"columns", "contents"}),
    ("an empty value", "permuted.csv", lambda text: text.replace(",706", ","), {"groups", "order"}),
]


@pytest.mark.parametrize(
    ("title", "name", "change", "checks"), PERMUTATION_CSV_FAULTS, ids=[fault[0] for fault in PERMUTATION_CSV_FAULTS]
)
def test_faults_in_csv_files_of_permutations(permutations, tmp_path, title, name, change, checks):
    forger = without_shares(Forger(Path(shutil.copytree(permutations["csv"], tmp_path / "copy"))))
    before = (forger.path / name).read_text()
    forger.text(name, change)
    assert (forger.path / name).read_text() != before
    forger.mend()
    spotted = found(forger.path)
    assert spotted
    assert spotted <= checks


@pytest.mark.parametrize("guarantee", [{"k": 3.9, "e": 5}, {"k": 2.5}, {"l": 2.5}, {"distinct_l": 2.9}])
def test_a_promise_of_a_part_of_somebody(tmp_path, guarantee):
    """Rounded down it would hold."""
    made_permutation(tmp_path / "release", pays=[0, 1, 2, 20])
    PermutationForger(tmp_path / "release").promise(guarantee=guarantee)
    assert found(tmp_path / "release") == {"manifest"}


@pytest.mark.parametrize("told", [{"partition": "Alice has HIV"}, {"partition": ""}, {"count": "alice earns 100"}])
def test_a_note_in_the_place_of_a_name(tmp_path, told):
    made_permutation(tmp_path / "release", pays=[0, 1, 2, 20])
    PermutationForger(tmp_path / "release").promise(**told)
    assert found(tmp_path / "release") == {"manifest"}
