#!/usr/bin/env python3
"""Passes of torchtitan's graph_trainer: ours beside torchtitan's own, on the steps that it traces.

    trainer_ratios.py --bin BUILD/bin [--out FOLDER] [--rounds N] [STEP OPTIONS]...

Each step is traced by torchtitan, which is timed and captured after every pass. Ours runs on the capture
before. A line of the table is a pass: on how many steps the graph that it leaves is torchtitan's, the time of
both on the step where ours is slowest beside it (processor time, of ours the best of N), and the ratio. Exits 1
if a pass is less than 50 times faster, 3 if there is nothing to trace with. STEP OPTIONS are those of the
tool that traces, as one argument: "--dp 4 --policy full".
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROMISED = 50
#: Less is below what a clock of the operating system tells apart.
SHORTEST_MS = 0.001

STEPS = (
    "--dp 4",
    "--dp 4 --policy full",
    "--dp 8 --policy eager --agrs",
    "--dp 2 --tp 2 --agrs",
    "--dp 4 --cross-entropy --dense",
    "--dp 2 --fsdp-dr 2 --cross-entropy --dense",
    "--config graph_trainer_llama3_8b --dp 8 --seq 8192 --device cuda",
)


def native_passes(bin_dir: Path) -> set[str]:
    done = subprocess.run([bin_dir / "jointer", "passes", "--json"], capture_output=True, text=True, check=True)
    return {each["name"] for each in json.loads(done.stdout)["passes"]}


def is_same(before: Path, ours: Path, theirs: Path) -> bool:
    from jointer.document import read_document
    from test_graph_trainer_passes import assert_same

    try:
        assert_same(read_document(before), read_document(ours), read_document(theirs))
    except AssertionError:
        return False
    return True


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--bin", type=Path, required=True, help="where the programs are")
    parser.add_argument("--out", type=Path, help="keep the captures here; those that are there are used again")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("steps", nargs="*", default=STEPS, metavar="STEP OPTIONS")
    options = parser.parse_args()
    os.environ["JOINTER_BIN"] = str(options.bin.resolve())
    sys.path[:0] = [str(ROOT / "resources" / "python"), str(ROOT / "tests" / "differential")]
    from test_graph_trainer_passes import TOOL, torchtitan_python

    python = torchtitan_python()
    if not TOOL.exists() or python is None:
        print("nothing to trace with: the shared tool or torchtitan 0.3.0 is not here")
        return 3
    native = native_passes(options.bin)
    rows: dict[str, list[tuple[str, float, float, bool]]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.out or Path(scratch)
        for number, step in enumerate(options.steps):
            name = re.sub(r"\W+", "_", step).strip("_")
            print(f"{number + 1} of {len(options.steps)}: {step}", file=sys.stderr, flush=True)
            times = trace(python, TOOL, step.split(), folder, name)
            for pass_name, seconds, before, after in passes_of(folder, name, times):
                if pass_name not in native:
                    continue
                out = Path(scratch) / "out.json"
                ours = min(run(options.bin, before, pass_name, out) for _ in range(options.rounds))
                rows[pass_name].append((step, seconds * 1e3, ours, is_same(before, out, after)))
    return report(rows)


def trace(python: str, tool: Path, step: list[str], folder: Path, name: str) -> dict[str, float]:
    file = folder / f"{name}.times.json"
    if not file.exists():
        script = ROOT / "tests" / "differential" / "torchtitan_passes.py"
        command = [python, script, tool, *step, "--each", "--out", folder, "--name", name]
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "resources" / "python")}
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
        if done.returncode != 0:
            raise SystemExit(f"{' '.join(step)}: {done.stderr[-2000:]}")
    return json.loads(file.read_text())


def passes_of(folder: Path, step: str, times: dict[str, float]) -> list[tuple[str, float, Path, Path]]:
    """Each pass with its seconds and the captures before and after it."""
    captures = sorted(folder.glob(f"{step}.after_[0-9]*.json.zst"))
    found = []
    for before, after in zip(captures, captures[1:]):
        name = re.sub(r"^.*\.after_\d+_|\.train_step|\.json\.zst$", "", after.name)
        if name in times:
            found.append((name.removesuffix("_pass"), times[name], before, after))
    return found


def run(bin_dir: Path, capture: Path, pass_name: str, out: Path) -> float:
    """Milliseconds of one run."""
    command = [bin_dir / "run_passes", capture, "-", "simple", pass_name, out]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)["steps"][-1]["ns"] / 1e6


def report(rows: dict[str, list[tuple[str, float, float, bool]]]) -> int:
    missed = False
    print("| pass | same graph | torchtitan | ours | times | step |\n| --- | --- | ---: | ---: | ---: | --- |")
    for name, each in rows.items():
        step, theirs, ours, _ = min(each, key=lambda row: row[1] / max(row[2], SHORTEST_MS))
        ratio = theirs / max(ours, SHORTEST_MS)
        missed = missed or ratio < PROMISED
        same = sum(row[3] for row in each)
        print(f"| `{name}` | {same} of {len(each)} | {theirs:.1f} ms | {ours:.3f} ms | {ratio:.0f} | `{step}` |")
    return 1 if missed else 0


if __name__ == "__main__":
    raise SystemExit(main())
