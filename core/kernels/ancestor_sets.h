#pragma once

// The ancestors of scheduler nodes: for each node a set of ops.
//
// A set is a list of chunks of 512 bits, and sets share chunks. Most ops before a node are its
// ancestors, and also ancestors of the nodes before it. The union of two sets therefore differs
// from them in a few chunks only. A set takes four bytes for each 512 ops, and a new chunk 64
// bytes. A union costs one comparison for a chunk that both sets share, and more for the others.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/kernels/ir.h"

namespace jointer::kernels {

class AncestorSets {
 public:
  static constexpr std::size_t kWords = 8;  // per chunk
  using Chunk = std::array<std::uint64_t, kWords>;

  // The ops are numbered from 0 to `ops` - 1.
  explicit AncestorSets(std::size_t ops) : length_((ops + kBits - 1) / kBits), chunks_(1) {}

  // Sets the number of sets; new ones are empty.
  void resize(std::size_t sets) { lists_.resize(sets * length_, 0); }
  void reserve(std::size_t sets) { lists_.reserve(sets * length_); }

  [[nodiscard]] bool has(std::size_t set, OpId op) const {
    const auto bit = static_cast<std::size_t>(op);
    const Chunk& found = chunks_[lists_[set * length_ + bit / kBits]];
    return (found[bit % kBits / 64] >> (bit % 64) & 1U) != 0;
  }
  void add(std::size_t set, OpId op) {
    const auto bit = static_cast<std::size_t>(op);
    Chunk changed = chunks_[lists_[set * length_ + bit / kBits]];
    changed[bit % kBits / 64] |= std::uint64_t{1} << (bit % 64);
    replace(set * length_ + bit / kBits, changed);
  }
  // Adds the elements of another set.
  void unite(std::size_t set, std::size_t other);

  // The indices of a set's chunks. Equal indices mean equal chunks.
  [[nodiscard]] std::span<const std::uint32_t> list(std::size_t set) const {
    return std::span(lists_).subspan(set * length_, length_);
  }
  [[nodiscard]] const Chunk& chunk(std::uint32_t number) const { return chunks_[number]; }
  // The number of chunks in a set.
  [[nodiscard]] std::size_t length() const { return length_; }
  // Adds an op to a set that is stored elsewhere, as a list of chunks.
  static void set_bit(std::span<Chunk> chunks, OpId op) {
    const auto bit = static_cast<std::size_t>(op);
    chunks[bit / kBits][bit % kBits / 64] |= std::uint64_t{1} << (bit % 64);
  }

 private:
  static constexpr std::size_t kBits = kWords * 64;

  void replace(std::size_t place, const Chunk& changed);

  std::size_t length_ = 0;            // of a set, in chunks
  std::vector<std::uint32_t> lists_;  // by set: indices in chunks_
  std::vector<Chunk> chunks_;         // the first one is empty
};

}  // namespace jointer::kernels
