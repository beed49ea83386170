"""Inductor's answer for a capture: that of inductor_oracle.py, for graphs that it does not support by itself.

    asked_kernels.py CAPTURE FILE [CAPTURE FILE ...]    writes the answer of each capture, in the form of the references

Needs torch 2.15 with triton, and the tools of the shared folder (JOINTER_SHARED); no GPU.
"""

from __future__ import annotations

import json
import os
import sys
import types
from pathlib import Path
from typing import Any

from kernel_programs import SHARED


def loaded_oracle() -> tuple[Any, Any]:
    """The tool, and the facts of the GPU that it pretends to have."""
    sys.path.insert(0, str(SHARED / "tools"))
    import inductor_oracle as oracle

    facts = oracle.pretend("h100")
    # The halves that Inductor compiles call its operators, which are opaque to the tool if they are not registered.
    import torch._inductor.inductor_prims  # noqa: F401

    replace_random_numbers()
    plain = oracle.numbers
    oracle.numbers = lambda sizes, handler: plain([product(each) for each in sizes], handler)
    row_of = oracle.ir_row

    def row(node: Any, scheduler: Any, ir: Any, virtual: Any) -> Any:
        """A foreach kernel has a row for each of its operations."""
        if oracle.kind_of(node, scheduler, ir) != "foreach":
            return row_of(node, scheduler, ir, virtual)
        return [row_of(each, scheduler, ir, virtual) for each in node.get_nodes()]

    oracle.ir_row = row
    return oracle, facts


def product(size: Any) -> Any:
    """The C++ backend's groups are loops, not numbers of iterations, and those of foreach kernels are texts."""
    if "combo_kernel" in str(size):
        return 0
    total = 1
    for each in size if isinstance(size, (tuple, list)) else (size,):
        total *= each
    return total


def replace_random_numbers() -> None:
    """Random numbers become Inductor's before the passes that the tool runs, as in `joint_graph_passes`."""
    from torch._inductor import compile_fx
    from torch._inductor.fx_passes.replace_random import replace_random_passes

    passes = compile_fx._recursive_post_grad_passes

    def with_random(gm: Any, *args: Any, **kwargs: Any) -> Any:
        replace_random_passes(gm)
        return passes(gm, *args, **kwargs)

    compile_fx._recursive_post_grad_passes = with_random


def write_answer(oracle: Any, facts: Any, name: str, capture: str | Path, path: str | Path) -> None:
    import torch
    import zstandard

    options = types.SimpleNamespace(no_post_grad=False, no_codegen=True, keep_output_strides=False, config=[],
                                    raise_errors=True, code_out=None, device_facts=facts)
    answer = {"torch": torch.__version__, "name": name, **oracle.do_kernels(oracle.Capture(str(capture)), options)}
    rows = [each if isinstance(each, list) else [each] for each in answer["pre_fusion"]]
    answer["pre_fusion"] = [each for part in rows for each in part]
    Path(path).write_bytes(zstandard.ZstdCompressor().compress(json.dumps(answer, default=str).encode()))


def main(*paths: str) -> None:
    """Each capture is asked about in a separate process: the tool replaces functions of torch while it runs."""
    oracle, facts = loaded_oracle()
    for capture, path in zip(paths[::2], paths[1::2], strict=True):
        child = os.fork()
        if child:
            if os.waitpid(child, 0)[1] != 0:
                sys.exit(1)
            continue
        write_answer(oracle, facts, Path(capture).name.removesuffix(".json.zst"), capture, path)
        sys.stdout.flush()
        os._exit(0)  # triton's modules complain about an orderly end


if __name__ == "__main__":
    main(*sys.argv[1:])
