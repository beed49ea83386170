"""``jointer memory PAIR --loop``: a training loop around a pair."""

from __future__ import annotations

import pytest
from conftest import JOINT, answer, run, sample

PAIR = sample("llama_debug_tp2_fsdp2.min_cut")


def test_the_loop_adds_what_is_not_in_the_graph() -> None:
    plain = answer("memory", PAIR)
    loop = answer("memory", PAIR, "--loop", "3", "--optimizer", "adamw")["loop"]
    assert set(loop) >= {
        "peak_bytes", "reserved_peak_bytes", "peak_step", "peak_phase", "peak_node", "at_peak", "phases",
    }  # fmt: skip
    assert sum(loop["at_peak"].values()) == loop["peak_bytes"] <= loop["reserved_peak_bytes"]
    assert max(loop["phases"].values()) == loop["peak_bytes"]
    # fp32 moments are twice the parameters, and there from the second step on.
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


def test_on_the_cpu_nothing_is_cached() -> None:
    loop = answer("memory", PAIR, "--loop", "2", "--expandable-segments")["loop"]
    assert loop["reserved_peak_bytes"] == loop["peak_bytes"]


def test_a_table_for_people() -> None:
    done = run("memory", PAIR, "--loop", "2", "--loss", "cross_entropy")
    assert done.code == 0 and "loop's reserved" in done.out and "loss" in done.out


@pytest.mark.parametrize(
    "arguments, word",
    [
        ((JOINT, "--loop", "3"), "forward and a backward"),
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
