"""Checks this machine's devices; see scripts/gpu_acceptance."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from .bench import Bench, title
from .checks import ranks_run, samples_run
from .faults import faults
from .report import Report, attempt, describe_machine
from .timing import sanitizer, timing
from .unpack import readable


def main() -> int:
    parser = argparse.ArgumentParser(prog="gpu_acceptance", description=__doc__)
    parser.add_argument("--bin", type=Path, required=True, help="folder of Jointer's programs")
    parser.add_argument("--samples", type=Path, required=True, help="folder of the samples")
    parser.add_argument("--out", type=Path, default=Path("acceptance"), help="folder of the report")
    parser.add_argument("--on", choices=["cuda", "cpu"], default="cuda", help="device")
    parser.add_argument("--only", default="", help="samples whose names contain this")
    parser.add_argument("--backends", default="interpret,cudagraph,inductor")
    parser.add_argument(
        "--checks", default="samples,ranks,timing,faults,sanitizer", help="kinds of checks to make"
    )
    parser.add_argument(
        "--minutes", type=float, default=30, help="the time after which checks are stopped or not run"
    )
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    found = (s for s in arguments.samples.glob("*.json.zst") if arguments.only in s.name)
    samples = sorted(found, key=lambda sample: sample.stat().st_size)
    if not samples:
        parser.error(f"{arguments.samples} has no sample that matches")
    report = Report(arguments.out, describe_machine(arguments.on))
    bench = Bench(
        arguments.bin, arguments.on, arguments.out, time.monotonic() + 60 * arguments.minutes
    )
    samples = [readable(sample, arguments.out) for sample in samples]
    wanted = arguments.checks.split(",")
    small, large = samples[0], samples[-1]
    joints = [s for s in samples if ".joint." in s.name] or [small]
    # Without tensor parallelism, the embedding uses token ids as they are.
    joint = next((s for s in joints if "_tp" not in s.name), joints[0])
    backends = arguments.backends.split(",")
    if "timing" in wanted:
        for sample in dict.fromkeys([joint, large]):
            attempt(report, f"{title(sample)}, timing", lambda s=sample: timing(bench, report, s))
    if "faults" in wanted:
        attempt(report, "faults", lambda: faults(bench, report, joint))
    if "ranks" in wanted:
        meshes = [joint, next((s for s in joints if "_tp2_fsdp2" in s.name), joint)]
        for sample in dict.fromkeys(meshes):
            attempt(report, f"{title(sample)}, all ranks", lambda s=sample: ranks_run(bench, report, s, backends))
    if "sanitizer" in wanted:
        attempt(report, "sanitizer", lambda: sanitizer(bench, report, joint))
    if "samples" in wanted:
        for sample in samples:
            attempt(report, title(sample), lambda s=sample: samples_run(bench, report, [s], backends))
    report.write()
    print(report.summary())
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main())
