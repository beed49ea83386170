#!/usr/bin/env python3
"""Checks the window with half a million nodes: the joint graph of 671B ten times over.

    scale.py --bin BUILD/bin [--shared DIR] [--capture FILE]

Without --capture, makes that graph with `tools/multiply_capture.py` of the shared folder, which takes two minutes and
6 GB of memory. Prints a table. Exits with 1 if a bound is exceeded, with 3 if something that this needs is missing.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CAPTURE = "captures/deepseek_v3_671b_tp8_fsdp32_ep32.joint.json.zst"
TIMES = 10
# The name, the benchmark's key, the bound, and the unit.
BOUNDS = (
    ("from the request to open until the timeline is painted", "open_ms", 5000, "ms"),
    ("from a key until the window is painted, 95th percentile", "key_p95_ms", 50, "ms"),
    ("Shift+B", "best_ms", 1000, "ms"),
    ("SAC pane, until it has a plan", "sac_ms", 3000, "ms"),
    ("memory of the process", "peak_mib", 1500, "MiB"),
)


def multiplied(shared: Path, folder: Path) -> Path | None:
    """The large graph; None if the capture or the tool is missing."""
    tool, capture = shared / "tools" / "multiply_capture.py", shared / CAPTURE
    if not tool.exists() or not capture.exists():
        return None
    made = folder / "multiplied.json"
    subprocess.run([sys.executable, str(tool), str(capture), str(TIMES), str(made)], check=True, stdout=sys.stderr)
    return made


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", type=Path, default=ROOT / "build" / "release" / "bin")
    parser.add_argument(
        "--shared", type=Path, default=Path(os.environ.get("JOINTER_SHARED") or ROOT.parent / "shared")
    )
    parser.add_argument("--capture", type=Path)
    arguments = parser.parse_args()
    program = arguments.bin / "scale_benchmark"
    if not program.exists():
        print(f"nothing to measure: there is no {program}", file=sys.stderr)
        return 3
    with tempfile.TemporaryDirectory(prefix="jointer-scale-") as folder:
        path = arguments.capture or multiplied(arguments.shared, Path(folder))
        if path is None:
            print(f"no capture to measure: {arguments.shared} lacks the tool or {CAPTURE}", file=sys.stderr)
            return 3
        done = subprocess.run(
            [str(program), str(path)], capture_output=True, text=True, env=os.environ | {"QT_QPA_PLATFORM": "offscreen"}
        )
    if done.returncode != 0:
        print(f"{program.name} failed with {done.returncode}: {done.stderr}", file=sys.stderr)
        return 1
    measured = json.loads(done.stdout)
    print(f"{measured['nodes']:,} nodes")
    kept = True
    for what, key, bound, unit in BOUNDS:
        fits = measured[key] <= bound
        kept = kept and fits
        print(f"{what:<58}  {measured[key]:g} {unit}  (within {bound:,} {unit}: {'kept' if fits else 'NOT KEPT'})")
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
