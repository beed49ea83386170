"""``python -m jointer compile``: compiles programs to packages, with a cache.

``compile_program`` answers one request; ``compile_worker`` is the process that serves requests.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch import fx

from .artifacts import FORMAT, VERSION, Cache, cache_key, capability, package_name, place
from .environment import why_no_cuda
from .errors import CaptureError
from .inductor import Compiled, CompileError, Layout, check_compilable, compile_graph
from .program import Part, parse_assumptions, read_program
from .regional import Region, find_regions
from .retarget import retarget
from .signature import TENSOR

METHODS = ("inductor", "regional")

#: Called with a stage, the number of pieces that are done, and the number of pieces.
Report = Callable[[str, int, int], None]


@dataclass
class Request:
    """A request to compile a program."""

    graph: str
    backward: str | None = None
    method: str = "inductor"
    #: ``cpu``, ``cuda`` or ``auto``.
    on: str = "auto"
    #: Folder for the packages; ``None``: they are only cached.
    out: str | None = None
    rank: int = 0
    #: For ``regional``: node names or ``FQN_PATTERN::OPERATOR``, in addition to marks in the graph.
    mark: list[str] = field(default_factory=list)
    #: ``u0=64,...``
    assume: str = ""
    #: The release of torch that will load the packages; empty: any.
    torch: str = ""

    def check(self) -> None:
        """Raise ``CaptureError`` if a field is invalid."""
        texts = (self.graph, self.method, self.on, self.assume)
        if not all(isinstance(each, str) for each in texts) or not self.graph:
            raise CaptureError(
                "a request's graph, method, on and assume must be strings, and graph not empty"
            )
        if self.method not in METHODS:
            raise CaptureError(f"method {self.method!r}: expected one of {', '.join(METHODS)}")
        if self.on not in ("auto", "cpu", "cuda"):
            raise CaptureError(f"on {self.on!r}: expected one of auto, cpu, cuda")
        if not isinstance(self.torch, str):
            raise CaptureError("torch must be a string")
        if self.torch and self.torch != torch.__version__.partition("+")[0]:
            raise CaptureError(
                f"packages for torch {self.torch} cannot be compiled by torch {torch.__version__} of "
                f"{sys.executable}; set JOINTER_PYTHON to a Python with torch {self.torch}"
            )
        if not isinstance(self.rank, int) or self.rank < 0:
            raise CaptureError(f"rank {self.rank!r}: expected an integer of at least 0")
        if not isinstance(self.mark, list) or not all(isinstance(m, str) for m in self.mark):
            raise CaptureError("mark must be a list of selectors")


@dataclass
class _Piece:
    """The source of one package: a graph, or a region of one."""

    part: Part
    region: Region | None = None

    @property
    def phase(self) -> str:
        return self.part.phase if self.region is None else "region"

    @property
    def gm(self) -> fx.GraphModule:
        return self.part.gm if self.region is None else self.region.gm

    @property
    def label(self) -> str:
        """The phase, as in the name of a file."""
        if self.region is None:
            return self.part.phase
        return f"{self.part.phase}.region{self.region.index}"


def compile_program(
    request: Request, report: Report = lambda stage, done, total: None
) -> dict[str, Any]:
    """Compile the program of ``request``.

    Returns:
        ``{"packages": [...], "notes": [...]}``; a package has its paths (``package``,
        ``manifest``), ``cached`` (true if it came from the cache), and the content of its manifest,
        except ``origins``.

    Raises:
        CaptureError: the request or a file is invalid.
        CompileError: Inductor cannot compile the program.
        OSError: a file cannot be read or written.
    """
    request.check()
    device = _device(request.on)
    report("load", 0, 0)
    if dist.is_initialized() and dist.get_backend() == "fake":
        dist.destroy_process_group()  # from a previous request
    program = read_program(
        request.graph,
        request.backward,
        rank=request.rank,
        assume=parse_assumptions(request.assume),
    )
    _ensure_process_group()
    notes: list[str] = []
    fingerprints = {id(part): part.fingerprint() for part in program.parts}
    for part in program.parts:
        notes += [note for note in retarget(part.gm, device) if note not in notes]
    pieces = [p for part in program.parts for p in _pieces(part, request)]
    if request.method == "regional" and not pieces:
        raise CaptureError(
            "no node is marked; annotate with compile_with_inductor, or give --mark NODE or "
            "--mark 'FQN_PATTERN::OPERATOR'"
        )
    for piece in pieces:  # all of them before the first is compiled
        check_compilable(piece.gm)
    cache, layouts, packages = Cache(), dict[str, Layout](), []
    for done, piece in enumerate(pieces):
        stage = _Stage(report, done, len(pieces))
        fact = fingerprints[id(piece.part)]
        packages.append(_package(piece, fact, request, device, cache, layouts, stage))
        if piece.region is None:
            layouts |= _layouts(packages[-1])
    return {"packages": packages, "notes": notes}


@dataclass
class _Stage:
    """Reports the stage of one of several pieces."""

    report: Report
    done: int
    total: int

    def __call__(self, stage: str) -> None:
        self.report(stage, self.done, self.total)


def _device(on: str) -> torch.device:
    if on == "cuda" and (why := why_no_cuda()):
        raise CaptureError(f"no CUDA device can be used: {why}; compile with --on cpu")
    return torch.device("cuda" if on != "cpu" and torch.cuda.is_available() else "cpu")


def _ensure_process_group() -> None:
    """Create a process group, which Inductor requires even for graphs without groups."""
    from torch.testing._internal.distributed.fake_pg import FakeStore

    if not dist.is_initialized():
        dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=1)


def _pieces(part: Part, request: Request) -> Iterator[_Piece]:
    if request.method == "inductor":
        yield _Piece(part)
        return
    for region in find_regions(part.gm, request.mark):
        yield _Piece(part, region)


def _package(
    piece: _Piece,
    fingerprint: str,
    request: Request,
    device: torch.device,
    cache: Cache,
    layouts: Mapping[str, Layout],
    stage: _Stage,
) -> dict[str, Any]:
    region = piece.region
    gm = piece.gm
    names = {node.name for node in gm.graph.find_nodes(op="placeholder")}
    given = {name: layout for name, layout in layouts.items() if name in names}
    facts = {
        "method": request.method,
        "phase": piece.part.phase,
        "graph": fingerprint,
        "device": capability(device.type),
        "layouts": sorted(given.items()),
        "nodes": region.nodes if region else [],
        "options": region.options if region else {},
    }
    key = cache_key(facts)

    def make(package: Path) -> dict[str, Any]:
        began = time.monotonic()
        options = region.options if region else {}
        compiled = compile_graph(
            gm, device, package, layouts=given, options=options, progress=stage
        )
        seconds = round(time.monotonic() - began, 3)
        return _description(piece, request, device, key, compiled, seconds)

    path, description, cached = cache.get(key, make, waiting=lambda: stage("wait for another rank"))
    description = {**description, "graph": piece.part.name, "rank": request.rank}
    if request.out:
        digest = piece.part.hash
        name = package_name(piece.part.name, piece.label, request.rank, request.method, digest)
        path = place(path, description, Path(request.out), name)
    manifest = path.with_suffix(".json")
    answer = {key: value for key, value in description.items() if key != "origins"}
    return {**answer, "package": str(path), "manifest": str(manifest), "cached": cached}


def _description(
    piece: _Piece,
    request: Request,
    device: torch.device,
    key: str,
    compiled: Compiled,
    seconds: float,
) -> dict[str, Any]:
    """The manifest of a package (docs/running.md)."""
    description = {
        "format": FORMAT,
        "version": VERSION,
        "graph": piece.part.name,
        "phase": piece.phase,
        "rank": request.rank,
        "method": request.method,
        "hash": piece.part.hash,
        "key": key,
        "torch": torch.__version__,
        "device": device.type,
        "capability": capability(device.type),
        "inputs": compiled.inputs,
        "outputs": compiled.outputs,
        "output_map": compiled.signature.outputs,
        "output_constants": {str(k): v for k, v in compiled.signature.constants.items()},
        "aliases": compiled.aliases,
        "mutated_inputs": compiled.mutated,
        "compile_seconds": seconds,
        "origins": compiled.origins,
    }
    if piece.region is not None:
        description["of"] = piece.part.phase
        description["region"] = piece.region.index
        description["replaces"] = piece.region.nodes
    return description


def _layouts(package: Mapping[str, Any]) -> dict[str, Layout]:
    """Shapes and strides of the tensors that a package returns, in the form in which they are
    passed to the compilation of the backward."""
    return {
        each["name"]: (tuple(each["shape"]), tuple(each["stride"]))
        for each in package["outputs"]
        if each["kind"] == TENSOR and None not in (*each["shape"], *each["stride"])
    }


__all__ = ["METHODS", "CompileError", "Request", "compile_program"]
