#include "core/edit/other_rank.h"

#include <algorithm>
#include <utility>

#include "core/edit/copied_node.h"
#include "core/edit/half_name.h"
#include "core/edit/refuse.h"
#include "core/graph/fingerprint.h"

namespace jointer {
namespace {

// The arguments in the text of a call, `TARGET(ARGS) -> VALUE`.
std::string arguments_of(std::string_view call) {
  const std::size_t begin = std::min(call.find('('), call.size());
  const std::size_t end = call.rfind(") -> ");
  return std::string(call.substr(begin, end == std::string_view::npos ? end : end + 1 - begin));
}

// True if an integer is among the arguments, at any depth.
bool has_integer(const OrderedJson& json) {
  if (json.is_number_integer()) return true;
  return json.is_structured() && std::any_of(json.begin(), json.end(), has_integer);
}

bool has_integer(const OrderedJson& record, const char* key) {
  const auto it = record.find(key);
  return it != record.end() && has_integer(*it);
}

std::string text_of(const OrderedJson& record, const char* key) {
  const auto it = record.find(key);
  return it != record.end() && it->is_string() ? it->get<std::string>() : std::string();
}

// The name in edits of a node in the half of `prefix`.
std::string in_edits(std::string_view prefix, std::string_view name) {
  return std::string(prefix == kForward ? std::string_view() : prefix).append(name);
}

}  // namespace

OtherRank::OtherRank(const Graph& graph, PartId part, const RecipeGraph* recorded,
                     const std::map<std::string, std::string>& expects, bool is_strict)
    : part_(part), is_strict_(is_strict) {
  if (recorded == nullptr) return;
  names_ = RankNames(graph, part, *recorded);
  if (is_strict_) find_own(graph, *recorded, expects);
}

void OtherRank::find_own(const Graph& graph, const RecipeGraph& recorded,
                         const std::map<std::string, std::string>& expects) {
  const NamesElsewhere names = names_.recorded();
  const std::vector<std::size_t> different =
      different_arguments(canonical_text(graph, part_, names), recorded.fingerprint);
  std::size_t index = 0;
  for (const NodeId id : graph.order()) {
    if (graph.node(id).part != part_) continue;
    std::string name = edit_name(graph, id);
    const auto expected = expects.find(name);
    const bool is_full =
        expected != expects.end() && expected->second.find('(') != std::string::npos;
    const bool is_own = is_full ? canonical_call(graph, id, names) != expected->second
                                : recorded.fingerprint.empty() ||
                                      std::binary_search(different.begin(), different.end(), index);
    if (is_own) own_.emplace(std::move(name), arguments_of(canonical_call(graph, id)));
    ++index;
  }
}

bool OtherRank::is_here(const Graph& graph, std::string_view name) const {
  return !graph.is_pair() || (split_half(name).prefix == kBackward) == (part_.index() == 1);
}

std::string OtherRank::target(const Graph& graph, const std::string& name) const {
  if (const auto it = targets_.find(name); it != targets_.end()) return it->second;
  const NodeId id = graph.find(name);
  return id ? std::string(graph.target(graph.node(id))) : std::string();
}

Result<void> OtherRank::adapt(Graph& graph, Edit& edit) {
  if (!is_strict_ && names_.are_equal()) return {};
  targets_.clear();
  const bool removes_own =
      std::any_of(edit.changes.begin(), edit.changes.end(), [&](const Change& change) {
        const auto* remove = std::get_if<RemoveNode>(&change);
        return remove != nullptr && own_.contains(remove->node);
      });
  for (Change& change : edit.changes) {
    if (auto* insert = std::get_if<InsertNode>(&change)) {
      if (is_here(graph, insert->before)) JOINTER_CHECK(adapt_insert(graph, *insert, removes_own));
    } else if (auto* replace = std::get_if<ReplaceCall>(&change)) {
      if (is_here(graph, replace->node)) JOINTER_CHECK(adapt_replace(graph, *replace));
    }
  }
  return {};
}

Result<void> OtherRank::check_integers(const std::string& name, const OrderedJson& record,
                                       std::string_view prefix, bool removes_own) const {
  if (!has_integer(record, "args") && !has_integer(record, "kwargs")) return {};
  const std::string like = text_of(record, "like");
  if (const auto own = own_.find(in_edits(prefix, like)); own != own_.end())
    return refuse(
        "{} would get the constants of another rank: {}, which it was made from, has {} on this "
        "one",
        name, like, own->second);
  if (like.empty() && removes_own)
    return refuse(
        "{} may get the constants of another rank: the edit removes a node whose constants differ "
        "on this one",
        name);
  return {};
}

Result<void> OtherRank::adapt_insert(Graph& graph, InsertNode& insert, bool removes_own) {
  auto parsed = parse_json(insert.node, "the node to insert");
  if (!parsed || !parsed->is_object()) return {};  // the editor reports it
  OrderedJson& record = *parsed;
  const std::string_view prefix = split_half(insert.before).prefix;
  const std::string name = text_of(record, "name");
  const std::string copied = text_of(record, "copy");
  const std::string origin = in_edits(prefix, copied);
  if (const auto own = own_.find(origin); !copied.empty() && own != own_.end())
    own_.emplace(in_edits(prefix, name), own->second);
  if (copied.empty() && is_strict_)
    JOINTER_CHECK(check_integers(name, record, prefix, removes_own));
  const std::string called = copied.empty() ? text_of(record, "target") : target(graph, origin);
  targets_.insert_or_assign(in_edits(prefix, name), called);
  if (names_.are_equal() && !is_strict_) return {};
  std::string unknown;
  const auto rename = [&](const char* key, auto renamed) {
    if (const auto it = record.find(key); it != record.end())
      if (std::string text = renamed(*it); unknown.empty()) unknown = std::move(text);
  };
  rename("args", [&](OrderedJson& args) {
    return names_.rename_args(graph.op(graph.intern_operator(called)), args);
  });
  rename("kwargs", [&](OrderedJson& kwargs) { return names_.rename_kwargs(kwargs); });
  rename("val", [&](OrderedJson& val) { return names_.rename_value(val); });
  if (is_strict_ && !unknown.empty()) return refuse("{}: {}", name, unknown);
  insert.node = write_json(record);
  return {};
}

Result<void> OtherRank::adapt_replace(Graph& graph, ReplaceCall& replace) {
  const std::string name = in_edits(split_half(replace.node).prefix, split_half(replace.node).name);
  if (replace.target) targets_.insert_or_assign(name, *replace.target);
  if (const auto own = own_.find(name); own != own_.end() && (replace.args || replace.kwargs))
    return refuse(
        "{} has constants of this rank, {}: the recipe would overwrite them with those of another",
        replace.node, own->second);
  std::string unknown;
  const auto rename = [&](std::optional<std::string>& text, auto renamed) {
    if (!text) return;
    auto json = parse_json(*text, replace.node);
    if (!json) return;  // the editor reports it
    if (std::string found = renamed(*json); unknown.empty()) unknown = std::move(found);
    text = write_json(*json);
  };
  rename(replace.args, [&](OrderedJson& args) {
    return names_.rename_args(graph.op(graph.intern_operator(target(graph, name))), args);
  });
  rename(replace.kwargs, [&](OrderedJson& kwargs) { return names_.rename_kwargs(kwargs); });
  rename(replace.val, [&](OrderedJson& val) { return names_.rename_value(val); });
  if (is_strict_ && !unknown.empty()) return refuse("{}: {}", replace.node, unknown);
  return {};
}

}  // namespace jointer
