#include "core/base/json_text.h"

namespace jointer {
namespace {

// A tree is written and deleted recursively, so its depth is limited.
constexpr int kMaxDepth = 200;

struct TooDeep {};

}  // namespace

Result<OrderedJson> parse_json(std::string_view text, std::string_view name) {
  const auto watch = [](int depth, OrderedJson::parse_event_t, const OrderedJson&) {
    if (depth > kMaxDepth) throw TooDeep{};
    return true;
  };
  try {
    return OrderedJson::parse(text.begin(), text.end(), watch);
  } catch (const TooDeep&) {
    return input_error("{}: nested more than {} deep", name, kMaxDepth);
  } catch (const OrderedJson::parse_error& error) {
    return input_error("{}: not JSON at byte {}", name, error.byte);
  } catch (const OrderedJson::exception&) {  // a number too large for any type
    return input_error("{}: not JSON", name);
  }
}

std::string write_json(const OrderedJson& json) {
  return json.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
}

void keep_member(std::string& members, const std::string& key, const OrderedJson& value) {
  if (!members.empty()) members += ',';
  members += write_json(OrderedJson(key)) + ':' + write_json(value);
}

void add_members(OrderedJson& object, const std::string& members) {
  if (members.empty()) return;
  const auto parsed = OrderedJson::parse('{' + members + '}', nullptr, false);
  if (!parsed.is_object()) return;
  for (const auto& [key, value] : parsed.items())
    if (!object.contains(key)) object[key] = value;
}

}  // namespace jointer
