#pragma once

#include <cstdint>

#include "core/base/id.h"
#include "core/base/name_table.h"

namespace jointer {

// An argument of a call. Small and trivially copyable: the graph's argument pool holds nested
// lists, dictionaries, slices and complex numbers, and its string table holds text.
struct Argument {
  enum class Kind : std::uint8_t {
    none,
    boolean,
    integer,
    real,
    string,
    node,
    list,
    tuple,
    dict,     // children alternate: key (a string), value
    slice,    // three children
    complex,  // two children
    dtype,
    device,
    layout,
    memory_format,  // `text`, as for the three above
    symbol,         // `expression`
    op,             // `text`: an operator's name
    opaque,         // `text`: type; `detail`: repr
    raw,            // `text`: JSON of any other kind, such as an integer of more than 64 bits
  };

  Kind kind = Kind::none;
  std::uint32_t count = 0;  // number of children, or `detail` of an opaque value
  union {
    std::int64_t integer = 0;
    double real;
    std::uint32_t index;  // of a node, text, expression, or first child in the pool
  };

  static Argument of_none() { return {}; }
  static Argument of_bool(bool value) { return make(Kind::boolean, value ? 1 : 0); }
  static Argument of_int(std::int64_t value) { return make(Kind::integer, value); }
  static Argument of_real(double value) {
    Argument a;
    a.kind = Kind::real;
    a.real = value;
    return a;
  }
  static Argument of_node(NodeId node) { return indexed(Kind::node, node.value()); }
  static Argument of_text(Kind kind, StringId text) { return indexed(kind, text.value()); }
  static Argument of_symbol(ExpressionId e) { return indexed(Kind::symbol, e.value()); }
  static Argument of_opaque(StringId type, StringId repr) {
    return indexed(Kind::opaque, type.value(), repr.value());
  }
  static Argument of_children(Kind kind, std::uint32_t first, std::uint32_t count) {
    return indexed(kind, first, count);
  }

  [[nodiscard]] bool has_children() const {
    return kind == Kind::list || kind == Kind::tuple || kind == Kind::dict || kind == Kind::slice ||
           kind == Kind::complex;
  }
  [[nodiscard]] NodeId node() const { return NodeId(index); }
  [[nodiscard]] StringId text() const { return StringId(index); }
  [[nodiscard]] StringId detail() const { return StringId(count); }
  [[nodiscard]] ExpressionId expression() const { return ExpressionId(index); }

 private:
  static Argument make(Kind kind, std::int64_t value) {
    Argument a;
    a.kind = kind;
    a.integer = value;
    return a;
  }
  static Argument indexed(Kind kind, std::uint32_t index, std::uint32_t count = 0) {
    Argument a;
    a.kind = kind;
    a.count = count;
    a.index = index;
    return a;
  }
};
static_assert(sizeof(Argument) == 16);

// The kinds of arguments that captures, recipes and hashes write as the kind's name and a text.
inline constexpr NameTable<Argument::Kind, 5> kTextArguments{
    {{"dtype", Argument::Kind::dtype},
     {"device", Argument::Kind::device},
     {"layout", Argument::Kind::layout},
     {"memory_format", Argument::Kind::memory_format},
     {"op", Argument::Kind::op}}};

// Describes the value that a node returns.
struct Value {
  enum class Kind : std::uint8_t {
    none,
    tensor,
    list,
    dict,      // children alternate: key, value
    key,       // `text`: a dictionary's key
    symbol,    // `expression`: a symbolic number
    constant,  // `text`: JSON of a plain value
    opaque,    // `text`: type; `detail`: repr
    raw,       // `text`: JSON of any other kind, such as a symbolic float
  };

  Kind kind = Kind::none;
  std::uint32_t index = 0;  // of a tensor, text, expression, or first child in Graph's pool
  std::uint32_t count = 0;  // number of children, or `detail` of an opaque value

  static Value of_tensor(TensorId t) { return {Kind::tensor, t.value(), 0}; }
  static Value of_text(Kind kind, StringId text) { return {kind, text.value(), 0}; }
  static Value of_symbol(ExpressionId e) { return {Kind::symbol, e.value(), 0}; }
  static Value of_opaque(StringId type, StringId repr) {
    return {Kind::opaque, type.value(), repr.value()};
  }

  [[nodiscard]] TensorId tensor() const { return TensorId(index); }
  [[nodiscard]] StringId text() const { return StringId(index); }
  [[nodiscard]] StringId detail() const { return StringId(count); }
  [[nodiscard]] ExpressionId expression() const { return ExpressionId(index); }
};

}  // namespace jointer
