// Parses with simdjson and builds the tree from the result, because nlohmann's parser searches all
// earlier members whenever it adds one. If simdjson rejects a text, nlohmann's parser decides
// whether it is valid and where it is damaged.

#include "core/base/json_text.h"

#include <simdjson.h>

#include <nlohmann/json.hpp>
#include <unordered_map>

namespace jointer {
namespace {

namespace dom = simdjson::dom;

OrderedJson tree_of(const dom::element& element);

OrderedJson tree_of(const dom::array& array) {
  OrderedJson::array_t list;
  list.reserve(array.size());
  for (const dom::element each : array) list.push_back(tree_of(each));
  return list;
}

OrderedJson tree_of(const dom::object& object) {
  // Objects with more members than this get an index of names; in smaller ones, a search is fast.
  constexpr std::size_t kFew = 24;
  const bool is_large = object.size() > kFew;
  std::unordered_map<std::string_view, std::size_t> index;
  OrderedJson::object_t members;
  members.reserve(object.size());
  // The position of the member with this name, or the number of members if the name is new.
  const auto place_of = [&](std::string_view key) {
    if (is_large) return index.emplace(key, members.size()).first->second;
    std::size_t i = 0;
    while (i < members.size() && members.data()[i].first != key) ++i;
    return i;
  };
  for (const dom::key_value_pair field : object) {
    OrderedJson value = tree_of(field.value);
    if (const std::size_t i = place_of(field.key); i < members.size())
      members.data()[i].second = std::move(value);
    else
      members.emplace_back(std::string(field.key), std::move(value));
  }
  return members;
}

OrderedJson tree_of(const dom::element& element) {
  switch (element.type()) {
    case dom::element_type::ARRAY:
      return tree_of(dom::array(element));
    case dom::element_type::OBJECT:
      return tree_of(dom::object(element));
    case dom::element_type::INT64: {
      // Like nlohmann's parser, distinguishes signed from unsigned numbers (is_number_unsigned).
      const std::int64_t number(element);
      return number < 0 ? OrderedJson(number) : OrderedJson(static_cast<std::uint64_t>(number));
    }
    case dom::element_type::UINT64:
      return std::uint64_t(element);
    case dom::element_type::DOUBLE:
      return double(element);
    case dom::element_type::STRING:
      return std::string(std::string_view(element));
    case dom::element_type::BOOL:
      return bool(element);
    case dom::element_type::NULL_VALUE:
      break;
  }
  return nullptr;
}

struct TooDeep {};

// Returns the result of nlohmann's parser for a text that simdjson rejects.
tl::expected<OrderedJson, JsonDamage> parse_slowly(std::string_view text) {
  // Checks the depth and discards every value, so that no tree is built.
  const auto watch = [](int depth, OrderedJson::parse_event_t, const OrderedJson&) {
    if (depth > static_cast<int>(kMaxJsonDepth)) throw TooDeep{};
    return false;
  };
  try {
    const OrderedJson checked = OrderedJson::parse(text.begin(), text.end(), watch);
    return OrderedJson::parse(text.begin(), text.end());
  } catch (const TooDeep&) {
    return tl::unexpected(JsonDamage{.byte = 0, .is_too_deep = true});
  } catch (const OrderedJson::parse_error& error) {
    return tl::unexpected(JsonDamage{.byte = error.byte});
  } catch (const OrderedJson::exception&) {  // a number too large for any type
    return tl::unexpected(JsonDamage{});
  }
}

}  // namespace

tl::expected<OrderedJson, JsonDamage> parse_tree(std::string_view text) {
  dom::parser parser;
  dom::element document;
  if (parser.allocate(text.size(), kMaxJsonDepth) != simdjson::SUCCESS ||
      parser.parse(text.data(), text.size()).get(document) != simdjson::SUCCESS)
    return parse_slowly(text);
  return tree_of(document);
}

Result<OrderedJson> parse_json(std::string_view text, std::string_view name) {
  auto tree = parse_tree(text);
  if (tree) return *std::move(tree);
  if (tree.error().is_too_deep)
    return input_error("{}: nested more than {} levels deep", name, kMaxJsonDepth);
  if (tree.error().byte == 0) return input_error("{}: invalid JSON: a number is too large", name);
  return input_error("{}: invalid JSON near byte {}", name, tree.error().byte);
}

std::string write_json(const OrderedJson& json) {
  return json.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
}

std::string quoted_json(std::string_view text) {
  return write_json(std::string(text));
}

void keep_member(std::string& members, const std::string& key, const OrderedJson& value) {
  if (!members.empty()) members += ',';
  members += quoted_json(key) + ':' + write_json(value);
}

void add_members(OrderedJson& object, const std::string& members) {
  if (members.empty()) return;
  const auto parsed = parse_tree('{' + members + '}');
  if (!parsed || !parsed->is_object()) return;
  for (const auto& [key, value] : parsed->items())
    if (!object.contains(key)) object[key] = value;
}

}  // namespace jointer
