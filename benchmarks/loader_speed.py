"""How much faster the loader feeds records than the model consumes them, on records larger than memory or not.

    python benchmarks/loader_speed.py [--records FOLDER] [--batch 256]

Without a folder the records of the test fixtures are repeated on disk (--copies) to a size of your choice.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np

from diffusearch.data.records import Records, write_records
from diffusearch.tokens.batch import tokenise
from diffusearch.training.processes import World
from diffusearch.training.recipe import recipe_from_dict
from diffusearch.training.sources import lines_of
from diffusearch.training.state import Training

FIXTURES = Path(__file__).parent.parent / "tests/fixtures/labelled"


def repeated(folder: Path, copies: int) -> Records:
    """The fixtures' records, `copies` times over."""
    write_records(lines_of(FIXTURES, "train", False), folder / "once", 4)
    once = Records(folder / "once")
    many = folder / "many"
    many.mkdir()
    for name, array in once.arrays.items():
        shape = (len(once) * copies, *array.shape[1:])
        out = np.lib.format.open_memmap(many / f"{name}.npy", "w+", array.dtype, shape)
        for copy in range(copies):
            out[copy * len(once) : (copy + 1) * len(once)] = array
        out.flush()
    text = (folder / "once" / "records.json").read_text()
    (many / "records.json").write_text(text.replace(f'"records": {len(once)}', f'"records": {len(once) * copies}'))
    return Records(many)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--records", type=Path)
    parser.add_argument("--copies", type=int, default=100)
    parser.add_argument("--batch", type=int, default=256)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        records = Records(arguments.records) if arguments.records else repeated(Path(folder), arguments.copies)
        size = sum(array.nbytes for array in records.arrays.values())
        print(f"{len(records)} records, {size / 2**20:.0f} MiB")
        for name, model in {
            "paper": {},
            "flagship": {"encoding": "compact", "patch": 8, "head": "squares", "trunk": {"attention": "prefix"}},
        }.items():
            recipe = recipe_from_dict(
                {
                    "model": model,
                    "optimiser": {"batch": arguments.batch, "steps": 10**6},
                    "data": {"sources": [{"path": str(records.folder)}]},
                }
            )
            training = Training(recipe, Path(folder), [records], World(0, 1))
            began = time.perf_counter()
            for step in range(20):
                tokenise(training.mixture.take(step, arguments.batch), training.net.layout)
            loading = 20 * arguments.batch / (time.perf_counter() - began)
            began = time.perf_counter()
            training.take_step()
            consuming = arguments.batch / (time.perf_counter() - began)
            ratio = loading / consuming
            print(f"{name}: loads {loading:.0f} records/s, trains {consuming:.1f} records/s, ratio {ratio:.0f}")


if __name__ == "__main__":
    main()
