"""One rank of a check: compares a capture in the Python backend and in packages with eager torch.

Run with RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT set, and one argument, a JSON object:
``graph``, ``backward`` (or null), ``inputs`` and ``expected`` (safetensors, or null), ``packages``
(for each rank, the manifests of its parts in order, or null). ``{rank}`` stands for the rank's
number. Prints one JSON object.
"""

from __future__ import annotations

import copy
import json
import os
import sys
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist

from jointer.amx import avoid_broken_amx
from jointer.program import path_of_rank, read_program
from jointer.rank_program import RankProgram
from jointer.real_groups import join_groups
from jointer.safetensors import read_safetensors
from jointer.verify import compare

CPU = torch.device("cpu")


def main() -> None:
    request = json.loads(sys.argv[1])
    rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    avoid_broken_amx()
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    captured = read_program(request["graph"], request["backward"], rank=rank)
    if dist.is_initialized():
        dist.destroy_process_group()
    groups = join_groups(captured.groups, rank, world, CPU, 60) if captured.groups else {}
    eager = [copy.deepcopy(part.gm) for part in captured.parts]
    program = RankProgram(captured, CPU, alone=False)
    given = _read(request["inputs"], rank)
    inputs = program.inputs(seed=0, rank=rank, given=given)
    outputs = program.step(inputs)
    wanted = dict(enumerate(_eager(eager, program, inputs)))
    result: dict[str, Any] = {
        "groups": sorted(groups),
        "eager": _verdict(program, outputs, wanted),
    }
    if expected := _read(request["expected"], rank):
        by_place = {int(name): tensor for name, tensor in expected.items()}
        result["expected"] = _verdict(program, outputs, by_place)
    if request["packages"]:
        compiled = _by_packages(request["packages"][rank], captured, program, inputs)
        result["packages"] = _verdict(program, compiled, wanted)
    print(json.dumps(result), flush=True)
    os._exit(0)  # the other ranks may be gone


def _read(path: str | None, rank: int) -> dict[str, torch.Tensor] | None:
    return read_safetensors(path_of_rank(path, rank)) if path else None


def _eager(eager: list[Any], program: RankProgram, inputs: dict[str, Any]) -> list[Any]:
    """Runs the graphs with torch."""
    with torch.no_grad():
        names = [[n.name for n in gm.graph.find_nodes(op="placeholder")] for gm in eager]
        forward = list(eager[0](*[inputs[name] for name in names[0]]))
        if len(eager) == 1:
            return forward
        nodes = [getattr(n, "name", "") for n in eager[0].graph.output_node().args[0]]
        values = {**inputs, **dict(zip(nodes, forward, strict=True))}
        returned = len(nodes) - sum(name in names[1] for name in nodes)
        return [*forward[:returned], *eager[1](*[values[name] for name in names[1]])]


def _by_packages(
    paths: list[str], captured: Any, program: RankProgram, inputs: dict[str, Any]
) -> list[Any]:
    """Runs the graphs like a process that did not compile them."""
    values, results = dict(inputs), []
    for path, part in zip(paths, captured.parts, strict=True):
        manifest = json.loads(Path(path).read_text())
        package = path.removesuffix("json") + "pt2"
        loader = torch._C._aoti.AOTIModelPackageLoader(package, "model", False, 1, -1)
        taken = [values[each["name"]] for each in manifest["inputs"]]
        given = loader.run(taken)
        assert len(given) == len(manifest["outputs"])
        for each, tensor in zip(manifest["outputs"], given, strict=True):
            assert list(tensor.shape) == each["shape"] and list(tensor.stride()) == each["stride"]
            values.setdefault(each["name"], tensor)
        for output, taken_place in manifest["aliases"]:
            assert given[output].data_ptr() == taken[taken_place].data_ptr()
        results.append([None if p is None else given[p] for p in manifest["output_map"]])
    if len(results) == 1:
        return results[0]
    returned = len(program.output_names) - len(results[1])
    return [*results[0][:returned], *results[1]]


def _verdict(program: RankProgram, outputs: list[Any], wanted: dict[int, Any]) -> dict[str, Any]:
    verdict = compare("eager", program.output_names, outputs, wanted)
    worst = 0.0
    for place, tensor in wanted.items():
        if tensor is not None and tensor.numel():
            largest = float(tensor.double().abs().max())
            difference = float((outputs[place].double() - tensor.double()).abs().max())
            worst = max(worst, difference / largest if largest else difference)
    return {"bitwise": verdict.bitwise, "compared": verdict.compared, "relative": worst}


main()
