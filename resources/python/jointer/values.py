"""Converts values of nodes, fake tensors and containers of them, to JSON and back.

A tensor has sizes, dtype, device and the index of its storage. Storages are distinguished by
identity, as far as the rules of the operators allow (``aliasing``). Views share a storage, and so a
capture records aliasing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import fx
from torch._ops import HigherOrderOperator, OpOverload
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.utils._mode_utils import no_dispatch

from . import symbols
from .aliasing import aliased_arguments, is_getitem, is_view
from .arguments import decode_argument, decode_opaque, encode_argument, encode_opaque, torch_constant
from .errors import CaptureError

Json = Any

#: Maximum number of elements of a constant whose data is written.
_DATA_LIMIT = 4096

#: Attributes of restored objects: a tensor's symbolic texts; the device it was captured on, if this
#: machine does not have it; the size of a storage, as in the capture.
_SIZES = "_jointer_sizes"
_DEVICE = "_jointer_device"
_BYTES = "_jointer_bytes"


@dataclass(frozen=True)
class CapturedSizes:
    """The sizes of a restored tensor, as in the capture."""

    shape: list[Json]
    stride: list[Json]
    offset: Json


class ValueEncoder:
    """Converts values to JSON, and numbers storages in order of appearance."""

    def __init__(self) -> None:
        self.storages: list[Json] = []
        #: All symbolic numbers, without repetitions.
        self.symbolic: dict[int, Any] = {}
        #: Number of storages that were separated although the values shared one.
        self.split = 0
        self._index: dict[int, int] = {}
        self._kept: list[Any] = []
        #: Per node, the addresses and numbers of the storages in its value.
        self._held: dict[fx.Node, dict[int, int]] = {}
        #: The storages of a graph's nodes.
        self._claimed: dict[fx.Graph, set[int]] = {}
        #: The node whose value is being encoded, and the storages that it may share.
        self._node: fx.Node | None = None
        self._shared: dict[int, int] = {}

    def of_node(self, node: fx.Node) -> Json:
        """The value of ``node``, with new storages if its operator allocates them."""
        held: dict[int, int] = {}
        shared: dict[int, int] = {}
        for each in aliased_arguments(node):
            for address, index in self._held.get(each, {}).items():
                shared.setdefault(address, index)
        self._node, self._shared, self._held[node] = node, shared, held
        try:
            return self.value(node.meta["val"])
        finally:
            self._claimed.setdefault(node.graph, set()).update(held)
            self._node = None

    def value(self, value: Any) -> Json:
        """The value of a node; ``None`` if it has no value."""
        return None if value is None else self._nested(value)

    def _nested(self, value: Any) -> Json:
        if isinstance(value, torch.Tensor):
            return {"t": self.tensor(value)}
        if isinstance(value, (list, tuple)):
            return {"list": [self._nested(each) for each in value]}
        if isinstance(value, Mapping):
            return {"dict": {str(key): self._nested(each) for key, each in value.items()}}
        if symbols.is_symbolic(value):
            value = symbols.constant_value(value)
            if symbols.is_symbolic(value):
                self.symbolic[id(value)] = value
                key = "symfloat" if symbols.is_float(value) else "symint"
                return {key: symbols.expression(value), "hint": symbols.hint(value)}
        constant = encode_argument(value)
        if isinstance(constant, dict) and "opaque" in constant:
            return constant
        return {"c": constant}

    def tensor(self, tensor: torch.Tensor) -> Json:
        """One tensor, without its data."""
        strided = tensor.layout is torch.strided
        known: CapturedSizes | None = getattr(tensor, _SIZES, None)
        record = {
            "shape": known.shape if known else [self._size(each) for each in tensor.shape],
            "dtype": str(tensor.dtype).removeprefix("torch."),
            "device": str(getattr(tensor, _DEVICE, tensor.device)),
            "stride": [],
            "offset": 0,
        }
        if strided:
            record["stride"] = known.stride if known else [self._size(x) for x in tensor.stride()]
            record["offset"] = known.offset if known else self._size(tensor.storage_offset())
        else:
            record["layout"] = str(tensor.layout).removeprefix("torch.")
        record["storage"] = self._storage(tensor) if strided else self._new(0)
        for key, is_set in (
            ("requires_grad", tensor.requires_grad),
            ("conj", strided and tensor.is_conj()),
            ("neg", strided and tensor.is_neg()),
        ):
            if is_set:
                record[key] = True
        return record

    def constant(self, tensor: torch.Tensor, value: Any) -> Json:
        """A constant tensor of the graph, with its data if it is small.

        ``value`` is the value of its node, which determines the storage, since a constant and its
        fake tensor in a trace are different objects.
        """
        record = self.tensor(tensor)
        if isinstance(value, torch.Tensor) and value.layout is torch.strided:
            record["storage"] = self._storage(value)
        data = _tensor_data(tensor)
        return record if data is None else {**record, "data": data}

    def _size(self, size: Any) -> Json:
        size = symbols.constant_value(size)
        if not symbols.is_symbolic(size):
            return int(size)
        self.symbolic[id(size)] = size
        text, hint = symbols.expression(size), symbols.hint(size)
        return {"sym": text} if hint is None else {"sym": text, "hint": hint}

    def _storage(self, tensor: torch.Tensor) -> int:
        storage = tensor.untyped_storage()
        address = storage._cdata
        if self._node is None:
            return self._identity(storage)
        held = self._held[self._node]
        if address not in held:
            if address in self._shared:
                held[address] = self._shared[address]
            elif self._is_allocated(address):
                held[address] = self._split(storage)
            else:
                held[address] = self._identity(storage)
        return held[address]

    def _identity(self, storage: torch.UntypedStorage) -> int:
        address = storage._cdata
        if address not in self._index:
            self._kept.append(storage)  # prevents reuse of its address
            self._index[address] = self._new(self._bytes(storage))
        return self._index[address]

    def _is_allocated(self, address: int) -> bool:
        """True if the storage belongs to another node and the encoded node is a call."""
        is_call = self._node.op not in ("placeholder", "get_attr")
        return is_call and address in self._claimed.get(self._node.graph, ())

    def _split(self, storage: torch.UntypedStorage) -> int:
        """The number of the encoded node's actual storage, instead of ``storage``: that of the
        argument if the node is a view of only one storage, otherwise a new one."""
        self.split += 1
        size = self._bytes(storage)
        if is_view(self._node.target) or is_getitem(self._node):
            sources = {i for i in self._shared.values() if self.storages[i] == size}
            if len(sources) == 1:
                return sources.pop()
        return self._new(size)

    def _bytes(self, storage: torch.UntypedStorage) -> Json:
        known = getattr(storage, _BYTES, None)
        return self._size(storage.nbytes()) if known is None else known

    def _new(self, size: Json) -> int:
        self.storages.append(size)
        return len(self.storages) - 1


def _tensor_data(tensor: torch.Tensor) -> Json:
    """The elements as nested lists; ``None`` for a fake, large or unreadable tensor."""
    if isinstance(tensor, FakeTensor) or tensor.is_meta or tensor.layout is not torch.strided:
        return None
    if tensor.numel() > _DATA_LIMIT:
        return None
    with no_dispatch(), torch.no_grad():
        tensor = tensor.detach().cpu().resolve_conj().resolve_neg()
        if tensor.is_complex():
            tensor = torch.view_as_real(tensor)
        if tensor.is_floating_point():
            tensor = tensor.double()
        return _finite(tensor.tolist())


def _finite(data: Any) -> Json:
    if isinstance(data, list):
        return [_finite(each) for each in data]
    return {"f": repr(data)} if isinstance(data, float) and not math.isfinite(data) else data


class ValueDecoder:
    """Converts JSON to values: fake tensors in ``mode``, with storages shared as in the capture."""

    def __init__(
        self,
        storages: list[Json],
        assumptions: symbols.Assumptions,
        mode: FakeTensorMode,
    ) -> None:
        self._sizes = storages
        self._assumptions = assumptions
        self._mode = mode
        self._storages: dict[int, torch.UntypedStorage] = {}

    def share(self, storages: Mapping[int, torch.UntypedStorage]) -> None:
        """Use these storages for these numbers, instead of creating them."""
        self._storages.update(storages)

    def value(self, value: Json) -> Any:
        """The value that ``value`` describes."""
        if value is None:
            return None
        if not isinstance(value, dict):
            raise CaptureError(f"value {value!r} is not an object")
        if "t" in value:
            return self.tensor(value["t"])
        if "list" in value:
            return [self.value(each) for each in value["list"]]
        if "dict" in value:
            return {key: self.value(each) for key, each in value["dict"].items()}
        if "symfloat" in value:
            text = value["symfloat"]
            number = float(self._assumptions.number(text))
            return symbols.symbolic(number, text, value.get("hint"))
        if "symint" in value:
            text = value["symint"]
            return symbols.symbolic(self._assumptions.number(text), text, value.get("hint"))
        if value.get("opaque") == "Generator":
            return torch.Generator()
        if "opaque" in value:
            return decode_opaque(value)
        if "c" in value:
            return decode_argument(value["c"], _no_node, self._assumptions)
        raise CaptureError(f"value of unknown kind {sorted(value)}; use a newer Jointer")

    def tensor(self, record: Json) -> FakeTensor:
        """The fake tensor that ``record`` describes."""
        dtype = torch_constant(record["dtype"])
        shape = [int(self._assumptions.number(each)) for each in record["shape"]]
        if "layout" in record:
            layout = torch_constant(record["layout"])
            with no_dispatch():
                elem = torch.empty(shape, dtype=dtype, layout=layout, device="meta")
            return FakeTensor(self._mode, elem, torch.device(record["device"]))
        stride = [int(self._assumptions.number(each)) for each in record["stride"]]
        offset = int(self._assumptions.number(record.get("offset", 0)))
        storage = self._storage(record["storage"])
        with no_dispatch():
            elem = torch.empty(0, dtype=dtype, device="meta").set_(storage, offset, shape, stride)
            if record.get("conj"):
                torch._C._set_conj(elem, True)
            if record.get("neg"):
                torch._C._set_neg(elem, True)
            if record.get("requires_grad"):
                elem.requires_grad_()
        fake = FakeTensor(self._mode, elem, torch.device(record["device"]))
        sizes = CapturedSizes(record["shape"], record["stride"], record.get("offset", 0))
        if any(isinstance(each, dict) for each in (*sizes.shape, *sizes.stride, sizes.offset)):
            setattr(fake, _SIZES, sizes)
        return fake

    def constant(self, record: Json) -> torch.Tensor:
        """A constant tensor of a graph: real if its data is known, otherwise fake."""
        if "data" not in record:
            return self.tensor(record)
        dtype, device = torch_constant(record["dtype"]), torch.device(record["device"])
        data = _restore(record["data"])
        with no_dispatch():
            shape = [int(self._assumptions.number(each)) for each in record["shape"]]
            if dtype.is_complex:
                pairs = torch.tensor(data, dtype=torch.float64).reshape(*shape, 2)
                tensor = torch.view_as_complex(pairs).to(dtype)
            elif dtype.is_floating_point:
                tensor = torch.tensor(data, dtype=torch.float64).to(dtype)
            else:
                tensor = torch.tensor(data, dtype=dtype)
            tensor = tensor.reshape(shape)
            if device.type == "cuda" and torch.cuda.is_available():
                tensor = tensor.to(device)
        if tensor.device != device:
            setattr(tensor, _DEVICE, device)
        return tensor

    def _storage(self, index: int) -> torch.UntypedStorage:
        if index not in self._storages:
            if not 0 <= index < len(self._sizes):
                raise CaptureError(f"storage {index} is out of range: the capture is damaged")
            size = int(self._assumptions.number(self._sizes[index]))
            storage = self._storages[index] = torch.UntypedStorage(size, device="meta")
            setattr(storage, _BYTES, self._sizes[index])
        return self._storages[index]


def as_returned(target: Any, value: Any) -> Any:
    """``value`` in the form in which ``target`` returns it: several results are a tuple, but a
    single result that is a list of tensors is a list.

    Captures do not distinguish the two, but torch does: its partitioners search only tuples for the
    device of a random call.
    """
    if not isinstance(value, list):
        return value
    if isinstance(target, OpOverload):
        return value if len(target._schema.returns) == 1 else tuple(value)
    return tuple(value) if isinstance(target, HigherOrderOperator) else value


def _restore(data: Json) -> Any:
    if isinstance(data, list):
        return [_restore(each) for each in data]
    return float(data["f"]) if isinstance(data, dict) else data


def _no_node(name: str) -> Any:
    raise CaptureError(f"a value cannot refer to the node {name!r}")


def captured_sizes(tensor: torch.Tensor) -> CapturedSizes | None:
    """The sizes of ``tensor``, as in the capture, if any of them is an expression."""
    return getattr(tensor, _SIZES, None)


def set_device(tensor: FakeTensor, device: torch.device) -> None:
    """Let ``tensor`` describe a tensor on ``device``; its ``captured_device`` stays the same."""
    setattr(tensor, _DEVICE, captured_device(tensor))
    tensor.fake_device = device


def captured_device(tensor: torch.Tensor) -> torch.device:
    """The device of ``tensor`` when it was captured, which may differ from its current one."""
    return getattr(tensor, _DEVICE, tensor.device)
