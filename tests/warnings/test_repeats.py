"""A patient's number beside that of a visit: alone it repeats, together they do not."""

import numpy as np
import pyarrow as pa
import pytest

from discreet import Policy, publish
from discreet.errors import UnacceptedError

ROLES = {"identifiers": ["visit", "patient"], "quasi": ["age"], "sensitive": "ill", "guarantee": {"l": 2}}


def visits(each):
    rows = np.arange(300)
    return pa.table({"visit": rows, "patient": rows // each, "age": rows // each % 50, "ill": rows * 7 % 40})


def test_repeats_are_found(tmp_path):
    with pytest.raises(UnacceptedError) as refused:
        publish(visits(3), Policy(**ROLES), to=tmp_path / "r")
    assert [warning.name for warning in refused.value.warnings] == ["repeats.patient"]
    assert "`patient` has 100 different values in 300 rows" in str(refused.value)
    assert 'write two lines: person = "patient" and identifiers = ["visit"]' in str(refused.value)


def test_what_it_says_to_do_works(tmp_path):
    accepted = Policy(**ROLES, accept={"repeats.patient": "shared by a family"})
    assert publish(visits(3), accepted, to=tmp_path / "a").warnings[0].reason == "shared by a family"
    people = Policy(**{**ROLES, "identifiers": ["visit"]}, person="patient")
    assert publish(visits(3), people, to=tmp_path / "b").promise.people == 100
    dropped = Policy(**{**ROLES, "identifiers": ["visit"]}, drop=["patient"])
    assert publish(visits(3), dropped, to=tmp_path / "c").warnings == ()


def test_identifiers_that_do_not_repeat_are_fine(tmp_path):
    assert publish(visits(1), Policy(**ROLES), to=tmp_path / "r").warnings == ()
