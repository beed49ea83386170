"""Writes captures of joint graphs, other traced graphs and pairs, directly or as a graph pass."""

from __future__ import annotations

import itertools
import os
import threading
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch.distributed as dist
from torch import fx

from .document import FORMAT, VERSION, write_document
from .encode import encode_graph, infer_kind
from .errors import CaptureError
from .state_names import reachable_names

#: Roles of the graphs of a pipeline stage, as described in ``capture_stages``.
STAGE_ROLES = (
    "forward",
    "backward",
    "backward_input",
    "backward_weight",
    "unshard",
    "reduce_grad",
)

GraphPass = Callable[[fx.GraphModule, Sequence[Any]], fx.GraphModule]


def capture(
    joint_or_gm: Any,
    path: str | os.PathLike[str],
    *,
    kind: str | None = None,
    name: str | None = None,
    **info: Any,
) -> Path:
    """Write a native capture of a graph.

    Args:
        joint_or_gm: the result of ``aot_export_joint_with_descriptors``, or any traced
            ``torch.fx.GraphModule`` whose nodes have fake tensors in ``meta["val"]``.
        path: the file, which is written atomically; ``.json.zst`` is compressed.
        kind: ``joint``, ``forward``, ``backward`` or ``train_step``; default: inferred.
        name: the capture's label; default: the name of the file.
        info: facts about the graph (model, parameters, seq_len, ...).

    Returns:
        the path of the written file.

    Raises:
        CaptureError: the graph contains something that a capture cannot hold, or there is no
            zstd module.
        OSError: the file cannot be written.
    """
    path = Path(path)
    gm = _graph_module(joint_or_gm)
    document = encode_graph(gm, kind=kind, name=name or label(path), info=info)
    write_document(document, path)
    return path


def capture_pair(
    forward: fx.GraphModule,
    backward: fx.GraphModule,
    path: str | os.PathLike[str],
    *,
    name: str | None = None,
    **info: Any,
) -> Path:
    """Write the two halves of a partitioned joint graph as one capture of kind ``pair``.

    ``forward`` and ``backward`` are the graphs that a partitioner returned; the other arguments are
    as in ``capture``.
    """
    path = Path(path)
    write_document(pair_document(forward, backward, name or label(path), info), path)
    return path


def pair_document(
    forward: fx.GraphModule, backward: fx.GraphModule, name: str, info: dict[str, Any]
) -> dict[str, Any]:
    """The document of a partitioned pair: two complete captures."""
    halves = {
        kind: encode_graph(_graph_module(gm), kind=kind, name=f"{name}.{kind}", info=info)
        for kind, gm in (("forward", forward), ("backward", backward))
    }
    facts = halves["forward"]["info"]
    head = {"format": FORMAT, "version": VERSION, "kind": "pair", "name": name, "info": facts}
    return {**head, **halves}


def capture_stages(
    stages: Sequence[tuple[str, str, fx.GraphModule]],
    path: str | os.PathLike[str],
    *,
    name: str | None = None,
    **info: Any,
) -> Path:
    """Write the graphs of a pipeline's stages as one capture of kind ``stages``.

    Args:
        stages: name, role and graph of each, in display order. A role is ``forward``,
            ``backward``, ``backward_input`` and ``backward_weight`` (the two parts of a backward
            that computes the gradients of inputs first), ``unshard`` (gathers parameters) or
            ``reduce_grad`` (reduces and scatters gradients).
        path, name, info: as in ``capture``.
    """
    path = Path(path)
    write_document(stages_document(stages, name or label(path), info), path)
    return path


def stages_document(
    stages: Sequence[tuple[str, str, fx.GraphModule]], name: str, info: dict[str, Any]
) -> dict[str, Any]:
    """The document of a pipeline's stages: complete captures."""
    entries = []
    for title, role, gm in stages:
        if role not in STAGE_ROLES:
            roles = ", ".join(STAGE_ROLES)
            raise CaptureError(f"stage {title}: role {role!r}: expected one of {roles}")
        kind = "backward" if role in ("backward", "backward_input", "backward_weight") else "forward"
        whole = encode_graph(_graph_module(gm), kind=kind, name=f"{name}.{title}", info=info)
        entries.append({"name": title, "role": role, "capture": whole})
    facts = entries[0]["capture"]["info"] if entries else {}
    head = {"format": FORMAT, "version": VERSION, "kind": "stages", "name": name, "info": facts}
    return {**head, "stages": entries}


def capture_pass(path: str | os.PathLike[str], **info: Any) -> GraphPass:
    """A graph pass that captures its graph and returns it unchanged.

    It works in any list of ``(gm, example_inputs) -> gm`` passes and never raises: errors are
    reported once, as a warning. Within torchtitan's graph_trainer, parameters, buffers and
    gradients have the trainer's names.

    Args:
        path: may contain ``{rank}``, ``{kind}`` and ``{n}``, the number of the graph from 0; must
            contain ``{rank}`` if several ranks share a folder.
        info: as in ``capture``.
    """
    numbers = itertools.count()
    guard = WarnOnce("capture_pass")

    def save_graph(gm: fx.GraphModule, example_inputs: Sequence[Any] = ()) -> fx.GraphModule:
        with guard:
            kind = infer_kind(gm.graph)
            target = expand_path(path, kind, next(numbers))
            document = encode_graph(gm, kind=kind, name=label(target), info=info)
            if names := reachable_names(gm) if kind == "train_step" else None:
                names.describe(document)
            write_document(document, target)
        return gm

    return save_graph


def expand_path(path: str | os.PathLike[str], kind: str, number: int) -> Path:
    """``path`` with ``{rank}``, ``{kind}`` and ``{n}`` filled in.

    From the second graph on, a path without ``{n}`` gets the number before its suffix, so that
    graphs do not overwrite each other.
    """
    text = os.fspath(path)
    if number > 0 and "{n}" not in text:
        suffix = ".json.zst" if text.endswith(".json.zst") else Path(text).suffix
        text = f"{text.removesuffix(suffix)}.{{n}}{suffix}"
    for key, value in (("rank", _rank()), ("kind", kind), ("n", number)):
        text = text.replace("{" + key + "}", str(value))
    return Path(text)


def _rank() -> int:
    if "RANK" in os.environ:
        return int(os.environ["RANK"])
    return dist.get_rank() if dist.is_available() and dist.is_initialized() else 0


def label(path: Path) -> str:
    """The name of a capture: that of its file, without the suffixes."""
    return path.name.removesuffix(".zst").removesuffix(".json")


class WarnOnce:
    """A context that turns the first ``Exception`` inside it into a warning and ignores later
    ones."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._lock = threading.Lock()
        #: The first error.
        self.reason: str | None = None

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: Any, trace: Any) -> bool:
        if error is None or not isinstance(error, Exception):
            return False
        with self._lock:
            first = self.reason is None
            self.reason = self.reason or f"{type(error).__name__}: {error}"
        if first:
            message = f"{self._what}: a graph was not captured: {self.reason}"
            warnings.warn(message, RuntimeWarning, stacklevel=2)
        return True


def _graph_module(joint_or_gm: Any) -> fx.GraphModule:
    gm = getattr(joint_or_gm, "graph_module", joint_or_gm)
    if not isinstance(gm, fx.GraphModule):
        raise CaptureError(
            f"cannot capture a {type(joint_or_gm).__name__}; pass a traced torch.fx.GraphModule or "
            "the result of aot_export_joint_with_descriptors"
        )
    return gm
