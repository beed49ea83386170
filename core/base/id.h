#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>

namespace jointer {

// A dense 32-bit index with its own type, so that indices of different kinds cannot be mixed
// up. A default-constructed id means "none" and converts to false. Names are labels for the user;
// code looks things up by id.
template <class Tag>
class Id {
 public:
  constexpr Id() = default;
  constexpr explicit Id(std::size_t index) : value_(static_cast<std::uint32_t>(index)) {}

  constexpr explicit operator bool() const { return value_ != kNone; }
  [[nodiscard]] constexpr std::size_t index() const { return value_; }
  [[nodiscard]] constexpr std::uint32_t value() const { return value_; }
  friend constexpr auto operator<=>(Id, Id) = default;

 private:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  std::uint32_t value_ = kNone;
};

using NodeId = Id<struct NodeTag>;
using TensorId = Id<struct TensorTag>;
using StorageId = Id<struct StorageTag>;
using GroupId = Id<struct GroupTag>;
using PartId = Id<struct PartTag>;
using StringId = Id<struct StringTag>;
using ModuleStackId = Id<struct ModuleStackTag>;
using ModuleId = Id<struct ModuleTag>;
using StackId = Id<struct StackTag>;
using ExpressionId = Id<struct ExpressionTag>;
using OperatorId = Id<struct OperatorIdTag>;

// The parts of a pair.
inline constexpr PartId kForwardPart{0}, kBackwardPart{1};

}  // namespace jointer

template <class Tag>
struct std::hash<jointer::Id<Tag>> {
  std::size_t operator()(jointer::Id<Tag> id) const noexcept { return id.index(); }
};
