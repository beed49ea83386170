"""``python -m jointer``: captures graphs, and runs the tasks for which Jointer needs Python.

``info`` summarizes a capture, ``run`` captures the graphs of a script, ``compile`` compiles graphs
with Inductor, ``kernels`` prints the kernels that Inductor generates for a graph, ``bench`` runs one
rank of a benchmark, and ``host`` runs passes in Python.

Exit codes: 0 done, 2 wrong usage, 3 unreadable input, 4 a run or a compilation failed, 130
terminated. ``run`` returns the exit code of the script, or 1 if the script succeeded but no graph
was captured.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from typing import Any

from . import bench as bench_worker
from . import compile_worker, host
from . import kernels as kernel_worker
from .document import read_document
from .errors import CaptureError
from .hashing import document_hash


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m jointer", description=__doc__.split("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    info = commands.add_parser("info", help="print a short summary of a capture")
    info.add_argument("path", metavar="PATH")
    run = commands.add_parser("run", help="run a training script and capture what it compiles")
    run.add_argument("--out", required=True, metavar="DIR", help="folder for the captures")
    run.add_argument("--pair", action="store_true", help="also capture partitioned pairs")
    run.add_argument(
        "--each-pass",
        action="store_true",
        help="also capture graph_trainer's step after each of its passes",
    )
    run.add_argument(
        "script",
        nargs=argparse.REMAINDER,
        metavar="-- COMMAND",
        help="script.py ARGS, -m MODULE ARGS or torchrun OPTIONS script.py ARGS",
    )
    compiler = commands.add_parser("compile", help="compile graphs with Inductor")
    compile_worker.add_arguments(compiler)
    bench = commands.add_parser("bench", help="run one rank of a benchmark, like jointer-runner")
    bench_worker.add_arguments(bench)
    passes = commands.add_parser("host", help="run the Python passes of a request")
    host.add_arguments(passes)
    kernels = commands.add_parser("kernels", help="print the kernels that Inductor generates for a graph")
    kernel_worker.add_arguments(kernels)
    options = parser.parse_args(arguments)
    if options.command == "kernels":
        return kernel_worker.main(options)
    if options.command == "host":
        return host.main(options)
    if options.command == "bench":
        return bench_worker.main(options)
    if options.command == "compile":
        return compile_worker.main(options)
    if options.command == "info":
        return _info(options.path)
    return _run(options)


def _run(options: argparse.Namespace) -> int:
    from .run import UsageError
    from .run import run as run_script

    command = options.script[1:] if options.script[:1] == ["--"] else options.script
    try:
        return run_script(command, options.out, pair=options.pair, each_pass=options.each_pass)
    except UsageError as error:
        print(f"jointer: {error}", file=sys.stderr)
        return 2


def _info(path: str) -> int:
    try:
        lines = _summary(read_document(path))
    except (CaptureError, OSError) as error:
        print(f"jointer: {error}", file=sys.stderr)
        return 3
    print("\n".join(lines))
    return 0


def _summary(document: dict[str, Any]) -> list[str]:
    """The summary of a capture, as lines."""
    if document["kind"] == "pair":
        lines = [f"{document.get('name')}: pair"]
        for half in ("forward", "backward"):
            lines += ["", *_summary(document[half])]
        return lines
    if document["kind"] == "stages":
        lines = [f"{document.get('name')}: stages"]
        for stage in document["stages"]:
            lines += ["", f"{stage['name']} ({stage['role']})", *_summary(stage["capture"])]
        return lines
    nodes = document["nodes"]
    operators = Counter(r["target"] for r in nodes if r["op"] == "call_function")
    sizes = document.get("storages") or []
    known = sum(size for size in sizes if isinstance(size, int))
    symbolic = sum(not isinstance(size, int) for size in sizes)
    bytes_ = f"{known:,} bytes" + (f" and {symbolic} of symbolic size" if symbolic else "")
    lines = [
        f"{document.get('name')}: {document['kind']}, rank {document.get('rank')} of "
        f"{document.get('world_size')}, torch {document.get('torch')}",
        f"hash      {document_hash(document)}",
        f"nodes     {len(nodes):,}",
        f"storages  {len(sizes):,}, {bytes_}",
        f"modules   {len(document.get('modules') or []):,}",
    ]
    for name, group in (document.get("groups") or {}).items():
        lines.append(f"group     {name}: {group.get('desc')}, ranks {group.get('ranks')}")
    if variables := (document.get("symbols") or {}).get("vars"):
        lines.append(f"symbols   {len(variables):,}: {', '.join(list(variables)[:8])}")
    for key, value in (document.get("info") or {}).items():
        lines.append(f"info      {key} = {value}")
    lines += [f"{count:9,} {target}" for target, count in operators.most_common(12)]
    return lines


if __name__ == "__main__":
    sys.exit(main())
