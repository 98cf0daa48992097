"""The workflows of GitHub Actions: what their commands name is there, and what is cheap is run."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / ".github" / "workflows"
NAMES = ("ci", "pages", "release")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
MADE = ("build/", "dist/", "clean/")  # folders that the commands themselves make
# Programs of the runners, and of packages that a command installs itself.
PROGRAMS = {"cd", "echo", "test", "sudo", "version", "PATH", "python", "npm", "make", "clean", "diffusearch"}
TOOLS = {"ruff", "mypy", "pytest"}  # of the extra dev


def workflow(name: str) -> dict[Any, Any]:
    found: dict[Any, Any] = yaml.safe_load((FOLDER / f"{name}.yml").read_text(encoding="utf-8"))
    return found


def steps(name: str) -> list[dict[str, Any]]:
    return [step for job in workflow(name)["jobs"].values() for step in job["steps"]]


def commands() -> list[str]:
    """Every line of every script, of all workflows; lines that go on are one."""
    scripts = [step["run"] for name in NAMES for step in steps(name) if "run" in step]
    return [line.strip() for text in scripts for line in text.replace("\\\n", " ").splitlines() if line.strip()]


def found(pattern: str) -> set[str]:
    """What a pattern finds in the commands; empty would mean that the pattern is wrong."""
    out = {match for line in commands() for match in re.findall(pattern, line)}
    assert out
    return out


def test_there_are_no_other_workflows() -> None:
    assert {path.stem for path in FOLDER.iterdir()} == set(NAMES)


@pytest.mark.posix
def test_scripts_are_shell(tmp_path: Path) -> None:
    shell = shutil.which("bash")
    if shell is None:
        pytest.skip("no bash on the PATH")
    for name in NAMES:
        for step in steps(name):
            if "run" in step:
                subprocess.run([shell, "-n"], input=step["run"], text=True, check=True)


def test_lines_begin_with_programs_that_are_known() -> None:
    first = {re.split(r"[\s=/]", line)[0] for line in commands()}
    assert first <= PROGRAMS | TOOLS, first - PROGRAMS - TOOLS
    needed = {re.split(r"[\[>=<]", one)[0] for one in PROJECT["project"]["optional-dependencies"]["dev"]}
    assert needed >= TOOLS | {"pytest-xdist"}  # -n auto


@pytest.mark.posix
def test_make_targets_exist() -> None:
    for target in found(r"\bmake (\S+)"):
        clean = {key: value for key, value in os.environ.items() if not key.startswith(("MAKE", "MFLAGS"))}
        subprocess.run(["make", "-n", target], cwd=ROOT, env=clean, check=True, capture_output=True)


def test_scripts_of_npm_exist() -> None:
    scripts = json.loads((ROOT / "web" / "package.json").read_text(encoding="utf-8"))["scripts"]
    assert found(r"npm run (\S+)") <= scripts.keys()
    assert "test" in scripts
    assert found(r"\bnpm (\w+)") <= {"ci", "run", "test"}


def test_extras_and_markers_exist() -> None:
    for extras in found(r"'\.\[(.*?)\]'"):
        assert set(extras.split(",")) <= PROJECT["project"]["optional-dependencies"].keys()
    markers = {line.split(":")[0] for line in PROJECT["tool"]["pytest"]["ini_options"]["markers"]}
    for expression in found(r"pytest .*-m '(.*?)'"):
        assert set(re.findall(r"\w+", expression)) - {"not", "and", "or"} <= markers


def test_fast_tests_are_those_of_make() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    (ours,) = found(r"pytest .*(-m '.*?')")
    assert ours in makefile


def test_paths_exist() -> None:
    lines = [line.replace("$PWD/", "") for line in commands()]
    named = {word for line in lines for word in re.findall(r"(?<![\w'@:.])([\w.-]+/[\w./-]+|cd \w+)", line)}
    for name in NAMES:
        for step in steps(name):
            named |= {step["working-directory"]} if "working-directory" in step else set()
            options = step.get("with", {})
            named |= set((options.get("path") or options.get("cache-dependency-path") or "").split())
    named = {word.removeprefix("cd ") for word in named}
    assert "web" in named
    for path in named:
        assert path.startswith(MADE) or (ROOT / path).exists(), path


def test_every_supported_python_is_tested_on_three_systems() -> None:
    matrix = workflow("ci")["jobs"]["fast"]["strategy"]["matrix"]
    assert matrix["python"][0] == PROJECT["project"]["requires-python"].removeprefix(">=")
    assert matrix["python"] == ["3.11", "3.12", "3.13"]
    assert {one.split("-")[0] for one in matrix["os"]} == {"ubuntu", "macos", "windows"}
    assert matrix["os"] == workflow("ci")["jobs"]["wheel"]["strategy"]["matrix"]["os"]


def test_triggers() -> None:
    # YAML reads the word `on` as true
    assert {"push", "pull_request", "schedule"} <= workflow("ci")[True].keys()
    assert workflow("release")[True] == {"push": {"tags": ["v*"]}}
    assert workflow("pages")[True]["push"] == {"branches": ["main"]}
    assert "schedule" in workflow("ci")["jobs"]["all"]["if"]


def test_rights_are_the_least() -> None:
    """Who builds may only read; who publishes gets a short-lived identity, and no secret is named."""
    for name in NAMES:
        assert workflow(name)["permissions"] == {"contents": "read"}
        for job, settings in workflow(name)["jobs"].items():
            assert ("id-token" in settings.get("permissions", {})) == (job == "publish")
        assert "secrets." not in (FOLDER / f"{name}.yml").read_text(encoding="utf-8")
        for step in steps(name):
            assert re.fullmatch(r"[\w-]+/[\w-]+@[\w/.]*v\d+", step.get("uses", "a/b@v1")), step


@pytest.mark.posix
def test_a_release_needs_the_tag_of_its_version() -> None:
    (script,) = [step["run"] for step in steps("release") if "tag" in step.get("name", "")]
    version = PROJECT["project"]["version"]
    for tag, right in ((f"v{version}", True), ("v9.9.9", False), (version, False)):
        done = subprocess.run(["bash", "-e", "-c", script], cwd=ROOT, env=os.environ | {"GITHUB_REF_NAME": tag})
        assert (done.returncode == 0) == right, tag


def test_the_static_page_is_published_from_where_it_is_written() -> None:
    (path,) = [step["with"]["path"] for step in steps("pages") if "upload-pages" in step.get("uses", "")]
    config = (ROOT / "web" / "vite.config.ts").read_text(encoding="utf-8")
    assert f'outDir: "../{path}"' in config
