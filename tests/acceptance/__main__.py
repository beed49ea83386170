"""Checks this machine's devices; see scripts/gpu_acceptance."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from .bench import Bench
from .checks import samples_run
from .faults import faults
from .report import Report, describe_machine
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
        "--checks", default="samples,timing,faults,sanitizer", help="kinds of checks to make"
    )
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    found = (s for s in arguments.samples.glob("*.json.zst") if arguments.only in s.name)
    samples = sorted(found, key=lambda sample: sample.stat().st_size)
    if not samples:
        parser.error(f"{arguments.samples} has no sample that matches")
    report = Report(arguments.out, describe_machine(arguments.on))
    bench = Bench(arguments.bin, arguments.on, arguments.out)
    samples = [readable(sample, arguments.out) for sample in samples]
    wanted = arguments.checks.split(",")
    small, large = samples[0], samples[-1]
    joints = [s for s in samples if ".joint." in s.name] or [small]
    # Without tensor parallelism, the embedding uses token ids as they are.
    joint = next((s for s in joints if "_tp" not in s.name), joints[0])
    if "timing" in wanted:
        for sample in dict.fromkeys([joint, large]):
            timing(bench, report, sample)
    if "faults" in wanted:
        faults(bench, report, joint)
    if "samples" in wanted:
        samples_run(bench, report, samples, arguments.backends.split(","))
    if "sanitizer" in wanted:
        sanitizer(bench, report, joint)
    report.write()
    print(report.summary())
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main())
