#include "core/pass/pass_table.h"

#include "core/base/units.h"

namespace jointer {
namespace {

template <class... Cases>
struct Match : Cases... {
  using Cases::operator()...;
};
template <class... Cases>
Match(Cases...) -> Match<Cases...>;

std::string whole(std::int64_t number, PassTable::Unit unit) {
  return unit == PassTable::Unit::bytes         ? format_bytes(number)
         : unit == PassTable::Unit::nanoseconds ? format_ns(number)
                                                : format_count(number);
}

}  // namespace

std::string_view to_string(PassTable::Unit unit) {
  return unit == PassTable::Unit::bytes ? "B" : unit == PassTable::Unit::nanoseconds ? "ns" : "";
}

std::string cell_text(const PassTable::Cell& cell, PassTable::Unit unit) {
  return std::visit(Match{[](std::monostate) { return std::string(); },
                          [&](std::int64_t number) { return whole(number, unit); },
                          [](double number) { return format_significant(number); },
                          [](const std::string& text) { return text; }},
                    cell);
}

}  // namespace jointer
