"""A policy: frozen, the same from Python and TOML, and every mistake in it named at once."""

import pytest

from discreet import Policy
from discreet.errors import DiscreetError, InputError, PolicyError
from discreet.table.table import Column

PLAIN = {"quasi": ["age", "zip"], "sensitive": "ill", "guarantee": {"l": 3}}


def test_lines_of_a_table_with_spaces_and_quotes(load):
    text = 'quasi = ["age"]\nsensitive = "ill"\n[ guarantee ]\n  l = 1\n  "q q" = 2\n'
    assert [(line, key) for line, key, _ in mistakes(lambda: load(text))] == [(4, "guarantee.l"), (5, "guarantee.q q")]


def test_lines_after_a_list_of_several_lines(load):
    text = 'quasi = [\n  "age",\n  "age",\n]\nsensitive = "ill"\r\nguarantee = { l = 3 }\nnam = "x"\n'
    assert [(line, key) for line, key, _ in mistakes(lambda: load(text))] == [(1, "quasi"), (7, "nam")]


def test_missing_keys_have_no_line(load):
    assert mistakes(lambda: load("")) == [(None, key, "is missing") for key in ("quasi", "sensitive", "guarantee")]
    assert mistakes(lambda: load("[policy]\nname = 'x'\n"))[-1][:2] == (1, "policy")


def test_capitals_are_not_forgiven(load):
    found = mistakes(lambda: load('Quasi = ["age"]\nSENSITIVE = "ill"\n[guarantee]\nL = 3\n'))
    assert [message for line, _, message in found if line] == [
        "is not a key of a policy; did you mean `quasi`?",
        "is not a key of a policy; did you mean `sensitive`?",
        "is not a guarantee; did you mean `l`?",
    ]


@pytest.mark.parametrize("text", [b'quasi = ["\xff"]\n', 'quasi = ["é"]\n'.encode("latin-1"), SOUND.encode("utf-16")])
def test_not_utf_8(load, text):
    with pytest.raises(InputError, match=r"policy\.toml` cannot be read.*(UTF-8|Unicode)"):
        load(text)


def test_a_byte_order_mark_is_forgiven(load):
    """Some editors write one; tomllib alone calls it an invalid statement."""
    assert load("\ufeff" + SOUND) == load(SOUND)


def test_no_such_file(tmp_path):
    with pytest.raises(InputError, match="there is no policy file"):
        Policy.load(tmp_path / "nothing.toml")
    for place in (tmp_path, tmp_path / ("x" * 300), tmp_path / "a\0b"):
        with pytest.raises(InputError):
            Policy.load(place)


def test_a_file_that_nests_too_deep(load):
    with pytest.raises(DiscreetError):
        load("x = " + "[" * 5_000 + "]" * 5_000)


def columns(**kinds):
    return [Column(name, kind, (kind or "blob").upper()) for name, kind in kinds.items()]


def test_everything_that_does_not_fit_the_table():
    policy = Policy(quasi=["agee", "photo"], sensitive="il", guarantee={"l": 3}, identifiers=["nam"], drop=["nothing"])
    found = mistakes(lambda: policy.fit(columns(name="string", age="integer", ill="string", photo=None)))
    assert [(key, message.split(";")[0]) for _, key, message in found] == [
        ("identifiers", "the table has no column `nam`"),
        ("quasi", "the table has no column `agee`"),
        ("sensitive", "the table has no column `il`"),
        ("drop", "the table has no column `nothing`"),
        ("drop", "the column `name` has no role"),
        ("drop", "the column `age` has no role"),
        ("drop", "the column `ill` has no role"),
        ("quasi", "the column `photo` has the type BLOB, which cannot be published"),
    ]
    assert [message.split("; ")[1] for _, _, message in found[:3]] == [
        "did you mean `name`?",
        "did you mean `age`?",
        "did you mean `ill`?",
    ]


def test_the_rest_can_be_dropped():
    Policy(**PLAIN, drop="rest").fit(columns(name="string", age="integer", zip="string", ill="string", photo=None))
    with pytest.raises(PolicyError, match="the column `photo` has no role"):
        Policy(**PLAIN).fit(columns(age="integer", zip="string", ill="string", photo=None))
