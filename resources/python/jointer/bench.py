"""``python -m jointer bench``: one rank of a benchmark, run by Python.

This is for graphs with operators that exist only in Python. The program accepts the arguments of
jointer-runner, except ``--recorded``, reads its rank from torchrun's environment variables (RANK,
WORLD_SIZE, LOCAL_RANK, MASTER_ADDR, MASTER_PORT), and writes the same messages to its standard
output: one JSON object per line, as in ``resources/schema/runner.schema.json``. Output of libraries
is redirected to standard error.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import torch
import torch.distributed as dist

from .amx import avoid_broken_amx
from .counted import counted
from .device_errors import REPORTED_LATE, kind_of_device_error, text_of
from .environment import device_members, device_state, has_gpu, why_no_cuda
from .errors import CaptureError, first_line
from .events import Events
from .execute import Ledger, MemoryLimit, NodeError
from .groups import restore_groups
from .launcher_watch import watch_launcher
from .measure import Measurer
from .nvml import doubts_about
from .profiler_ranges import ProfilerRanges
from .program import Program, parse_assumptions, path_of_rank, read_program
from .rank_program import InputError, RankProgram
from .real_groups import group_of, join_groups
from .safetensors import read_safetensors
from .status_file import StatusFile
from .sums_of_ranks import bound_of_roundings, sums_of_ranks
from .triton import missing_kernel
from .verify import Verdict, compare

EXIT_DONE, EXIT_USAGE, EXIT_INPUT, EXIT_FAILED, EXIT_CANCELLED = 0, 2, 3, 4, 130

_TIMES_OF_LAUNCHES = (
    "the Python backend does not trace kernels: nodes are timed by the CPU and by events around "
    "their calls, which for small kernels measure the time of launches, so --calibrate does not "
    "store the times"
)

#: As in app/runner/verification.cpp.
_ORDER_OF_NCCL = (
    "the order in which NCCL adds the values of more than two ranks depends on the size of the "
    "message and, with NVLink SHARP, on the run"
)
_ORDER_OF_GLOO = (
    "the order in which Gloo adds the values of more than two ranks depends on their place in the "
    "message, and the messages of such sums differ from those of the unedited graph"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of jointer-runner (core/bench/request.cpp), except ``--recorded``."""
    parser.add_argument("program", metavar="GRAPH", help="a capture; {rank} stands for the rank")
    for name in ("backward", "baseline", "baseline-backward", "inputs", "expected"):
        parser.add_argument(f"--{name}", metavar="FILE")
    parser.add_argument(
        "--graph",
        type=int,
        metavar="N",
        help="index of the graph, if the file contains several",
    )
    parser.add_argument("--assume", default="", metavar="SYMBOL=NUMBER,...")
    parser.add_argument("--ranks", type=int, default=0)
    parser.add_argument("--solo", type=int, metavar="RANK")
    parser.add_argument("--backend", default="python", choices=("python",))
    parser.add_argument("--on", default="auto", choices=("auto", "cpu", "cuda"))
    kernels = ("auto", "flash", "efficient", "cudnn", "math")
    parser.add_argument("--attention", default="auto", choices=kernels)
    parser.add_argument("--tf32", default="auto", choices=("auto", "allow", "forbid"))
    for name, usual in (("iterations", 10), ("warmup", 3), ("threads", 0), ("seed", 0)):
        parser.add_argument(f"--{name}", type=int, default=usual, metavar="N")
    parser.add_argument("--memory-limit", type=int, default=0, metavar="BYTES")
    parser.add_argument("--timeout", type=float, default=300.0, metavar="SECONDS")
    parser.add_argument("--profile", action="store_true")
    parser.add_argument(
        "--nsys",
        default="",
        metavar="FOLDER",
        help="mark the measured steps for Nsight Systems, which runs this process",
    )
    for name in ("mark", "artifacts"):  # of other backends
        parser.add_argument(f"--{name}", metavar="TEXT", help=argparse.SUPPRESS)
    parser.add_argument("--no-pinning", action="store_true", help=argparse.SUPPRESS)


class Failure(Exception):
    """The reason why the rank cannot continue; ``kind`` as in ``RankFailed``."""

    def __init__(self, kind: str, text: str, node: str = "") -> None:
        super().__init__(text)
        self.kind = kind
        self.node = node


class Cancelled(BaseException):
    """The parent process has cancelled this rank."""


def main(options: argparse.Namespace) -> int:
    """Run one rank and return the exit code."""
    events = Events.take_stdout()
    signal.signal(signal.SIGTERM, _cancel)
    try:
        _Rank(options, events).run()
    except (Cancelled, KeyboardInterrupt):
        return _leave(EXIT_CANCELLED)
    except Failure as failure:
        events.say("failed", kind=failure.kind, node=failure.node, text=first_line(failure))
        return _leave(EXIT_INPUT if failure.kind == "load" else EXIT_FAILED, failure.kind)
    except Exception as error:
        kind = kind_of_device_error(error)
        if not kind:
            kind = "load" if isinstance(error, (CaptureError, OSError)) else "internal"
        late = REPORTED_LATE if kind == "device" else ""
        events.say("failed", kind=kind, node="", text=text_of(error) + late)
        return _leave(EXIT_INPUT if kind == "load" else EXIT_FAILED, kind)
    return _leave(EXIT_DONE)


def _cancel(number: int, frame: object) -> None:
    raise Cancelled


def _leave(code: int, kind: str = "") -> int:
    """Exit immediately if there are other ranks, as closing a group could wait for ranks that have
    exited, or after an error of the device, as calls that release its memory would fail, too."""
    if kind == "device" or (dist.is_initialized() and dist.get_backend() != "fake"):
        sys.stderr.flush()
        os._exit(code)
    return code


class _Rank:
    """One rank's run of a benchmark."""

    def __init__(self, options: argparse.Namespace, events: Events) -> None:
        self._options = options
        self._events = events
        self._status = StatusFile.from_environment()
        self._groups: dict[str, dist.ProcessGroup] = {}
        self._note = ""  # about the device; reported once the rank has started
        self._alone = options.solo is not None
        self._rank = options.solo if self._alone else int(os.environ.get("RANK", "0"))
        self._world = 1 if self._alone else int(os.environ.get("WORLD_SIZE", "1"))

    def run(self) -> None:
        """Read the files, run the graph, and report the measurements."""
        options, events = self._options, self._events
        self._check()
        amx = avoid_broken_amx()
        watch_launcher()  # a thread, so not before the fork that tries AMX
        device = self._device()
        if options.threads > 0:
            torch.set_num_threads(options.threads)
        self._choose_tf32(device)
        if options.nsys and device.type == "cpu":
            text = "this rank runs on the CPU, but Nsight Systems records what GPUs do"
            raise Failure("device", f"{text}; leave out --nsys")
        self._progress("load")
        captured = self._read(options.program, options.backward)
        if self._alone and self._rank >= captured.world_size:
            ranks = counted(captured.world_size, "rank")
            text = f"there is no rank {self._rank}: the capture has {ranks}"
            raise Failure("load", text)
        events.say(
            "started",
            protocol=events.PROTOCOL,
            rank=self._rank,
            world_size=max(captured.world_size, self._world),
            pid=os.getpid(),
            device=_device_name(device),
            device_type=device.type,
            hash=captured.hash,
            **device_members(device, options.tf32),
        )
        if self._note:
            events.say("note", text=self._note)
        self._progress("groups")
        self._join(captured, device)
        _check_kernels(captured)
        program = RankProgram(captured, device, alone=self._alone)
        program.at_node = self._status.set_position
        if amx and program.uses_bfloat16:
            events.say("note", text=amx)
        if (note := captured.of_another_torch) is not None:
            events.say("note", text=note)
        for note in program.notes:
            events.say("note", text=note)
        if options.attention != "auto":
            events.say("note", text=f"--attention {options.attention}: the Python backend supports "
                       "only the kernels in the graph")  # fmt: skip
        if self._alone:
            events.say("note", text="collectives are local copies: their times are meaningless")
        inputs = self._inputs(program)
        self._verify(captured, program, inputs, device)
        self._measure(program, inputs, device)
        events.say("done")

    def _choose_tf32(self, device: torch.device) -> None:
        if self._options.tf32 == "auto":
            return
        if device.type != "cuda" or torch.cuda.get_device_capability(device)[0] < 8:
            name = "the CPU" if device.type == "cpu" else _device_name(device)
            text = f"{name} does not support TF32; set TF32 (--tf32) to auto"
            raise Failure("device", text)
        torch.backends.cuda.matmul.allow_tf32 = self._options.tf32 == "allow"
        torch.backends.cudnn.allow_tf32 = self._options.tf32 == "allow"

    def _progress(self, stage: str, done: int = 0, total: int = 0) -> None:
        self._status.set_stage(stage)
        self._events.progress(stage, done, total)

    def _check(self) -> None:
        options = self._options
        if options.graph:
            raise Failure(
                "load",
                f"--graph {options.graph}: a native capture contains one graph; leave out --graph",
            )
        for name in ("iterations",):
            if getattr(options, name) < 1:
                raise Failure("load", f"--{name} {getattr(options, name)}: expected at least 1")

    def _device(self) -> torch.device:
        on = self._options.on
        if on == "cpu":
            return torch.device("cpu")
        if why := why_no_cuda():
            if on == "cuda":
                text = f"no CUDA device can be used: {why}; --on cpu runs on the CPU"
                raise Failure("device", text)
            if has_gpu():
                self._note = f"{why}: the CPU runs the graph"
            return torch.device("cpu")
        count = torch.cuda.device_count()
        local = 0 if self._alone else int(os.environ.get("LOCAL_RANK", "0"))
        if count == 1 and "SLURM_PROCID" in os.environ:
            local = 0  # Slurm can assign one GPU to each task, which then sees it as device 0
        if local >= count:
            raise Failure(
                "device",
                f"local rank {local} sees only {counted(count, 'CUDA device')}, and each rank "
                "needs its own; --solo RANK runs one rank alone, and --on cpu needs no GPU",
            )
        torch.cuda.set_device(local)
        if limit := self._options.memory_limit:
            total = torch.cuda.get_device_properties(local).total_memory
            torch.cuda.set_per_process_memory_fraction(min(1.0, limit / total))
        return torch.device("cuda", local)

    def _read(self, graph: str, backward: str | None) -> Program:
        assume = parse_assumptions(self._options.assume)
        return read_program(graph, backward, rank=self._rank, assume=assume)

    def _join(self, program: Program, device: torch.device) -> None:
        """Create the groups before anything runs. They replace the fake groups that were made to
        load the capture."""
        if dist.is_initialized():
            dist.destroy_process_group()
        groups = program.groups
        if self._alone:
            of_rank = {
                name: {**group, "ranks": group_of(list(group["ranks"]), self._rank)}
                for name, group in groups.items()
            }
            restore_groups(of_rank, self._rank, program.world_size)
        elif self._world > 1 or groups:
            if self._world != program.world_size:
                raise Failure(
                    "load",
                    f"the graph was captured for {counted(program.world_size, 'rank')}, but "
                    f"{self._world} were started; start as many, or one alone with --solo RANK",
                )
            timeout = self._options.timeout
            try:
                self._groups = join_groups(groups, self._rank, self._world, device, timeout)
            except (RuntimeError, ValueError) as error:
                if isinstance(error, CaptureError):
                    raise
                text = f"rendezvous failed: {first_line(error)}"
                raise Failure("collective", text) from error

    def _inputs(self, program: RankProgram) -> dict[str, Any]:
        self._progress("inputs")
        given = None
        if self._options.inputs:
            given = read_safetensors(path_of_rank(self._options.inputs, self._rank))
        return self._inputs_of(program, given)

    def _inputs_of(
        self, program: RankProgram, given: dict[str, torch.Tensor] | None = None
    ) -> dict[str, Any]:
        try:
            return program.inputs(seed=self._options.seed, rank=self._rank, given=given)
        except InputError as error:
            late = REPORTED_LATE if error.kind == "device" else ""
            raise Failure(error.kind, str(error) + late, error.node) from error

    def _verify(
        self, captured: Program, program: RankProgram, inputs: dict[str, Any], device: torch.device
    ) -> None:
        options = self._options
        if not options.expected and not options.baseline:
            return
        self._progress("verify")
        outputs = _to_cpu(self._once(program, _fresh(inputs)))
        verdicts: list[Verdict] = []
        unedited = None
        if options.baseline:
            unedited = self._read(options.baseline, options.baseline_backward)
        bound = 0.0 if self._alone else self._bound_of_sums(captured, unedited, device)
        if options.expected:
            wanted = read_safetensors(path_of_rank(options.expected, self._rank))
            by_place = {_place(name): tensor for name, tensor in wanted.items()}
            verdicts.append(compare("expected", program.output_names, outputs, by_place, bound))
        if unedited is not None:
            baseline = RankProgram(unedited, device, alone=self._alone)
            own = self._inputs_of(baseline)
            values = _to_cpu(self._once(baseline, {**own, **_fresh(inputs)}))
            if len(values) != len(outputs):
                raise Failure(
                    "verify",
                    f"cannot compare outputs: the baseline has {counted(len(values), 'output')}, "
                    f"but the graph has {len(outputs)}; choose a baseline with the same outputs",
                )
            wanted = dict(enumerate(values))
            verdicts.append(compare("baseline", program.output_names, outputs, wanted, bound))
        for verdict in verdicts:
            self._events.say("verified", **asdict(verdict))

    def _bound_of_sums(
        self, captured: Program, unedited: Program | None, device: torch.device
    ) -> float:
        """The bound for sums of more than two ranks that may be computed in a different order. On
        the CPU, these are the sums that the unedited graph computes in other messages."""
        sums = sums_of_ranks(captured)
        if device.type == "cpu":
            sums = sums - sums_of_ranks(unedited) if unedited is not None else set()
        if not sums:
            return 0.0
        bound = bound_of_roundings(captured)
        order = _ORDER_OF_GLOO if device.type == "cpu" else _ORDER_OF_NCCL
        text = f"{order}: outputs may differ by up to {bound:g} of their largest magnitude"
        self._events.say("note", text=text)
        return bound

    def _once(self, program: RankProgram, inputs: dict[str, Any]) -> list[Any]:
        torch.manual_seed(self._options.seed)
        ledger = Ledger(program.device, self._options.memory_limit)
        with _failures(program):
            return program.step(inputs, ledger)

    def _measure(self, program: RankProgram, inputs: dict[str, Any], device: torch.device) -> None:
        options, events = self._options, self._events
        torch.manual_seed(options.seed)
        measurer = Measurer(program, inputs, options.memory_limit, self._progress)
        with _failures(program):
            ranges = ProfilerRanges() if options.nsys else None
            measurer.steps(options.warmup, options.iterations, ranges)
            state = device_state(device)
            for doubt in doubts_about(state.get("gpu", {})):
                events.say("note", text=doubt)
            if options.profile:
                if device.type == "cuda":
                    events.say("note", text=_TIMES_OF_LAUNCHES)
                measurer.profile()
        events.say("measured", **measurer.figures(), **state)


def _check_kernels(program: Program) -> None:
    for part in program.parts:
        for node in part.gm.graph.nodes:
            if name := missing_kernel(node, part.document.get("triton_kernels") or {}):
                raise Failure(
                    "unsupported",
                    f"the Triton kernel {name} is not in this process, and its source in the "
                    "capture is never executed; replace the node",
                    node.name,
                )


class _failures:
    """Turns exceptions in a run into a ``Failure`` that names the node."""

    def __init__(self, program: RankProgram) -> None:
        self._collectives = program.collectives

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, NodeError):
            kind = self._kind(error)
            late = REPORTED_LATE if kind == "device" else ""
            raise Failure(kind, str(error) + late, error.node) from error
        if isinstance(error, MemoryLimit):
            raise Failure("memory", str(error)) from error
        # A barrier between steps failed, or the device; `main` reports an error of the device.
        if isinstance(error, RuntimeError) and not kind_of_device_error(error):
            text = f"waiting for the other ranks: {text_of(error)}"
            raise Failure("collective", text) from error

    def _kind(self, error: NodeError) -> str:
        cause, text = error.error, str(error.error)
        if isinstance(cause, MemoryLimit):
            return "memory"
        if of_device := kind_of_device_error(cause):
            return of_device
        if "DefaultCPUAllocator" in text:
            return "memory"
        if isinstance(cause, NotImplementedError) or "is not known to torch" in text:
            return "unsupported"
        if error.node in self._collectives:
            timed_out = "imeout" in text or "imed out" in text
            return "hang" if timed_out else "collective"
        if isinstance(cause, CaptureError):
            return "unsupported"
        return "internal"


def _fresh(inputs: dict[str, Any]) -> dict[str, Any]:
    """Copies of the inputs, since a graph may write to its inputs."""

    def copy(value: Any) -> Any:
        if not isinstance(value, torch.Tensor):
            return value
        made = torch.empty_strided(
            value.shape, value.stride(), dtype=value.dtype, device=value.device
        )
        return made.copy_(value)

    return {name: copy(value) for name, value in inputs.items()}


def _to_cpu(outputs: Sequence[Any]) -> list[Any]:
    return [each.cpu() if isinstance(each, torch.Tensor) else each for each in outputs]


def _place(name: str) -> int:
    try:
        return int(name)
    except ValueError:
        text = f"the expected outputs contain {name!r}, which is not the index of an output"
        raise CaptureError(text) from None


def _device_name(device: torch.device) -> str:
    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    from .artifacts import processor_name

    count = torch.get_num_threads()
    return f"{processor_name()}, {count} thread{'s' if count > 1 else ''}"
