"""Runs of the samples: outputs, memory and steps. Each check adds rows to the report."""

from __future__ import annotations

from pathlib import Path

from .bench import Bench, Outcome, OutOfTime, title
from .report import Report

PEAK_BOUND = 0.01  # relative to the prediction
_NOISE = 0.05  # of step times


def samples_run(bench: Bench, report: Report, samples: list[Path], backends: list[str]) -> None:
    """Every sample runs with every backend, its outputs are those of the unedited graph, and the
    memory that the graph itself holds is as predicted."""
    for sample in samples:
        steps: dict[str, float] = {}
        name = title(sample)
        for backend in backends:
            outcome = _run_equal(bench, report, f"{name}, {backend}", sample, backend, "--solo", "0")
            if outcome is None:
                continue
            if outcome.step_ms:
                steps[backend] = outcome.step_ms
            if backend == "interpret" and not outcome.failure:
                _peak(report, name, outcome)
        _faster(report, name, steps, "cudagraph", "interpret")
        _faster(report, name, steps, "inductor", "interpret")


def ranks_run(bench: Bench, report: Report, sample: Path, backends: list[str]) -> None:
    """All ranks of a sample run, each on its own GPU, with the collectives between them."""
    for backend in backends:
        _run_equal(bench, report, f"{title(sample)}, all ranks, {backend}", sample, backend)


def _run_equal(
    bench: Bench, report: Report, check: str, sample: Path, backend: str, *options: str
) -> Outcome | None:
    """Runs a sample and compares its outputs. None if that is not possible here."""
    bound = "runs, outputs equal"
    try:
        outcome = bench.run(sample, *options, "--verify", "--backend", backend, timeout=420)
    except OutOfTime as late:
        report.add(check, bound, str(late), None)
        return None
    if outcome.is_impossible:
        report.add(check, bound, outcome.failure, None)
        return None
    verify = outcome.result.get("verify") or {}
    passed = not outcome.failure and bool(verify.get("equal"))
    figure = _verified(outcome) if not outcome.failure else outcome.explain()
    report.add(check, bound, figure, passed)
    return outcome


def _verified(outcome: Outcome) -> str:
    verify = outcome.result.get("verify") or {}
    if verify.get("bitwise"):
        equal = f"{verify['compared']} outputs bitwise equal"
    elif verify.get("equal"):
        equal = f"equal within {verify['bound']:.2g}"
    else:
        equal = f"DIFFERENT: {verify.get('max_abs_diff')} in {verify.get('output')}"
    rank = outcome.rank
    memory = ", ".join(
        f"{key.removesuffix('_bytes')} {rank[key] / 2**20:.1f} MiB"
        for key in ("peak_bytes", "requested_peak_bytes", "reserved_peak_bytes", "workspace_bytes")
        if key in rank
    )
    return f"{equal}, step {outcome.step_ms:.3f} ms, {memory}"


def _peak(report: Report, name: str, outcome: Outcome) -> None:
    predicted = outcome.result["predicted"]["peak_bytes"]
    explained = outcome.result["explained"]
    difference = explained["held_bytes"] / predicted
    report.add(
        f"{name}, peak",
        f"within {PEAK_BOUND:.0%} of the prediction",
        f"{predicted:,} B predicted, {difference:+.2%} held by tensors; scratch of calls "
        f"{explained['scratch_bytes']:+,} B, allocator {explained['rounding_bytes']:+,} B",
        abs(difference) <= PEAK_BOUND,
    )


def _faster(report: Report, name: str, steps: dict[str, float], fast: str, slow: str) -> None:
    if fast in steps and slow in steps:
        report.add(
            f"{name}, step of {fast}",
            f"at most that of {slow} plus {_NOISE:.0%}",
            f"{steps[fast]:.3f} ms, {slow} {steps[slow]:.3f} ms",
            steps[fast] <= steps[slow] * (1 + _NOISE),
        )
