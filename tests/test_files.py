from __future__ import annotations

from pathlib import Path

import pytest

from diffusearch import files
from diffusearch.errors import UserError


def test_text_and_bytes_are_written_and_replaced(tmp_path: Path) -> None:
    path = tmp_path / "new folder" / "file"
    files.write_whole(path, "first é")
    assert path.read_text(encoding="utf-8") == "first é"
    files.write_whole(path, b"second")
    assert path.read_bytes() == b"second"
    assert [p.name for p in path.parent.iterdir()] == ["file"]


def test_a_failure_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file"
    files.write_whole(path, "old")

    def cut(temporary: object, final: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(files.os, "replace", cut)
    with pytest.raises(KeyboardInterrupt):
        files.write_whole(path, "new")
    assert path.read_text() == "old"


def test_what_cannot_be_written_is_the_users_error(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("old")
    for path in (tmp_path / "folder", tmp_path / "file" / "below"):
        with pytest.raises(UserError, match=f"{path} cannot be written .*: choose another place"):
            files.write_whole(path, "new")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["file", "folder"]  # no draft is left
