#include "core/kernels/access_table.h"

#include <utility>

#include "core/base/index.h"
#include "core/kernels/loop_index.h"

namespace jointer::kernels {

namespace {

struct AccessHash {
  std::uint64_t value = 0xcbf29ce484222325U;
  void add(std::int64_t number) {
    value ^= static_cast<std::uint64_t>(number);
    value *= 0x9E3779B97F4A7C15U;
    value ^= value >> 29;
  }
};

std::uint64_t hash_of(const Access& access, AccessTable::Form form) {
  AccessHash hash;
  hash.add(access.buffer);
  hash.add(static_cast<int>(access.kind) * 8 + static_cast<int>(form) * 2 +
           (access.is_atomic ? 1 : 0));
  hash.add(access.mutating);
  hash.add(access.index.offset);
  for (const IndexTerm& term : access.index.terms) {
    hash.add(term.coefficient);
    hash.add(term.divisor * 31 + term.modulus);
    for (const IndexTerm::Inner& inner : term.inner) {
      hash.add(inner.loop);
      hash.add(inner.coefficient);
    }
  }
  for (const std::int64_t size : access.sizes) hash.add(size);
  return hash.value;
}

std::int64_t elements(const Access& access, bool is_indirect, std::span<const Buffer> buffers) {
  const auto of_buffer = [&] {
    return access.buffer < 0 ? 0 : buffers[as_index(access.buffer)].numel;
  };
  if (access.kind == Access::Kind::weak) return 1;
  if (access.kind == Access::Kind::star || is_indirect) return of_buffer();
  return position_count(access.index, access.sizes);
}

}  // namespace

bool AccessTable::equal(const Entry& entry, const Access& access, Form form) const {
  const Access& other = entry.access;
  return entry.form == form && other.buffer == access.buffer && other.kind == access.kind &&
         other.is_atomic == access.is_atomic && other.mutating == access.mutating &&
         other.keeps_alive == access.keeps_alive && other.sizes == access.sizes &&
         other.index == access.index;
}

AccessId AccessTable::add(const Access& access, Form form) {
  const std::uint64_t hash = hash_of(access, form);
  const AccessId found =
      ids_.find(hash, [&](AccessId id) { return equal(entries_[as_index(id)], access, form); });
  if (found >= 0) return found;
  Entry entry;
  entry.is_indirect = access.kind == Access::Kind::memory && is_indirect(access.index);
  entry.numel = elements(access, entry.is_indirect, buffers_);
  entry.form = form;
  entry.access = access;
  entries_.push_back(std::move(entry));
  return ids_.add(hash);
}

AccessId AccessTable::merged(AccessId id) {
  if (!is_memory(id)) return id;
  if ((*this)[id].merged >= 0) return (*this)[id].merged;
  Access copy = (*this)[id].access;
  NestedIndex nested = merge_loops(copy.index, copy.sizes);
  copy.index = std::move(nested.index);
  copy.sizes = std::move(nested.sizes);
  const AccessId result = add(copy, Form::merged);
  entries_[as_index(id)].merged = result;
  return result;
}

AccessId AccessTable::sorted(AccessId id) {
  if (!is_memory(id)) return id;
  if ((*this)[id].sorted >= 0) return (*this)[id].sorted;
  Access copy = (*this)[id].access;
  NestedIndex nested = merge_sorted_loops(copy.index, copy.sizes);
  copy.index = std::move(nested.index);
  copy.sizes = std::move(nested.sizes);
  copy.is_atomic = false;
  const AccessId result = add(copy, Form::sorted);
  entries_[as_index(id)].sorted = result;
  return result;
}

AccessId AccessTable::renamed(AccessId id, BufferId buffer) {
  if ((*this)[id].access.buffer == buffer) return id;
  Access copy = (*this)[id].access;
  const Form form = (*this)[id].form;
  copy.buffer = buffer;
  return add(copy, form);
}

}  // namespace jointer::kernels
