#include "core/kernels/index_pool.h"

#include <algorithm>
#include <numeric>

namespace jointer::kernels {
namespace {

constexpr int kMaxLoopBit = 63;
// Sizes of the tables of known results; powers of two.
constexpr std::size_t kKnown = 2048, kKnownSubstitutions = 1024;

std::size_t mix(std::size_t seed, std::size_t value) {
  return (seed ^ value) * 0x9e3779b97f4a7c15ULL ^ (seed >> 29U);
}

std::int64_t floor_div(std::int64_t a, std::int64_t b) {
  const std::int64_t quotient = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

}  // namespace

IndexPool::IndexPool() : known_(kKnown), known_substitutions_(kKnownSubstitutions) {
  Terms none;
  intern(0, none);
}

template <class Compute>
ExpressionIndex IndexPool::remembered(Operation operation, ExpressionIndex a, std::int64_t b,
                                      std::int64_t c, Compute compute) {
  const std::size_t hash =
      mix(mix(mix(static_cast<std::size_t>(operation), index(a)), static_cast<std::size_t>(b)),
          static_cast<std::size_t>(c));
  const std::size_t at = (hash >> 32U) % kKnown;
  if (const Known& known = known_[at];
      known.operation == operation && known.a == a && known.b == b && known.c == c)
    return known.result;
  const ExpressionIndex result = compute();
  known_[at] = {.operation = operation, .a = a, .result = result, .b = b, .c = c};
  return result;
}

std::int32_t IndexPool::intern(const Atom& atom) {
  std::size_t hash = mix(static_cast<std::size_t>(atom.kind), static_cast<std::size_t>(atom.base));
  hash = mix(mix(hash, static_cast<std::size_t>(atom.a)), static_cast<std::size_t>(atom.b));
  const std::int32_t found =
      atom_ids_.find(hash, [&](std::int32_t id) { return atoms_[index(id)] == atom; });
  if (found >= 0) return found;
  const std::int32_t id = atom_ids_.add(hash);
  Expression range;
  if (atom.kind == Atom::Kind::loop) {
    range.loops = std::uint64_t{1} << std::min<std::int64_t>(atom.a, kMaxLoopBit);
    range.high = std::max<std::int64_t>(atom.b - 1, 0);
  } else {
    const Expression& base = expressions_[index(atom.base)];
    range.loops = base.loops;
    range.has_loaded = base.has_loaded;
    switch (atom.kind) {
      case Atom::Kind::division:
        range.low = floor_div(base.low, atom.a);
        range.high = floor_div(base.high, atom.a);
        break;
      case Atom::Kind::remainder:
        range.high = atom.b - 1;
        break;
      default:
        range.high = std::max<std::int64_t>(atom.b - 1, 0);
        range.has_loaded = true;
        range.loops = 0;  // for Inductor, a loaded value is its own variable
    }
  }
  atoms_.push_back(atom);
  atom_ranges_.push_back(range);
  return id;
}

ExpressionIndex IndexPool::of_atom(const Atom& atom) {
  Terms one{{1, intern(atom)}};
  return intern(0, one);
}

void IndexPool::join(Terms& sum) {
  // `x / (d * m)` with the coefficient c * m plus `x / d % m` with c is `x / d` with c.
  // The remainder's partner may itself be a remainder.
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = 0; i < sum.size() && !changed; ++i) {
      const Atom low = atoms_[index(sum[i].atom)];
      if (low.kind != Atom::Kind::remainder) continue;
      for (std::size_t j = 0; j < sum.size() && !changed; ++j) {
        const Atom high = atoms_[index(sum[j].atom)];
        const bool is_quotient = high.kind == Atom::Kind::division;
        if (i == j || (!is_quotient && high.kind != Atom::Kind::remainder)) continue;
        if (high.base != low.base || high.a != low.a * low.b ||
            sum[j].coefficient != sum[i].coefficient * low.b)
          continue;
        const std::int64_t coefficient = sum[i].coefficient;
        const ExpressionIndex joined =
            is_quotient ? divide(low.base, low.a) : modular(low.base, low.a, low.b * high.b);
        sum.erase(sum.begin() + static_cast<std::ptrdiff_t>(std::max(i, j)));
        sum.erase(sum.begin() + static_cast<std::ptrdiff_t>(std::min(i, j)));
        for (const Term& term : Terms(terms(joined).begin(), terms(joined).end()))
          sum.push_back({term.coefficient * coefficient, term.atom});
        joined_constant_ += expressions_[index(joined)].constant * coefficient;
        changed = true;
      }
    }
  }
}

ExpressionIndex IndexPool::intern(std::int64_t constant, Terms& sum) {
  const auto is_divided = [this](const Term& term) {
    return atoms_[index(term.atom)].kind == Atom::Kind::remainder;
  };
  if (sum.size() > 1 && std::ranges::any_of(sum, is_divided)) {
    const std::int64_t outer = joined_constant_;
    joined_constant_ = 0;
    join(sum);
    constant += joined_constant_;
    joined_constant_ = outer;
  }
  std::ranges::sort(sum, {}, &Term::atom);
  std::size_t used = 0;
  for (const Term& term : sum) {
    if (used > 0 && sum[used - 1].atom == term.atom)
      sum[used - 1].coefficient += term.coefficient;
    else
      sum[used++] = term;
    if (sum[used - 1].coefficient == 0) --used;
  }
  sum.resize(used);
  std::size_t hash = mix(7, static_cast<std::size_t>(constant));
  for (const Term& term : sum)
    hash = mix(mix(hash, static_cast<std::size_t>(term.coefficient)),
               static_cast<std::size_t>(term.atom));
  const ExpressionIndex found = expression_ids_.find(hash, [&](ExpressionIndex id) {
    return expressions_[index(id)].constant == constant && std::ranges::equal(terms(id), sum);
  });
  if (found >= 0) return found;
  Expression e{.constant = constant,
               .first = static_cast<std::uint32_t>(terms_.size()),
               .count = static_cast<std::uint32_t>(sum.size()),
               .loops = 0,
               .low = constant,
               .high = constant,
               .has_loaded = false};
  for (const Term& term : sum) {
    const Expression& range = atom_ranges_[index(term.atom)];
    e.loops |= range.loops;
    e.has_loaded = e.has_loaded || range.has_loaded;
    const std::int64_t a = term.coefficient * range.low, b = term.coefficient * range.high;
    e.low += std::min(a, b);
    e.high += std::max(a, b);
  }
  terms_.insert(terms_.end(), sum.begin(), sum.end());
  const ExpressionIndex id = expression_ids_.add(hash);
  expressions_.push_back(e);
  return id;
}

ExpressionIndex IndexPool::constant(std::int64_t value) {
  if (value == 0) return kZero;
  Terms none;
  return intern(value, none);
}

ExpressionIndex IndexPool::loop(int number, std::int64_t size) {
  if (size == 1) return kZero;
  return remembered(Operation::loop, 0, number, size, [&] {
    return of_atom({.kind = Atom::Kind::loop, .base = 0, .a = number, .b = size});
  });
}

ExpressionIndex IndexPool::loaded(ExpressionIndex at, std::int64_t source, std::int64_t size) {
  return of_atom({.kind = Atom::Kind::loaded, .base = at, .a = source, .b = size});
}

ExpressionIndex IndexPool::add(ExpressionIndex a, ExpressionIndex b) {
  if (a == kZero) return b;
  if (b == kZero) return a;
  return remembered(Operation::add, a, b, 0, [&] {
    Terms sum(terms(a).begin(), terms(a).end());
    sum.insert(sum.end(), terms(b).begin(), terms(b).end());
    return intern(expressions_[index(a)].constant + expressions_[index(b)].constant, sum);
  });
}

ExpressionIndex IndexPool::multiply(ExpressionIndex a, std::int64_t factor) {
  if (factor == 1 || a == kZero) return a;
  if (factor == 0) return kZero;
  return remembered(Operation::multiply, a, factor, 0, [&] {
    Terms sum(terms(a).begin(), terms(a).end());
    for (Term& term : sum) term.coefficient *= factor;
    return intern(expressions_[index(a)].constant * factor, sum);
  });
}

IndexPool::Parts IndexPool::split(ExpressionIndex a, std::int64_t unit) const {
  Parts parts;
  const std::int64_t constant = expressions_[index(a)].constant;
  parts.rest_constant = constant - floor_div(constant, unit) * unit;
  parts.multiple_constant = constant - parts.rest_constant;
  for (const Term& term : terms(a))
    (term.coefficient % unit == 0 ? parts.multiple : parts.rest).push_back(term);
  return parts;
}

void IndexPool::drop_small(Terms& sum, std::int64_t& constant, std::int64_t divisor) const {
  // The terms with the smallest coefficients do not matter if their sum, plus the constant's
  // remainder, is at least 0 and less than a number that divides all other terms and the divisor.
  std::ranges::sort(sum, {}, &Term::coefficient);
  for (std::size_t small = sum.size(); small > 0; --small) {
    std::int64_t unit = divisor, low = 0, high = 0;
    for (std::size_t i = small; i < sum.size(); ++i) unit = std::gcd(unit, sum[i].coefficient);
    for (std::size_t i = 0; i < small; ++i) {
      const Expression& range = atom_ranges_[index(sum[i].atom)];
      low += std::min(sum[i].coefficient * range.low, sum[i].coefficient * range.high);
      high += std::max(sum[i].coefficient * range.low, sum[i].coefficient * range.high);
    }
    const std::int64_t remainder = constant - floor_div(constant, unit) * unit;
    if (low + remainder >= 0 && high + remainder < unit) {
      sum.erase(sum.begin(), sum.begin() + static_cast<std::ptrdiff_t>(small));
      constant -= remainder;
      return;
    }
  }
}

ExpressionIndex IndexPool::divide(ExpressionIndex a, std::int64_t divisor) {
  if (divisor == 1 || a == kZero) return a;
  return remembered(Operation::divide, a, divisor, 0,
                    [&] { return computed_quotient(a, divisor); });
}

ExpressionIndex IndexPool::reduced_rest(Parts& parts, std::int64_t& divisor) {
  std::int64_t unit = std::gcd(divisor, parts.rest_constant);
  for (const Term& term : parts.rest) unit = std::gcd(unit, term.coefficient);
  for (Term& term : parts.rest) term.coefficient /= unit;
  divisor /= unit;
  return intern(parts.rest_constant / unit, parts.rest);
}

ExpressionIndex IndexPool::computed_quotient(ExpressionIndex a, std::int64_t divisor) {
  Parts parts = split(a, divisor);
  for (Term& term : parts.multiple) term.coefficient /= divisor;
  const ExpressionIndex whole = intern(parts.multiple_constant / divisor, parts.multiple);
  drop_small(parts.rest, parts.rest_constant, divisor);
  if (parts.rest.empty()) return add(whole, constant(floor_div(parts.rest_constant, divisor)));
  const ExpressionIndex rest = reduced_rest(parts, divisor);
  const Expression range = expressions_[index(rest)];
  if (divisor == 1) return add(whole, rest);
  if (range.low >= 0 && range.high < divisor) return whole;
  if (range.count == 1 && range.constant == 0 && terms(rest)[0].coefficient == 1) {
    const Atom atom = atoms_[index(terms(rest)[0].atom)];
    if (atom.kind == Atom::Kind::division) return add(whole, divide(atom.base, atom.a * divisor));
    if (atom.kind == Atom::Kind::remainder && atom.b % divisor == 0)
      return add(whole, modular(atom.base, atom.a * divisor, atom.b / divisor));
  }
  return add(whole, of_atom({.kind = Atom::Kind::division, .base = rest, .a = divisor, .b = 0}));
}

ExpressionIndex IndexPool::modular(ExpressionIndex a, std::int64_t divisor, std::int64_t modulus) {
  if (modulus == 1) return kZero;
  return remembered(Operation::modular, a, divisor, modulus,
                    [&] { return computed_remainder(a, divisor, modulus); });
}

ExpressionIndex IndexPool::computed_remainder(ExpressionIndex a, std::int64_t divisor,
                                              std::int64_t modulus) {
  Parts parts = split(a, divisor * modulus);
  drop_small(parts.rest, parts.rest_constant, divisor);
  const ExpressionIndex rest = reduced_rest(parts, divisor);
  const Expression range = expressions_[index(rest)];
  if (range.low >= 0 && range.high < divisor * modulus) return divide(rest, divisor);
  // Nested quotients and remainders are joined: `x / a / d % m` is `x / (a * d) % m`.
  if (range.count == 1 && range.constant == 0 && terms(rest)[0].coefficient == 1) {
    const Atom atom = atoms_[index(terms(rest)[0].atom)];
    if (atom.kind == Atom::Kind::division) return modular(atom.base, atom.a * divisor, modulus);
    if (atom.kind == Atom::Kind::remainder && atom.b % (divisor * modulus) == 0)
      return modular(atom.base, atom.a * divisor, modulus);
  }
  if (const ExpressionIndex parted = remainder_by_parts(rest, divisor, modulus); parted >= 0)
    return parted;
  return of_atom({.kind = Atom::Kind::remainder, .base = rest, .a = divisor, .b = modulus});
}

// (unit * x + y) / d % m, with y from 0 to unit - 1, is unit / d * (x % (d * m / unit)) + y / d if
// d divides the unit and the unit divides d * m. Torch joins such terms before it knows the loops.
ExpressionIndex IndexPool::remainder_by_parts(ExpressionIndex a, std::int64_t divisor,
                                              std::int64_t modulus) {
  Terms sum(terms(a).begin(), terms(a).end());
  std::ranges::sort(sum, {}, &Term::coefficient);
  const std::int64_t offset = expressions_[index(a)].constant;
  for (std::size_t small = 1; small < sum.size(); ++small) {
    std::int64_t unit = 0, low = offset, high = offset;
    for (std::size_t i = small; i < sum.size(); ++i) unit = std::gcd(unit, sum[i].coefficient);
    for (std::size_t i = 0; i < small; ++i) {
      const Expression& range = atom_ranges_[index(sum[i].atom)];
      low += std::min(sum[i].coefficient * range.low, sum[i].coefficient * range.high);
      high += std::max(sum[i].coefficient * range.low, sum[i].coefficient * range.high);
    }
    if (low < 0 || high >= unit || unit % divisor != 0 || divisor * modulus % unit != 0) continue;
    const auto middle = sum.begin() + static_cast<std::ptrdiff_t>(small);
    Terms below(sum.begin(), middle), above(middle, sum.end());
    for (Term& term : above) term.coefficient /= unit;
    const ExpressionIndex outer = modular(intern(0, above), 1, divisor * modulus / unit);
    return add(multiply(outer, unit / divisor), divide(intern(offset, below), divisor));
  }
  return -1;
}

ExpressionIndex IndexPool::substitute(ExpressionIndex a, std::span<const ExpressionIndex> loops) {
  if (is_constant(a)) return a;
  std::size_t hash = mix(11, index(a));
  for (const ExpressionIndex each : loops) hash = mix(hash, index(each));
  const std::size_t at = (hash >> 32U) % kKnownSubstitutions;
  if (const KnownSubstitution& known = known_substitutions_[at];
      known.a == a && std::ranges::equal(known.loops, loops))
    return known.result;
  const ExpressionIndex result = computed_substitution(a, loops);
  KnownSubstitution& known = known_substitutions_[at];
  known.a = a;
  known.result = result;
  known.loops.assign(loops.begin(), loops.end());
  return result;
}

ExpressionIndex IndexPool::computed_substitution(ExpressionIndex a,
                                                 std::span<const ExpressionIndex> loops) {
  const Terms old(terms(a).begin(), terms(a).end());
  ExpressionIndex result = constant(expressions_[index(a)].constant);
  for (const Term& term : old) {
    const Atom atom = atoms_[index(term.atom)];
    ExpressionIndex value = kZero;
    switch (atom.kind) {
      case Atom::Kind::loop:
        value = loops[static_cast<std::size_t>(atom.a)];
        break;
      case Atom::Kind::division:
        value = divide(substitute(atom.base, loops), atom.a);
        break;
      case Atom::Kind::remainder:
        value = modular(substitute(atom.base, loops), atom.a, atom.b);
        break;
      case Atom::Kind::loaded:
        value = loaded(substitute(atom.base, loops), atom.a, atom.b);
    }
    result = add(result, multiply(value, term.coefficient));
  }
  return result;
}

std::int64_t IndexPool::evaluate_atom(std::int32_t id, int number) const {
  const Atom& atom = atoms_[index(id)];
  switch (atom.kind) {
    case Atom::Kind::loop:
      return atom.a == number ? 1 : 0;
    case Atom::Kind::division:
      return floor_div(evaluate(atom.base, number), atom.a);
    case Atom::Kind::remainder: {
      const std::int64_t quotient = floor_div(evaluate(atom.base, number), atom.a);
      return quotient - floor_div(quotient, atom.b) * atom.b;
    }
    case Atom::Kind::loaded:
      break;
  }
  return 0;
}

std::int64_t IndexPool::evaluate(ExpressionIndex a, int number) const {
  std::int64_t value = expressions_[index(a)].constant;
  for (const Term& term : terms(a)) value += term.coefficient * evaluate_atom(term.atom, number);
  return value;
}

std::int64_t IndexPool::stride(ExpressionIndex a, int number) const {
  if (number < 0) return evaluate(a, -1);
  const std::uint64_t bit = std::uint64_t{1} << std::min(number, kMaxLoopBit);
  std::int64_t difference = 0;
  for (const Term& term : terms(a)) {
    if ((atom_ranges_[index(term.atom)].loops & bit) == 0) continue;
    const std::int64_t step = atoms_[index(term.atom)].kind == Atom::Kind::loop
                                  ? evaluate_atom(term.atom, number)
                                  : evaluate_atom(term.atom, number) - evaluate_atom(term.atom, -1);
    difference += term.coefficient * step;
  }
  return difference;
}

Index IndexPool::to_index(ExpressionIndex a) const {
  Index result{.terms = {}, .offset = expressions_[index(a)].constant};
  for (const Term& term : terms(a)) {
    const Atom& atom = atoms_[index(term.atom)];
    IndexTerm made{.inner = {},
                   .inner_offset = 0,
                   .divisor = 1,
                   .modulus = 0,
                   .coefficient = term.coefficient};
    if (atom.kind == Atom::Kind::loop) {
      made.inner.push_back({static_cast<std::int16_t>(atom.a), 1});
    } else if (atom.kind == Atom::Kind::loaded) {
      made.inner.push_back({-1, term.atom});
    } else {
      made.divisor = atom.a;
      made.modulus = atom.b;
      made.inner_offset = expressions_[index(atom.base)].constant;
      for (const Term& part : terms(atom.base)) {
        const Atom& inner = atoms_[index(part.atom)];
        if (inner.kind == Atom::Kind::loop)
          made.inner.push_back({static_cast<std::int16_t>(inner.a), part.coefficient});
        else  // nested divisions have no form in an Index; the atom's number tells them apart
          made.inner.push_back({-1, part.atom});
      }
      std::ranges::sort(made.inner);
    }
    result.terms.push_back(std::move(made));
  }
  std::ranges::sort(result.terms);
  return result;
}

}  // namespace jointer::kernels
