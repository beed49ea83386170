#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace jointer {

// Pairs the elements of two sequences from the same program; one of them may lack some elements of
// the other. Elements are named by tokens; a token may occur several times.
//
// Makes a pair only if tokens and order leave no choice. If a token is equally frequent in both
// sequences, its occurrences are paired, the first with the first and so on. The same holds between
// two neighboring pairs that are in order, before the first such pair and after the last. All other
// elements have no partner.
//
// Cost: O(n log n) per round; each round searches the gaps between the pairs of all earlier ones.
// In practice, there are few rounds.
class CertainPairs {
 public:
  using Pair = std::pair<std::uint32_t, std::uint32_t>;  // index in a, index in b
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  CertainPairs(std::size_t a, std::size_t b) : of_a_(a, kNone), of_b_(b, kNone) {}

  // Pairs elements that have no partner yet; a second call can name them differently. `a` and `b`
  // have one token per element; 0 is never paired.
  void add(std::span<const std::uint32_t> a, std::span<const std::uint32_t> b);
  // Makes a pair. Neither element may have a partner.
  void add(std::uint32_t a, std::uint32_t b);

  // By element of `a` or of `b`: the index of its partner, or kNone.
  [[nodiscard]] const std::vector<std::uint32_t>& of_a() const { return of_a_; }
  [[nodiscard]] const std::vector<std::uint32_t>& of_b() const { return of_b_; }

  // A longest list of pairs that are in the same order in both sequences.
  [[nodiscard]] std::vector<Pair> in_order() const;

 private:
  struct Range {
    std::uint32_t begin = 0, end = 0;
  };
  bool add_within(std::span<const std::uint32_t> a, std::span<const std::uint32_t> b, Range in_a,
                  Range in_b);

  std::vector<std::uint32_t> of_a_, of_b_;
};

}  // namespace jointer
