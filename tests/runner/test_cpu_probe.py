"""`jointer calibrate --probe`: the rates of this machine's CPU, and the estimates that use them."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from conftest import BIN, SAMPLES

GIGA = 1e9


def jointer(file: Path, *arguments: object) -> Any:
    """The JSON object that `jointer` prints; `file` is where the rates are stored."""
    done = subprocess.run(
        [str(word) for word in (BIN / "jointer", *arguments, "--json")],
        env={**os.environ, "JOINTER_CPU": str(file)},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def probed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    file = tmp_path_factory.mktemp("probe") / "data" / "cpu.json"
    return file, jointer(file, "calibrate", "--probe")


def test_the_rates_are_plausible(probed: tuple[Path, Any]) -> None:
    file, said = probed
    assert said["file"] == str(file)
    assert said["cores"] == len(os.sched_getaffinity(0))
    stored = json.loads(file.read_text())
    assert stored["processor"] == said["processor"]
    alone, *shared = said["ranks"]
    assert alone["threads"] == said["cores"] and not alone["shares_machine"]
    assert [rank["shares_machine"] for rank in shared] == [True] * (said["cores"] > 1)
    for rank in said["ranks"]:
        assert 0.001 < rank["float32_tflops"] < 100
        assert 0.1 < rank["memory_gbps"] < 5000
        assert 0.1 < rank["kernel_us"] < 1000
        assert len(rank["levels"]) >= 5
        assert (rank["link_gbps"] > 0) == rank["shares_machine"]


def test_estimates_use_the_rates(probed: tuple[Path, Any]) -> None:
    file, _ = probed
    sample = SAMPLES / "llama_debug_fsdp2.joint.json.zst"
    generic = jointer(file.parent / "none.json", "overlap", sample)
    ours = jointer(file, "overlap", sample)
    assert generic["estimator"].startswith("roofline, Generic CPU")
    assert ours["estimator"].startswith("kernels, ") and "probed" in ours["estimator"]
    assert ours["step_ms"] != generic["step_ms"]


# Interpreted, one rank alone and all ranks. The bound is wide because other programs may run at the same time;
# docs/performance.md has the differences on a machine that does nothing else.
@pytest.mark.slow
@pytest.mark.parametrize("ranks", [["--solo", "0"], []], ids=["solo", "all"])
def test_the_step_is_predicted(probed: tuple[Path, Any], ranks: list[str]) -> None:
    file, _ = probed
    sample = SAMPLES / "llama_debug_fsdp2.joint.json.zst"
    said = jointer(file, "bench", sample, "--on", "cpu", *ranks)
    predicted, measured = said["predicted"], said["measured"]
    assert "probed" in predicted["estimator"]
    assert predicted["step_ms"] == pytest.approx(measured["step_ms"], rel=0.5)
