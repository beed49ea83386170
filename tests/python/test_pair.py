"""The values that a backward graph reads from its forward graph."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from support import call, document, output, placeholder, tensor
from test_bench import bench
from torch import fx, nn
from torch.utils.checkpoint import checkpoint

import jointer
from jointer.load import load_document
from jointer.pair import link_pair

TANGENT = {"type": "TangentAOTInput", "output": {"type": "PlainAOTOutput", "idx": 0}}
DRAWS = {"list": [tensor([5056], 1, dtype="uint8"), tensor([4], 2)]}


def graph(*nodes: dict[str, Any], kind: str) -> fx.Graph:
    gm = load_document(document(*nodes, kind=kind, storages=[16, 5056, 16]))
    assert isinstance(gm, fx.GraphModule)
    return gm.graph


def forward() -> fx.Graph:
    """Draws twice, and returns the states in the order of the draws."""
    target, random = "run_and_save_rng_state", {"op": "aten.rand_like.default"}
    nodes = [placeholder("x", tensor([4]))]
    for name in ("first", "second"):
        nodes += [
            call(name, target, random, {"n": "x"}, val=DRAWS),
            call(f"{name}_state", "_operator.getitem", {"n": name}, 0, val=DRAWS["list"][0]),
            call(f"{name}_draw", "_operator.getitem", {"n": name}, 1, val=DRAWS["list"][1]),
        ]
    returned = ("second_draw", "x", "first_state", "second_state")
    return graph(*nodes, output(*({"n": name} for name in returned)), kind="forward")


def backward(*inputs: dict[str, Any]) -> fx.Graph:
    return graph(*inputs, output({"n": inputs[0]["name"]}), kind="backward")


def test_values_have_the_same_name_and_states_the_same_order() -> None:
    states = [placeholder(f"rng_state_output_{i}", tensor([5056], dtype="uint8")) for i in (7, 3)]
    gradient = placeholder("tangents_1", tensor([4]))
    saved = link_pair(forward(), backward(placeholder("x", tensor([4])), *states, gradient))
    assert {name: node.name for name, node in saved.items()} == {
        "x": "x",
        "rng_state_output_7": "first_state",
        "rng_state_output_3": "second_state",
    }


def test_a_tangent_is_known_by_its_descriptor() -> None:
    named = {**placeholder("dy", tensor([4])), "desc": TANGENT}
    assert link_pair(forward(), backward(named)) == {}
    plain = placeholder("tangents_1", tensor([4]))
    plain["desc"] = {"type": "PlainAOTInput", "idx": 0}
    with pytest.raises(jointer.CaptureError, match="node tangents_1 is an input of the backward"):
        link_pair(forward(), backward(plain))


def test_every_tensor_must_be_saved_also_if_nothing_reads_it() -> None:
    with pytest.raises(
        jointer.CaptureError,
        match="^node z is an input of the backward but not an output of the forward: the two "
        "graphs are not a pair$",
    ):
        link_pair(forward(), backward(placeholder("x", tensor([4])), placeholder("z", tensor([4]))))
    assert link_pair(forward(), backward(placeholder("n"))) == {}


class Dropouts(nn.Module):
    """Two random calls of different sizes, which are recomputed in the backward."""

    def __init__(self) -> None:
        super().__init__()
        self.wide, self.narrow = nn.Linear(8, 16), nn.Linear(16, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        def block(x: torch.Tensor) -> torch.Tensor:
            hidden = nn.functional.dropout(self.wide(x), 0.5).sin()
            return nn.functional.dropout(self.narrow(hidden), 0.5).cos()

        return checkpoint(block, x, use_reentrant=False)


@pytest.mark.slow
def test_a_pair_of_torch_draws_the_same_numbers_twice(tmp_path: Path) -> None:
    """Its gradients are those of the joint graph, which draws once."""
    files = str(tmp_path / "{kind}.json")
    compiled = torch.compile(Dropouts(), backend=jointer.backend(files, pair=True))
    compiled(torch.randn(32, 8)).sum().backward()
    pair, joint = tmp_path / "pair.json", tmp_path / "joint.json"
    assert pair.read_text().count('"name":"rng_state_output_') == 2
    (ended,) = bench(str(pair), "--baseline", str(joint), "--iterations", "1")
    assert ended.code == 0, (ended.lines[-1:], ended.errors)
    (verdict,) = ended.said("verified")
    assert verdict["bitwise"] and verdict["compared"] == 5
