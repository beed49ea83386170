"""Compares outputs with the expected ones: whether they are bitwise equal, and which output differs
most, relative to its largest expected magnitude."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor


@dataclass
class Verdict:
    """The result of a comparison; see ``RankVerified`` in core/bench/event.h.

    Names the output that differs most, relative to its largest expected magnitude, and its element
    that differs most.
    """

    against: str
    bitwise: bool = True
    equal: bool = True
    max_abs_diff: float = 0.0
    max_rel_diff: float = 0.0
    bound: float = 0.0
    output: str = ""
    element: int = 0
    compared: int = 0


def compare(
    against: str,
    names: Sequence[str],
    outputs: Sequence[Any],
    expected: Mapping[int, Any],
    bound: float = 0.0,
) -> Verdict:
    """Compare ``outputs`` with ``expected``, which is keyed by index of the output.

    Args:
        against: the kind of the expected outputs: ``baseline`` or ``expected``.
        names: names of the outputs.
        outputs: tensors, numbers and ``None``.
        expected: the same; outputs without an entry are not compared.
        bound: the allowed difference, relative to the largest finite magnitude of the expected
            output.
    """
    verdict = Verdict(against, bound=bound)
    for place, wanted in sorted(expected.items()):
        if wanted is None:
            continue
        got = outputs[place] if place < len(outputs) else None
        name = names[place] if place < len(names) else str(place)
        verdict.compared += 1
        _compare_one(verdict, name, got, wanted)
    return verdict


def _compare_one(verdict: Verdict, name: str, got: Any, wanted: Any) -> None:
    wanted = wanted.cpu() if isinstance(wanted, Tensor) else torch.tensor(wanted)
    if isinstance(got, (int, float)):
        got = torch.tensor(got)
    if not isinstance(got, Tensor) or got.shape != wanted.shape or got.dtype != wanted.dtype:
        _differs(verdict, name, math.inf, math.inf, 0)
        return
    got = got.cpu()
    if _bytes(got).equal(_bytes(wanted)):
        return
    if not got.numel():
        return
    a, b = (_comparable(each) for each in (got, wanted))
    difference = (a - b).abs().nan_to_num(nan=float("inf"), posinf=float("inf"))
    difference[(a == b) | (a.isnan() & b.isnan())] = 0
    absolute = float(difference.max())
    magnitude = float(b.abs().nan_to_num(0, 0, 0).max())
    relative = 0.0 if absolute == 0 else absolute / magnitude if magnitude else math.inf
    element = int(difference.argmax()) // (2 if got.is_complex() else 1)
    _differs(verdict, name, absolute, relative, element)


def _differs(
    verdict: Verdict, name: str, absolute: float, relative: float, element: int
) -> None:
    verdict.equal = verdict.equal and relative <= verdict.bound
    if verdict.bitwise or relative > verdict.max_rel_diff:
        verdict.max_abs_diff, verdict.max_rel_diff = absolute, relative
        verdict.output, verdict.element = name, element
    verdict.bitwise = False


def _bytes(tensor: Tensor) -> Tensor:
    return tensor.resolve_conj().resolve_neg().contiguous().flatten().view(torch.uint8)


def _comparable(tensor: Tensor) -> Tensor:
    tensor = tensor.resolve_conj().resolve_neg()
    if tensor.is_complex():
        tensor = torch.view_as_real(tensor)
    return tensor.double().flatten()
