"""Converts symbolic sizes between torch and captures.

Writing: the text of an expression (``s0*s1``), its hint, and the table of a shape environment.
Reading: every expression becomes a plain number (``Assumptions``) that also contains the text
(``symbolic``), so that writing a loaded graph produces the same text. Expressions from a file are
parsed and evaluated by a walk over the syntax tree, never executed.
"""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from torch import SymBool, SymFloat, SymInt

from .errors import CaptureError

Number = int | float | bool

#: The value of an unbacked symbol about which the capture has no information.
DEFAULT_ASSUMPTION = 64

_NAME = re.compile(r"[a-zA-Z_]\w*")

#: A deferred assertion that a sum of symbols equals a number, as text.
_SUM = re.compile(r"Eq\(([a-zA-Z_]\w*(?: \+ [a-zA-Z_]\w*)*), (\d+)\)")


# Writing.

#: Methods that return the known number of a symbolic one.
_KNOWN = ((SymInt, "maybe_as_int"), (SymFloat, "maybe_as_float"), (SymBool, "maybe_as_bool"))


def is_symbolic(value: Any) -> bool:
    """True if ``value`` is a symbolic number, traced by torch or restored by ``symbolic``."""
    return isinstance(value, (SymInt, SymFloat, SymBool, _Symbolic))


def constant_value(value: Any) -> Any:
    """``value``, as a plain number if it is a traced symbol with a known constant value."""
    for kind, question in _KNOWN:
        if isinstance(value, kind):
            known = getattr(value.node, question)()
            return value if known is None else known
    return value


def is_float(value: Any) -> bool:
    """True if the symbolic number ``value`` is a float."""
    return isinstance(value, (SymFloat, SymbolicFloat))


def expression(value: Any) -> str:
    """The text of a symbolic number."""
    if isinstance(value, _Symbolic):
        return value.expression
    return str(getattr(value.node, "expr", value))


def hint(value: Any) -> Number | None:
    """The number of a symbolic value during tracing; ``None`` if it is unbacked."""
    if isinstance(value, _Symbolic):
        return value.hint
    return value.node.hint if value.node.has_hint() else None


def symbol_table(values: Iterable[Any]) -> dict[str, Any]:
    """The ``symbols`` object of a capture: all facts about the symbols of ``values``.

    ``values`` are symbolic numbers (``is_symbolic``). A graph has one shape environment, which is
    found in the first value that has one. Restored values have none.
    """
    for value in values:
        if (env := getattr(getattr(value, "node", None), "shape_env", None)) is not None:
            return _describe_shape_env(env)
    return {"vars": {}, "replacements": {}, "deferred_asserts": {}}


def _describe_shape_env(env: Any) -> dict[str, Any]:
    def hint_of(symbol: Any) -> Number | None:
        value = env.backed_var_to_val.get(symbol)
        return None if value is None else _python_number(value)

    return {
        "vars": {
            str(symbol): _describe_symbol(bounds, hint_of(symbol))
            for symbol, bounds in env.var_to_range.items()
        },
        "replacements": {str(a): str(b) for a, b in env.replacements.items()},
        "deferred_asserts": {
            str(symbol): [str(each.expr) for each in asserts]
            for symbol, asserts in env.deferred_runtime_asserts.items()
        },
    }


def _describe_symbol(bounds: Any, hint: Number | None) -> dict[str, Any]:
    if getattr(bounds, "is_float", False):
        ends = {"min": bounds.lower, "max": bounds.upper}
        numbers = {key: float(end) for key, end in ends.items()}
        known = {key: end if math.isfinite(end) else None for key, end in numbers.items()}
        return {"type": "float", "hint": hint, **known}
    return {"min": str(bounds.lower), "max": str(bounds.upper), "hint": hint}


def _python_number(value: Any) -> Number:
    return int(value) if getattr(value, "is_integer", False) else float(value)


# Reading.


class _Symbolic:
    """Mixin for a number: the expression from which it was computed, and its hint during
    tracing."""

    expression: str
    hint: Number | None


class SymbolicInt(_Symbolic, int):
    """The number of an integer or Boolean expression."""


class SymbolicFloat(_Symbolic, float):
    """The number of a float expression."""


def symbolic(value: Number, text: str, hint: Number | None) -> SymbolicInt | SymbolicFloat:
    """``value`` as a number that also contains the expression ``text`` and the ``hint``."""
    number = SymbolicFloat(value) if isinstance(value, float) else SymbolicInt(value)
    number.expression, number.hint = text, hint
    return number


class Assumptions:
    """The number of every symbol of a capture, which is chosen once, on first use.

    It is the first of: ``assume``; the capture's ``symbols.assumed``; the hint of the traced run;
    the expression that replaces the symbol; an equal share if an assertion requires the sum of this
    symbol and others to equal a number (balanced routing); the share of the first such assertion;
    ``DEFAULT_ASSUMPTION``. The last three are clamped to the symbol's range.
    """

    def __init__(self, table: Mapping[str, Any], assume: Mapping[str, Number] | None = None):
        self._assume = assume or {}
        self._assumed = table.get("assumed") or {}
        self._vars = table.get("vars") or {}
        self._replacements = table.get("replacements") or {}
        self._shares = dict[str, int]()
        for asserts in (table.get("deferred_asserts") or {}).values():
            for text in asserts:
                if match := _SUM.fullmatch(text):
                    names = match[1].split(" + ")
                    for name in names:
                        self._shares.setdefault(name, int(match[2]) // len(names))
        self._default = next(iter(self._shares.values()), DEFAULT_ASSUMPTION)
        self._chosen = dict[str, Number]()
        self._evaluated = dict[str, Number]()

    def number(self, size: int | str | Mapping[str, Any]) -> Number:
        """The number of a size in a capture: a number, an expression, ``{sym, hint}``."""
        if isinstance(size, Mapping):
            size = size["sym"]
        if not isinstance(size, str):
            return size
        if size not in self._evaluated:
            self._evaluated[size] = evaluate(size, self.symbol)
        return self._evaluated[size]

    def symbol(self, name: str) -> Number:
        """The number of one symbol."""
        if name not in self._chosen:
            self._chosen[name] = self._choose(name)
        return self._chosen[name]

    def _choose(self, name: str) -> Number:
        for source in (self._assume, self._assumed):
            if source.get(name) is not None:
                return source[name]
        known = (self._vars.get(name) or {}).get("hint")
        if known is not None:
            return known
        if name in self._replacements:
            # To end cycles, the share is used until the replacement is known.
            self._chosen[name] = self._share(name)
            return self.number(self._replacements[name])
        return self._share(name)

    def _share(self, name: str) -> Number:
        """The assumed value of an unbacked symbol, within its range if it has one."""
        bounds = self._vars.get(name) or {}
        share = self._shares.get(name, self._default)
        for bound, nearer in (("min", max), ("max", min)):
            if bounds.get(bound) is not None:
                share = nearer(share, self.number(bounds[bound]))
        return share


class Unbacked:
    """Recognizes expressions that are known only at run time."""

    def __init__(self, table: Mapping[str, Any]) -> None:
        replaced = table.get("replacements") or {}
        variables = (table.get("vars") or {}).items()
        self._names = {
            name
            for name, facts in variables
            if (facts or {}).get("hint") is None and name not in replaced
        }

    def __call__(self, text: str) -> bool:
        """True if the expression ``text`` contains a symbol without a hint."""
        return not self._names.isdisjoint(_NAME.findall(text))


def evaluate(text: str, symbol: Callable[[str], Number]) -> Number:
    """The value of the expression ``text``; ``symbol`` returns the number of each name.

    The language is that in which torch prints sizes: arithmetic, comparisons, ``&``, ``|``, ``~``
    and the functions of ``_FUNCTIONS``. Raises ``CaptureError`` for anything else.
    """
    try:
        return _evaluate(ast.parse(text, mode="eval").body, symbol)
    except (SyntaxError, RecursionError, TypeError, ArithmeticError, ValueError) as error:
        reason = error.args[0] if error.args else type(error).__name__
        raise CaptureError(f"symbolic expression {text[:200]!r}: {reason}") from None


def _evaluate(node: ast.AST, symbol: Callable[[str], Number]) -> Number:
    match node:
        case ast.Constant(value=bool() | int() | float() as value):
            return value
        case ast.Name(id=name):
            return _CONSTANTS[name] if name in _CONSTANTS else symbol(name)
        case ast.UnaryOp(op=op, operand=operand) if type(op) in _UNARY:
            return _UNARY[type(op)](_evaluate(operand, symbol))
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
            return _BINARY[type(op)](_evaluate(left, symbol), _evaluate(right, symbol))
        case ast.BoolOp(op=op, values=values):
            combine = all if isinstance(op, ast.And) else any
            return combine(_evaluate(each, symbol) for each in values)
        case ast.Compare(left=left, ops=ops, comparators=comparators):
            values = [_evaluate(each, symbol) for each in (left, *comparators)]
            return all(_COMPARE[type(op)](a, b) for op, a, b in zip(ops, values, values[1:]))
        case ast.IfExp(test=test, body=body, orelse=orelse):
            return _evaluate(body if _evaluate(test, symbol) else orelse, symbol)
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in _FUNCTIONS:
            return _FUNCTIONS[name](*(_evaluate(each, symbol) for each in args))
    raise ValueError(f"{ast.unparse(node)[:80]!r} is not a size expression")


def _power(base: Number, exponent: Number) -> Number:
    if abs(exponent) > 64:
        raise ValueError(f"the exponent {exponent} is too large")
    return base**exponent


_CONSTANTS: dict[str, Number] = {
    "True": True,
    "False": False,
    "int_oo": 2**63 - 1,
    "oo": math.inf,
    "inf": math.inf,
}
_UNARY: dict[type, Callable[[Any], Number]] = {
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Invert: operator.not_,
    ast.Not: operator.not_,
}
_BINARY: dict[type, Callable[[Any, Any], Number]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: _power,
    ast.BitAnd: lambda a, b: bool(a) and bool(b),
    ast.BitOr: lambda a, b: bool(a) or bool(b),
}
_COMPARE: dict[type, Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_FUNCTIONS: dict[str, Callable[..., Number]] = {
    "Max": max,
    "Min": min,
    "Abs": abs,
    "Mod": operator.mod,
    "PythonMod": operator.mod,
    "FloorDiv": operator.floordiv,
    "CleanDiv": operator.floordiv,
    "CeilDiv": lambda a, b: -(-a // b),
    "ModularIndexing": lambda base, divisor, modulus: base // divisor % modulus,
    "IntTrueDiv": operator.truediv,
    "FloatTrueDiv": operator.truediv,
    "PowByNatural": _power,
    "FloatPow": _power,
    "LShift": lambda a, b: a * _power(2, b),
    "RShift": lambda a, b: a // _power(2, b),
    "Where": lambda condition, a, b: a if condition else b,
    "ToFloat": float,
    "TruncToInt": math.trunc,
    "TruncToFloat": lambda x: float(math.trunc(x)),
    "CeilToInt": math.ceil,
    "FloorToInt": math.floor,
    "RoundToInt": round,
    "ceiling": math.ceil,
    "floor": math.floor,
    "Identity": lambda x: x,
    "Eq": operator.eq,
    "Ne": operator.ne,
    "Lt": operator.lt,
    "Le": operator.le,
    "Gt": operator.gt,
    "Ge": operator.ge,
    "And": lambda *each: all(each),
    "Or": lambda *each: any(each),
    "Not": operator.not_,
    "OpaqueUnaryFn_sqrt": math.sqrt,
    "sqrt": math.sqrt,
}
