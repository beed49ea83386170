"""`jointer kernels`: requests that do not fit are refused. tests/differential compares its answers with torch's."""

from __future__ import annotations

import json

from conftest import JOINT, ROOT, run, sample

PAIR = sample("llama_debug_tp2_fsdp2.min_cut")
ARTIFACTS = ROOT / "tests" / "core" / "capture" / "artifacts"


def test_another_torch_is_refused() -> None:
    done = run("kernels", JOINT, "--torch", "2.12", "--json")
    assert (done.code, done.out) == (3, "")
    assert "not 2.12" in done.err and "JOINTER_PYTHON" in done.err


def test_halves_belong_to_pairs() -> None:
    pair = run("kernels", PAIR)
    assert pair.code == 2 and "--half forward or --half backward" in pair.err
    joint = run("kernels", JOINT, "--half", "forward")
    assert joint.code == 2 and "is not a pair" in joint.err


def test_sources_and_artifacts_belong_together() -> None:
    without = run("kernels", JOINT, "--source", "compiled")
    assert without.code == 2 and "needs --artifacts" in without.err
    other = run("kernels", JOINT, "--artifacts", ARTIFACTS)
    assert other.code == 2 and "only --source compiled reads artifacts" in other.err
    device = run("kernels", JOINT, "--source", "compiled", "--artifacts", ARTIFACTS, "--device", "h100")
    assert device.code == 2 and "option --device" in device.err
    missing = run("kernels", JOINT, "--source", "compiled", "--artifacts", "missing")
    assert missing.code == 3 and missing.out == ""


def test_compiled_kernels_and_those_that_cannot_be_tied() -> None:
    log = ARTIFACTS / "cpu_2_15.log"
    done = run("kernels", log, "--graph", "0", "--source", "compiled", "--artifacts", log)
    assert done.code == 0, done.err
    assert done.out.startswith("Compiled by torch 2.15.0, for cpu\n")
    assert "2 kernels without a call in the graph" in done.out
    answer = json.loads(
        run("kernels", log, "--graph", "0", "--source", "compiled", "--artifacts", log, "--json").out
    )
    assert answer["source"] == "compiled" and answer["compilation"] == "0/0, forward"
    assert [kernel["nodes"] for kernel in answer["kernels"]] == [[], ["mm"], []]
    assert answer["untied_kernels"] == ["cpp_fused_native_layer_norm_0", "cpp_fused_gelu_sum_1"]
    assert len(answer["compilations"]) == 2
    assert answer["kernels"][1]["flops"] == 2 * 32 * 64 * 32


def test_a_prediction_needs_no_torch() -> None:
    done = run("kernels", PAIR, "--half", "forward", "--source", "predicted", "--torch", "2.11", "--json")
    assert done.code == 0, done.err
    answer = json.loads(done.out)
    assert (answer["source"], answer["torch"]) == ("predicted", "2.11")
    kinds = {kernel["kind"] for kernel in answer["kernels"]}
    assert {"pointwise", "reduction", "extern", "collective", "wait"} <= kinds
    assert any("mm" in kernel["nodes"] for kernel in answer["kernels"])
