"""Every mistake in a hierarchy is named, with the file, the place and the value."""

import datetime as dt
import json
import re
from contextlib import suppress
from decimal import Decimal

import pyarrow as pa
import pytest

from discreet.errors import InputError
from discreet.hierarchies import load


def refused(spec, *words, domain=None, folder=None):
    with pytest.raises(InputError) as error:
        load(spec, "ill", folder).levels(pa.array(["a"]) if domain is None else domain, "ill")
    for word in ("`ill`", *words):
        assert word in str(error.value), str(error.value)


TABLES = {
    "empty": ("", "is empty"),
    "only blank lines": ("\n\r\n\n", "is empty"),
    "ragged, too few": ("a;x;*\nb;*\n", "line 2", "expected 3 fields, as on line 1, got 2", "`b`"),
    "ragged, too many": ("\na;x;*\nb;x;y;*\n", "line 3", "expected 3 fields, as on line 2, got 4", "`b`"),
    "a value without a path": ("a\nb\n", "line 1", "`a` has no path"),
    "one value without a path": ("a;x;*\nb\n", "line 2", "got 1", "`b`"),
    "empty label": ("a;x;*\nb;;*\n", "line 2", "field 2 of the value `b` is empty"),
    "blank root": ("a;x; \nb;x; \n", "line 1", "field 3 of the value `a` is empty"),
    "empty value": ("a;x;*\n;x;*\n", "line 2", "field 1 is empty"),
    "no single root": ("a;x;*\nb;x;*\nc;y;all\n", "line 3", "`all`", "`*` on line 1", "one root"),
    "a header": ("value;level 1;level 2\na;x;*\n", "line 2", "`level 2`", "no header"),
    "a value twice": (
        "a;x;*\nb;y;*\na;y;*\n",
        "line 3",
        "the value `a` has the path `y` → `*`, but on line 1 the path `x` → `*`",
    ),
    "a label with two parents": (
        "a;x;g;*\nb;x;h;*\n",
        "line 2",
        "the label `x` of level 1 has two parents: `h` here, `g` on line 1",
    ),
    "a ring on one line": ("a;x;y;x;*\nb;z;y;x;*\n", "line 1", "stands above itself", "`x` → `y` → `x`"),
    "a ring of a value": ("b;x;*;*\na;b;a;*\n", "line 2", "stands above itself", "`b`", "`a`"),
    "a ring over lines": ("a;b;*\nb;a;*\n", "line 2", "stands above itself"),
    "a ring over labels": ("a;x;y;*\nb;y;x;*\n", "line 2", "stands above itself"),
    "a label in itself": ("a;x;x;*\nb;y;x;*\n", "line 2", "`x` of level 2 stands above itself and above `y`"),
    "an open quote": ('a;x;*\n"b;x;*\nc;x;*\n', "line 2", "quote"),
    "a field without end": ("a" * 200_000 + ";x;*\n", "line 1", "field larger"),
    "a quote too early": ('a;x;*\n"b"b;x;*\n', "line 2", "quote"),
}


@pytest.mark.parametrize("mistake", TABLES)
def test_level_tables(tmp_path, mistake):
    text, *words = TABLES[mistake]
    (tmp_path / "h.csv").write_text(text, encoding="utf-8", newline="")
    refused("h.csv", str(tmp_path / "h.csv"), *words, folder=tmp_path)


@pytest.mark.parametrize(
    ("content", "line"),
    [
        ("a;x;*\nbé;x;*\n".encode("latin-1"), 2),
        ("a;x;*\nbé;x;*\n".encode("utf-16"), 1),
        ("a;x;*\nb;x;*\n".encode("utf-16-le"), 1),
    ],
    ids=["latin-1", "utf-16", "utf-16 without a mark"],
)
@pytest.mark.parametrize("name", ["h.csv", "h.json", "h.toml"])
def test_other_encodings(tmp_path, content, line, name):
    (tmp_path / name).write_bytes(content)
    refused(name, f"line {line}", "UTF-8", "save it as UTF-8", folder=tmp_path)


def test_files_that_cannot_be_read(tmp_path):
    refused("h.csv", "no such file", "h.csv", folder=tmp_path)
    (tmp_path / "d.csv").mkdir()
    refused("d.csv", "cannot be read", folder=tmp_path)
    refused("h.xlsx", "`.csv`, `.toml` or `.json`", folder=tmp_path)
    refused("h\0.csv", "cannot be read", folder=tmp_path)
    refused(str(tmp_path / "h.csv"), "no such file")


JSONS = {
    "empty": (" \n", "is empty"),
    "not JSON": ('{"any": [}\n', "is not JSON", "line 1"),
    "a list": ('["a"]', "expected a table of labels, got a list"),
    "a name twice in a table": ('{"any": {"x": ["a"],\n "x": ["b"]}}', "`x` stands twice"),
    "half a character": ('{"any": ["\\ud800"]}', "is no text"),
    "half a character in a label": ('{"\\ud800": ["a"]}', "is no text"),
    "too deep": ('{"a":' * 100_000 + "1" + "}" * 100_000, "nested too deeply"),
    "two places": (
        '{"any": {"x": ["a"],\n "y": ["a"]}}',
        "the value `a` has two parents: `any` → `x` and `any` → `y` (line 1 and 2)",
    ),
}


@pytest.mark.parametrize("mistake", JSONS)
def test_json_trees(tmp_path, mistake):
    text, *words = JSONS[mistake]
    (tmp_path / "h.json").write_text(text, encoding="utf-8")
    refused("h.json", str(tmp_path / "h.json"), *words, folder=tmp_path)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ["is empty"]),
        ("any = [\n", ["is not TOML"]),
        ('any = ["a"]\nany = ["b"]\n', ["is not TOML", "line 2"]),
        ("any = " + "[" * 5_000, ["nested too deeply"]),
    ],
)
def test_toml_trees(tmp_path, text, words):
    (tmp_path / "h.toml").write_text(text, encoding="utf-8")
    refused("h.toml", str(tmp_path / "h.toml"), *words, folder=tmp_path)


def nested(depth):
    tree = ["a"]
    for i in range(depth):
        tree = {f"l{i}": tree}
    return tree


TREES = {
    "nothing": ({}, "no values"),
    "no table": ("a", "expected a table of labels, got a text"),
    "an empty list": ({"any": {"x": [], "y": ["a"]}}, "below `x` under `any` stands an empty list"),
    "a bare value": ({"any": {"x": "a"}}, "below `x` under `any` stands a text", "a list of values"),
    "nothing below": ({"any": {"x": None}}, "below `x` under `any` stands nothing"),
    "a table in a list": ({"any": ["a", {"x": ["b"]}]}, "in the list of `any` stands a table", "values only"),
    "no value": ({"any": ["a", None]}, "in the list of `any` stands nothing"),
    "a label that is no text": ({"any": {1: ["a"]}}, "the label `1` under `any` is no text"),
    "an empty label": ({"any": {"": ["a"]}}, "is no text"),
    "a label in two places": (
        {"any": {"g": {"x": ["a"]}, "h": {"x": ["b"]}}},
        "the label `x` has two parents: `any` → `g` and `any` → `h`",
    ),
    "a value in two places": ({"g": ["a"], "h": ["b", "a"]}, "the value `a` has two parents: `*` → `g` and `*` → `h`"),
    "a value as leaf and in a list": ({"g": ["a"], "a": {}}, "the value `a` has two parents: `*` → `g` and `*`"),
    "a label below itself": ({"any": {"x": {"y": {"x": ["a"]}}}}, "`x` stands below itself: `any` → `x` → `y` → `x`"),
    "a value below itself": ({"any": {"x": ["x", "a"]}}, "`x` stands below itself: `any` → `x` → `x`"),
    "too deep": (nested(101), "nested too deeply"),
    "far too deep": (nested(50_000), "nested too deeply"),
}


@pytest.mark.parametrize("mistake", TREES)
def test_trees(mistake):
    tree, *words = TREES[mistake]
    refused({"tree": tree}, *words)


def test_a_label_of_one_value_may_have_its_name():
    found = load({"tree": {"any": {"x": ["x"], "y": ["a"]}}}, "ill").levels(pa.array(["a", "x"]), "ill")
    assert found.labels[1] == ("y", "x")
    assert load({"tree": nested(100)}, "ill").levels(pa.array(["a"]), "ill").height == 100


SPECS = {
    "no spec": (None, "expected the path of a file or a table, got nothing"),
    "a list": ([5, 10], "got a list"),
    "an unknown key": ({"interval": [5]}, "no key `interval`", "did you mean `intervals`?"),
    "a bare tree": ({"any": {"x": ["a"]}}, "no key `any`", "`tree`"),
    "no form": ({}, "expected one form, got none"),
    "an origin alone": ({"origin": 1}, "expected one form, got none"),
    "two forms": ({"masks": [1], "dates": ["year"]}, "got `dates` and `masks`"),
    "an origin without intervals": ({"masks": [1], "origin": 1}, "`origin` goes with `intervals` only"),
    "no list": ({"intervals": 5}, "expected a list in `intervals`", "got a number"),
    "an empty list": ({"masks": []}, "expected a list in `masks`", "got an empty list"),
    "a text for a list": ({"dates": "month"}, "expected a list in `dates`", "got a text"),
    "a width in words": ({"intervals": ["5"]}, "expected a number, got `5`"),
    "a boolean width": ({"intervals": [True]}, "expected a number, got `True`"),
    "an infinite width": ({"intervals": [float("inf")]}, "expected a finite number"),
    "a width that is no number": ({"intervals": [float("nan")]}, "expected a finite number"),
    "an enormous width": ({"intervals": [10**5000]}, "expected a finite number"),
    "width zero": ({"intervals": [0, 5]}, "the width `0` of `intervals` is not above 0"),
    "a negative width": ({"intervals": [5, -10]}, "the width `-10` of `intervals` is not above 0"),
    "no multiple": ({"intervals": [5, 12]}, "the width `12` of `intervals` is not a multiple of the one before, `5`"),
    "no decimal multiple": ({"intervals": [0.2, 0.3]}, "the width `0.3`", "`0.2`"),
    "widths that shrink": ({"intervals": [10, 5]}, "the width `5`", "`10`"),
    "a width twice": ({"intervals": [10, 10]}, "the width `10`"),
    "an origin in words": ({"intervals": [5], "origin": "0"}, "`origin`: expected a number, got `0`"),
    "an unknown part": ({"dates": ["monht"]}, "no part `monht`", "did you mean `month`?"),
    "a part that is no text": ({"dates": [1]}, "no part `1`"),
    "weeks in months": ({"dates": ["week", "month"]}, "a `week` does not lie in one `month`", "nothing"),
    "parts that shrink": ({"dates": ["year", "month"]}, "a `year` does not lie in one `month`", "`decade`"),
    "a part twice": ({"dates": ["year", "year"]}, "a `year` does not lie in one `year`"),
    "mask zero": ({"masks": [0, 1]}, "whole numbers from 1 in `masks`, got `0`"),
    "half a mask": ({"masks": [1.5]}, "got `1.5`"),
    "a boolean mask": ({"masks": [True]}, "got `True`"),
    "masks that shrink": ({"masks": [1, 3, 2]}, "`masks` must grow, but 2 comes after 3"),
}


@pytest.mark.parametrize("mistake", SPECS)
def test_specs(mistake):
    spec, *words = SPECS[mistake]
    refused(spec, *words)


DAY = dt.date(2020, 1, 1)


@pytest.mark.parametrize(
    ("spec", "domain", "words"),
    [
        ({"intervals": [5]}, pa.array(["a"]), ["`intervals` are for numbers", "holds text", "`masks` or a tree"]),
        ({"intervals": [5]}, pa.array([DAY]), ["holds dates", "use `dates`"]),
        ({"intervals": [5]}, pa.array([True]), ["holds booleans"]),
        ({"intervals": [2.5]}, pa.array([1]), ["`2.5` does not fit", "whole numbers"]),
        ({"intervals": [5], "origin": 0.5}, pa.array([1]), ["`0.5` does not fit"]),
        ({"intervals": [0.125]}, pa.array([Decimal("1.00")]), ["`0.125` does not fit", "2 digits after the point"]),
        ({"intervals": [5]}, pa.array([1.0, float("inf")]), ["infinite"]),
        ({"dates": ["year"]}, pa.array(["2020-01-01"]), ["`dates` are for dates", "holds text"]),
        ({"dates": ["year"]}, pa.array([2020]), ["holds whole numbers"]),
        ({"masks": [1]}, pa.array([1.5]), ["`masks` are for codes", "holds numbers"]),
        ({"masks": [1]}, pa.array([DAY]), ["holds dates"]),
        ({"tree": {"any": ["a"]}}, pa.array([b"a"]), ["values of the type binary"]),
    ],
)
def test_columns_of_another_kind(spec, domain, words):
    refused(spec, *words, domain=domain)


def test_values_without_a_path_are_counted_and_not_quoted(tmp_path):
    (tmp_path / "h.csv").write_text("1;x;*\n2;x;*\n", encoding="utf-8")
    refused("h.csv", "1 of the 2 values", "has no path to the root\n", domain=pa.array([2, 3]), folder=tmp_path)
    refused("h.csv", "7 of the 9", "have no path", domain=pa.array(range(1, 10)), folder=tmp_path)
    refused({"tree": {"any": ["A b"]}}, "1 of them would have one but for capitals", domain=pa.array(["a  B", "c"]))


@pytest.mark.parametrize("cell", ["SECRET", "b" * 10_000])
def test_no_cell_of_the_table_is_in_the_message(cell):
    with pytest.raises(InputError) as error:
        load({"tree": {"any": ["a"]}}, "ill").levels(pa.array([cell]), "ill")
    assert cell[:6] not in str(error.value)


def test_a_value_twice_in_two_spellings(tmp_path):
    (tmp_path / "h.csv").write_text("1;x;*\n2;x;*\n1.0;y;*\n", encoding="utf-8")
    refused("h.csv", "`1` (line 1)", "`1.0` (line 3)", "different paths", domain=pa.array([1]), folder=tmp_path)
    tree = {"any": {"x": [1], "y": ["01"]}}
    refused({"tree": tree}, "`1` (`any` → `x`)", "`01` (`any` → `y`)", domain=pa.array([1]))


def test_no_mistake_is_an_exception_of_another_kind(tmp_path):
    """Cut a sound file anywhere: it is read, or refused with a reason."""
    table = 'a;"x;1";*\nb;"x;1";*\nc;y;*\n'
    tree = json.dumps({"any": {"x": ["a", "b"], "y": {"c": {}}}})
    for name, text in (("h.csv", table), ("h.json", tree), ("h.toml", f"any = {re.sub(': ', ' = ', tree)}")):
        for end in range(len(text)):
            (tmp_path / name).write_text(text[:end], encoding="utf-8")
            with suppress(InputError):
                load(name, "ill", tmp_path).levels(pa.array(["a", "b", "c"]), "ill")
