"""The glossary knows every word of a registry, and what it names stands in the code."""

import re
from pathlib import Path

import pytest

from discreet.guarantees import PROMISES
from discreet.partition import PARTITIONS
from discreet.publication import PUBLICATIONS

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
FOR_USERS, FOR_READERS = TEXT.split("\n## For readers of the code\n")
# What stands in bold at the start of an entry; several words of one entry have commas between them.
ENTRIES = {
    word for entry in re.findall(r"^\*\*(.+?)\*\*:", FOR_READERS, flags=re.MULTILINE) for word in entry.split(", ")
}


@pytest.mark.parametrize(
    "registry", [PROMISES, PARTITIONS, PUBLICATIONS], ids=["guarantees", "partitions", "publications"]
)
def test_every_word_of_a_registry_is_explained(registry):
    missing = [word for word in registry if not re.search(rf"\b{word}\b|\b{word.replace('_', ' ')}\b", TEXT)]
    assert missing == []


def test_what_the_glossary_names_is_in_the_code():
    code = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "src").rglob("*.py"))
    words = ENTRIES | set(re.findall(r"`([a-zA-Z_]\w*)`", FOR_READERS))
    assert sorted(word for word in words if not re.search(rf"{re.escape(word)}\b", code)) == []
    files = set(re.findall(r"`([\w/]+(?:/|\.py))`", FOR_READERS))
    assert files
    assert sorted(file for file in files if not (ROOT / "src" / "discreet" / file).exists()) == []
