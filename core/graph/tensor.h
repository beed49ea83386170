#pragma once

// Tensors, and the storages that they are views of. Memory is counted by storage: storages are
// allocated; tensors are only views of them.

#include <cstdint>

#include "core/base/id.h"
#include "core/graph/dtype.h"

namespace jointer {

// A size, stride or offset: its current value and, if there is one, its symbolic expression.
struct Dim {
  std::int64_t value = 0;
  ExpressionId expression;

  friend bool operator==(const Dim&, const Dim&) = default;
};

enum class DeviceType : std::uint8_t { cpu, cuda, meta, other };

struct Device {
  StringId name;  // "cuda:0"
  DeviceType type = DeviceType::other;
};
using DeviceId = Id<struct DeviceTag>;

struct Tensor {
  enum Flag : std::uint16_t {
    has_stride = 1 << 0,
    has_offset = 1 << 1,
    has_requires_grad = 1 << 2,
    requires_grad = 1 << 3,
    has_conj = 1 << 4,
    conj = 1 << 5,
    has_neg = 1 << 6,
    neg = 1 << 7,
    has_storage = 1 << 8,
  };

  std::uint32_t dims = 0;  // index into Graph's dims: `rank` sizes, `rank` strides, offset
  std::uint16_t flags = 0;
  std::uint8_t rank = 0;
  DType dtype = DType::float32;
  DeviceId device;
  StorageId storage;
  StringId extra;  // JSON members unknown to this version; written back

  [[nodiscard]] bool has(Flag flag) const { return (flags & flag) != 0; }
  void set(Flag flag, bool on = true) {
    flags = static_cast<std::uint16_t>(on ? flags | flag : flags & ~flag);
  }
};

struct Storage {
  Dim bytes;
  DeviceId device;  // of the first tensor in it, or none
  PartId part;
};

}  // namespace jointer
