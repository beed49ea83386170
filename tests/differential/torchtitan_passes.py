"""Traces a training step with torchtitan's graph_trainer and captures it after every pass.

Started by torchtitan_steps.py, with a Python that has torchtitan:

    python torchtitan_passes.py TOOL [its options]

runs the shared tool and writes the time of each pass, in seconds, next to its captures:
NAME.times.json.
"""

from __future__ import annotations

import json
import runpy
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from torchtitan.experiments.graph_trainer import passes


def option(name: str) -> str:
    return sys.argv[sys.argv.index(name) + 1]


def main() -> None:
    sys.argv = sys.argv[1:]
    folder, name = Path(option("--out")), option("--name")
    apply = passes.apply_graph_passes
    seconds: dict[str, float] = {}

    def timed(function: Callable[..., Any]) -> Callable[..., Any]:
        name = passes._get_pass_name(function)

        def run(*arguments: Any, **options: Any) -> Any:
            start = time.process_time()
            done = function(*arguments, **options)
            seconds[name] = time.process_time() - start
            return done

        run.__name__ = name
        return run

    def apply_timed(module: Any, inputs: Any, each: list[Callable[..., Any]], **options: Any) -> Any:
        # The tool creates the folder after the first capture is requested.
        folder.mkdir(parents=True, exist_ok=True)
        done = apply(module, inputs, [timed(function) for function in each], **options)
        (folder / f"{name}.times.json").write_text(json.dumps(seconds))
        return done

    passes.apply_graph_passes = apply_timed
    runpy.run_path(sys.argv[0], run_name="__main__")


if __name__ == "__main__":
    main()
