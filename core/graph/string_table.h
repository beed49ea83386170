#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/id.h"

namespace jointer {

// Stores each string once, under a dense id. All bytes are in one buffer and the index is a flat
// table of ids, so copying a graph copies only a few arrays. Views stay valid until the next
// `intern` or `reserve`.
class StringTable {
 public:
  StringTable();

  StringId intern(std::string_view text);
  // The id of a text; none if it is not in the table.
  [[nodiscard]] StringId find(std::string_view text) const;
  [[nodiscard]] std::string_view operator[](StringId id) const;
  [[nodiscard]] std::size_t size() const { return ends_.size(); }
  void reserve(std::size_t strings, std::size_t bytes);

 private:
  [[nodiscard]] std::size_t slot_of(std::string_view text, std::uint64_t hash) const;
  void grow(std::size_t slots);

  std::string bytes_;
  std::vector<std::size_t> ends_;      // by id: end of the text, where the next text starts
  std::vector<std::uint32_t> hashes_;  // by id
  std::vector<std::uint32_t> slots_;   // open addressing: id + 1, or 0 if empty; power-of-two size
};

}  // namespace jointer
