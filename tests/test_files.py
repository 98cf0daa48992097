from __future__ import annotations

from pathlib import Path

import pytest

from diffusearch import files


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
