#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace jointer {

// Pairs the elements of two sequences that were made by the same program, one of which may lack
// some. Elements are named by tokens; equal tokens may occur several times.
//
// Only pairs that the names and the order leave no choice about are made: tokens that occur equally
// often in both sequences, the first with the first and so on, wherever they are; and the same
// between two neighboring pairs that are in order. Others stay without a partner.
//
// Cost: O(n log n) for each level of pairs within pairs, of which there are few.
class CertainPairs {
 public:
  using Pair = std::pair<std::uint32_t, std::uint32_t>;  // index in a, index in b
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  CertainPairs(std::size_t a, std::size_t b) : of_a_(a, kNone), of_b_(b, kNone) {}

  // Pairs the elements that have no partner yet by other names. `a` and `b` have a token for each
  // element; 0 is never paired.
  void add(std::span<const std::uint32_t> a, std::span<const std::uint32_t> b);
  // Makes a pair. Neither element may have a partner.
  void add(std::uint32_t a, std::uint32_t b);

  // The partners, by element of `a` and of `b`, or kNone.
  [[nodiscard]] const std::vector<std::uint32_t>& of_a() const { return of_a_; }
  [[nodiscard]] const std::vector<std::uint32_t>& of_b() const { return of_b_; }

  // The longest list of pairs that are in the same order in both sequences.
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
