"""Writes constraints.txt and locked.txt: versions of all packages that pyproject.toml pulls, the latter with hashes.

    python tools/lock.py --index URL        # URL: a simple index of Python packages, whose links carry hashes

Versions are those installed here. Run it after a change of the dependencies, in an environment that passes the tests.
"""

from __future__ import annotations

import argparse
import re
import tomllib
import urllib.request
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name, parse_sdist_filename, parse_wheel_filename

ROOT = Path(__file__).parents[1]
# Not in locked.txt: there are builds of torch for every kind of hardware, some only in other indexes or in a folder.
MANY_BUILDS = ("torch",)
CONSTRAINTS = """\
# Versions of everything that is installed for the project and its tests, written by tools/lock.py; pyproject.toml has
# the ranges: `pip install -c constraints.txt -e '.[dev]'`. There are no hashes here, because one hash makes pip ask for
# the hash of every package, which a checkout and a build of torch in a folder do not have; locked.txt has them.
# torch is pinned to one release, so that a build without CUDA that is at hand for it is taken before any other.
"""
LOCKED = """\
# The packages of constraints.txt except torch, with the hashes of all their files, by tools/lock.py. Who wants to
# install only files with known hashes types
#     pip install --no-deps --require-hashes -r locked.txt && pip install -c constraints.txt -e '.[dev]'
# where the second command adds the checkout and a build of torch. `--no-deps`: the list is complete for Python 3.11 on
# Linux; elsewhere the second command adds what is missing, at any version that the packages allow.
"""


def pulled(pyproject: Path = ROOT / "pyproject.toml") -> dict[str, str]:
    """Name -> version of every installed distribution that the project or one of its extras needs here."""
    project = tomllib.loads(pyproject.read_text())["project"]
    texts = [*project["dependencies"], *(text for extra in project["optional-dependencies"].values() for text in extra)]
    found: dict[str, str] = {}
    seen: set[tuple[str, str]] = set()
    waiting = [Requirement(text) for text in texts]
    while waiting:
        one = waiting.pop()
        name = canonicalize_name(one.name)
        for extra in ("", *sorted(one.extras)):
            if name == project["name"] or (name, extra) in seen:
                continue
            seen.add((name, extra))
            try:
                there = distribution(name)
            except PackageNotFoundError:
                continue
            found[name] = there.version.partition("+")[0]
            further = [Requirement(text) for text in there.requires or ()]
            waiting += [need for need in further if need.marker is None or need.marker.evaluate({"extra": extra})]
    return dict(sorted(found.items()))


def pins(path: Path) -> dict[str, str]:
    """Name -> version, as a file of ours says."""
    return dict(re.findall(r"^([\w.-]+)==([\w.]+)", path.read_text(), re.MULTILINE))


def hashes(index: str, name: str, version: str) -> list[str]:
    """The sha256 of every file of a release."""
    with urllib.request.urlopen(f"{index.rstrip('/')}/{name}/", timeout=60) as answer:
        page = answer.read().decode()
    found = set()
    for file, digest in re.findall(r'href="[^"]*/([^"/#]+)#sha256=([0-9a-f]{64})"', page):
        try:
            parsed = parse_wheel_filename(file) if file.endswith(".whl") else parse_sdist_filename(file)
        except ValueError:
            continue  # a format of former times
        if str(parsed[1]) == version:
            found.add(digest)
    return sorted(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--index", required=True)
    index = parser.parse_args().index
    versions = pulled()
    (ROOT / "constraints.txt").write_text(CONSTRAINTS + "".join(f"{name}=={versions[name]}\n" for name in versions))
    blocks = []
    for name, version in versions.items():
        if name not in MANY_BUILDS:
            files = hashes(index, name, version)
            if not files:
                raise SystemExit(f"{index} has no file of {name} {version}: give another --index")
            blocks.append(" \\\n".join([f"{name}=={version}", *(f"    --hash=sha256:{digest}" for digest in files)]))
    (ROOT / "locked.txt").write_text(LOCKED + "\n".join(blocks) + "\n")
    print(f"{len(versions)} packages, {len(blocks)} of them with hashes")


if __name__ == "__main__":
    main()
