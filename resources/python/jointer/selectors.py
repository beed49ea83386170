"""Selects nodes by text, in recipes and for regional compilation.

======================  =========================================================================
``mm_12``               the node of that name, and no other
``aten.mm.default``     every call of that operator
``aten.mm``             every call of one of its overloads, or of operators matching a pattern
``PATTERN::OPERATOR``   every call of an operator that matches the second pattern, in a module that
                        matches the first, or in its submodules:
                        ``layers.*.attention::aten.mm.default``
======================  =========================================================================

Patterns are shell patterns, as in ``fnmatchcase``. An empty pattern before ``::`` matches any
module.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable

from torch import fx

from .module_paths import module_path
from .retarget import captured_target


def select(nodes: Iterable[fx.Node], selector: str) -> list[fx.Node]:
    """The nodes that ``selector`` selects, in program order."""
    nodes = list(nodes)
    modules, has_modules, operator = selector.rpartition("::")
    if has_modules:
        return [each for each in nodes if _calls_within(each, operator, modules)]
    named = [each for each in nodes if each.name == selector]
    return named or [each for each in nodes if _calls_within(each, selector, "")]


def selects_call(selector: str, node: fx.Node) -> bool:
    """True if ``selector``, a name or ``PATTERN::OPERATOR``, selects ``node``."""
    modules, has_modules, operator = selector.rpartition("::")
    return _calls_within(node, operator, modules) if has_modules else node.name == selector


def _calls_within(node: fx.Node, operator: str, modules: str) -> bool:
    if node.op != "call_function":
        return False
    if not any(fnmatch.fnmatchcase(each, operator) for each in _names(node)):
        return False
    return any(fnmatch.fnmatchcase(each, modules) for each in _enclosing(module_path(node)))


def _names(node: fx.Node) -> tuple[str, str]:
    """The operator that ``node`` calls, with and without its overload."""
    name = captured_target(node)
    return name, name.rpartition(".")[0]


def _enclosing(path: str) -> Iterable[str]:
    """``path`` and the paths of its enclosing modules, innermost first."""
    yield path
    while path:
        path = path.rpartition(".")[0]
        yield path
