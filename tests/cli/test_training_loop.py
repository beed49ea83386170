"""``jointer memory --loop``: a training loop around a pair or a flat training step."""

from __future__ import annotations

import pytest
from conftest import JOINT, answer, run, sample

PAIR = sample("llama_debug_tp2_fsdp2.min_cut")
STEP = sample("llama_debug_fsdp2.train_step")


def test_the_loop_adds_memory_outside_of_the_graph() -> None:
    plain = answer("memory", PAIR)
    loop = answer("memory", PAIR, "--loop", "3", "--optimizer", "adamw")["loop"]
    assert set(loop) >= {
        "peak_bytes", "reserved_peak_bytes", "peak_step", "peak_phase", "peak_node", "at_peak", "phases",
    }  # fmt: skip
    assert sum(loop["at_peak"].values()) == loop["peak_bytes"] <= loop["reserved_peak_bytes"]
    assert max(loop["phases"].values()) == loop["peak_bytes"]
    # fp32 moments are twice the parameters, and exist from the second step on.
    assert loop["peak_step"] == 2
    assert loop["at_peak"]["optimizer_state"] >= 2 * plain["at_peak"]["parameter"]


def test_each_part_only_adds() -> None:
    options = ["--loop", "3", "--optimizer", "adamw"]
    least = answer("memory", PAIR, *options)["loop"]["peak_bytes"]
    unboxed = answer("memory", PAIR, *options, "--unboxed")["loop"]["peak_bytes"]
    loss = answer("memory", PAIR, *options, "--loss", "loss_parallel")["loop"]
    fused = answer("memory", PAIR, *options, "--loss", "cross_entropy")["loop"]
    scratch = answer("memory", PAIR, *options, "--workspace-of", "b200")["loop"]["peak_bytes"]
    assert least < unboxed and least <= fused["peak_bytes"] <= loss["peak_bytes"]
    assert loss["logits_fp32_bytes"] > 0
    assert loss["phases"]["loss"] == fused["phases"]["loss"] + loss["logits_fp32_bytes"]
    assert scratch == least + (64 << 20)


def test_a_training_step_is_run_in_a_loop() -> None:
    plain = answer("memory", STEP)
    loop = answer("memory", STEP, "--loop", "3", "--optimizer", "adamw")["loop"]
    assert sum(loop["at_peak"].values()) == loop["peak_bytes"] <= loop["reserved_peak_bytes"]
    assert max(loop["phases"].values()) == loop["peak_bytes"] and loop["phases"]["loss"] == 0
    assert loop["peak_step"] == 2
    moments = 2 * plain["at_peak"]["parameter"]
    assert moments <= loop["at_peak"]["optimizer_state"] < moments + 512 * 100
    # The optimizer's state adds to the step's own peak.
    assert loop["peak_bytes"] == plain["peak_bytes"] + loop["at_peak"]["optimizer_state"]
    without = answer("memory", STEP, "--loop", "3", "--optimizer", "none")["loop"]
    assert without["peak_bytes"] == plain["peak_bytes"]
    done = run("memory", STEP, "--loop", "3")
    assert done.code == 0 and "by phase" in done.out and "loss" not in done.out.split("by phase")[1].split("\n")[0]


def test_on_the_cpu_nothing_is_cached() -> None:
    loop = answer("memory", PAIR, "--loop", "2", "--expandable-segments")["loop"]
    assert loop["reserved_peak_bytes"] == loop["peak_bytes"]


def test_the_table() -> None:
    done = run("memory", PAIR, "--loop", "2", "--loss", "cross_entropy")
    assert done.code == 0 and "loop reserved" in done.out and "loss" in done.out


@pytest.mark.parametrize(
    "arguments, word",
    [
        ((JOINT, "--loop", "3"), "forward and a backward"),
        ((STEP, "--loop", "3", "--loss", "cross_entropy"), "--loss"),
        ((STEP, "--loop", "3", "--unboxed"), "--unboxed"),
        ((PAIR, "--loop", "0"), "--loop"),
        ((PAIR, "--loop", "3", "--loss", "hinge"), "--loss"),
        ((PAIR, "--loop", "3", "--workspace-of", "gtx480"), "gtx480"),
        ((JOINT, "--loop", "3", "--torch-compatible"), "training loop"),
    ],
)
def test_wrong_usage(arguments: tuple[str, ...], word: str) -> None:
    done = run("memory", *arguments)
    assert done.code == 2 and done.out == "", done
    assert done.err.startswith("jointer: ") and word in done.err
