r"""Text from outside as a terminal or a page may show it: signs that would steer either are spelled out.

Control characters can clear a screen, rename a window or write over what was printed; signs that turn the direction of
writing make a text read otherwise than it is. Both are shown as their number, like `\x1b` and `\u202e`.
"""

from __future__ import annotations

import json
import re

# C0 (but for the end of a line), C1, marks of direction, separators of lines and paragraphs, invisible tags
STEERING = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\U000e0000-\U000e007f]")
LONGEST = 200  # characters of a text in a table
# What Markdown takes for markup inside a line: marks, a link, a tag, an entity, an address
MARKUP = re.compile(r"[\\`*~|]|\[(?=.*\]\()|\](?=\()|<(?=[A-Za-z/!?])|&(?=#?\w+;)|(?<=:)/(?=/)|(?<=www)\.|@(?=\w)")


def visible(text: str) -> str:
    """A text of one or more lines that steers nothing."""
    return STEERING.sub(lambda sign: _spelled(sign[0]), text)


def in_a_line(text: str) -> str:
    """The same, without an end of a line."""
    return visible(text).replace("\n", "\\n")


def in_a_cell(text: str) -> str:
    """The same, short enough for a table: a long text ends in `…`."""
    shown = in_a_line(text[: LONGEST + 1])
    return shown if len(shown) <= LONGEST else f"{shown[: LONGEST - 1]}…"


def in_json(document: str) -> str:
    """A JSON document that says the same and steers nothing: JSON has its own way to spell such signs."""
    return STEERING.sub(lambda sign: json.dumps(sign[0])[1:-1] if sign[0] != "\x7f" else "\\u007f", document)


def in_markdown(text: str) -> str:
    """A text in a line of Markdown, that stands there as it is."""
    return in_a_line(MARKUP.sub(r"\\\g<0>", text))


def _spelled(sign: str) -> str:
    number = ord(sign)
    return f"\\x{number:02x}" if number < 0x100 else f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"
