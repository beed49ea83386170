"""Compares estimates of single operators with their times on an H100 (operators_on_h100.csv).

The estimator sees only the graph. Prints a row for each of the operators that take longest, and the sum of all.
"""

from __future__ import annotations

import argparse
import csv
import subprocess
from collections import Counter
from pathlib import Path

HERE = Path(__file__).parent
SAMPLE = HERE.parents[1] / "resources/samples/llama_8b_tp2_fsdp2.joint.json.zst"
ROWS = 12


def read(lines: list[str]) -> list[dict[str, str]]:
    return list(csv.DictReader(line for line in lines if not line.startswith("#")))


def estimates(program: Path, *options: str) -> tuple[Counter[str], Counter[str]]:
    """Milliseconds and calls by operator."""
    command = [program, "export", SAMPLE, "--format", "csv", "--device", "h100", *options, "-o", "-"]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    ms: Counter[str] = Counter()
    calls: Counter[str] = Counter()
    for row in read(text.splitlines()):
        ms[row["target"]] += float(row["ms"])
        calls[row["target"]] += 1
    return ms, calls


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", type=Path, required=True, help="folder of Jointer's programs")
    parser.add_argument("--estimator", default="roofline", help="as in `jointer export`")
    arguments = parser.parse_args()
    measured: Counter[str] = Counter()
    counted: Counter[str] = Counter()
    for row in read((HERE / "operators_on_h100.csv").read_text().splitlines()):
        measured[row["target"]] += int(row["total_ns"]) / 1e6
        counted[row["target"]] += int(row["calls"])
    estimated, calls = estimates(arguments.bin / "jointer", "--estimator", arguments.estimator)
    different = [target for target in counted if counted[target] != calls[target]]
    if different:
        raise SystemExit(f"the sample is not the one that ran: {', '.join(different)}")
    print(f"{'operator':55} {'calls':>6} {'measured':>12} {'estimate':>12} {'ratio':>6}")
    total = sum(estimated[target] for target in measured)
    rows = [(t, counted[t], measured[t], estimated[t]) for t, _ in measured.most_common(ROWS)]
    rows.append(("all, without collectives", sum(counted.values()), sum(measured.values()), total))
    for target, count, ms, estimate in rows:
        print(f"{target:55} {count:6} {ms:9.3f} ms {estimate:9.3f} ms {estimate / ms:6.2f}")


if __name__ == "__main__":
    main()
