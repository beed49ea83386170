#!/usr/bin/env python3
"""Measures how long a change to one source file takes to reach its tests.

    one_change.py [BUILD]   BUILD: a build with tests, by default build/release

For a source file of each library, appends a declaration that the compiler cache has not seen, builds the test
program, and runs the tests of that file. Prints the seconds of each part, and restores the file. Exits with 1 if a
change takes more than 20 seconds.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LIMIT_S = 20.0
# The source file, the test program and the arguments that choose the file's tests.
CHANGES = [
    ("core/graph/fingerprint.cpp", "core_tests", "--gtest_filter=*Fingerprint*"),
    ("core/partition/plan_target.cpp", "core_tests", "--gtest_filter=*PlanTarget*"),
    ("passes/reordering/place_collectives.cpp", "passes_tests", "--gtest_filter=*PlaceCollectives*"),
    ("views/session/edit/move_planner.cpp", "session_tests", "--gtest_filter=*MovePlanner*"),
    ("views/graph/ladder_layout.cpp", "views_tests", "--gtest_filter=*LadderLayout*"),
    ("views/query/query_pane.cpp", "gui_tests", "query"),
]


def seconds_of(*command: str | Path) -> float:
    began = time.monotonic()
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    return time.monotonic() - began


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path, nargs="?", default=ROOT / "build" / "release")
    build = parser.parse_args().build.resolve()
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    slow = 0
    print(f"{'file':42} {'build':>7} {'tests':>7} {'sum':>7}")
    for name, program, tests in CHANGES:
        source = ROOT / name
        original = source.read_bytes()
        seconds_of("ninja", "-C", build, program)
        try:
            source.write_bytes(original + f"static_assert({time.time_ns()} != 0);\n".encode())
            built = seconds_of("ninja", "-C", build, program)
            ran = seconds_of(build / "bin" / program, tests)
        finally:
            source.write_bytes(original)
        slow += built + ran > LIMIT_S
        print(f"{name:42} {built:5.1f} s {ran:5.1f} s {built + ran:5.1f} s", flush=True)
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
