#include "core/kernels/loop_index.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include "core/base/index.h"

namespace jointer::kernels {

namespace {

bool is_linear(const IndexTerm& term) {
  return term.divisor == 1 && term.modulus == 0;
}

// The coefficient of a loop within a term, or 0.
std::int64_t inner_coefficient(const IndexTerm& term, std::size_t loop) {
  for (const IndexTerm::Inner& inner : term.inner)
    if (inner.loop >= 0 && as_index(inner.loop) == loop) return inner.coefficient;
  return 0;
}

std::int64_t floor_divide(std::int64_t value, std::int64_t divisor) {
  const std::int64_t quotient = value / divisor;
  return value % divisor != 0 && (value < 0) != (divisor < 0) ? quotient - 1 : quotient;
}

std::int64_t term_value(const IndexTerm& term, std::int64_t inner) {
  const std::int64_t quotient = floor_divide(inner, term.divisor);
  const std::int64_t value =
      term.modulus == 0 ? quotient : quotient - floor_divide(quotient, term.modulus) * term.modulus;
  return value * term.coefficient;
}

// The value of a term at iteration 1 of a loop minus that at iteration 0, with other loops at 0.
std::int64_t term_stride(const IndexTerm& term, std::size_t loop) {
  const std::int64_t coefficient = inner_coefficient(term, loop);
  if (coefficient == 0) return 0;
  if (is_linear(term)) return coefficient * term.coefficient;
  return term_value(term, term.inner_offset + coefficient) - term_value(term, term.inner_offset);
}

// Adds up terms with the same inner part and sorts them, so that equal positions compare equal.
void sort_terms(Index& index) {
  SmallVector<IndexTerm, 3> kept;
  kept.reserve(index.terms.size());
  for (IndexTerm& term : index.terms) {
    std::sort(term.inner.begin(), term.inner.end());
    if (term.coefficient == 0) continue;
    if (is_linear(term) && term.inner.empty()) {
      index.offset += term.coefficient * term.inner_offset;
      continue;
    }
    if (is_linear(term) && term.inner.size() == 1 && term.inner[0].loop >= 0) {
      term.coefficient *= term.inner[0].coefficient;
      term.inner[0].coefficient = 1;
    }
    const auto same = std::find_if(kept.begin(), kept.end(), [&](const IndexTerm& other) {
      return other.inner == term.inner && other.inner_offset == term.inner_offset &&
             other.divisor == term.divisor && other.modulus == term.modulus;
    });
    if (same == kept.end())
      kept.push_back(std::move(term));
    else
      same->coefficient += term.coefficient;
  }
  erase_if(kept, [](const IndexTerm& term) { return term.coefficient == 0; });
  std::sort(kept.begin(), kept.end());
  index.terms = std::move(kept);
}

// Adds a term to the index, or its value if it depends on no loop.
void add_term(Index& index, IndexTerm term) {
  if (term.inner.empty())
    index.offset += term_value(term, term.inner_offset);
  else
    index.terms.push_back(std::move(term));
}

// The index with loop i renamed to `renamed[i]`, or at iteration 0 if that is -1.
Index rename_loops(const Index& index, std::span<const std::int16_t> renamed) {
  Index result{{}, index.offset};
  result.terms.reserve(index.terms.size());
  for (const IndexTerm& term : index.terms) {
    IndexTerm copy = term;
    copy.inner.clear();
    for (IndexTerm::Inner inner : term.inner) {
      if (inner.loop >= 0) {
        inner.loop = renamed[as_index(inner.loop)];
        if (inner.loop < 0) continue;
      }
      copy.inner.push_back(inner);
    }
    add_term(result, std::move(copy));
  }
  sort_terms(result);
  return result;
}

// Merges loops, innermost first, until `merges(inner, outer)` is true for no two of them. A loop
// that was merged into another has the size 0.
template <class Merges>
void merge_while(const Merges& merges, Sizes& sizes) {
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = sizes.size(); i-- > 0;)
      for (std::size_t j = sizes.size(); j-- > 0;) {
        if (i == j || sizes[i] == 0 || sizes[j] == 0 || !merges(i, j)) continue;
        sizes[i] *= sizes[j];
        sizes[j] = 0;
        changed = true;
      }
  }
}

// `sizes` with merged loops. A loop that was merged into another, or has one iteration, has the
// size 0.
Sizes merged_sizes(const Index& index, std::span<const std::int64_t> sizes) {
  const std::size_t count = sizes.size();
  Sizes result(sizes.begin(), sizes.end());
  const Sizes strides = strides_of(index, count);
  Sizes contiguous(count, 1);
  for (std::size_t i = count; i-- > 1;) contiguous[i - 1] = contiguous[i] * sizes[i];
  for (std::int64_t& size : result)
    if (size == 1) size = 0;
  const auto merges = [&](std::size_t inner, std::size_t outer) {
    if (contiguous[inner] * result[inner] != contiguous[outer]) return false;
    if (strides[inner] * result[inner] != strides[outer]) return false;
    return std::all_of(index.terms.begin(), index.terms.end(), [&](const IndexTerm& term) {
      return is_linear(term) ||
             inner_coefficient(term, inner) * result[inner] == inner_coefficient(term, outer);
    });
  };
  merge_while(merges, result);
  return result;
}

NestedIndex merge(const Index& index, std::span<const std::int64_t> sizes) {
  const Sizes merged = merged_sizes(index, sizes);
  SmallVector<std::int16_t, 8> renamed(sizes.size(), -1);
  NestedIndex result;
  for (std::size_t i = 0; i < merged.size(); ++i)
    if (merged[i] != 0) {
      renamed[i] = static_cast<std::int16_t>(result.sizes.size());
      result.sizes.push_back(merged[i]);
    }
  result.index = rename_loops(index, renamed);
  return result;
}

}  // namespace

bool is_indirect(const Index& index) {
  for (const IndexTerm& term : index.terms)
    for (const IndexTerm::Inner& inner : term.inner)
      if (inner.loop < 0) return true;
  return false;
}

bool uses_loop(const Index& index, std::size_t loop) {
  return std::any_of(index.terms.begin(), index.terms.end(),
                     [&](const IndexTerm& term) { return inner_coefficient(term, loop) != 0; });
}

std::int64_t position_count(const Index& index, std::span<const std::int64_t> sizes) {
  std::int64_t count = 1;
  for (std::size_t loop = 0; loop < sizes.size(); ++loop)
    if (uses_loop(index, loop)) count *= sizes[loop];
  return count;
}

Sizes strides_of(const Index& index, std::size_t loops) {
  Sizes strides(loops, 0);
  for (const IndexTerm& term : index.terms)
    for (const IndexTerm::Inner& inner : term.inner)
      if (inner.loop >= 0 && as_index(inner.loop) < loops)
        strides[as_index(inner.loop)] += term_stride(term, as_index(inner.loop));
  return strides;
}

std::int64_t stride_of(const Index& index, std::size_t loop) {
  std::int64_t stride = 0;
  for (const IndexTerm& term : index.terms) stride += term_stride(term, loop);
  return stride;
}

bool is_contiguous(const Index& index) {
  if (index.terms.empty()) return true;
  if (index.terms.size() != 1 || index.offset != 0) return false;
  const IndexTerm& term = index.terms.front();
  return is_linear(term) && term.coefficient == 1 && term.inner.size() == 1 &&
         term.inner[0].loop >= 0;
}

void drop_unused_loops(const Index& index, Sizes& sizes) {
  while (!sizes.empty() && !uses_loop(index, sizes.size() - 1)) sizes.pop_back();
}

NestedIndex merge_loops(const Index& index, std::span<const std::int64_t> sizes) {
  NestedIndex result = merge(index, sizes);
  drop_unused_loops(result.index, result.sizes);
  return result;
}

Sizes merge_together(std::span<const Index> positions, std::span<const std::size_t> loops,
                     std::span<const std::int64_t> sizes) {
  const std::size_t count = sizes.size();
  Sizes result(sizes.begin(), sizes.end());
  // Only neighbors merge, as if the nest also iterated over a dense tensor.
  Sizes dense(count, 1);
  for (std::size_t i = count; i-- > 1;) dense[i - 1] = dense[i] * sizes[i];
  for (std::int64_t& size : result)
    if (size == 1) size = 0;
  std::vector<Sizes> strides;
  for (const Index& position : positions) {
    Sizes& each = strides.emplace_back();
    for (const std::size_t loop : loops) {
      std::int64_t stride = 0;
      for (const IndexTerm& term : position.terms) stride += term_stride(term, loop);
      each.push_back(stride);
    }
  }
  const auto merges = [&](std::size_t inner, std::size_t outer) {
    if (dense[inner] * result[inner] != dense[outer]) return false;
    for (std::size_t k = 0; k < positions.size(); ++k) {
      if (strides[k][inner] * result[inner] != strides[k][outer]) return false;
      for (const IndexTerm& term : positions[k].terms)
        if (!is_linear(term) && inner_coefficient(term, loops[inner]) * result[inner] !=
                                    inner_coefficient(term, loops[outer]))
          return false;
    }
    return true;
  };
  merge_while(merges, result);
  return result;
}

NestedIndex merge_sorted_loops(const Index& index, std::span<const std::int64_t> sizes) {
  const Sizes strides = strides_of(index, sizes.size());
  SmallVector<std::size_t, 6> order(sizes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return strides[a] > strides[b]; });
  Sizes sorted;
  for (const std::size_t loop : order) sorted.push_back(sizes[loop]);
  return merge(reorder_loops(index, order), sorted);
}

std::optional<std::vector<std::size_t>> matching_order(const NestedIndex& index,
                                                       const NestedIndex& other) {
  const std::size_t count = index.sizes.size();
  if (count != other.sizes.size()) return std::nullopt;
  for (const NestedIndex* each : {&index, &other}) {
    if (is_indirect(each->index)) return std::nullopt;
    for (std::size_t loop = 0; loop < count; ++loop)
      if (!uses_loop(each->index, loop) || each->sizes[loop] <= 1) return std::nullopt;
  }
  const Sizes own = strides_of(index.index, count);
  const Sizes theirs = strides_of(other.index, count);
  if (std::set(own.begin(), own.end()).size() != count) return std::nullopt;
  if (std::set(own.begin(), own.end()) != std::set(theirs.begin(), theirs.end()))
    return std::nullopt;
  std::vector<std::size_t> order;
  for (const std::int64_t stride : theirs)
    order.push_back(as_index(std::find(own.begin(), own.end(), stride) - own.begin()));
  return order;
}

Index reorder_loops(const Index& index, std::span<const std::size_t> order) {
  std::size_t count = order.size();
  for (const IndexTerm& term : index.terms)
    for (const IndexTerm::Inner& inner : term.inner)
      if (inner.loop >= 0) count = std::max(count, as_index(inner.loop) + 1);
  SmallVector<std::int16_t, 8> renamed(count);
  std::iota(renamed.begin(), renamed.end(), std::int16_t{0});
  for (std::size_t i = 0; i < order.size(); ++i) renamed[order[i]] = static_cast<std::int16_t>(i);
  return rename_loops(index, renamed);
}

std::optional<Index> regroup_loops(const Index& index, std::span<const std::int64_t> sizes,
                                   std::int64_t outer, std::int64_t inner) {
  if (product(sizes) != outer * inner) return std::nullopt;
  // Loops of the new nest in terms of the old: pieces (old loop, factor, size), outermost first, in
  // two groups.
  struct Piece {
    std::size_t loop;
    std::int64_t factor, size;
  };
  std::vector<Piece> groups[2];
  std::int64_t rest = outer;
  for (std::size_t loop = 0; loop < sizes.size(); ++loop) {
    const std::int64_t size = sizes[loop];
    if (rest == 1) {
      groups[1].push_back({loop, 1, size});
    } else if (rest % size == 0) {
      groups[0].push_back({loop, 1, size});
      rest /= size;
    } else if (size % rest == 0) {
      groups[0].push_back({loop, size / rest, rest});
      groups[1].push_back({loop, 1, size / rest});
      rest = 1;
    } else {
      return std::nullopt;
    }
  }
  Index result{{}, index.offset};
  // Linear terms: runs of pieces that advance together become one term of the new loop. So does a
  // quotient whose divisor divides some pieces while the others together are less than it.
  Sizes linear(sizes.size(), 0);
  Sizes of_pieces[2] = {Sizes(groups[0].size(), 0), Sizes(groups[1].size(), 0)};
  const auto is_divided = [&](const IndexTerm& term) {
    if (term.modulus != 0 || term.divisor <= 1 || term.inner_offset < 0) return false;
    std::int64_t below = term.inner_offset;
    for (const IndexTerm::Inner& inner_loop : term.inner)
      if (inner_loop.loop < 0 || inner_loop.coefficient < 0) return false;
    for (const auto& pieces : groups)
      for (const Piece& piece : pieces) {
        const std::int64_t each = inner_coefficient(term, piece.loop) * piece.factor;
        if (each % term.divisor != 0) below += each * (piece.size - 1);
      }
    return below < term.divisor;
  };
  for (const IndexTerm& term : index.terms) {
    if (is_linear(term) && term.inner.size() == 1 && term.inner[0].loop >= 0) {
      linear[as_index(term.inner[0].loop)] += term.coefficient * term.inner[0].coefficient;
    } else if (is_divided(term)) {
      for (std::size_t group = 0; group < 2; ++group)
        for (std::size_t i = 0; i < groups[group].size(); ++i) {
          const Piece& piece = groups[group][i];
          const std::int64_t each = inner_coefficient(term, piece.loop) * piece.factor;
          if (each % term.divisor == 0)
            of_pieces[group][i] += each / term.divisor * term.coefficient;
        }
    }
  }
  for (std::int16_t group = 0; group < 2; ++group) {
    const std::vector<Piece>& pieces = groups[group];
    Sizes& advances = of_pieces[group];
    for (std::size_t i = 0; i < pieces.size(); ++i)
      advances[i] += linear[pieces[i].loop] * pieces[i].factor;
    std::int64_t divisor = 1;
    for (std::size_t last = pieces.size(); last > 0;) {
      std::size_t first = last - 1;
      const std::int64_t coefficient = advances[first];
      std::int64_t size = pieces[first].size;
      while (first > 0 && advances[first - 1] == coefficient * size) {
        --first;
        size *= pieces[first].size;
      }
      IndexTerm term{{{group, 1}}, 0, divisor, first == 0 ? 0 : size, coefficient};
      if (coefficient != 0) result.terms.push_back(std::move(term));
      divisor *= size;
      last = first;
    }
  }
  for (const IndexTerm& term : index.terms) {
    if (is_linear(term) && term.inner.size() == 1 && term.inner[0].loop >= 0) continue;
    if (is_divided(term)) continue;
    IndexTerm copy = term;
    erase_if(copy.inner, [](const IndexTerm::Inner& each) { return each.loop >= 0; });
    for (std::int16_t group = 0; group < 2; ++group) {
      const std::vector<Piece>& pieces = groups[group];
      std::int64_t expected = 0, coefficient = 0;
      for (std::size_t i = pieces.size(); i-- > 0;) {
        const std::int64_t each = inner_coefficient(term, pieces[i].loop) * pieces[i].factor;
        if (i + 1 == pieces.size())
          coefficient = each;
        else if (each != expected)
          return std::nullopt;
        expected = each * pieces[i].size;
      }
      if (coefficient != 0) copy.inner.push_back({group, coefficient});
    }
    add_term(result, std::move(copy));
  }
  sort_terms(result);
  return result;
}

bool split_into(std::span<const std::int64_t> sizes, std::int64_t outer, std::int64_t inner) {
  std::int64_t rest[2] = {outer, inner};
  std::size_t group = 0;
  const auto take = [&](std::size_t at, std::int64_t size) {
    if (at >= 2 || size == 0 || rest[at] % size != 0) return false;
    rest[at] /= size;
    return true;
  };
  for (const std::int64_t size : sizes) {
    if (size == 1) continue;
    while (group < 2 && rest[group] == 1) ++group;
    if (group == 0 && rest[0] != 0 && size / rest[0] > 1) {
      if (size % rest[0] != 0) return false;
      const std::int64_t first = rest[0];
      if (!take(0, first) || !take(1, size / first)) return false;
    } else if (!take(group, size)) {
      return false;
    }
  }
  return rest[0] == 1 && rest[1] == 1;
}

}  // namespace jointer::kernels
