#!/usr/bin/env python3
"""Compares our passes with torchtitan's graph_trainer, on the steps that it traces: graphs and times.

    trainer_ratios.py --bin BUILD/bin [--out FOLDER] [--rounds N] [STEP OPTIONS]...

torchtitan traces each step and runs its passes, which are timed; the step is captured after each of them. Our
pass runs on the capture before the pass. The table has one row per pass: the number of steps on which both leave
the same graph, the times on the step with the lowest ratio (CPU time; for ours, the minimum of N), and that
ratio. Exits with 1 if a pass is less than 50 times faster, with 3 if no step can be traced. STEP OPTIONS are
options of the tracing tool, as one argument: "--dp 4 --policy full".
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
#: Shorter times are below the resolution of the operating system's clock.
SHORTEST_MS = 0.001

STEPS = (
    "--dp 4",
    "--dp 4 --policy full",
    "--dp 4 --policy sac_and_offload",
    "--dp 8 --policy eager --agrs",
    "--dp 2 --tp 2 --agrs",
    "--dp 4 --cross-entropy --dense",
    "--dp 2 --fsdp-dr 2 --cross-entropy --dense",
    "--config graph_trainer_llama3_8b --dp 8 --seq 8192 --device cuda",
)


def native_passes(bin_dir: Path) -> set[str]:
    done = subprocess.run([bin_dir / "jointer", "passes", "--json"], capture_output=True, text=True, check=True)
    return {each["name"] for each in json.loads(done.stdout)["passes"]}


def is_same(pass_name: str, paths: tuple[Path, Path, Path]) -> bool:
    """True if ours leaves the same graph. Paths: before the pass, after our pass, after torchtitan's."""
    from jointer.document import read_document
    from torchtitan_steps import assert_same, tags

    before, ours, theirs = map(read_document, paths)
    try:
        assert_same(before, ours, theirs)
    except AssertionError:
        return False
    # Copies that are recomputed keep their tags upstream.
    return pass_name != "tag_with_memory_policy" or tags(ours) == tags(theirs)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--bin", type=Path, required=True, help="folder of the built programs")
    parser.add_argument("--out", type=Path, help="keep the captures here, and reuse existing ones")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("steps", nargs="*", default=STEPS, metavar="STEP OPTIONS")
    options = parser.parse_args()
    os.environ["JOINTER_BIN"] = str(options.bin.resolve())
    sys.path[:0] = [str(ROOT / "resources" / "python"), str(ROOT / "tests" / "differential")]
    from torchtitan_steps import as_ours, passes_of, run_pass, trace_step, why_not_traced

    if reason := why_not_traced():
        print(f"no step can be traced: {reason}")
        return 3
    native = native_passes(options.bin)
    rows: dict[str, list[tuple[str, float, float, bool]]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.out or Path(scratch)
        for number, step in enumerate(options.steps):
            name = re.sub(r"\W+", "_", step).strip("_")
            print(f"{number + 1} of {len(options.steps)}: {step}", file=sys.stderr, flush=True)
            times = trace_step(step, folder, name)
            for pass_name, before, after in passes_of(folder, name):
                if pass_name not in native:
                    continue
                out = Path(scratch) / "out.json"
                ours = min(run_pass(before, as_ours(pass_name, step), out)["cpu_ns"] for _ in range(options.rounds)) / 1e6
                theirs = times[f"{pass_name}_pass"] * 1e3
                rows[pass_name].append((step, theirs, ours, is_same(pass_name, (before, out, after))))
    return report(rows)


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
