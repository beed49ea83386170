#include "core/ops/operator_table.h"

#include <algorithm>
#include <array>
#include <optional>

#include "core/base/take_part.h"
#include "core/base/torch_version.h"
#include "core/base/trimmed.h"
#include "embedded/jointer_operator_table.h"

namespace jointer {
namespace {

struct Line {
  std::string_view name, tags, schema;
};

Line split_line(std::string_view text) {
  const auto first = text.find('\t');
  const auto second = text.find('\t', first + 1);
  return {text.substr(0, first), text.substr(first + 1, second - first - 1),
          text.substr(second + 1)};
}

// The rows of the table, without the header.
std::string_view table_body() {
  const std::string_view table = embedded::operators();
  return table.substr(table.find('\n') + 1);
}

// The byte offset of the first row whose name is not less than `name`. A binary search over the
// sorted text; if the middle is inside a row, moves back to the start of that row.
std::size_t lower_bound_line(std::string_view body, std::string_view name) {
  std::size_t low = 0, high = body.size();
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    const std::size_t newline = body.rfind('\n', middle == 0 ? 0 : middle - 1);
    std::size_t start = newline == std::string_view::npos ? 0 : newline + 1;
    if (start < low) start = low;
    const std::size_t end = body.find('\n', start);
    const Line line = split_line(body.substr(start, end - start));
    if (line.name < name)
      low = end + 1;
    else
      high = start;
  }
  return low;
}

std::optional<Line> line_at(std::string_view body, std::size_t offset) {
  if (offset >= body.size()) return std::nullopt;
  return split_line(body.substr(offset, body.find('\n', offset) - offset));
}

// The row of `name` for a torch version. A row `name@2.11` is valid up to that version; the first
// such row that covers `version` is used, or else the row of the newest torch. If the newest torch
// does not register the operator, the last row is used.
std::optional<Line> find_line(std::string_view name, std::string_view version) {
  const std::string_view body = table_body();
  const auto asked = parse_torch_version(version);
  std::optional<Line> newest = line_at(body, lower_bound_line(body, name));
  if (newest && newest->name != name) newest.reset();
  if (newest && !asked) return newest;
  const std::string prefix = std::string(name) + '@';
  std::optional<Line> oldest_fit, last;
  TorchVersion fits_until, lasts_until;
  for (std::size_t at = lower_bound_line(body, prefix);;) {
    const auto line = line_at(body, at);
    if (!line || !line->name.starts_with(prefix)) break;
    at = body.find('\n', at) + 1;
    const auto until = parse_torch_version(line->name.substr(prefix.size()));
    if (!until) continue;
    if (asked && *until >= *asked && (!oldest_fit || *until < fits_until)) {
      oldest_fit = line;
      fits_until = *until;
    }
    if (!last || *until > lasts_until) {
      last = line;
      lasts_until = *until;
    }
  }
  if (oldest_fit) return oldest_fit;
  return newest ? newest : last;
}

std::uint32_t parse_tags(std::string_view text) {
  static constexpr std::array<std::pair<std::string_view, OperatorTag>, 16> kNames{{
      {"pointwise", OperatorTag::pointwise},
      {"reduction", OperatorTag::reduction},
      {"random", OperatorTag::random},
      {"view_copy", OperatorTag::view_copy},
      {"inplace_view", OperatorTag::inplace_view},
      {"data_dependent", OperatorTag::data_dependent},
      {"dynamic_shape", OperatorTag::dynamic_shape},
      {"alias", OperatorTag::silent_alias},
      {"higher_order", OperatorTag::higher_order},
      {"python", OperatorTag::python},
      {"recomputable", OperatorTag::recomputable},
      {"fusible", OperatorTag::fusible},
      {"compute_intensive", OperatorTag::compute_intensive},
      {"cheap_view", OperatorTag::cheap_view},
      {"impure", OperatorTag::impure},
      {"unmerged", OperatorTag::unmerged},
  }};
  std::uint32_t tags = 0;
  while (!text.empty()) {
    const std::string_view word = take_part(text, ',');
    for (const auto& [name, tag] : kNames)
      if (name == word) tags |= static_cast<std::uint32_t>(tag);
  }
  return tags;
}

// Calls `visit` with each item of a comma-separated list. Commas inside brackets and quotes do not
// separate items.
template <class Visit>
void for_each_item(std::string_view list, Visit visit) {
  int depth = 0;
  char quote = 0;
  std::size_t start = 0;
  for (std::size_t i = 0; i <= list.size(); ++i) {
    const char c = i < list.size() ? list[i] : ',';
    if (quote != 0) {
      if (c == quote) quote = 0;
      continue;
    }
    if (c == '\'' || c == '"') quote = c;
    if (c == '(' || c == '[') ++depth;
    if (c == ')' || c == ']') --depth;
    if (c != ',' || depth != 0) continue;
    if (const auto item = trimmed(list.substr(start, i - start)); !item.empty()) visit(item);
    start = i + 1;
  }
}

struct TypedAlias {
  std::string_view type;
  char set = 0;
  bool writes = false;
};

// Splits a type from its alias annotation. For "Tensor(a!)[]", the alias set is a, which is written
// to, and the type is "Tensor[]". In torch, only tensors have such an annotation.
TypedAlias parse_type(std::string_view text) {
  TypedAlias result{.type = text};
  const auto open = text.find('(');
  if (open == std::string_view::npos) return result;
  const auto close = text.find(')', open);
  const std::string_view annotation = text.substr(open + 1, close - open - 1);
  result.set = annotation.empty() ? '\0' : annotation.front();
  result.writes = annotation.find('!') != std::string_view::npos;
  result.type = text.substr(0, open);
  if (result.type == "Tensor") {
    const std::string_view suffix = text.substr(std::min(close, text.size() - 1) + 1);
    if (suffix == "[]") result.type = "Tensor[]";
    if (suffix == "?") result.type = "Tensor?";
  }
  return result;
}

SchemaArgument parse_argument(std::string_view item, bool keyword_only) {
  // The format is TYPE NAME[=DEFAULT]; the type contains spaces only in its alias annotation.
  int depth = 0;
  std::size_t space = 0;
  while (space < item.size() && (depth > 0 || item[space] != ' ')) {
    if (item[space] == '(') ++depth;
    if (item[space] == ')') --depth;
    ++space;
  }
  const TypedAlias type = parse_type(item.substr(0, space));
  std::string_view name = trimmed(item.substr(std::min(space, item.size())));
  std::string_view value;
  if (const auto equals = name.find('='); equals != std::string_view::npos) {
    value = name.substr(equals + 1);
    name = name.substr(0, equals);
  }
  return {.name = name,
          .type = type.type,
          .default_value = value,
          .alias_set = type.set,
          .writes = type.writes,
          .keyword_only = keyword_only};
}

std::size_t matching_parenthesis(std::string_view text) {
  int depth = 0;
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '\'' || c == '"') {
      quote = c;
    } else if (c == '(') {
      ++depth;
    } else if (c == ')' && --depth == 0) {
      return i;
    }
  }
  return text.size();
}

bool is_schema(std::string_view text) {
  if (text.empty() || text.front() != '(') return false;
  const std::size_t close = matching_parenthesis(text);
  return close < text.size() && text.find("->", close) != std::string_view::npos;
}

void parse_schema(std::string_view schema, OperatorInfo& info) {
  info.has_schema = true;
  info.arguments.clear();
  info.returns.clear();
  const std::size_t close = matching_parenthesis(schema);
  bool keyword_only = false;
  for_each_item(schema.substr(1, close - 1), [&](std::string_view item) {
    if (item == "*") {
      keyword_only = true;
    } else {
      info.arguments.push_back(parse_argument(item, keyword_only));
    }
  });
  std::string_view returns = trimmed(schema.substr(schema.find("->", close) + 2));
  if (!returns.empty() && returns.front() == '(') returns = returns.substr(1, returns.size() - 2);
  for_each_item(returns, [&](std::string_view item) {
    const TypedAlias type = parse_type(item.substr(0, item.find(' ')));
    info.returns.push_back({.type = type.type, .alias_set = type.set});
  });
}

void classify_writes(OperatorInfo& info) {
  info.mutates = std::ranges::any_of(info.arguments, &SchemaArgument::writes);
  info.is_view = info.has(OperatorTag::silent_alias) ||
                 (!info.mutates && std::ranges::any_of(info.returns, [](const SchemaReturn& each) {
                   return each.alias_set != 0;
                 }));
}

// Finds the sizes of `space` and `packet`: "aten" and "aten.mm" of aten.mm.default.
void split_name(OperatorInfo& info) {
  const std::size_t first = info.name.find('.');
  const bool has_space = first != std::string::npos;
  info.space_size = has_space ? first : 0;
  info.packet_size = std::min(has_space ? info.name.find('.', first + 1) : first, info.name.size());
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

void classify_asynchronous(OperatorInfo& info) {
  const std::string_view space = info.space();
  if (space == "ao") {
    info.is_wait = info.packet() == "ao.wait_tensor";
    info.is_transfer = info.packet() == "ao.offload" || info.packet() == "ao.reload";
  }
  info.is_fused_matmul = space == "symm_mem" && info.packet().starts_with("symm_mem.fused_");
  if (space == "symm_mem" && info.packet().starts_with("symm_mem._low_contention_")) {
    info.collective = contains(info.packet(), "all_gather") ? CollectiveKind::all_gather
                                                            : CollectiveKind::reduce_scatter;
    return;
  }
  if (space != "_c10d_functional" && space != "c10d_functional" &&
      space != "_c10d_functional_autograd" && info.packet() != "_dtensor.shard_dim_alltoall")
    return;
  const std::string_view packet = info.packet();
  info.is_wait = contains(packet, "wait_tensor");
  info.is_coalesced = contains(packet, "_coalesced");
  if (contains(packet, "all_gather")) info.collective = CollectiveKind::all_gather;
  if (contains(packet, "reduce_scatter")) info.collective = CollectiveKind::reduce_scatter;
  if (contains(packet, "all_reduce")) info.collective = CollectiveKind::all_reduce;
  if (contains(packet, "all_to_all") || contains(packet, "alltoall"))
    info.collective = CollectiveKind::all_to_all;
  if (contains(packet, "broadcast")) info.collective = CollectiveKind::broadcast;
}

}  // namespace

std::string_view to_string(CollectiveKind kind) {
  static constexpr std::array<std::string_view, 6> kNames{
      "none", "all-gather", "reduce-scatter", "all-reduce", "all-to-all", "broadcast"};
  return kNames[static_cast<std::size_t>(kind)];
}

bool OperatorInfo::may_share_memory() const {
  // This operator returns its argument if the strides already match, although its schema does not
  // say so.
  if (name == "prims.inductor_force_stride_order.default") return true;
  if (is_wait || is_getitem || has(OperatorTag::silent_alias)) return true;
  if (!has_schema) return true;
  const auto is_shared = [](const auto& entry) { return entry.alias_set != 0; };
  return std::ranges::any_of(returns, is_shared) || std::ranges::any_of(arguments, is_shared);
}

std::string OperatorInfo::event_name() const {
  std::string text(packet());
  if (const auto dot = text.find('.'); dot != std::string::npos) text.replace(dot, 1, "::");
  return text;
}

int OperatorInfo::argument_index(std::string_view argument) const {
  for (std::size_t i = 0; i < arguments.size(); ++i)
    if (arguments[i].name == argument) return static_cast<int>(i);
  return -1;
}

std::vector<std::string_view> operator_names() {
  std::vector<std::string_view> names;
  const std::string_view body = table_body();
  for (std::size_t at = 0; const auto line = line_at(body, at); at = body.find('\n', at) + 1)
    if (line->name.find('@') == std::string_view::npos) names.push_back(line->name);
  return names;
}

OperatorInfo describe_operator(std::string_view target, std::string_view version,
                               std::string_view schema) {
  OperatorInfo info;
  info.name = target;
  split_name(info);
  std::string_view known_schema;
  if (const auto line = find_line(target, version)) {
    info.known = true;
    info.tags = parse_tags(line->tags);
    known_schema = line->schema;
  }
  if (is_schema(schema) && schema != known_schema) {
    info.own_schema = std::make_shared<const std::string>(schema);
    parse_schema(*info.own_schema, info);
  } else if (is_schema(known_schema)) {
    parse_schema(known_schema, info);
  }
  info.is_getitem = target == "_operator.getitem";
  classify_writes(info);
  classify_asynchronous(info);
  return info;
}

bool is_custom_operator(std::string_view target) {
  // A Python function, method or module, in a graph captured before it was lowered to ATen.
  for (const std::string_view python : {"call_function.", "call_method.", "call_module."})
    if (target.starts_with(python)) return target.size() > python.size();
  // namespace.name.overload: custom if the table has no row in that namespace.
  const auto first = target.find('.');
  if (first == std::string_view::npos || first == 0) return false;
  const auto second = target.find('.', first + 1);
  if (second == std::string_view::npos || second == first + 1 || second + 1 == target.size())
    return false;
  const std::string prefix{target.substr(0, first + 1)};
  const std::string_view body = table_body();
  return body.substr(0, prefix.size()) != prefix &&
         body.find("\n" + prefix) == std::string_view::npos;
}

std::string_view operator_table_version() {
  const std::string_view table = embedded::operators();
  const std::string_view header = table.substr(0, table.find(';'));
  return header.substr(header.rfind(' ') + 1);
}

}  // namespace jointer
