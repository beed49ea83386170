#include "core/pass/pass_table.h"

#include <fmt/core.h>

#include <iterator>

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
  // The formatters expect non-negative amounts, but a difference may be negative.
  const bool negative = number < 0 && number != INT64_MIN;
  const std::int64_t amount = negative ? -number : number;
  const std::string text = unit == PassTable::Unit::bytes         ? format_bytes(amount)
                           : unit == PassTable::Unit::nanoseconds ? format_ns(amount)
                                                                  : format_count(amount);
  return negative ? "-" + text : text;
}

}  // namespace

std::string_view to_string(PassTable::Unit unit) {
  switch (unit) {
    case PassTable::Unit::bytes:
      return "B";
    case PassTable::Unit::nanoseconds:
      return "ns";
    case PassTable::Unit::text:
    case PassTable::Unit::count:
    case PassTable::Unit::number:
      break;
  }
  return "";
}

std::string cell_text(const PassTable::Cell& cell, PassTable::Unit unit) {
  return std::visit(Match{[](std::monostate) { return std::string(); },
                          [&](std::int64_t number) { return whole(number, unit); },
                          [](double number) { return format_significant(number); },
                          [](const std::string& text) { return text; }},
                    cell);
}

}  // namespace jointer
