#include "views/theme/color_role.h"

#include <array>

namespace jointer::views {
namespace {

constexpr std::array<ColorRole, kMemoryCategories> kRolesOfCategories{
    ColorRole::parameter,  ColorRole::buffer,    ColorRole::input,           ColorRole::tangent,
    ColorRole::constant,   ColorRole::gradient,  ColorRole::optimizer_state, ColorRole::saved,
    ColorRole::recomputed, ColorRole::temporary, ColorRole::communication,   ColorRole::output};
constexpr std::array<ColorRole, kItemColors> kRolesOfItems{
    ColorRole::host,         ColorRole::matmul,     ColorRole::attention,
    ColorRole::memory_bound, ColorRole::other,      ColorRole::compiled,
    ColorRole::exposed,      ColorRole::all_gather, ColorRole::reduce_scatter,
    ColorRole::all_reduce,   ColorRole::all_to_all, ColorRole::broadcast};

}  // namespace

ColorRole role_of(MemoryCategory category) {
  return kRolesOfCategories[static_cast<std::size_t>(category)];
}

ColorRole role_of(ItemColor item) {
  return kRolesOfItems[static_cast<std::size_t>(item)];
}

ColorRole role_of(GroupId group) {
  constexpr std::size_t kFirst = static_cast<std::size_t>(ColorRole::group_1);
  constexpr std::size_t kCount = static_cast<std::size_t>(ColorRole::group_5) + 1 - kFirst;
  return static_cast<ColorRole>(kFirst + group.index() % kCount);
}

}  // namespace jointer::views
