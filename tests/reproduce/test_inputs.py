"""The files of `reproduce all` are looked at before anything is labelled, planned or written."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import zstandard
from typer.testing import CliRunner

from diffusearch.cli import app
from diffusearch.errors import UserError
from diffusearch.reproduce.inputs import check_games, check_inputs
from diffusearch.reproduce.labels import LabelSet
from diffusearch.reproduce.plan import Setting
from diffusearch.reproduce.scales import LAPTOP
from diffusearch.reproduce.whole import check_whole, planned

GAMES = Path(__file__).parents[1] / "fixtures" / "games.pgn"  # 300 games, 13 of them in the test split
GAME = "1. e4 e5 2. Nf3 *\n\n"


@pytest.fixture
def given(tmp_path: Path, actions: Path, puzzles: Path) -> Setting:
    """All the files that a setting of `reproduce all` needs."""
    return Setting(
        Path(),
        tmp_path / "out",
        scale=LAPTOP,
        recipe=LAPTOP.recipe,
        actions=actions,
        puzzles=puzzles,
        pgn=GAMES,
        docs=tmp_path / "docs",
    )


def labelled(games: int, test: bool = False) -> LabelSet:
    return LabelSet("test" if test else "oracle", games, 4, 100, test=test)


def test_files_that_are_there_pass(given: Setting) -> None:
    check_inputs(given)
    check_games(GAMES, [labelled(300), labelled(13, test=True)])
    check_games(GAMES, [])


def test_too_few_games_are_told_with_both_numbers() -> None:
    with pytest.raises(UserError, match=r"games.pgn has 300 games that can be read, and 1,301 are labelled .*--games"):
        check_games(GAMES, [labelled(12), labelled(1301)])
    with pytest.raises(UserError, match=r"has 13 games of the test split among 300, and 14 are labelled .*--actions"):
        check_games(GAMES, [labelled(12), labelled(14, test=True)])


def test_games_are_read_only_as_far_as_needed(tmp_path: Path) -> None:
    """What is damaged behind the games that are needed does no harm; what is damaged before is told."""
    whole = zstandard.compress((GAME * 3000).encode())
    cut = tmp_path / "cut.pgn.zst"
    cut.write_bytes(zstandard.compress((GAME * 3).encode()) + whole[: len(whole) // 2])
    check_games(cut, [labelled(3)])
    with pytest.raises(UserError, match=r"has \S+ games that can be read, before the place where it is damaged"):
        check_games(cut, [labelled(3001)])


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        (
            "README.md",
            b"# Title\n\nSome words.\n",
            r"is no PGN, none of its 2 sections is a game \(the first",
        ),
        ("empty.pgn", b"", "is no PGN, it is empty"),
        ("cut.pgn.zst", zstandard.compress(GAME.encode())[:9], "is no PGN, damaged archive"),
        ("rows.parquet", b"PAR1", "is a Parquet file, not games"),
        ("rows.csv", b"PuzzleId,FEN\n", "is a table of puzzles, not games"),
    ],
)
def test_what_is_no_pgn_is_refused(given: Setting, tmp_path: Path, name: str, content: bytes, words: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(UserError, match=rf"{name} {words}.*: give a PGN, plain or compressed, with --games"):
        check_inputs(replace(given, pgn=path))


def test_too_few_games_stop_before_anything_is_written(given: Setting) -> None:
    with pytest.raises(UserError, match=r"300 games that can be read, and 1,385 are labelled"):
        check_whole(planned(given, engine="true"))
    assert not given.out.exists()


@pytest.mark.parametrize("only", ["--plan", "--page"])
@pytest.mark.parametrize("wrong", ["--games", "--puzzles", "--actions"])
def test_a_mistyped_path_neither_plans_nor_writes(given: Setting, tmp_path: Path, only: str, wrong: str) -> None:
    files = {"--games": given.pgn, "--puzzles": given.puzzles, "--actions": given.actions}
    files[wrong] = Path("/nowhere/file")
    words = ["reproduce", "all", "--scale", "laptop", only, "--out", str(tmp_path / "out")]
    done = CliRunner().invoke(app, [*words, *(str(word) for pair in files.items() for word in pair)])
    assert isinstance(done.exception, UserError)
    assert "/nowhere/file" in str(done.exception)
    assert not (tmp_path / "out").exists()


def test_the_page_needs_no_engine(given: Setting, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DIFFUSEARCH_STOCKFISH", str(tmp_path / "absent"))
    files = {"--games": given.pgn, "--puzzles": given.puzzles, "--actions": given.actions}
    words = ["reproduce", "all", "--scale", "laptop", "--page", "--out", str(given.out)]
    done = CliRunner().invoke(app, [*words, *(str(word) for pair in files.items() for word in pair)])
    assert done.exit_code == 0, done.output
    assert "not yet measured" in (given.out / "reproduction.md").read_text()


def test_settings_of_rows_are_refused_before_the_base(given: Setting) -> None:
    with pytest.raises(UserError, match=r"would override model.horizon, which rows of `depth` set"):
        check_whole(planned(replace(given, settings=("model.horizon=2",))))


def test_a_measurement_that_does_not_exist_is_refused(given: Setting, tmp_path: Path) -> None:
    files = {"--games": given.pgn, "--puzzles": given.puzzles, "--actions": given.actions}
    words = ["reproduce", "all", "--scale", "laptop", "--plan", "--only", "latencies", "--out", str(tmp_path / "out")]
    done = CliRunner().invoke(app, [*words, *(str(word) for pair in files.items() for word in pair)])
    assert str(done.exception) == (
        "--only 'latencies' is no measurement of `reproduce all`: "
        "give one of actions, futures, latency, puzzles, tree-depth."
    )
