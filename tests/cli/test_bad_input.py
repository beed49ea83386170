"""Invalid input of every kind gives exit code 3 and one line that says what is wrong, where, and what to do.

Nothing is printed on standard output, time and memory are bounded, and nothing crashes.
"""

from __future__ import annotations

import gzip
import json
import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import IS_SANITIZED, JOINT, MIB, Done, run, sample
from documents import (
    Document,
    at,
    bomb,
    capture,
    half,
    n,
    node,
    stored,
    tensor,
    write,
)

SECONDS = 20 if IS_SANITIZED else 2
BYTES = (2048 if IS_SANITIZED else 400) * MIB


def assert_bounded(done: Done) -> None:
    assert done.cpu_seconds < SECONDS
    assert done.peak_bytes < BYTES


def assert_refused(done: Done, name: object, *words: str) -> None:
    assert done.code == 3, done
    assert done.out == ""
    assert done.err.startswith(f"jointer: {name}: "), done.err
    assert done.err.endswith("\n") and done.err.count("\n") == 1, done.err
    assert all(character.isprintable() for character in done.err[:-1]), done.err
    for word in words:
        assert word in done.err
    assert_bounded(done)


def refuse(path: Path, data: Document | bytes, *words: str) -> None:
    write(path, data)
    assert_refused(run("info", path, "--json"), path, *words)


Change = Callable[[Document], Any]


def put(value: Any, *keys: Any) -> Change:
    """Sets a member; a key `@mm` stands for the node with that name."""

    def change(document: Document) -> None:
        place = document
        for key in keys[:-1]:
            named = isinstance(key, str) and key.startswith("@")
            place = at(document, key[1:]) if named else place[key]
        place[keys[-1]] = value

    return change


def drop(*keys: Any) -> Change:
    def change(document: Document) -> None:
        *path, last = keys
        place = document
        for key in path:
            named = isinstance(key, str) and key.startswith("@")
            place = at(document, key[1:]) if named else place[key]
        del place[last]

    return change


def add_node(before: str, record: Document) -> Change:
    return lambda document: document["nodes"].insert(
        document["nodes"].index(at(document, before)), record
    )


MM = ("@mm", "val", "t")
STORAGE_SUM = "storages add up to more than 4 EiB"
TENSOR_SUM = "brings the graph's tensors to more than 4 EiB"
EXPECTED = "expected an integer"

CASES: dict[str, tuple[Change, list[str]]] = {
    # The document.
    "version 2": (put(2, "version"), ["version 2", "reads version 1", "newer Jointer"]),
    "version 0": (put(0, "version"), ["version 0", "capture it again"]),
    "version as text": (put("1", "version"), ["`version`", EXPECTED]),
    "version 1.5": (put(1.5, "version"), ["`version`", "`1.5`"]),
    "no version": (drop("version"), ["`version` is missing"]),
    "other format": (put("other", "format"), ["`other`", "`jointer-capture`"]),
    "format of wrong type": (put(1, "format"), ["`format`"]),
    "no format": (drop("format"), ["`format` is missing"]),
    "unknown kind": (put("sideways", "kind"), ["`sideways`", "train_step"]),
    "no kind": (drop("kind"), ["`kind` is missing"]),
    "a pair without halves": (put("pair", "kind"), ["`forward` and `backward`"]),
    "no nodes": (drop("nodes"), ["`nodes` is missing", "truncated"]),
    "nodes of wrong type": (put({}, "nodes"), ["`nodes`: a value has the wrong type (near byte"]),
    "empty nodes": (put([], "nodes"), ["0 output nodes"]),
    "a node is a number": (put(7, "nodes", 2), ["near byte"]),
    "name of wrong type": (put([], "name"), ["`name`"]),
    "rank of wrong type": (put("0", "rank"), ["`rank`"]),
    # Tables.
    "groups of wrong type": (put([], "groups"), ["`groups`", "near byte"]),
    "group of wrong type": (put(3, "groups", "0"), ["`groups`"]),
    "ranks of wrong type": (put("all", "groups", "0", "ranks"), ["`groups`"]),
    "negative rank": (put([-1], "groups", "0", "ranks"), ["process group 0", "rank -1"]),
    "rank beyond 32 bits": (put([2**40], "groups", "0", "ranks"), ["process group 0"]),
    "symbols of wrong type": (put(5, "symbols"), ["`symbols`"]),
    "variables of wrong type": (put([1], "symbols", "vars"), ["`symbols`"]),
    "asserts of wrong type": (put({"s0": 4}, "symbols", "deferred_asserts"), ["`symbols`"]),
    "circular replacement": (
        lambda d: (drop("symbols", "vars", "s0")(d), put({"s0": "s1", "s1": "s0"}, "symbols", "replacements")(d)),
        ["form a cycle"],
    ),
    "replacement that is none": (
        lambda d: (drop("symbols", "vars", "s0")(d), put({"s0": "1 +"}, "symbols", "replacements")(d)),
        ["replacement of symbol s0"],
    ),
    "storages of wrong type": (put({}, "storages"), ["`storages`"]),
    "storage as text": (put("256", "storages", 0), ["`storages`", EXPECTED]),
    "storage without expression": (put({"hint": 3}, "storages", 0), ["storage 0", "`sym`"]),
    "storage with a bad hint": (put({"sym": "s0", "hint": [1]}, "storages", 0), ["`storages`"]),
    "storage with a stranger": (put({"sym": "s0", "size": 3}, "storages", 0), ["`size`"]),
    "storage that is not an expression": (put({"sym": "s0 s1"}, "storages", 0), ["storage 0"]),
    "storage of 2^64": (put(2**64, "storages", 0), ["does not fit in 64 bits"]),
    "storage of 1e30": (put(1e30, "storages", 0), ["`1e+30`"]),
    "storage of -1": (put(-1, "storages", 0), ["storage 0", "negative size of -1"]),
    "storages beyond 2^62": (put([2**61] * 4, "storages"), ["storage 2", STORAGE_SUM]),
    "storage expression overflows": (
        put({"sym": "9223372036854775807*s0"}, "storages", 0), ["9223372036854775807*s0", "overflow"]),
    "storage expression divides by 0": (
        put({"sym": "s0//(s0 - s0)"}, "storages", 0), ["s0//(s0 - s0)", "division by zero"]),
    "expression too long": (put({"sym": "+".join(["s0"] * 100_000)}, "storages", 0), ["too long"]),
    "expression too deep": (put({"sym": "(" * 5000 + "s0" + ")" * 5000}, "storages", 0), ["storage 0"]),
    "modules of wrong type": (put({}, "modules"), ["`modules`"]),
    "module frame of three": (put([[["a", "b", "c"]]], "modules"), ["modules 0", "[path, class]"]),
    "module frame of numbers": (put([[[1, 2]]], "modules"), ["`modules`"]),
    "stacks of wrong type": (put("here", "stacks"), ["`stacks`"]),
    "stack of wrong type": (put([None], "stacks"), ["`stacks`"]),
    # Nodes.
    "node without name": (drop("nodes", 2, "name"), ["node 2", "no name"]),
    "node with an empty name": (put("", "nodes", 2, "name"), ["node 2", "no name"]),
    "node without op": (drop("@mm", "op"), ["node mm", "`op` is missing"]),
    "node without target": (drop("@mm", "target"), ["node mm", "`target` is missing"]),
    "unknown op": (put("call_method", "@mm", "op"), ["node mm", "`call_method`", "call_function"]),
    "duplicate name": (add_node("ar", node("mm", "call_function", "aten.relu.default", [n("t")], None)),
                       ["node mm", "same name"]),
    "reads itself": (put([n("mm"), n("t")], "@mm", "args"), ["node mm reads itself", "cyclic"]),
    "reads a later node": (put([n("wait"), n("t")], "@mm", "args"),
                           ["node mm reads wait", "comes later"]),
    "reads nothing known": (put([n("ghost"), n("t")], "@mm", "args"),
                            ["node mm reads ghost", "no such node"]),
    "reads a later node by keyword": (put({"other": n("wait")}, "@mm", "kwargs"), ["node mm reads wait"]),
    "reads a later node, nested": (put([[{"tuple": [n("wait")]}]], "@mm", "args"), ["node mm reads wait"]),
    "args of wrong type": (put({}, "@mm", "args"), ["node mm", "`args`", "near byte"]),
    "kwargs of wrong type": (put([], "@mm", "kwargs"), ["node mm", "`kwargs`"]),
    "val of wrong type": (put(3, "@mm", "val"), ["node mm", "`val`"]),
    "empty val": (put({}, "@mm", "val"), ["node mm", "`val`", "empty object"]),
    "empty argument": (put([{}], "@mm", "args"), ["node mm", "`args`", "empty object"]),
    "node reference of wrong type": (put([{"n": 3}], "@mm", "args"), ["node mm", "`args`"]),
    "slice of two": (put([{"slice": [1, 2]}], "@mm", "args"), ["node mm", "`slice` has 2 elements instead of 3"]),
    "complex of three": (put([{"complex": [1, 2, 3]}], "@mm", "args"), ["`complex` has 3 elements instead of 2"]),
    "float that is none": (put([{"f": "much"}], "@mm", "args"), ["node mm", "`much`"]),
    "symint that is none": (put([{"symint": "s0 +"}], "@mm", "args"), ["node mm", "`args`"]),
    "stack out of range": (put(1, "@t", "stack"), ["node t", "`stack`", "stacks[1]", "table has size 1"]),
    "module out of range": (put(-1, "@t", "module"), ["node t", "modules[-1] is out of range"]),
    "storage out of range": (put(4, *MM, "storage"), ["node mm", "storages[4]", "table has size 4"]),
    "storage index of wrong type": (put("0", *MM, "storage"), ["node mm", "`val`", EXPECTED]),
    "storage index huge": (put(2**63, *MM, "storage"), ["node mm", "does not fit in 64 bits"]),
    "seq_nr of wrong type": (put(1.5, "@t", "seq_nr"), ["node t", "`seq_nr`"]),
    "tag of wrong type": (put(1, "@t", "partitioner_tag"), ["node t", "`partitioner_tag`"]),
    "flag of wrong type": (put(1, "@t", "module_from_fwd"), ["node t", "`module_from_fwd`"]),
    "unknown policy tag": (put("MAYBE", "@mm", "recompute"), ["node mm", "`MAYBE`", "MUST_SAVE"]),
    "no output": (lambda d: d["nodes"].pop(), ["0 output nodes"]),
    "two outputs": (lambda d: d["nodes"].append(node("output_1", "output", "output", [[]], None)),
                    ["2 output nodes"]),
    "a node after the output": (lambda d: d["nodes"].append(
        node("late", "call_function", "aten.relu.default", [n("mm")], None)), ["node late", "after the output"]),
    # Tensors.
    "no shape": (drop(*MM, "shape"), ["node mm", "no shape"]),
    "no dtype": (drop(*MM, "dtype"), ["node mm", "no dtype"]),
    "unknown dtype": (put("float31", *MM, "dtype"), ["node mm", "`float31`"]),
    "size of 1e30": (put([1e30, 8], *MM, "shape"), ["node mm", "`val`", "near byte"]),
    "size of 2^63": (put([2**63, 8], *MM, "shape"), ["node mm", "does not fit in 64 bits"]),
    "size of 2^62": (put([2**62, 8], *MM, "shape"), ["node mm", TENSOR_SUM]),
    "product of sizes": (put([2**32, 2**32], *MM, "shape"), ["node mm", TENSOR_SUM]),
    "negative size": (put([-8, 8], *MM, "shape"), ["node mm", "-8 is negative"]),
    "fewer strides": (put([1], *MM, "stride"), ["node mm", "2 dimensions has 1 stride"]),
    "stride of 2^63": (put([2**63, 1], *MM, "stride"), ["does not fit in 64 bits"]),
    "offset of 2^63": (put(2**63, *MM, "offset"), ["does not fit in 64 bits"]),
    "65 dimensions": (lambda d: (put([1] * 65, *MM, "shape")(d), put([1] * 65, *MM, "stride")(d)),
                      ["node mm", "65 dimensions"]),
    "size without sym": (put([{"hint": 1}, 8], *MM, "shape"), ["node mm", "`sym`"]),
    "size with a stranger": (put([{"sym": "s0", "of": 1}, 8], *MM, "shape"), ["node mm", "`of`"]),
    "negative symbolic size": (put([{"sym": "s0 - 9"}, 8], *MM, "shape"),
                               ["node mm", "-1 is negative", "`s0 - 9`", "--assume"]),
    "symbolic size overflows": (put([{"sym": "s0**70"}, 8], *MM, "shape"), ["`s0**70`", "overflow"]),
    "half a number": (put([{"sym": "s0/3"}, 8], *MM, "shape"), ["`s0/3`", "not an integer"]),
}  # fmt: skip


@pytest.mark.parametrize("change, words", CASES.values(), ids=CASES.keys())
def test_invalid(change: Change, words: list[str], tmp_path: Path) -> None:
    document = capture()
    change(document)
    refuse(tmp_path / "bad.json", document, *words)


def test_the_small_capture_itself_is_valid(tmp_path: Path) -> None:
    path = write(tmp_path / "good.json", capture())
    assert run("info", path, "--json").json["nodes"] == 8
    assert not [fact for fact in run("info", path, "--json").json["derived"] if "warning" in fact]


# Absurd values that fit their type: accepted, with a warning.
STRANGE: dict[str, Change] = {
    "huge strides": put([2**62, 2**62], *MM, "stride"),
    "negative stride": put([-8, 1], *MM, "stride"),
    "huge offset": put(2**63 - 1, *MM, "offset"),
}


@pytest.mark.parametrize("change", STRANGE.values(), ids=STRANGE.keys())
def test_a_tensor_beyond_its_storage_is_a_warning(change: Change, tmp_path: Path) -> None:
    document = capture()
    change(document)
    path = write(tmp_path / "strange.json", document)
    beyond = [fact for fact in run("info", path, "--json").json["derived"] if "beyond" in fact]
    negative = change is STRANGE["negative stride"]
    assert beyond == ([] if negative else ["warning: 1 tensor reaches beyond the end of the storage, first mm"])
    for command in (["memory"], ["overlap"], ["export", "--format", "dot", "-o", "-"]):
        assert run(command[0], path, *command[1:]).code == 0


@pytest.mark.parametrize("target", ["mylib.mm.default", "aten.mm.of_tomorrow", "frobnicate"])
def test_an_unknown_operator_is_a_warning(target: str, tmp_path: Path) -> None:
    document = capture()
    put(target, "@mm", "target")(document)
    path = write(tmp_path / "opaque.json", document)
    warnings = [fact for fact in run("info", path, "--json").json["derived"] if "without a schema" in fact]
    assert len(warnings) == 1 and target in warnings[0]
    document["schemas"] = {target: "(Tensor self, Tensor mat2) -> Tensor"}
    described = run("info", write(tmp_path / "described.json", document), "--json").json["derived"]
    assert not [fact for fact in described if "without a schema" in fact]


COMMANDS = [["info"], ["info", "--json"], ["memory", "--json"], ["overlap", "--json"],
            ["export", "--format", "csv", "-o", "-"]]  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_command_gives_the_same_refusal(command: list[str], tmp_path: Path) -> None:
    path = write(tmp_path / "bad.json", b'{"format": "jointer-capture", "version": 2}')
    assert_refused(run(command[0], path, *command[1:]), path, "version 2")


# --- Bytes ---

BYTES_CASES: dict[str, tuple[bytes, list[str]]] = {
    "empty": (b"", ["the file is empty"]),
    "blank": (b" \n", ["unknown format"]),
    "zeros": (bytes(1000), ["unknown format"]),
    "garbage": (random.Random(1).randbytes(10_000), []),
    "garbage in braces": (b"{" + random.Random(2).randbytes(10_000) + b"}", []),
    "a brace": (b"{", ["the document ends after 1 byte without", "truncated"]),
    "an empty object": (b"{}", ["`format` is missing"]),
    "a list": (b"[]", ["unknown format"]),
    "not UTF-8": (json.dumps(capture()).encode().replace(b'"small"', b'"\xff\xfe"'), ["UTF-8"]),
    "cut UTF-8": (json.dumps(capture()).encode().replace(b'"small"', b'"\xe2\x82"'), ["UTF-8"]),
    "NUL in a name": (json.dumps(capture()).encode().replace(b'"small"', b'"a\x00b"'), []),
    "NUL between members": (json.dumps(capture()).encode().replace(b', "torch"', b'\x00, "torch"'), []),
    "a lone surrogate": (json.dumps(capture()).encode().replace(b'"small"', rb'"\ud800"'), []),
    "two documents": (json.dumps(capture()).encode() * 2, ["data after the end", "near byte"]),
    "text after it": (json.dumps(capture()).encode() + b" and so on", ["truncated"]),
    "a comma too many": (json.dumps(capture()).encode().replace(b'"kind"', b',"kind"', 1), ["near byte"]),
    "a colon too few": (json.dumps(capture()).encode().replace(b'"kind":', b'"kind"'), ["near byte"]),
    "no quote": (json.dumps(capture()).encode().replace(b'"joint"', b"joint"), ["near byte"]),
    "an open quote": (
        json.dumps(capture()).encode().replace(b'"joint"', b'"joint'),
        ["bad.json: not valid JSON: a string is opened, but never closed (", "truncated"],
    ),
    "packed nothing": (stored(b""), ["unknown format"]),
    "zstd magic alone": (b"\x28\xb5\x2f\xfd", ["ends too early"]),
    "zstd and garbage": (b"\x28\xb5\x2f\xfd" + random.Random(3).randbytes(1000), ["zstd"]),
    "garbage behind zstd": (stored(json.dumps(capture()).encode()) + b"garbage", ["zstd"]),
    "control characters in a name": (
        json.dumps(capture()).encode().replace(b'"call_function"', b'"up\\n\\u001b[31mred"', 1),
        ["up\\x0a\\x1b[31mred"],
    ),
}


@pytest.mark.parametrize("data, words", BYTES_CASES.values(), ids=BYTES_CASES.keys())
def test_bytes(data: bytes, words: list[str], tmp_path: Path) -> None:
    refuse(tmp_path / "bad.json", data, *words)


def test_zstd_is_detected_by_content(tmp_path: Path) -> None:
    path = write(tmp_path / "capture.json", stored(json.dumps(capture()).encode()))
    assert run("info", path, "--json").json["nodes"] == 8


def cuts(size: int, seed: int, count: int) -> list[int]:
    """Lengths to truncate to: both ends, and many in between."""
    between = random.Random(seed).sample(range(9, size - 9), count)
    return sorted({*range(1, 9), *between, *range(size - 8, size)})


def test_truncated_text(tmp_path: Path) -> None:
    text = json.dumps(capture()).encode()
    for length in cuts(len(text), 4, 60):
        refuse(tmp_path / f"{length}.json", text[:length])


def test_truncated_zstd(tmp_path: Path) -> None:
    packed = sample("llama_debug_tp2.joint").read_bytes()
    for length in cuts(len(packed), 5, 60):
        refuse(tmp_path / f"{length}.json.zst", packed[:length], *["zstd"] if length > 4 else [])


def test_flipped_bits(tmp_path: Path) -> None:
    """A damaged file is refused, or is still a capture that every command accepts."""
    chance = random.Random(6)
    refused = 0
    text = json.dumps(capture()).encode()
    for i in range(80):
        data = bytearray(text)
        for _ in range(chance.choice([1, 1, 3])):
            data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        path = write(tmp_path / f"{i}.json", bytes(data))
        done = run("overlap", path, "--json")
        if done.code == 3:
            assert_refused(done, path)
            refused += 1
        else:
            assert isinstance(done.json["step_ms"], float)
            assert_bounded(done)
    assert 20 < refused < 80


def test_flipped_bits_in_zstd(tmp_path: Path) -> None:
    chance = random.Random(7)
    packed = sample("llama_debug_tp2.joint").read_bytes()
    for i in range(40):
        data = bytearray(packed)
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        path = write(tmp_path / f"{i}.json.zst", bytes(data))
        done = run("info", path, "--json")
        if done.code != 0:
            assert_refused(done, path)


# --- Size and depth ---

GIB = 1 << 30


@pytest.mark.parametrize("declares", [None, 16 * GIB, 4 << 20, 2**64 - 1], ids=str)
@pytest.mark.parametrize("byte", [b" ", b"{", b"["], ids=repr)
def test_zstd_bomb(byte: bytes, declares: int | None, tmp_path: Path) -> None:
    refuse(tmp_path / "bomb.json.zst", bomb(16 * GIB, byte, declares))


def test_small_zstd_bomb_is_parsed_in_bounded_memory(tmp_path: Path) -> None:
    for byte in (b"{", b"[", b'"', b"1"):
        refuse(tmp_path / "bomb.json.zst", bomb(60 << 20, byte))


def nested(key: str, text: str, record: str | None = None) -> bytes:
    """The small capture with JSON text in place of a member."""
    document = capture()
    (document if record is None else at(document, record))[key] = "@@"
    return json.dumps(document).replace('"@@"', text).encode()


DEPTH = 100_000
LISTS = "[" * DEPTH + "]" * DEPTH
OBJECTS = '{"base":' * DEPTH + "1" + "}" * DEPTH

DEEP: dict[str, bytes] = {
    "document of lists": LISTS.encode(),
    "document of objects": OBJECTS.encode(),
    "open lists": b"[" * DEPTH,
    "open objects": b'{"a":' * DEPTH,
    "open behind nodes": b'{"nodes":' + b"[" * DEPTH,
    "args": nested("args", LISTS, "mm"),
    "args of tuples": nested("args", '{"tuple":[' * DEPTH + "]}" * DEPTH, "mm"),
    "kwargs": nested("kwargs", '{"a":{"dict":' * DEPTH + "{}" + "}}" * DEPTH, "mm"),
    "val": nested("val", '{"list":[' * DEPTH + "]}" * DEPTH, "mm"),
    "val of dicts": nested("val", '{"dict":{"a":' * DEPTH + "null" + "}}" * DEPTH, "mm"),
    "nodes": nested("nodes", LISTS),
    "storages": nested("storages", LISTS),
    "symbols": nested("symbols", LISTS),
    "groups": nested("groups", LISTS),
    "modules": nested("modules", LISTS),
}


@pytest.mark.parametrize("data", DEEP.values(), ids=DEEP.keys())
def test_deep_nesting(data: bytes, tmp_path: Path) -> None:
    refuse(tmp_path / "deep.json", data)


def test_descriptors_of_outputs_are_counted(tmp_path: Path) -> None:
    """With one descriptor too few, all later ones would describe the wrong output."""
    data = nested("desc", '[{"type":"PlainAOTOutput"}]', "output")
    refuse(tmp_path / "few.json", data, "node output (output) returns 2 values, but `desc` describes 1")


# Members that are stored but not interpreted may be nested to any depth.
KEPT: dict[str, bytes] = {
    "info": nested("info", LISTS),
    "info of objects": nested("info", OBJECTS),
    "constants": nested("constants", OBJECTS),
    "symbols": nested("symbols", OBJECTS.replace("base", "vars")),
    "groups": nested("groups", OBJECTS),
    "unknown": nested("extra", LISTS).replace(b'"world_size"', b'"world_sizes"'),
    "desc": nested("desc", OBJECTS, "primals_1"),
    "desc of gradients": nested(
        "desc", "[" + '{"type":"GradAOTOutput","grad_of":' * DEPTH + "1" + "}" * DEPTH + ",{}]", "output"),
    "custom": nested("custom", LISTS, "mm"),
    "schema_alias": nested("schema_alias", LISTS, "mm"),
    "long blanks": nested("info", '{"parallel": "TP' + " " * (1 << 20) + '=2"}'),
    "long module path": nested("modules", json.dumps([[["a." * DEPTH + "a", "M"]]])),
    "many module frames": nested("modules", json.dumps([[[f"<{i}>", "M"] for i in range(20_000)]])),
    "many modules": nested("modules", json.dumps([[[f"L['self'].m{i}", "M"]] for i in range(20_000)])),
    "replacements that double": nested("symbols", json.dumps(
        {"vars": {"s0": {"hint": 8}}, "replacements": {f"a{i}": f"a{i + 1} + a{i + 1}" for i in range(31)}})),
}  # fmt: skip


@pytest.mark.parametrize("data", KEPT.values(), ids=KEPT.keys())
@pytest.mark.parametrize("command", [["info"], ["overlap"], ["export", "--format", "dot", "-o", "-"]],
                         ids=lambda command: command[0])  # fmt: skip
def test_stored_members_may_be_deep_or_long(command: list[str], data: bytes, tmp_path: Path) -> None:
    path = write(tmp_path / "deep.json", data)
    done = run(command[0], path, *command[1:])
    assert done.code == 0, done.err
    assert_bounded(done)


def test_many_groups_found_only_in_arguments(tmp_path: Path) -> None:
    """Each group could claim a million ranks."""
    document = capture()
    for i in range(2000):
        add_node("wait", node(f"ag{i}", "call_function", "_c10d_functional.all_gather_into_tensor.default",
                              [n("mm"), 1 << 20, f"g{i}"], tensor(3, 8, 8)))(document)  # fmt: skip
    done = run("overlap", write(tmp_path / "groups.json", document), "--json")
    assert done.json["collective_count"] == 2001
    assert_bounded(done)


# --- Files ---


def test_missing(tmp_path: Path) -> None:
    path = tmp_path / "missing.json"
    assert_refused(run("info", path), path, "No such file")


def test_empty_folder(tmp_path: Path) -> None:
    assert_refused(run("info", tmp_path), tmp_path, "no files")


def test_folder_without_captures(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a")
    (tmp_path / "b.txt").write_text("b")
    assert_refused(run("info", tmp_path), tmp_path, "no graph")


def test_folder_with_other_files(tmp_path: Path) -> None:
    """Recipes and results of commands are JSON too, but are not listed."""
    for name in ("a", "c"):
        write(tmp_path / f"{name}.json", capture())
    (tmp_path / "b.r.json").write_text('{"format": "jointer-recipe", "version": 1, "edits": []}')
    (tmp_path / "d.json").write_text('{"peak_bytes": 1, "profile": [1, 2]}')
    (tmp_path / "e.txt").write_text("notes")
    (tmp_path / "f.json.gz").write_bytes(gzip.compress(b'{"peak_bytes": 1}'))
    done = run("info", tmp_path)
    assert done.code == 2 and "contains 2 graphs (4 files ignored)" in done.err, done.err
    assert [line.split()[1] for line in done.out.splitlines()] == [
        str(tmp_path / "a.json"), str(tmp_path / "c.json")
    ]  # fmt: skip
    assert run("info", tmp_path, "--graph", "1").code == 0


def test_a_recipe_is_not_a_capture(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    path.write_text('{"format": "jointer-recipe", "version": 1, "edits": []}')
    answer = run("info", path)
    assert_refused(answer, path, "got a Jointer recipe", "`jointer apply FILE --recipe")


def test_folder_as_a_half(tmp_path: Path) -> None:
    path = write(tmp_path / "fw.json", half("forward"))
    assert_refused(run("info", path, "--backward", tmp_path), tmp_path, "folder")


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_unreadable(tmp_path: Path) -> None:
    path = write(tmp_path / "secret.json", capture())
    path.chmod(0)
    assert_refused(run("info", path), path, "Permission denied")


def test_a_file_that_cannot_be_read() -> None:
    assert_refused(run("info", "/proc/self/mem"), "/proc/self/mem", "Input/output error")


def test_standard_input() -> None:
    assert_refused(run("info", "-", stdin=b""), "standard input", "empty")
    assert_refused(run("info", "-", stdin=b"{"), "standard input", "truncated")


# --- Pairs ---


@pytest.fixture
def halves(tmp_path: Path) -> tuple[Path, Path]:
    return write(tmp_path / "fw.json", half("forward")), write(tmp_path / "bw.json", half("backward"))


def test_the_small_pair_itself_is_valid(halves: tuple[Path, Path]) -> None:
    forward, backward = halves
    info = run("info", forward, "--backward", backward, "--json").json
    assert (info["kind"], info["nodes"]) == ("pair", 7)


def refuse_pair(forward: Path, backward: Path, blamed: object, *words: str) -> None:
    done = run("info", forward, "--backward", backward, "--json")
    assert_refused(done, blamed, *words)


def test_halves_swapped(halves: tuple[Path, Path]) -> None:
    forward, backward = halves
    refuse_pair(backward, forward, backward, "expected a forward graph", "of kind backward; give the forward half")


def test_the_forward_given_twice(halves: tuple[Path, Path]) -> None:
    forward, _ = halves
    refuse_pair(forward, forward, forward, "expected a backward graph", "of kind forward")


def test_halves_of_different_graphs(halves: tuple[Path, Path], tmp_path: Path) -> None:
    forward, backward = halves
    other = json.loads(backward.read_text().replace('"mul"', '"other"'))
    path = write(tmp_path / "other.json", other)
    refuse_pair(forward, path, f"{forward} with {path}", "does not belong", "such as other")


def test_a_pair_as_a_half(halves: tuple[Path, Path], tmp_path: Path) -> None:
    _, backward = halves
    whole = {"format": "jointer-capture", "version": 1, "kind": "pair", "name": "small",
             "forward": half("forward"), "backward": half("backward")}  # fmt: skip
    path = write(tmp_path / "pair.json", whole)
    assert run("info", path, "--json").json["kind"] == "pair"
    refuse_pair(path, backward, path, "a complete pair was given as one half; open it without a second file")
    refuse(tmp_path / "nested.json", whole | {"forward": whole}, "a complete pair")


def test_a_mistake_in_one_half_names_it(halves: tuple[Path, Path], tmp_path: Path) -> None:
    forward, _ = halves
    broken = half("backward")
    at(broken, "grad")["args"] = [n("ghost")]
    path = write(tmp_path / "broken.json", broken)
    refuse_pair(forward, path, path, "node grad", "ghost")


def test_a_mistake_in_a_damaged_half(halves: tuple[Path, Path], tmp_path: Path) -> None:
    forward, backward = halves
    cut = write(tmp_path / "cut.json", backward.read_bytes()[:-40])
    refuse_pair(forward, cut, cut, "truncated")


# --- Device descriptions ---

DEVICE = json.loads((Path(__file__).parents[2] / "resources" / "devices" / "h100.json").read_text())
DEVICES: dict[str, tuple[Any, list[str]]] = {
    "not JSON": (b"{", ["not a device description"]),
    "a list": ([], ["expected a JSON object"]),
    "other version": (DEVICE | {"version": 2}, ["`version` must be 1"]),
    "no bandwidth": ({k: v for k, v in DEVICE.items() if k != "memory_gbps"}, ["`memory_gbps` is missing"]),
    "zero bandwidth": (DEVICE | {"memory_gbps": 0}, ["`memory_gbps` must be positive"]),
    "negative latency": (DEVICE | {"kernel_us": -1}, ["`kernel_us`"]),
    "text for a number": (DEVICE | {"host_gbps": "fast"}, ["`host_gbps`"]),
    "no efficiency of products": (
        DEVICE | {"efficiency": {k: v for k, v in DEVICE["efficiency"].items() if k != "matmul"}},
        ["`efficiency`: `matmul` is missing"],
    ),
    "peak of zero": (DEVICE | {"peak_tflops": {"bfloat16": 0}}, ["`peak_tflops`: `bfloat16` must be positive"]),
    "no links": ({k: v for k, v in DEVICE.items() if k != "links"}, ["`links` is missing"]),
    "no peaks": (DEVICE | {"peak_tflops": {}}, ["`peak_tflops`"]),
    "links of wrong type": (DEVICE | {"links": 3}, ["`links`: expected an object"]),
    "unknown generation": (DEVICE | {"torch_nccl": "maxwell"}, ["`torch_nccl`: expected volta", "got `maxwell`"]),
}


@pytest.mark.parametrize("description, words", DEVICES.values(), ids=DEVICES.keys())
def test_device_file(description: Any, words: list[str], tmp_path: Path) -> None:
    path = tmp_path / "device.json"
    path.write_bytes(description if isinstance(description, bytes) else json.dumps(description).encode())
    assert_refused(run("overlap", JOINT, "--device", path, "--json"), path, *words)
