#pragma once

// Positions in buffers as expressions over loops, for the lowering of a graph.
//
// An expression is a constant plus terms `coefficient * atom`. An atom is a loop, `expression /
// divisor`, `expression / divisor % modulus`, or a value that is loaded at run time. All loops
// start at 0 and have a known number of iterations, so expressions are simplified when they are
// made: terms that a divisor divides leave the division, terms too small to matter are dropped, and
// `x / d * d * c + x % d * c` becomes `x * c`.
//
// Expressions are interned: equal ids mean equal expressions. Making one costs about its number of
// terms. Layers of a model repeat, and so does most arithmetic: recent results are remembered in
// tables of fixed size, where a newer result replaces an older one.
//
// Source: torch/_inductor/sizevars.py (`_simplify_with_ranges`, `_stride_vars`),
// torch/utils/_sympy/functions.py (`FloorDiv`, `ModularIndexing`).
// Deviations: torch knows the ranges only after a loop body is traced, and compares two terms at a
// time.

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/small_vector.h"
#include "core/kernels/id_table.h"
#include "core/kernels/ir.h"

namespace jointer::kernels {

using ExpressionIndex = std::int32_t;

class IndexPool {
 public:
  IndexPool();

  static constexpr ExpressionIndex kZero = 0;

  ExpressionIndex constant(std::int64_t value);
  // The loop `number`, of `size` iterations; the constant 0 if it has one iteration.
  ExpressionIndex loop(int number, std::int64_t size);
  // A value from 0 to `size` - 1 that is loaded at position `at` of the source with this number.
  ExpressionIndex loaded(ExpressionIndex at, std::int64_t source, std::int64_t size);
  ExpressionIndex add(ExpressionIndex a, ExpressionIndex b);
  ExpressionIndex multiply(ExpressionIndex a, std::int64_t factor);
  ExpressionIndex divide(ExpressionIndex a, std::int64_t divisor);
  // a / divisor % modulus
  ExpressionIndex modular(ExpressionIndex a, std::int64_t divisor, std::int64_t modulus);
  // Replaces loop i by `loops[i]`.
  ExpressionIndex substitute(ExpressionIndex a, std::span<const ExpressionIndex> loops);

  [[nodiscard]] bool is_constant(ExpressionIndex a) const {
    return expressions_[index(a)].count == 0;
  }
  // Bit i is set if the loop i occurs, at any depth but not in the position of a loaded value;
  // loops above 63 count as 63.
  [[nodiscard]] std::uint64_t loops_in(ExpressionIndex a) const {
    return expressions_[index(a)].loops;
  }
  [[nodiscard]] bool has_loaded(ExpressionIndex a) const {
    return expressions_[index(a)].has_loaded;
  }
  // The value with the loop `number` at 1 minus the value with it at 0, all others and loaded
  // values being 0. A number below 0: the value with all loops at 0.
  [[nodiscard]] std::int64_t stride(ExpressionIndex a, int number) const;
  // Converts the expression for use outside the lowering.
  [[nodiscard]] Index to_index(ExpressionIndex a) const;

 private:
  struct Atom {
    enum class Kind : std::uint8_t { loop, division, remainder, loaded };
    Kind kind = Kind::loop;
    ExpressionIndex base = 0;  // unused for a loop
    // The number and the size of a loop, the divisor of a quotient, the divisor and the modulus of
    // a remainder, or the source and the size of a loaded value.
    std::int64_t a = 0, b = 0;
    bool operator==(const Atom&) const = default;
  };
  struct Term {
    std::int64_t coefficient = 0;
    std::int32_t atom = 0;
    auto operator<=>(const Term&) const = default;
  };
  struct Expression {
    std::int64_t constant = 0;
    std::uint32_t first = 0, count = 0;  // range of terms_
    std::uint64_t loops = 0;
    std::int64_t low = 0, high = 0;  // range of values
    bool has_loaded = false;
  };
  using Terms = SmallVector<Term, 8>;
  // Cached results: of an operation on `a` and two numbers, and of a substitution.
  enum class Operation : std::uint8_t { none, loop, add, multiply, divide, modular };
  struct Known {
    Operation operation = Operation::none;
    ExpressionIndex a = 0, result = 0;
    std::int64_t b = 0, c = 0;
  };
  struct KnownSubstitution {
    ExpressionIndex a = kZero, result = kZero;
    SmallVector<ExpressionIndex, 6> loops;
  };

  static std::size_t index(ExpressionIndex a) { return static_cast<std::size_t>(a); }
  // The result of the operation: the cached one or, if there is none, that of `compute`.
  template <class Compute>
  ExpressionIndex remembered(Operation operation, ExpressionIndex a, std::int64_t b, std::int64_t c,
                             Compute compute);
  ExpressionIndex computed_quotient(ExpressionIndex a, std::int64_t divisor);
  ExpressionIndex computed_remainder(ExpressionIndex a, std::int64_t divisor, std::int64_t modulus);
  // Computes the remainder from two parts of the expression (index_pool.cpp); -1 if it does not
  // split into such parts.
  ExpressionIndex remainder_by_parts(ExpressionIndex a, std::int64_t divisor, std::int64_t modulus);
  ExpressionIndex computed_substitution(ExpressionIndex a, std::span<const ExpressionIndex> loops);
  [[nodiscard]] std::span<const Term> terms(ExpressionIndex a) const {
    const Expression& e = expressions_[index(a)];
    return std::span(terms_).subspan(e.first, e.count);
  }
  std::int32_t intern(const Atom& atom);
  ExpressionIndex of_atom(const Atom& atom);
  // Interns the sum of the constant and the terms, which need not be sorted or distinct.
  ExpressionIndex intern(std::int64_t constant, Terms& terms);
  void join(Terms& terms);
  // An expression, split into the part that `unit` divides and the rest.
  struct Parts {
    Terms multiple, rest;
    std::int64_t multiple_constant = 0, rest_constant = 0;
  };
  [[nodiscard]] Parts split(ExpressionIndex a, std::int64_t unit) const;
  // Divides the rest and the divisor by their greatest common divisor. Returns the rest.
  ExpressionIndex reduced_rest(Parts& parts, std::int64_t& divisor);
  void drop_small(Terms& terms, std::int64_t& constant, std::int64_t divisor) const;
  [[nodiscard]] std::int64_t evaluate(ExpressionIndex a, int number) const;
  [[nodiscard]] std::int64_t evaluate_atom(std::int32_t atom, int number) const;

  std::int64_t joined_constant_ = 0;  // the amount that `join` adds to the constant
  std::vector<Atom> atoms_;
  std::vector<Expression> atom_ranges_;  // by atom: low, high, loops, has_loaded
  std::vector<Term> terms_;
  std::vector<Expression> expressions_;
  IdTable atom_ids_, expression_ids_;
  std::vector<Known> known_;
  std::vector<KnownSubstitution> known_substitutions_;
};

}  // namespace jointer::kernels
