from __future__ import annotations

import re
import select
import subprocess
import sys
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


def test_a_folder_that_cannot_be_made_is_the_users_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("old")
    for path in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(UserError, match=rf"{re.escape(str(path))} cannot be made \(.*\): choose another --svg"):
            files.make_folder(path, "--svg")
    files.make_folder(tmp_path / "new" / "below")
    files.make_folder(tmp_path / "new" / "below")
    assert (tmp_path / "new" / "below").is_dir()


HOLDER = """
import sys
import select
import subprocess
import sys
from pathlib import Path
from diffusearch.files import locked
with locked(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def holder(path: Path) -> subprocess.Popen[str]:
    words = [sys.executable, "-c", HOLDER, str(path)]
    return subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def test_a_lock_is_held_by_one_process_and_ends_with_it(tmp_path: Path) -> None:
    path = tmp_path / ".lock"
    with holder(path) as first:
        assert first.stdout is not None
        assert first.stdout.readline() == "held\n"
        with pytest.raises(UserError, match="somebody is here"), files.locked(path, "somebody is here"):
            pass
        first.kill()
        first.wait()
    with (
        files.locked(path, "somebody is here"),
        pytest.raises(UserError, match="a second time"),
        files.locked(path, "a second time"),
    ):
        pass
    with files.locked(path, "somebody is here"):  # given back
        pass


def test_without_a_sentence_a_lock_waits(tmp_path: Path) -> None:
    path = tmp_path / ".lock"
    with holder(path) as first:
        assert first.stdout is not None
        assert first.stdout.readline() == "held\n"
        with holder(path) as second:
            assert second.stdout is not None
            assert not select.select([second.stdout], [], [], 1.0)[0]  # nothing is heard of it yet
            first.communicate()  # ends it
            assert second.stdout.readline() == "held\n"
            second.communicate()


def test_a_lock_in_no_folder_is_the_users_error(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot be opened"), files.locked(tmp_path / "none" / ".lock"):
        pass


def test_leftovers_of_killed_processes_are_removed(tmp_path: Path) -> None:
    temporary = files.temporary_for(tmp_path / "file")
    for path in (temporary, tmp_path / "file", tmp_path / "other.tmp"):
        path.write_text("x")
    files.remove_leftovers(tmp_path)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["file", "other.tmp"]


def test_a_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"cannot be read \(Is a directory|Permission denied"):
        files.sha256(tmp_path)
