#pragma once

// The distinct accesses of all ops. Equal accesses have equal ids, so two kernels share data if
// they have an id in common.
//
// An access has a form: as the op makes it, with merged loops, or with sorted and merged loops.
// Accesses of different forms are never equal, as in Inductor, which names the loop variables of
// each form differently (d0, c0, t0).
//
// Source: torch._inductor.dependencies (`MemoryDep`, `StarDep`, `WeakDep`).

#include <cstdint>
#include <span>
#include <vector>

#include "core/kernels/id_table.h"
#include "core/kernels/ir.h"

namespace jointer::kernels {

using AccessId = std::int32_t;
using AccessIds = SmallVector<AccessId, 4>;

class AccessTable {
 public:
  enum class Form : std::uint8_t { as_is, merged, sorted };
  struct Entry {
    Access access;
    Form form = Form::as_is;
    bool is_indirect = false;
    // Number of elements accessed: all of the buffer's for a star or an indirect access, 1 for a
    // weak one.
    std::int64_t numel = 0;
    AccessId merged = -1, sorted = -1;  // the other forms; -1 until requested
  };

  explicit AccessTable(std::span<const Buffer> buffers) : buffers_(buffers) {}

  AccessId add(const Access& access, Form form = Form::as_is);
  void reserve(std::size_t count) { entries_.reserve(count); }
  [[nodiscard]] const Entry& operator[](AccessId id) const {
    return entries_[static_cast<std::size_t>(id)];
  }
  [[nodiscard]] BufferId buffer(AccessId id) const { return (*this)[id].access.buffer; }
  [[nodiscard]] bool is_memory(AccessId id) const {
    return (*this)[id].access.kind == Access::Kind::memory;
  }
  [[nodiscard]] bool is_weak(AccessId id) const {
    return (*this)[id].access.kind == Access::Kind::weak;
  }
  [[nodiscard]] std::size_t size() const { return entries_.size(); }

  // The access with merged loops (`normalize`), and with sorted and merged loops
  // (`normalize_with_stride_order`), which is never atomic. Accesses of kinds other than `memory`
  // have only one form.
  AccessId merged(AccessId id);
  AccessId sorted(AccessId id);
  // The same access to another buffer.
  AccessId renamed(AccessId id, BufferId buffer);

 private:
  [[nodiscard]] bool equal(const Entry& entry, const Access& access, Form form) const;

  std::span<const Buffer> buffers_;
  std::vector<Entry> entries_;
  IdTable ids_;
};

}  // namespace jointer::kernels
