// Computes a longest common subsequence.
//
// Steps
//   0. Drop the elements that occur in only one of the sequences.
//   1. Pair up the common prefix and suffix; both belong to some longest common subsequence.
//   2. Halve what remains of `a`. The lengths of the longest common subsequences of the first half
//      and every prefix of `b`, and of the second half and every suffix, show where to split `b`.
//      Align each side separately (Hirschberg).
//   3. Compute those lengths 64 elements of `b` at a time: bit j of V is 0 where the length
//      increases from b[0..j) to b[0..j + 1). An element of `a` that occurs at the positions M of
//      `b` updates V to
//             V = (V + (V & M)) | (V & ~M).
//
// Cost: |a| |b| / 32 operations; memory for one bit row of `b` per distinct element of `a`, and two
// rows of lengths. Equal sequences take linear time. Sequences that exceed the limits below are
// matched greedily, with a short look-ahead.
//
// Source: D. S. Hirschberg, CACM 18(6), 1975; H. Hyyrö, "Bit-parallel LCS-length computation
// revisited", 2004.

#include "core/base/alignment.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace jointer {
namespace {

using Sequence = std::span<const std::uint32_t>;
using Pairs = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

constexpr std::size_t kMaxSteps = 1'000'000'000;
constexpr std::size_t kMaxWords = 16'000'000;

// A view of a sequence that reads it forwards or backwards.
struct View {
  Sequence items;
  bool backward;
  [[nodiscard]] std::uint32_t operator[](std::size_t i) const {
    return backward ? items[items.size() - 1 - i] : items[i];
  }
  [[nodiscard]] std::size_t size() const { return items.size(); }
};

// Element j of the result is the length of a longest common subsequence of `a` and b[0..j).
std::vector<std::uint32_t> lengths(View a, View b) {
  const std::size_t words = (b.size() + 63) / 64;
  // For each distinct element of `a`, a bit row that marks its positions in `b`.
  std::unordered_map<std::uint32_t, std::size_t> rows;
  for (std::size_t i = 0; i < a.size(); ++i) rows.emplace(a[i], rows.size());
  std::vector<std::uint64_t> places(rows.size() * words);
  for (std::size_t j = 0; j < b.size(); ++j)
    if (const auto row = rows.find(b[j]); row != rows.end())
      places[row->second * words + j / 64] |= std::uint64_t{1} << (j % 64);

  std::vector<std::uint64_t> v(words, ~std::uint64_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    const std::uint64_t* m = &places[rows.find(a[i])->second * words];
    std::uint64_t carry = 0;
    for (std::size_t w = 0; w < words; ++w) {
      const std::uint64_t u = v[w] & m[w];
      std::uint64_t sum = v[w] + u;
      const std::uint64_t first_carry = sum < u ? 1 : 0;
      sum += carry;
      carry = first_carry | (sum < carry ? 1 : 0);
      v[w] = sum | (v[w] & ~m[w]);
    }
  }
  std::vector<std::uint32_t> result(b.size() + 1);
  for (std::size_t j = 0; j < b.size(); ++j)
    result[j + 1] = result[j] + ((v[j / 64] >> (j % 64)) & 1 ? 0 : 1);
  return result;
}

std::size_t distinct(Sequence items) {
  return std::unordered_set<std::uint32_t>(items.begin(), items.end()).size();
}

// Matches greedily. Used for sequences that are too long for the exact algorithm.
void walk(Sequence a, std::uint32_t a0, Sequence b, std::uint32_t b0, Pairs& pairs) {
  constexpr std::size_t kAhead = 64;
  std::size_t i = 0;
  for (std::size_t j = 0; j < b.size() && i < a.size(); ++j) {
    const auto end = a.begin() + static_cast<std::ptrdiff_t>(std::min(a.size(), i + kAhead));
    const auto found = std::find(a.begin() + static_cast<std::ptrdiff_t>(i), end, b[j]);
    if (found == end) continue;
    i = static_cast<std::size_t>(found - a.begin());
    pairs.emplace_back(a0 + static_cast<std::uint32_t>(i), b0 + static_cast<std::uint32_t>(j));
    ++i;
  }
}

void align(Sequence a, std::uint32_t a0, Sequence b, std::uint32_t b0, Pairs& pairs) {
  while (!a.empty() && !b.empty() && a.front() == b.front()) {
    pairs.emplace_back(a0++, b0++);
    a = a.subspan(1);
    b = b.subspan(1);
  }
  std::size_t tail = 0;
  while (tail < std::min(a.size(), b.size()) && a[a.size() - 1 - tail] == b[b.size() - 1 - tail])
    ++tail;
  const auto a_end = a0 + static_cast<std::uint32_t>(a.size() - tail);
  const auto b_end = b0 + static_cast<std::uint32_t>(b.size() - tail);
  a = a.first(a.size() - tail);
  b = b.first(b.size() - tail);

  if (!a.empty() && !b.empty()) {
    const std::size_t words = (b.size() + 63) / 64;
    if (a.size() == 1) {
      if (const auto found = std::ranges::find(b, a.front()); found != b.end())
        pairs.emplace_back(a0, b0 + static_cast<std::uint32_t>(found - b.begin()));
    } else if (words > kMaxSteps / a.size() || words > kMaxWords / distinct(a)) {
      walk(a, a0, b, b0, pairs);
    } else {
      const std::size_t half = a.size() / 2;
      std::size_t cut = 0;
      {
        const auto before = lengths({a.first(half), false}, {b, false});
        const auto after = lengths({a.subspan(half), true}, {b, true});
        std::uint32_t best = 0;
        for (std::size_t j = 0; j <= b.size(); ++j)
          if (const std::uint32_t length = before[j] + after[b.size() - j]; length > best) {
            best = length;
            cut = j;
          }
        if (best == 0) a = {};
      }
      if (!a.empty()) {
        align(a.first(half), a0, b.first(cut), b0, pairs);
        align(a.subspan(half), a0 + static_cast<std::uint32_t>(half), b.subspan(cut),
              b0 + static_cast<std::uint32_t>(cut), pairs);
      }
    }
  }
  for (std::uint32_t i = 0; i < tail; ++i) pairs.emplace_back(a_end + i, b_end + i);
}

// The elements of `all` that also occur in `others`, with their positions.
struct Common {
  std::vector<std::uint32_t> items, at;
  Common(Sequence all, Sequence others) {
    const std::unordered_set<std::uint32_t> known(others.begin(), others.end());
    for (std::size_t i = 0; i < all.size(); ++i)
      if (known.contains(all[i])) {
        items.push_back(all[i]);
        at.push_back(static_cast<std::uint32_t>(i));
      }
  }
};

}  // namespace

Pairs align(std::span<const std::uint32_t> a, std::span<const std::uint32_t> b) {
  const Common from_a(a, b), from_b(b, a);
  Pairs pairs;
  align(from_a.items, 0, from_b.items, 0, pairs);
  for (auto& [i, j] : pairs) {
    i = from_a.at[i];
    j = from_b.at[j];
  }
  return pairs;
}

}  // namespace jointer
