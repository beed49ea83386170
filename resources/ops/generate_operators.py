#!/usr/bin/env python3
"""Writes operators.tsv: what each registered operator takes, returns, aliases and is.

    python resources/ops/generate_operators.py            # rewrite the table
    python resources/ops/generate_operators.py --check    # exit 1 if it differs from the installed torch

One line an overload, higher-order operator or Python function, sorted by name, tab-separated:

    name      aten.add.Tensor, as captures write it (an overload without a name is `default`);
              flex_attention; _operator.floordiv, math.ceil, torch.sym_sum
    tags      comma-separated, or `-`; from torch's own tags, plus `alias`:
              pointwise, reduction, random (draws from a generator), view_copy, inplace_view,
              data_dependent (output depends on values), dynamic_shape (its shape does),
              alias (its output shares its first tensor's storage although the schema is silent),
              higher_order, python (works on Python numbers: sizes and conditions)
    schema    the arguments and returns as registered: (Tensor self, ...) -> Tensor; aliasing and
              mutation are the schema's own `(a)` and `(a!)`; `-` where there is none

The table is data: the C++ side looks a line up by binary search and parses that line alone.
"""
import argparse
import math
import operator
import pathlib
import sys

import torch
import torch._higher_order_ops.flex_attention  # noqa: F401  (each import registers operators)
import torch._higher_order_ops.triton_kernel_wrap  # noqa: F401
import torch._inductor.inductor_prims  # noqa: F401
import torch._inductor.fx_passes.bucketing  # noqa: F401
import torch._prims  # noqa: F401
import torch._prims.rng_prims  # noqa: F401
import torch.distributed._functional_collectives  # noqa: F401
import torch.distributed._symmetric_memory  # noqa: F401
import torch.distributed.fsdp._fully_shard._fsdp_collectives  # noqa: F401

NAMESPACES = {
    "aten", "prims", "rngprims", "inductor", "fsdp", "bucketing", "symm_mem", "streams",
    "_c10d_functional", "_c10d_functional_autograd", "_dtensor",
}
TAGS = {
    "pointwise": "pointwise", "reduction": "reduction", "nondeterministic_seeded": "random",
    "view_copy": "view_copy", "inplace_view": "inplace_view",
    "data_dependent_output": "data_dependent", "dynamic_output_shape": "dynamic_shape",
}
BUILTINS = ("abs", "bool", "divmod", "float", "getattr", "int", "len", "max", "min", "pow", "round", "sum")
# Operators that return a view of their first tensor without saying so in the schema (autograd is
# kept in the dark on purpose). Found by comparing storages on fake tensors over real captures.
SILENT_ALIASES = {"aten._unsafe_view.default"}


def overload_tags(schema):
    """torch's tags of the overload, in our words."""
    namespace, packet = schema.name.split("::")
    overload = getattr(getattr(getattr(torch.ops, namespace), packet), schema.overload_name or "default")
    return {TAGS[tag.name] for tag in overload.tags if tag.name in TAGS}


def python_functions():
    """Names of the functions that FX calls on Python numbers, as captures write them."""
    yield from (f"_operator.{name}" for name in dir(operator) if not name.startswith("__"))
    yield from (f"math.{name}" for name in dir(math) if name[0] != "_" and callable(getattr(math, name)))
    yield from (f"builtins.{name}" for name in BUILTINS)
    yield from (f"torch.{name}" for name in dir(torch) if name.startswith("sym_"))


def table():
    lines = {}
    for schema in torch._C._jit_get_all_schemas():
        namespace, packet = schema.name.split("::")
        if namespace not in NAMESPACES:
            continue
        name = f"{namespace}.{packet}.{schema.overload_name or 'default'}"
        try:
            tags = overload_tags(schema)
        except AttributeError:  # registered for TorchScript alone: FX graphs cannot name it
            continue
        if name in SILENT_ALIASES:
            tags.add("alias")
        text = str(schema)
        lines[name] = f"{name}\t{','.join(sorted(tags)) or '-'}\t{text[text.index('('):]}"
    lines.update((name, f"{name}\thigher_order\t-") for name in torch._ops._higher_order_ops)
    lines.update((name, f"{name}\tpython\t-") for name in python_functions())
    header = f"# operators registered by torch {torch.__version__.split('+')[0]}; made by generate_operators.py\n"
    return header + "".join(lines[name] + "\n" for name in sorted(lines))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare only; exit 1 on a difference")
    arguments = parser.parse_args()
    path = pathlib.Path(__file__).with_name("operators.tsv")
    text = table()
    if not arguments.check:
        path.write_text(text)
        return 0
    old, new = path.read_text().splitlines(), text.splitlines()
    for line in sorted(set(old) ^ set(new))[:20]:
        print("-" if line in set(old) else "+", line)
    return int(old != new)


if __name__ == "__main__":
    sys.exit(main())
