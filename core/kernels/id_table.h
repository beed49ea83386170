#pragma once

// Finds ids by the hashes of their values. Ids are 0, 1, ...; the owner stores the values.
// Used for interning, where a hash table that allocates every entry separately is too slow.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/kernels/slot.h"

namespace jointer::kernels {

class IdTable {
 public:
  // The id with this hash for which `is_equal(id)` holds, or -1.
  template <class IsEqual>
  [[nodiscard]] std::int32_t find(std::size_t hash, IsEqual is_equal) const {
    if (slots_.empty()) return -1;
    for (std::size_t at = first(hash);; at = (at + 1) & mask()) {
      const std::int32_t id = slots_[at];
      if (id < 0 || (hashes_[slot(id)] == hash && is_equal(id))) return id;
    }
  }
  // Adds the next id and returns it.
  std::int32_t add(std::size_t hash) {
    const auto id = static_cast<std::int32_t>(hashes_.size());
    hashes_.push_back(hash);
    if (hashes_.size() * 2 <= slots_.size()) {
      place(id);
    } else {
      slots_.assign(std::max(kFirstSize, slots_.size() * 2), -1);
      for (std::int32_t each = 0; each <= id; ++each) place(each);
    }
    return id;
  }

 private:
  static constexpr std::size_t kFirstSize = 256;

  [[nodiscard]] std::size_t mask() const { return slots_.size() - 1; }
  // The low bits of a product are mixed least.
  [[nodiscard]] std::size_t first(std::size_t hash) const { return (hash >> 24U) & mask(); }
  void place(std::int32_t id) {
    std::size_t at = first(hashes_[slot(id)]);
    while (slots_[at] >= 0) at = (at + 1) & mask();
    slots_[at] = id;
  }

  std::vector<std::int32_t> slots_;  // -1: empty; the size is a power of two, at most half are used
  std::vector<std::size_t> hashes_;  // by id
};

}  // namespace jointer::kernels
