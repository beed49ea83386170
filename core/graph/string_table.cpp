#include "core/graph/string_table.h"

#include <functional>

namespace jointer {

StringTable::StringTable() : slots_(64, 0) {
  intern({});
}

std::string_view StringTable::operator[](StringId id) const {
  if (!id) return {};
  const std::size_t i = id.index();
  const std::size_t begin = i == 0 ? 0 : ends_[i - 1];
  return std::string_view(bytes_).substr(begin, ends_[i] - begin);
}

std::size_t StringTable::slot_of(std::string_view text, std::uint64_t hash) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = hash & mask;
  while (slots_[slot] != 0) {
    const std::uint32_t id = slots_[slot] - 1;
    if (hashes_[id] == static_cast<std::uint32_t>(hash) && (*this)[StringId(id)] == text) break;
    slot = (slot + 1) & mask;
  }
  return slot;
}

StringId StringTable::find(std::string_view text) const {
  const std::uint32_t entry = slots_[slot_of(text, std::hash<std::string_view>{}(text))];
  return entry == 0 ? StringId{} : StringId(entry - 1);
}

StringId StringTable::intern(std::string_view text) {
  const std::uint64_t hash = std::hash<std::string_view>{}(text);
  std::size_t slot = slot_of(text, hash);
  if (slots_[slot] != 0) return StringId(slots_[slot] - 1);
  if ((ends_.size() + 1) * 2 > slots_.size()) {
    grow(slots_.size() * 2);
    slot = slot_of(text, hash);
  }
  bytes_.append(text);
  ends_.push_back(bytes_.size());
  hashes_.push_back(static_cast<std::uint32_t>(hash));
  slots_[slot] = static_cast<std::uint32_t>(ends_.size());
  return StringId(ends_.size() - 1);
}

void StringTable::reserve(std::size_t strings, std::size_t bytes) {
  bytes_.reserve(bytes);
  ends_.reserve(strings);
  hashes_.reserve(strings);
  std::size_t slots = slots_.size();
  while (slots < strings * 2) slots *= 2;
  if (slots > slots_.size()) grow(slots);
}

void StringTable::grow(std::size_t slots) {
  slots_.assign(slots, 0);
  const std::size_t mask = slots - 1;
  for (std::uint32_t id = 0; id < ends_.size(); ++id) {
    std::size_t slot = hashes_[id] & mask;
    while (slots_[slot] != 0) slot = (slot + 1) & mask;
    slots_[slot] = id + 1;
  }
}

}  // namespace jointer
