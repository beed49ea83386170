"""Runs steps of a program on its device.

For a pair, a step runs the forward graph and then the backward graph on the saved values, like
autograd. The outputs of a step are those of the joint graph: for a pair, the outputs that the
forward returns to its caller, then those of the backward.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import torch
from torch import Tensor, fx

from .device_errors import kind_of_device_error, text_of
from .execute import (
    Call,
    Ledger,
    Run,
    Step,
    call_target,
    collectives_of_wait,
    is_collective,
    is_wait,
    plan,
    tensors_of,
)
from .inputs import make_inputs
from .local_collectives import local_form
from .pair import link_pair
from .program import Program
from .retarget import retarget, substitute
from .signature import graph_outputs


class InputError(Exception):
    """The device failed while the input ``node`` was made."""

    def __init__(self, node: str, error: BaseException) -> None:
        super().__init__(text_of(error))
        self.node = node
        self.kind = kind_of_device_error(error)


class RankProgram:
    """The program of one rank."""

    def __init__(self, program: Program, device: torch.device, *, alone: bool) -> None:
        """
        Args:
            program: the program, whose graphs are modified to run on ``device``.
            device: the device.
            alone: True to replace collectives with local copies.
        """
        self.device = device
        #: Called with the position of each node before it runs.
        self.at_node: Callable[[int], None] = lambda position: None
        self.hash = program.hash
        self.notes: list[str] = []
        parts = program.parts
        for part in parts:
            self.notes += [n for n in retarget(part.gm, device) if n not in self.notes]
            if alone:
                _stand_in(part.gm)
        self._forward, self._backward = parts[0].gm, parts[1].gm if program.is_pair else None
        #: By the backward's placeholder: the output of the forward that it is saved from.
        self._saved: dict[str, fx.Node] = {}
        if self._backward is not None:
            self._saved = link_pair(self._forward.graph, self._backward.graph)
        self.placeholders = [
            node
            for part in parts
            for node in part.gm.graph.find_nodes(op="placeholder")
            if part is parts[0] or node.name not in self._saved
        ]
        outputs = graph_outputs(self._forward.graph)
        #: The outputs that the forward returns to its caller; those saved for backward follow.
        self._returned = outputs[: len(outputs) - len(self._saved)]
        self._staying = {*self._forward.graph.find_nodes(op="placeholder"), *_nodes(self._returned)}
        self._plans = [plan(self._forward, 0, {*self._staying, *_nodes(outputs)})]
        if self._backward is not None:
            kept = set(_nodes(graph_outputs(self._backward.graph)))
            self._plans.append(plan(self._backward, len(self._plans[0]), kept))
        self.output_names = [
            getattr(each, "name", str(place))
            for place, each in enumerate([*self._returned, *self._outputs_of_backward()])
        ]

    @property
    def steps(self) -> list[Step]:
        """Every node of the program."""
        return [step for steps in self._plans for step in steps]

    @property
    def uses_bfloat16(self) -> bool:
        """True if any node returns bfloat16."""
        return any(
            tensor.dtype is torch.bfloat16
            for step in self.steps
            for tensor in tensors_of(step.node.meta.get("val"))
        )

    @property
    def collectives(self) -> set[str]:
        """The names of the nodes that start collectives or wait for them."""
        nodes = (step.node for step in self.steps)
        return {node.name for node in nodes if is_collective(node) or is_wait(node)}

    @property
    def waits(self) -> dict[int, int]:
        """Position of a collective -> position of its last wait."""
        places = {step.node: step.position for step in self.steps}
        return {
            places[start]: position
            for node, position in places.items()
            if is_wait(node)
            for start in collectives_of_wait(node)
        }

    def inputs(
        self, *, seed: int, rank: int, given: Mapping[str, Tensor] | None = None
    ) -> dict[str, Any]:
        """Inputs for a step, as in ``inputs.make_inputs``.

        Raises:
            InputError: the device failed, for example because its memory ran out.
        """
        places = {step.node: step.position for step in self.steps}
        name = ""

        def before_each(node: fx.Node) -> None:
            nonlocal name
            name = node.name
            self.at_node(places[node])

        try:
            made = make_inputs(
                self.placeholders,
                self.device,
                seed=seed,
                rank=rank,
                given=given,
                before_each=before_each,
            )
            if self.device.type == "cuda":
                torch.cuda.synchronize()  # so that errors of the device are those of inputs
        except Exception as error:
            if kind_of_device_error(error):
                raise InputError(name, error) from error
            raise
        return made

    def step(
        self,
        inputs: Mapping[str, Any],
        ledger: Ledger | None = None,
        call: Call = call_target,
        after: Callable[[Step, int, int], None] | None = None,
        started: Callable[[], None] = lambda: None,
    ) -> list[Any]:
        """Run once and return the outputs.

        Args:
            inputs: the inputs by placeholder name; the caller continues to hold them.
            ledger: counts the bytes that the run holds.
            call: runs a node.
            after: called after each call with the bytes held before and after its frees.
            started: called when the inputs are bound, before the first node.
        """
        forward = Run(self._forward, self._plans[0], ledger, call, after, self.at_node)
        backward = None
        if self._backward is not None:
            backward = Run(self._backward, self._plans[1], ledger, call, after, self.at_node)
            backward.bind_constants()
        forward.bind_constants()
        forward.bind(inputs)
        started()
        outputs = forward.run()
        if backward is None:
            forward.end()
            return outputs
        returned = outputs[: len(self._returned)]
        saved = {name: forward.values[node] for name, node in self._saved.items()}
        backward.bind({**inputs, **saved})
        # From here on, only the backward holds the saved values, so it can free them.
        forward.drop(node for node in self._saved.values() if node not in self._staying)
        del outputs, saved
        gradients = backward.run()
        backward.end()
        forward.end()
        return [*returned, *gradients]

    def _outputs_of_backward(self) -> list[Any]:
        return [] if self._backward is None else graph_outputs(self._backward.graph)


def _nodes(values: Iterable[Any]) -> list[fx.Node]:
    return [each for each in values if isinstance(each, fx.Node)]


def _stand_in(gm: fx.GraphModule) -> None:
    for node in gm.graph.nodes:
        if form := local_form(node):
            substitute(node, form)
