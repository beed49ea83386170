"""Finds the passes of a spec, and derives their parameters from their signatures."""

from __future__ import annotations

import collections.abc
import importlib
import importlib.util
import inspect
import math
import re
import sys
import traceback
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from .graph_pass import MARK, Declaration
from .host import HostError, one_line

#: Names of the parameter that receives the graph's inputs, without surrounding underscores.
_INPUTS = frozenset(
    {"", "inputs", "args", "ex"}
    | {f"{kind}_{noun}" for kind in ("example", "sample", "fake") for noun in ("inputs", "args")}
)

_TYPES = {bool: "boolean", int: "integer", float: "number", str: "text"}
_LISTS = (list, tuple, collections.abc.Sequence, collections.abc.Iterable)
#: Collections that are lists in a pipeline: sets of their elements, dictionaries of ``[key,
#: value]`` pairs.
_SETS = (set, frozenset, collections.abc.Set)
_MAPPINGS = (dict, collections.abc.Mapping, collections.abc.MutableMapping)

#: The members of a parameter's declaration that the decorator may give, besides ``type`` and
#: ``doc``.
_DETAILS = ("least", "most", "choices", "may_be_none", "is_of_texts")

_ARGUMENT = re.compile(r"(\s+)(\w+)(?: \([^)]*\))?:\s*(.*)")


@dataclass
class DeclaredPass:
    """A pass and its declaration."""

    function: Callable[..., Any]
    declaration: Declaration
    #: The source file, for the location of errors.
    file: str

    @property
    def name(self) -> str:
        """The name in pipelines."""
        return self.declaration.name


def find_passes(spec: str) -> list[DeclaredPass]:
    """The passes of ``spec``: ``module:function``, ``file.py:function`` or ``file.py``.

    Raises:
        HostError: there are no passes, or their module cannot be imported.
    """
    place, _, path = spec.rpartition(":") if ":" in spec else (spec, "", "")
    module = _load(place)
    file = getattr(module, "__file__", None) or ""
    if not path:
        found = [
            DeclaredPass(each, getattr(each, MARK), file)
            for each in vars(module).values()
            if callable(each) and isinstance(getattr(each, MARK, None), Declaration)
        ]
        if not found:
            raise HostError(
                "usage",
                f"{place} declares no pass: decorate one with @jointer.graph_pass, or name a "
                f"function, `{place}:FUNCTION`",
            )
        return found
    function = _member(module, path)
    if not callable(function):
        raise HostError("usage", f"{place} has no function {path}")
    declaration = getattr(function, MARK, None)
    if not isinstance(declaration, Declaration):
        lines = (inspect.getdoc(function) or "").splitlines()
        declaration = Declaration(path.rpartition(".")[2], lines[0] if lines else "")
    return [DeclaredPass(function, declaration, file)]


def _load(place: str) -> types.ModuleType:
    try:
        if not place.endswith(".py"):
            return importlib.import_module(place)
        path = Path(place).resolve()
        if not path.is_file():
            raise HostError("usage", f"{place}: no such file")
        sys.path.insert(0, str(path.parent))
        spec = importlib.util.spec_from_file_location(path.stem, path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules.setdefault(path.stem, module)
        spec.loader.exec_module(module)
        return module
    except (HostError, MemoryError):
        raise
    except BaseException as error:
        # A missing module that the user's module imports is that module's failure.
        if isinstance(error, ModuleNotFoundError) and f"{place}.".startswith(f"{error.name}."):
            raise HostError(
                "usage",
                f"there is no module {error.name}; name a file, such as passes.py, or add the "
                "module's folder to PYTHONPATH",
            ) from None
        traceback.print_exc()
        raise HostError("usage", f"{place} cannot be imported: {one_line(error, place)}") from None


def takes_graph(function: Callable[..., Any]) -> bool:
    """True if the first parameter of ``function`` is a ``torch.fx.Graph`` instead of a module."""
    first = _positional(function)[0]
    annotation = _annotation(function, first)
    if annotation is inspect.Parameter.empty:  # a name that exists only for type checkers
        return first.annotation in ("Graph", "fx.Graph", "torch.fx.Graph")
    return isinstance(annotation, type) and issubclass(annotation, torch.fx.Graph)


def inputs_parameter(function: Callable[..., Any]) -> inspect.Parameter | None:
    """The parameter of ``function`` that receives the graph's inputs: the second parameter or a
    keyword-only one, recognized by its name or by its annotation as a list of tensors."""
    by_name = [
        p
        for p in inspect.signature(function).parameters.values()
        if p.kind is inspect.Parameter.KEYWORD_ONLY
    ]
    for parameter in _positional(function)[1:2] + by_name:
        annotation = _annotation(function, parameter)
        if _is_list_of_tensors(annotation):
            return parameter
        if parameter.name.strip("_") in _INPUTS and not _is_of_pipeline(annotation):
            return parameter
    return None


def _is_list_of_tensors(annotation: Any) -> bool:
    elements = typing.get_args(annotation) if typing.get_origin(annotation) in _LISTS else ()
    elements = [each for each in elements if each is not ...]
    return bool(elements) and all(
        isinstance(each, type) and issubclass(each, torch.Tensor) for each in elements
    )


def _is_of_pipeline(annotation: Any) -> bool:
    """True if a pipeline can express values of this type. Lists without an element type may be
    lists of tensors."""
    if annotation in (inspect.Parameter.empty, Any):
        return False
    kind, _ = _type(annotation, None)
    elements = [each for each in typing.get_args(annotation) if each is not ...]
    is_bare = not elements or Any in elements or object in elements
    return kind is not None and not (kind == "list" and is_bare)


def parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    """The parameters of ``function`` except the graph and its inputs."""
    inputs = inputs_parameter(function)
    handed = {_positional(function)[0].name, inputs.name if inputs else ""}
    kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    every = inspect.signature(function).parameters.values()
    return [p for p in every if p.name not in handed and p.kind not in kinds]


def _positional(function: Callable[..., Any]) -> list[inspect.Parameter]:
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return [p for p in inspect.signature(function).parameters.values() if p.kind in kinds]


def describe(found: DeclaredPass) -> dict[str, Any]:
    """The declaration of a pass, as plugins/hosted/declaration.h reads it.

    Raises:
        HostError: the function has no parameter for the graph, the declaration names a parameter
            that the function lacks, or a pipeline cannot express a required parameter.
    """
    declaration, function = found.declaration, found.function
    if not _positional(function):
        raise HostError(
            "usage",
            f"{found.name} has no parameter for the graph; declare it as (gm, example_inputs)",
        )
    documented = _documented(function)
    described = []
    known = {p.name for p in parameters(function)}
    for name in declaration.parameters.keys() - known:
        raise HostError("usage", f"{found.name} declares {name}, but has no such parameter")
    for parameter in parameters(function):
        given = dict(declaration.parameters.get(parameter.name, {}))
        given.setdefault("doc", documented.get(parameter.name, ""))
        if (record := _describe(function, parameter, given, found.name)) is not None:
            described.append(record)
    return {
        "name": found.name,
        "summary": declaration.summary,
        "stage": declaration.stage,
        "keeps_numerics": declaration.keeps_numerics,
        "is_idempotent": declaration.is_idempotent,
        "saves_memory": declaration.saves_memory,
        "parameters": described,
    }


def _describe(
    function: Callable[..., Any],
    parameter: inspect.Parameter,
    given: Mapping[str, Any],
    where: str,
) -> dict[str, Any] | None:
    """One parameter; ``None`` if it is optional and a pipeline cannot set it."""
    has_default = parameter.default is not inspect.Parameter.empty
    default = parameter.default if has_default else None
    annotation = _annotation(function, parameter)
    kind, choices = _type(annotation, default)
    kind = given.get("type", kind)
    if kind is None and _is_object(function, parameter):
        kind = "text"
    try:
        if kind is None:
            raise ValueError("has a type that a pipeline does not support")
        value = _json(default)
    except ValueError as error:
        if has_default:
            return None
        hint = ""
        if parameter in _positional(function)[1:2]:
            hint = "; if it is the graph's inputs, call it example_inputs"
        raise HostError("usage", f"{where}: parameter {parameter.name} {error}{hint}") from None
    record = {"name": parameter.name, "type": kind, "default": value, "doc": given["doc"]}
    if choices:
        record["choices"] = choices
    alone, takes_none = _without_none(annotation)
    if takes_none and value is not None:
        record["may_be_none"] = True
    if kind == "list" and _is_of_texts(alone):
        record["is_of_texts"] = True
    return {**record, **{key: given[key] for key in _DETAILS if key in given}}


def _is_of_texts(annotation: Any) -> bool:
    """True for ``list[str]``, ``tuple[str, ...]`` and ``set[str]``."""
    elements = [each for each in typing.get_args(annotation) if each is not ...]
    return _collection(annotation) in ("list", "set") and elements == [str]


def _is_object(function: Callable[..., Any], parameter: inspect.Parameter) -> bool:
    """True for a required object that a pipeline cannot express. Instead, the pipeline contains the
    object's location, ``module:name``."""
    return (
        parameter.kind is inspect.Parameter.KEYWORD_ONLY
        and parameter.default is inspect.Parameter.empty
        and _type(_annotation(function, parameter), None)[0] is None
    )


def _annotation(function: Callable[..., Any], parameter: inspect.Parameter) -> Any:
    """The type of the parameter; ``empty`` if the name of the type exists only for type
    checkers."""

    def alone() -> None: ...

    alone.__annotations__ = {parameter.name: parameter.annotation}
    names = getattr(inspect.unwrap(function), "__globals__", None)
    try:
        found = typing.get_type_hints(alone, globalns=names)[parameter.name]
    except Exception:
        return inspect.Parameter.empty
    return inspect.Parameter.empty if parameter.annotation is inspect.Parameter.empty else found


def _type(annotation: Any, default: Any) -> tuple[str | None, list[str]]:
    """The name of the type in a pipeline, and the choices."""
    annotation, _ = _without_none(annotation)
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in (typing.Union, types.UnionType):
        return None, []
    if origin is typing.Literal and all(isinstance(each, str) for each in arguments):
        return "text", list(arguments)
    if annotation in (inspect.Parameter.empty, Any):
        kind = type(default)
        return ("list" if kind in (list, tuple) else _TYPES.get(kind)), []
    if _collection(annotation):
        return "list", []
    return (_TYPES.get(annotation) if isinstance(annotation, type) else None), []


def _without_none(annotation: Any) -> tuple[Any, bool]:
    """``int`` and True for ``int | None``; the annotation unchanged and False if it does not allow
    None."""
    members = typing.get_args(annotation)
    if typing.get_origin(annotation) not in (typing.Union, types.UnionType):
        return annotation, False
    rest = [each for each in members if each is not type(None)]
    return (rest[0] if len(rest) == 1 else annotation), len(rest) < len(members)


def _collection(annotation: Any) -> str:
    """``list``, ``set`` or ``dict``; empty for other types."""
    kind = typing.get_origin(annotation) or annotation
    for name, kinds in (("list", _LISTS), ("set", _SETS), ("dict", _MAPPINGS)):
        if kind in kinds:
            return name
    return ""


def _json(value: Any) -> Any:
    """A default as JSON.

    Raises:
        ValueError: a pipeline cannot express the default.
    """
    if isinstance(value, float) and not math.isfinite(value):
        return {"f": repr(value)}
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (list, tuple)):
        return [_json(each) for each in value]
    raise ValueError(f"has the default {value!r}, which a pipeline cannot express")


def _documented(function: Callable[..., Any]) -> dict[str, str]:
    """The one-line description of each parameter in the ``Args:`` of a docstring."""
    _, found, rest = (inspect.getdoc(function) or "").partition("Args:\n")
    documented: dict[str, str] = {}
    name, indent = "", None
    for line in rest.splitlines() if found else ():
        if line and not line[0].isspace():
            break
        match = _ARGUMENT.fullmatch(line)
        if match and indent in (None, len(match[1])):
            name, indent = match[2], len(match[1])
            documented[name] = match[3]
        elif name and line.strip():
            documented[name] += " " + line.strip()
    return documented


def arguments(function: Callable[..., Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of ``function`` for the values in a pipeline.

    Raises:
        HostError: a required parameter is missing, a value has the wrong type, or an object cannot
            be found.
    """
    result = {}
    for parameter in parameters(function):
        has_default = parameter.default is not inspect.Parameter.empty
        value = _value(given.get(parameter.name))
        if value is None:
            _, takes_none = _without_none(_annotation(function, parameter))
            if has_default and parameter.name not in given:
                continue
            if not has_default and not takes_none:
                raise HostError("usage", f"parameter {parameter.name} must be given")
        elif isinstance(value, str) and _is_object(function, parameter):
            value = _object(parameter.name, value)
        elif isinstance(value, list):
            value = _as_collection(function, parameter, value)
        result[parameter.name] = value
    return result


def _value(value: Any) -> Any:
    if isinstance(value, dict):
        return float(value["f"])
    return [_value(each) for each in value] if isinstance(value, list) else value


def _as_collection(
    function: Callable[..., Any], parameter: inspect.Parameter, value: list[Any]
) -> Any:
    """A pipeline's list, converted to the collection that ``function`` expects."""
    annotation, _ = _without_none(_annotation(function, parameter))
    kind = _collection(annotation)
    try:
        if kind == "set":
            return frozenset(value)
        if kind == "dict":
            return {key: each for key, each in value}
    except (TypeError, ValueError):
        wanted = "[key, value] pairs" if kind == "dict" else "numbers or strings"
        raise HostError("usage", f"parameter {parameter.name} must be a list of {wanted}") from None
    is_tuple = annotation is tuple or typing.get_origin(annotation) is tuple
    return tuple(value) if is_tuple or isinstance(parameter.default, tuple) else value


def _object(name: str, text: str) -> Any:
    """The object at ``module:name`` or ``file.py:name``; if it is a function, its result.

    Raises:
        HostError: there is no such object.
    """
    place, _, path = text.rpartition(":")
    if not place:
        raise HostError("usage", f"parameter {name} is an object; give its location as module:name")
    found = _member(_load(place), path)
    if found is None:
        raise HostError("usage", f"{place} has no {path}")
    if inspect.isroutine(found):
        try:
            return found()
        except Exception as error:
            traceback.print_exc()
            raise HostError("usage", f"{text} raised {one_line(error, place)}") from None
    return found


def _member(module: types.ModuleType, path: str) -> Any:
    """The object at the dotted ``path`` in ``module``, or ``None``."""
    found: Any = module
    for part in path.split("."):
        found = getattr(found, part, None)
    return found
