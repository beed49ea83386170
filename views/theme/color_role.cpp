#include "views/theme/color_role.h"

namespace jointer::views {

ColorRole role_of(MemoryCategory category) {
  switch (category) {
    case MemoryCategory::parameter:
      return ColorRole::parameter;
    case MemoryCategory::buffer:
      return ColorRole::buffer;
    case MemoryCategory::input:
      return ColorRole::input;
    case MemoryCategory::constant:
      return ColorRole::constant;
    case MemoryCategory::optimizer_state:
      return ColorRole::optimizer_state;
    case MemoryCategory::tangent:
      return ColorRole::tangent;
    case MemoryCategory::gradient:
      return ColorRole::gradient;
    case MemoryCategory::saved_activation:
      return ColorRole::saved;
    case MemoryCategory::recomputed:
      return ColorRole::recomputed;
    case MemoryCategory::temporary:
      return ColorRole::temporary;
    case MemoryCategory::communication:
      return ColorRole::communication;
    case MemoryCategory::output:
      return ColorRole::output;
  }
  return ColorRole::temporary;
}

ColorRole role_of(ItemColor item) {
  switch (item) {
    case ItemColor::host:
      return ColorRole::host;
    case ItemColor::matmul:
      return ColorRole::matmul;
    case ItemColor::attention:
      return ColorRole::attention;
    case ItemColor::memory:
      return ColorRole::memory_bound;
    case ItemColor::other:
      return ColorRole::other;
    case ItemColor::compiled:
      return ColorRole::compiled;
    case ItemColor::stall:
      return ColorRole::exposed;
    case ItemColor::all_gather:
      return ColorRole::all_gather;
    case ItemColor::reduce_scatter:
      return ColorRole::reduce_scatter;
    case ItemColor::all_reduce:
      return ColorRole::all_reduce;
    case ItemColor::all_to_all:
      return ColorRole::all_to_all;
    case ItemColor::broadcast:
      return ColorRole::broadcast;
  }
  return ColorRole::other;
}

ColorRole role_of(GroupId group) {
  constexpr std::size_t kFirst = static_cast<std::size_t>(ColorRole::group_1);
  constexpr std::size_t kCount = static_cast<std::size_t>(ColorRole::group_5) + 1 - kFirst;
  return static_cast<ColorRole>(kFirst + group.index() % kCount);
}

}  // namespace jointer::views
