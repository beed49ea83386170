#pragma once

// Functions of Python's `operator` module that FX code writes as symbols.

#include <string_view>

#include "core/base/name_table.h"

namespace jointer {

// The names of these functions, by symbol. Longer symbols come first, since a shorter one may be a
// prefix of a longer one.
inline constexpr NameTable<std::string_view, 19> kInfixOperators{{
    {"**", "pow"},   {"//", "floordiv"}, {"<<", "lshift"}, {">>", "rshift"}, {"==", "eq"},
    {"!=", "ne"},    {"<=", "le"},       {">=", "ge"},     {"<", "lt"},      {">", "gt"},
    {"+", "add"},    {"-", "sub"},       {"*", "mul"},     {"/", "truediv"}, {"%", "mod"},
    {"@", "matmul"}, {"&", "and_"},      {"|", "or_"},     {"^", "xor"},
}};

// The same for in-place statements such as `x += y`. None of these symbols is a prefix of another.
inline constexpr NameTable<std::string_view, 12> kInplaceOperators{{
    {"+=", "iadd"},
    {"-=", "isub"},
    {"*=", "imul"},
    {"@=", "imatmul"},
    {"/=", "itruediv"},
    {"//=", "ifloordiv"},
    {"%=", "imod"},
    {"**=", "ipow"},
    {"&=", "iand"},
    {"|=", "ior"},
    {"<<=", "ilshift"},
    {">>=", "irshift"},
}};

}  // namespace jointer
