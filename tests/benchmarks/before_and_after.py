#!/usr/bin/env python3
"""Compares the speed of two builds in one run on one machine.

    before_and_after.py BEFORE/bin AFTER/bin [--rounds N] [--captures DIR]

Rows are the functions of core_benchmark that both builds have, and commands on captures, in CPU time. The
builds take turns, and the minimum for each counts, since other work on the machine only adds time. Exits
with 1 if a row is more than 5% slower than before.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TOLERANCE = 1.05
COMMANDS = ("info", "overlap", "memory", "sac")
CAPTURES = ("llama3_8b_tp2_fsdp2.joint", "deepseek_v3_671b_tp8_fsdp32_ep32.joint")

Times = dict[str, float]  # row -> milliseconds of CPU time


def functions(bin_dir: Path) -> Times:
    command = [bin_dir / "core_benchmark", "--benchmark_format=json", "--benchmark_min_time=0.2"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    unit = {"ns": 1e-6, "us": 1e-3, "ms": 1.0, "s": 1e3}
    rows = json.loads(done.stdout)["benchmarks"]
    return {row["name"]: row["cpu_time"] * unit[row["time_unit"]] for row in rows if "cpu_time" in row}


def commands(bin_dir: Path, captures: Path) -> Times:
    times = {}
    for name in CAPTURES:
        path = captures / f"{name}.json.zst"
        if not path.is_file():
            continue
        for command in COMMANDS:
            process = subprocess.Popen(
                [bin_dir / "jointer", command, path, "--json"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
            _, status, usage = os.wait4(process.pid, 0)
            if status == 0:
                times[f"jointer {command} {name}"] = 1e3 * (usage.ru_utime + usage.ru_stime)
    return times


def measure(bin_dir: Path, captures: Path) -> Times:
    return functions(bin_dir) | commands(bin_dir, captures)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument(
        "--captures", type=Path, default=Path(os.environ.get("JOINTER_SHARED") or ROOT.parent / "shared") / "captures"
    )
    given = parser.parse_args()
    best: tuple[Times, Times] = ({}, {})
    for _ in range(given.rounds):
        for times, bin_dir in zip(best, (given.before, given.after), strict=True):
            for row, value in measure(bin_dir.resolve(), given.captures.resolve()).items():
                times[row] = min(times.get(row, value), value)
    before, after = best
    slower = 0
    print(f"{'':60} {'before':>12} {'after':>12} {'ratio':>6}")
    for row, value in before.items():
        if row not in after:
            print(f"{row:60} {value:9.3f} ms {'-':>12}")
            continue
        ratio = after[row] / value
        slower += ratio > TOLERANCE
        print(f"{row:60} {value:9.3f} ms {after[row]:9.3f} ms {ratio:6.2f}{' slower' if ratio > TOLERANCE else ''}")
    print(f"{slower} of {len(before)} rows are more than {TOLERANCE - 1:.0%} slower")
    return int(slower > 0)


if __name__ == "__main__":
    sys.exit(main())
