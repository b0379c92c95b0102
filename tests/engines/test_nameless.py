"""Files that lose their name while somebody writes to them."""

import os

from discreet.engines.nameless import unname


def test_rows_lose_their_name_and_can_still_be_read(tmp_path):
    spilled = tmp_path / "spilled"
    spilled.mkdir()
    kept = spilled / "large.block"
    kept.write_text("opened again by its name")
    with (spilled / "rows_0.tmp").open("w+") as file, (spilled / "rows_1.tmp").open("w+") as new:
        file.write("private")
        file.flush()
        unname(spilled, "rows_*.tmp", tmp_path / "empty")
        assert [path.read_text() for path in sorted(spilled.glob("rows_*"))] == ["", ""]
        assert (spilled / "rows_1.tmp").stat().st_ino == os.fstat(new.fileno()).st_ino
        file.seek(0)
        assert file.read() == "private"
    assert kept.read_text() == "opened again by its name"
    assert not (tmp_path / "empty").exists()
