"""Run the stages of a soak that are asked for, then write its page."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from diffusearch.files import locked
from soak import game_stage, kill_stage, request_stage, uci_stage
from soak.page import write_page
from soak.units import Stage, run_stage

PAGE = Path(__file__).parents[2] / "docs" / "soak.md"


def stages(scale: float, work: Path) -> list[Stage]:
    return [
        uci_stage.stage(scale),
        request_stage.stage(scale),
        kill_stage.stage(scale, work),
        game_stage.stage(scale, work),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description="The soak before a release.")
    parser.add_argument("--scale", type=float, default=1.0, help="of all counts; 1 is the full soak")
    parser.add_argument("--work", type=Path, help="where results are kept (build/soak-SCALE)")
    parser.add_argument("--only", nargs="*", help="stages: uci, http, kills, games")
    parser.add_argument("--page", type=Path, help=f"the page to write ({PAGE.name} after a full soak)")
    given = parser.parse_args()
    work = (given.work or Path("build") / f"soak-{given.scale:g}").resolve()
    work.mkdir(parents=True, exist_ok=True)
    every = stages(given.scale, work)
    for stage in every:
        if not given.only or stage.name in given.only:
            with locked(
                work / f".{stage.name}.lock", f"another soak does the stage {stage.name} in {work}: wait for it."
            ):
                run_stage(stage, work)
    page = given.page or (PAGE if given.scale == 1 else work / "soak.md")
    faults = write_page(page, every, work, given.scale)
    print(f"{faults} faults; written to {page}")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
