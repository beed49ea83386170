#!/usr/bin/env python3
"""Writes operators.tsv: the schema and the properties of each registered operator.

    python resources/ops/generate_operators.py            # rewrite the table
    python resources/ops/generate_operators.py --check    # exit with 1 if it differs from the installed torch

One line per overload, higher-order operator or Python function, sorted by name, tab-separated:

    name      aten.add.Tensor, as in captures (an overload without a name is `default`);
              flex_attention; _operator.floordiv, math.ceil, torch.sym_sum
    tags      comma-separated, or `-`; from torch's own tags, plus `alias`:
              pointwise, reduction, random (draws from a generator), view_copy, inplace_view,
              data_dependent (output depends on values), dynamic_shape (its shape does),
              alias (its output shares its first tensor's storage, although the schema does not say so),
              higher_order, python (works on Python numbers: sizes and conditions);
              and the sets of torch's partitioners and clean-up (torch._functorch.partitioners,
              torch._functorch.compile_utils, torch._library.utils.is_impure):
              recomputable, fusible, compute_intensive, cheap_view (a view that the minimum cut
              always allows to be recomputed), impure (not removed even if it is unused and writes
              nothing), unmerged (equal calls are not merged)
    schema    the arguments and returns as registered: (Tensor self, ...) -> Tensor; aliasing and
              mutation are the schema's `(a)` and `(a!)`; `-` if there is none

Older schemas remain in the table. If the running torch registers an operator with a schema that
differs from the table's, or no longer registers it, the table's line becomes `NAME@2.11`: the schema of
NAME in torch up to 2.11. To create the table, run this script with each supported torch, oldest first,
starting from an empty file.

The table is data: C++ finds a line by binary search and parses only that line.
"""
import argparse
import builtins
import importlib
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
import torch.fx.experimental.sym_node  # noqa: F401
import torch.distributed._functional_collectives  # noqa: F401
import torch.distributed._symmetric_memory  # noqa: F401
import torch.distributed.fsdp._fully_shard._fsdp_collectives  # noqa: F401
import torch.distributed.tensor  # noqa: F401
from torch._functorch.compile_utils import rand_ops
from torch._functorch.partitioners import get_default_op_list
from torch._library.utils import is_impure

for module in (  # not in every supported torch
    "torch._functorch._activation_offloading.activation_offloading",
    "torch._functorch._activation_offloading.offload_ops",
    "torch._inductor.fx_passes.control_dependencies",
    "torch._inductor.fx_passes.low_contention_collectives",
    "torch.distributed.tensor._ops._mesh_ops",
):
    try:
        importlib.import_module(module)
    except ImportError:
        continue

NAMESPACES = {
    "aten", "prims", "rngprims", "inductor", "fsdp", "bucketing", "symm_mem", "streams",
    "_c10d_functional", "_c10d_functional_autograd", "_dtensor", "ao",
}
TAGS = {
    "pointwise": "pointwise", "reduction": "reduction", "nondeterministic_seeded": "random",
    "view_copy": "view_copy", "inplace_view": "inplace_view",
    "data_dependent_output": "data_dependent", "dynamic_output_shape": "dynamic_shape",
}
BUILTINS = ("abs", "bool", "divmod", "float", "getattr", "int", "len", "max", "min", "pow", "round", "sum")
# Operators that return a view of their first tensor although the schema, deliberately, hides it from
# autograd. Found by comparing storages of fake tensors in real captures.
SILENT_ALIASES = {"aten._unsafe_view.default"}
# Copies to the host and back, on a separate stream, which later versions of torch register
# (torch/_functorch/_activation_offloading). Jointer uses them for offloading.
OFFLOAD = {
    "ao.offload.default": "(Tensor tensor) -> Tensor",
    "ao.reload.default": "(Tensor tensor, Device device) -> Tensor",
    "ao.wait_tensor.default": "(Tensor(a) tensor, Tensor? keepalive=None) -> Tensor(a)",
}
VERSION = torch.__version__.split("+")[0]
OP_TYPES = get_default_op_list()
PARTITIONER_SETS = {
    "recomputable": OP_TYPES.recomputable_ops,
    "fusible": OP_TYPES.fusible_ops,
    "compute_intensive": OP_TYPES.compute_intensive_ops,
    "cheap_view": OP_TYPES.view_ops,
    "unmerged": {*rand_ops, torch.ops.aten.empty},
}


def partitioner_tags(target, function):
    """A packet's or function's tags for partitioners and clean-up, which checks `function`."""
    tags = {tag for tag, operators in PARTITIONER_SETS.items() if target in operators}
    writes = hasattr(function, "_schema") and function._schema.is_mutable
    # Unused random operators are removed, as when torchtitan compiles.
    return tags | ({"impure"} if not writes and is_impure(function, impure_random=False) else set())


def overload_tags(schema):
    """The tags that torch gives the overload, under the table's names."""
    namespace, packet = schema.name.split("::")
    packet = getattr(getattr(torch.ops, namespace), packet)
    overload = getattr(packet, schema.overload_name or "default")
    return {TAGS[tag.name] for tag in overload.tags if tag.name in TAGS} | partitioner_tags(packet, overload)


def python_functions():
    """The functions that FX calls on Python numbers, under the names that captures give them."""
    for module in (operator, math, builtins, torch):
        for name in dir(module):
            if (
                (module is operator and not name.startswith("__"))
                or (module is math and name[0] != "_" and callable(getattr(math, name)))
                or (module is builtins and name in BUILTINS)
                or (module is torch and name.startswith(("sym_", "_sym_")))
            ):
                yield f"{'_operator' if module is operator else module.__name__}.{name}", getattr(module, name)


def line(name, tags, schema):
    return f"{name}\t{','.join(sorted(tags)) or '-'}\t{schema}"


def table():
    lines = {}
    for schema in torch._C._jit_get_all_schemas():
        namespace, packet = schema.name.split("::")
        if namespace not in NAMESPACES:
            continue
        name = f"{namespace}.{packet}.{schema.overload_name or 'default'}"
        try:
            tags = overload_tags(schema)
        except AttributeError:  # registered only for TorchScript: FX graphs cannot name it
            continue
        if name in SILENT_ALIASES:
            tags.add("alias")
        text = str(schema)
        lines[name] = line(name, tags, text[text.index("(") :])
    for name, function in torch._ops._higher_order_ops.items():
        lines[name] = line(name, {"higher_order"} | partitioner_tags(function, function), "-")
    for name, function in python_functions():
        lines[name] = line(name, {"python"} | partitioner_tags(function, function), "-")
    for name, schema in OFFLOAD.items():
        lines.setdefault(name, line(name, {"impure"}, schema))
    return lines


def with_older(lines, old):
    """`lines`, plus the rows of the table `old` with schemas that this torch registers differently or not at all."""
    header, *rows = old.splitlines() or [""]
    version = header.partition(";")[0].rpartition(" ")[2]
    minor = ".".join(version.split(".")[:2])
    if version == VERSION:
        return lines | {row.split("\t")[0]: row for row in rows if "@" in row.split("\t")[0]}
    kept = {}
    for row in rows:
        name, tags, schema = row.split("\t")
        if "@" in name:
            kept[name] = row
        elif name not in lines or lines[name].split("\t")[2] != schema:
            kept[f"{name}@{minor}"] = line(f"{name}@{minor}", set(tags.split(",")) - {"-"}, schema)
    return lines | kept


def text_of(lines):
    header = f"# operators registered by torch {VERSION}; made by generate_operators.py\n"
    return header + "".join(lines[name] + "\n" for name in sorted(lines))


def numbers(version):
    return tuple(int(part) for part in version.split(".")[:2])


def known_at(table_text, version):
    """The table's schemas for a version, by name: those of the oldest `@` line that covers the version."""
    newest, older = {}, {}
    for row in table_text.splitlines()[1:]:
        name, _, schema = row.split("\t")
        name, _, until = name.partition("@")
        if not until:
            newest[name] = schema
        elif numbers(until) >= numbers(version):
            older.setdefault(name, []).append((numbers(until), schema))
    return newest | {name: min(found)[1] for name, found in older.items()}


def differences(old_text, lines):
    """Errors in the table for this torch. Compares the full text if the table was made with this version."""
    if f" {VERSION};" in old_text.partition("\n")[0]:
        old, new = set(old_text.splitlines()), set(text_of(with_older(lines, old_text)).splitlines())
        return [("-" if row in old else "+") + " " + row for row in sorted(old ^ new)]
    known = known_at(old_text, VERSION)
    return [
        f"+ {row}" for name, row in sorted(lines.items()) if known.get(name) != row.split("\t")[2]
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="only compare; exit with 1 if the table differs")
    arguments = parser.parse_args()
    path = pathlib.Path(__file__).with_name("operators.tsv")
    old_text = path.read_text() if path.exists() else ""
    lines = table()
    if not arguments.check:
        path.write_text(text_of(with_older(lines, old_text)))
        return 0
    found = differences(old_text, lines)
    for row in found[:20]:
        print(row)
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
