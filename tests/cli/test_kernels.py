"""`jointer kernels`: requests that do not fit are refused. tests/differential compares its answers with torch's."""

from __future__ import annotations

from conftest import JOINT, run, sample

PAIR = sample("llama_debug_tp2_fsdp2.min_cut")


def test_another_torch_is_refused() -> None:
    done = run("kernels", JOINT, "--torch", "2.12", "--json")
    assert (done.code, done.out) == (3, "")
    assert "not 2.12" in done.err and "JOINTER_PYTHON" in done.err


def test_halves_belong_to_pairs() -> None:
    pair = run("kernels", PAIR)
    assert pair.code == 2 and "--half forward or --half backward" in pair.err
    joint = run("kernels", JOINT, "--half", "forward")
    assert joint.code == 2 and "is not a pair" in joint.err
