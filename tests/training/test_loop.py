"""The loop: killed anywhere it goes on bit for bit; many processes are one; damage is refused; patience ends."""

from __future__ import annotations

import csv
import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from diffusearch.errors import UserError
from diffusearch.inference.run import Run
from diffusearch.training import checkpoint, loop, state
from diffusearch.training.log import Validation
from diffusearch.training.loop import train
from diffusearch.training.processes import World
from diffusearch.training.recipe import Recipe, load_recipe, recipe_text
from diffusearch.training.state import Training

pytestmark = pytest.mark.slow

# Everything random or stateful at once, and the features of the packaged model: dropout, mixed horizons, mirrored
# boards, random moves, micro-batches, Muon, averages.
EVERYTHING = {
    "horizons": [0.5, 0.5],
    "data": {"mirror": True, "random_moves": 0.3},
    "model": {"root_value": True, "board_features": True, "feature_width": 4, "residual_state": True},
    "loss": {"legal_root": True, "legality": 1.0, "full_noise": 0.1, "root_policy": 1.0, "ply_by_ply": 0.6},
    "decoding": {"order": "plies"},
    "optimiser": {"kind": "muon", "ema": 0.9, "micro_batches": 2},
}


def same_files(one: Path, two: Path) -> None:
    for name in ("weights.safetensors", "checkpoint.safetensors"):
        a, b = load_file(one / name), load_file(two / name)
        assert a.keys() == b.keys()
        for key in a:
            assert torch.equal(a[key], b[key]), (name, key)


# Trains, and waits to be killed: after a step without a checkpoint, or with a checkpoint written but not yet in place.
KILLED = """
import os, sys
from pathlib import Path
import torch
from diffusearch.training import checkpoint, loop
from diffusearch.training.recipe import load_recipe

folder, when, number = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])

def wait_for_the_end():
    print("now", flush=True)
    sys.stdin.read()

step, replace = loop.Training.take_step, os.replace

def take_step(self):
    report = step(self)
    if when == "step" and self.step == number:
        wait_for_the_end()
    return report

def put_in_place(source, target):
    if when == "save" and Path(target).name == "checkpoint.safetensors":
        wait_for_the_end()
    replace(source, target)

loop.Training.take_step, os.replace = take_step, put_in_place
loop.train(load_recipe(folder / "recipe.toml"), folder, resume=True)
"""


def kill(folder: Path, when: str, number: int) -> None:
    arguments = [sys.executable, "-c", KILLED, str(folder), when, str(number)]
    with subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "now\n"
        process.send_signal(signal.SIGKILL)
        process.wait()


def test_killed_twice_and_resumed_is_the_same_bit_for_bit(make_recipe, tmp_path: Path) -> None:
    recipe = make_recipe(**EVERYTHING)
    train(recipe, tmp_path / "whole")
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / "recipe.toml").write_text(recipe_text(recipe))
    kill(broken, "step", 6)  # two steps after the checkpoint of step 4
    assert checkpoint.load_tensors(broken / "checkpoint.safetensors")[1]["step"] == 4
    kill(broken, "save", 0)  # goes on, and dies while it writes the checkpoint of step 8
    assert checkpoint.load_tensors(broken / "checkpoint.safetensors")[1]["step"] == 4
    train(recipe, broken, resume=True)
    same_files(tmp_path / "whole", broken)


def test_stopping_by_the_clock_and_resuming_is_the_same(make_recipe, tmp_path: Path) -> None:
    whole, timed = make_recipe(), make_recipe(watch={"minutes": 1e-9})
    train(whole, tmp_path / "whole")
    lines: list[str] = []
    while (training := train(timed, tmp_path / "timed", resume=True, report=lines.append)).step < training.steps:
        pass
    assert sum("stopped" in line for line in lines) >= 11
    same_files(tmp_path / "whole", tmp_path / "timed")


def test_slow_runs_leave_checkpoints_between(make_recipe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A step may take minutes: five of them at most are lost, and where checkpoints lie changes nothing."""
    recipe = make_recipe(watch={"checkpoint_every": 1000})
    train(recipe, tmp_path / "whole")
    saved: list[int] = []
    save = Training.save
    monkeypatch.setattr(Training, "save", lambda self: (saved.append(self.step), save(self)))
    monkeypatch.setattr(loop, "STALE", 0.0)
    train(recipe, tmp_path / "slow")
    assert saved[:3] == [1, 2, 3]
    same_files(tmp_path / "whole", tmp_path / "slow")


def test_nothing_to_resume_or_to_validate_on_is_said(make_recipe, tmp_path: Path) -> None:
    lines: list[str] = []
    train(make_recipe(), tmp_path / "new", resume=True, report=lines.append)
    assert any("holds no checkpoint" in line for line in lines)


def test_the_seed_matters(make_recipe, tmp_path: Path) -> None:
    short = {"steps": 1}
    one = train(make_recipe(optimiser=short), tmp_path / "one")
    two = train(make_recipe(optimiser=short, seed=4), tmp_path / "two")
    assert not torch.equal(one.net.embedding.table, two.net.embedding.table)


def test_micro_batches_only_cut_the_work(make_recipe, tmp_path: Path, records: Path) -> None:
    """Without noise (one step from all masked) and dropout a batch in pieces has the gradient of the whole."""
    from diffusearch.data.records import Records

    gradients = []
    for pieces in (1, 4):
        recipe = make_recipe(
            process={"kind": "direct"},
            model={"trunk": {"dropout": 0.0}},
            optimiser={"micro_batches": pieces, "clip": 1e9},
        )
        training = Training(recipe, tmp_path, [Records(records)], World(0, 1))
        training.take_step()
        gradients.append(torch.cat([p.grad.flatten() for p in training.net.parameters() if p.grad is not None]))
    assert torch.allclose(gradients[0], gradients[1], atol=1e-6)


TOGETHER = """
import sys
from pathlib import Path
import torch
from diffusearch.training.loop import train
from diffusearch.training.recipe import load_recipe

folder = Path(sys.argv[1])
lines = []
training = train(load_recipe(folder / "recipe.toml"), folder, report=lines.append)
assert bool(lines) == (training.world.rank == 0)  # one process alone reports
gradient = torch.cat([p.grad.flatten() for p in training.net.parameters()])
torch.save(gradient, folder / f"gradient{training.world.rank}.pt")
"""


def test_two_processes_take_the_steps_of_one(make_recipe, tmp_path: Path) -> None:
    recipe = make_recipe(**(EVERYTHING | {"optimiser": EVERYTHING["optimiser"] | {"steps": 3}}))
    folder = tmp_path / "two"
    folder.mkdir()
    (folder / "recipe.toml").write_text(recipe_text(recipe))
    script = tmp_path / "together.py"
    script.write_text(TOGETHER)
    launcher = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    subprocess.run([sys.executable, *launcher, str(script), str(folder)], check=True, capture_output=True, timeout=250)
    with (folder / "log.csv").open(newline="") as file:
        logged = [(row["step"], row["figure"]) for row in csv.DictReader(file)]
    assert ("3", "loss") in logged
    assert len(logged) == len(set(logged))  # one process alone writes
    alone = train(recipe, tmp_path / "one")
    gradient = torch.cat([p.grad.flatten() for p in alone.net.parameters() if p.grad is not None])
    for rank in range(2):
        assert torch.allclose(torch.load(folder / f"gradient{rank}.pt"), gradient, atol=1e-6)
    together, single = load_file(folder / "weights.safetensors"), load_file(tmp_path / "one" / "weights.safetensors")
    assert all(torch.allclose(together[name], single[name], atol=1e-5) for name in single)


def test_work_that_cannot_be_shared_out_is_refused(make_recipe, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="micro_batches"):
        Training(make_recipe(), tmp_path, [], World(0, 2))
    with pytest.raises(UserError, match="micro_batches"):
        Training(make_recipe(optimiser={"micro_batches": 3}), tmp_path, [], World(0, 1))


@pytest.fixture
def finished(make_recipe, tmp_path: Path) -> tuple[Recipe, Path]:
    recipe = make_recipe(optimiser={"steps": 2, "ema": 0.5}, watch={"validate_every": 1})
    train(recipe, tmp_path / "run")
    return recipe, tmp_path / "run"


def test_a_run_folder_is_whole_and_opens(finished: tuple[Recipe, Path]) -> None:
    recipe, folder = finished
    assert load_recipe(folder / "recipe.toml") == recipe
    assert not list(folder.glob(".*.tmp"))
    assert Run.load(folder).name == recipe.name
    rows = [line.split(",") for line in (folder / "log.csv").read_text().splitlines()]
    figures = {row[1] for row in rows[1:]}
    assert rows[0] == ["step", "figure", "value"]
    assert {
        "loss",
        "records/s",
        "validation accuracy",
        "validation decoded accuracy",
        "validation raw legal",
    } <= figures


def test_a_run_is_not_overwritten(finished: tuple[Recipe, Path]) -> None:
    recipe, folder = finished
    with pytest.raises(UserError, match="--resume"):
        train(recipe, folder)


def test_damaged_and_foreign_checkpoints_are_refused(finished: tuple[Recipe, Path], make_recipe, records: Path) -> None:
    recipe, folder = finished
    path = folder / "checkpoint.safetensors"
    good = path.read_bytes()

    def refused(words: str, changed: Recipe = recipe) -> None:
        with pytest.raises(UserError, match=words):
            train(changed, folder, resume=True)
        path.write_bytes(good)

    path.write_bytes(good[: len(good) // 2])
    refused("damaged")
    path.write_bytes(b"hello")
    refused("damaged")
    save_file({"model.x": torch.zeros(1)}, path)
    refused("not written by diffusearch")
    path.write_bytes((folder / "weights.safetensors").read_bytes())
    refused("does not know")
    tensors, about = checkpoint.load_tensors(path.with_name("weights.safetensors"))
    checkpoint.save_tensors(path, {f"model.{name}": t for name, t in tensors.items()}, about)
    refused("ema")
    short = {"steps": 2, "ema": 0.5}
    refused("another model", make_recipe(optimiser=short, model={"trunk": {"width": 32}}))
    refused("another data", make_recipe(optimiser=short, data={"mirror": True, "random_moves": 0.5}))
    refused("another optimiser", make_recipe(optimiser=short | {"kind": "muon"}))
    refused("seed", make_recipe(optimiser=short, seed=9))
    assert train(recipe, folder, resume=True).step == 2  # and the good one still opens


def test_damaged_and_foreign_weights_are_refused(finished: tuple[Recipe, Path]) -> None:
    _, folder = finished
    path = folder / "weights.safetensors"
    good = path.read_bytes()
    tensors, about = checkpoint.load_tensors(path)
    path.write_bytes(good[:-9])
    with pytest.raises(UserError, match="damaged"):
        Run.load(folder)
    name = next(iter(tensors))
    checkpoint.save_tensors(path, {key: t for key, t in tensors.items() if key != name}, about)
    with pytest.raises(UserError, match=r"1 weights missing.*" + name):
        Run.load(folder)
    checkpoint.save_tensors(path, tensors | {name: torch.zeros(3)}, about)
    with pytest.raises(UserError, match=name):
        Run.load(folder)
    checkpoint.save_tensors(path, tensors | {name: torch.full_like(tensors[name], torch.nan)}, about)
    with pytest.raises(UserError, match=f"{name}.* no number"):
        Run.load(folder)
    path.unlink()
    with pytest.raises(UserError, match="not there"):
        Run.load(folder)
    with pytest.raises(UserError, match="no run folder"):
        Run.load(folder / "nowhere")


def test_the_average_is_what_is_used(finished: tuple[Recipe, Path]) -> None:
    _, folder = finished
    tensors, weights = load_file(folder / "checkpoint.safetensors"), load_file(folder / "weights.safetensors")
    assert all(torch.equal(weights[name], tensors[f"average.{name}"]) for name in weights)
    assert any(not torch.equal(weights[name], tensors[f"model.{name}"]) for name in weights)


def test_patience_stops_and_keeps_the_best(make_recipe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recipe = make_recipe(
        optimiser={"steps": 40, "schedule": "constant"},
        watch={"validate_every": 2, "checkpoint_every": 2, "patience": 3},
    )
    scores = {2: 0.1, 4: 0.3, 6: 0.2, 8: 0.3, 10: 0.1}
    measured: list[int] = []

    def judge(training: Training, records: object, limit: int) -> Validation:
        measured.append(training.step)
        return Validation(scores[training.step], {"accuracy": scores[training.step]})

    monkeypatch.setattr(state, "validate", judge)
    lines: list[str] = []
    training = train(recipe, tmp_path / "run", report=lines.append)
    assert training.step == 10
    assert measured == [2, 4, 6, 8, 10]
    assert any("no better for 3 validations" in line for line in lines)
    about = checkpoint.load_tensors(tmp_path / "run" / "weights.safetensors")[1]
    assert about["step"] == 4  # the weights to use are the best, not the last
    assert train(recipe, tmp_path / "run", resume=True).step == 10  # and it stays stopped
    assert loop.finished(recipe, tmp_path / "run")


def test_a_run_is_finished_when_its_recipe_asks_for_no_more(make_recipe, tmp_path: Path) -> None:
    by_epochs = {"optimiser": {"steps": 0, "epochs": 0.5, "batch": 8}}  # 64 records: 4 steps
    recipe, timed = make_recipe(**by_epochs), make_recipe(**by_epochs, watch={"minutes": 1e-9})
    assert not loop.finished(recipe, tmp_path)
    train(timed, tmp_path)
    assert not loop.finished(recipe, tmp_path)
    train(recipe, tmp_path, resume=True)
    assert loop.finished(recipe, tmp_path)
    assert not loop.finished(make_recipe(optimiser={"steps": 5}), tmp_path)
    before = (tmp_path / "weights.safetensors").read_bytes()
    assert train(recipe, tmp_path, resume=True).step == 4
    assert (tmp_path / "weights.safetensors").read_bytes() == before


def test_patience_survives_a_resume(make_recipe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    watch = {"validate_every": 2, "checkpoint_every": 2, "patience": 3}
    recipe = make_recipe(optimiser={"steps": 40, "schedule": "constant"}, watch=watch)
    timed = make_recipe(optimiser={"steps": 40, "schedule": "constant"}, watch=watch | {"minutes": 1e-9})
    monkeypatch.setattr(state, "validate", lambda training, *_: Validation(-float(training.step), {}))
    assert train(recipe, tmp_path / "whole").step == 8
    for _ in range(8):
        train(timed, tmp_path / "timed", resume=True)
    assert train(timed, tmp_path / "timed", resume=True).step == 8
    same_files(tmp_path / "whole", tmp_path / "timed")


def test_a_longer_horizon_starts_from_a_shorter_one(make_recipe, tmp_path: Path) -> None:
    first = train(make_recipe(model={"horizon": 1}, optimiser={"steps": 1}), tmp_path / "short")
    lines: list[str] = []
    recipe = make_recipe(start=str(tmp_path / "short"), optimiser={"steps": 1, "rate": 0.0, "ema": 0.9})
    second = train(recipe, tmp_path / "long", report=lines.append)
    assert any("started from" in line for line in lines)
    places = first.net.embedding.places
    grown = second.net.embedding.places
    assert places is not None
    assert grown is not None
    assert torch.equal(places, grown[: len(places)])
    assert torch.equal(first.net.trunk.norm.weight, second.net.trunk.norm.weight)
    assert second.average is not None  # begins there too, not with the fresh values
    assert torch.equal(second.average.weights["embedding.places"], grown)


def test_json_facts_of_a_checkpoint(finished: tuple[Recipe, Path]) -> None:
    recipe, folder = finished
    _, about = checkpoint.load_tensors(folder / "checkpoint.safetensors")
    assert about["step"] == 2
    assert about["seed"] == recipe.seed
    assert json.loads(json.dumps(about)) == about


def test_a_resumed_run_logs_no_step_twice(make_recipe, tmp_path: Path) -> None:
    """A run that is killed after a report but before the next checkpoint logs that report again when it goes on."""
    train(make_recipe(optimiser={"steps": 4}), tmp_path)
    with (tmp_path / "log.csv").open("a") as log:
        log.write("12,loss,9.9\r\n")  # what the killed run had said of a step that its checkpoint does not know
    train(make_recipe(), tmp_path, resume=True)
    lines = [line.rsplit(",", 1) for line in (tmp_path / "log.csv").read_text().splitlines()]
    assert len(lines) == len({name for name, _ in lines})
    assert ["12,loss", "9.9"] not in lines
