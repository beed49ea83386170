#include "core/edit/other_rank.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <unordered_set>
#include <utility>

#include "core/edit/half_name.h"
#include "core/edit/node_comparer.h"
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

// Copies the strides and offsets of `view`'s tensors to the tensors in `val`, unless they are
// symbolic. `next`: the index of the next tensor.
void take_layout(const Graph& graph, NodeId view, OrderedJson& val, std::size_t& next) {
  if (val.is_array())
    for (OrderedJson& each : val) take_layout(graph, view, each, next);
  if (!val.is_object()) return;
  const auto it = val.find("t");
  if (it == val.end() || !it->is_object()) {
    for (OrderedJson& each : val) take_layout(graph, view, each, next);
    return;
  }
  const auto tensors = graph.tensors(view);
  if (next >= tensors.size()) return;
  const Tensor& tensor = tensors[next++];
  const auto numbers = [](std::span<const Dim> dims) -> std::optional<OrderedJson> {
    OrderedJson json = OrderedJson::array();
    for (const Dim& dim : dims) {
      if (dim.expression) return std::nullopt;
      json.push_back(dim.value);
    }
    return json;
  };
  const auto shape = it->find("shape");
  if (shape == it->end() || numbers(graph.shape(tensor)) != *shape) return;
  if (tensor.has(Tensor::has_stride))
    if (auto stride = numbers(graph.stride(tensor))) (*it)["stride"] = *std::move(stride);
  if (const Dim offset = graph.offset(tensor); tensor.has(Tensor::has_offset) && !offset.expression)
    (*it)["offset"] = offset.value;
}

// Finds out whether an edit exchanges a removed node for an equal one.
class EqualNodes {
 public:
  EqualNodes(const Graph& graph, const std::unordered_set<NodeId>& removed)
      : graph_(graph), removed_(removed), comparer_(graph, graph) {}

  // True if the two have the same value on this rank: the same calls, back to inputs that stay.
  bool are_equal(NodeId a, NodeId b) {
    std::set<Pair> met;
    std::vector<Pair> open{{a, b}};
    while (!open.empty()) {
      const Pair pair = open.back();
      open.pop_back();
      if (pair.first == pair.second || known_.contains(pair) || !met.insert(pair).second) continue;
      if (!add_inputs(pair, open)) return false;
    }
    known_.merge(met);
    return true;
  }

 private:
  using Pair = std::pair<NodeId, NodeId>;

  // Adds the inputs that must be equal too. Returns false if the calls differ in anything else.
  bool add_inputs(const Pair& pair, std::vector<Pair>& open) const {
    const auto& [a, b] = pair;
    if (!a || !b || !removed_.contains(a) || graph_.node(a).kind != graph_.node(b).kind ||
        graph_.node(a).part != graph_.node(b).part || !comparer_.same_target(a, b))
      return false;
    const auto inputs = comparer_.exchanged_inputs(a, b);
    if (!inputs) return false;
    const PartId part = graph_.node(a).part;
    for (const auto& [was, is] : *inputs)
      open.emplace_back(graph_.find(part, was), graph_.find(part, is));
    return true;
  }

  const Graph& graph_;
  const std::unordered_set<NodeId>& removed_;
  NodeComparer comparer_;
  std::set<Pair> known_;  // pairs known to be equal
};

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
    if (is_own)
      own_.emplace(name, Own{.args = arguments_of(canonical_call(graph, id)), .source = name});
    ++index;
  }
}

std::string OtherRank::key(const Graph& graph, std::string_view name) const {
  const HalfName split = split_half(name);
  for (std::size_t i = 0; i < graph.part_count(); ++i) {
    const std::string_view half = i == 1 ? kBackward : kForward;
    if (!split.prefix.empty() && split.prefix != half) continue;
    std::string found = in_edits(half, split.name);
    if (targets_.contains(found) || graph.find(PartId(i), split.name)) return found;
  }
  return in_edits(split.prefix, split.name);
}

bool OtherRank::is_here(const Graph& graph, std::string_view key) const {
  return !graph.is_pair() || key.starts_with(kBackward) == (part_.index() == 1);
}

std::string OtherRank::target(const Graph& graph, const std::string& name) const {
  if (const auto it = targets_.find(name); it != targets_.end()) return it->second;
  const NodeId id = graph.find(name);
  return id ? std::string(graph.target(graph.node(id))) : std::string();
}

Result<void> OtherRank::adapt(Graph& graph, Edit& edit) {
  if (!is_strict_ && names_.are_equal()) return {};
  targets_.clear();
  find_lost(graph, edit);
  for (Change& change : edit.changes) {
    if (auto* insert = std::get_if<InsertNode>(&change)) {
      JOINTER_CHECK(adapt_insert(graph, *insert));
    } else if (auto* replace = std::get_if<ReplaceCall>(&change)) {
      if (is_here(graph, key(graph, replace->node))) JOINTER_CHECK(adapt_replace(graph, *replace));
    } else if (auto* remove = std::get_if<RemoveNode>(&change)) {
      if (lost_.contains(key(graph, remove->node)))
        return refuse(
            "{} has rank-specific constants, {}: the edit removes it without saying which node "
            "gets them",
            remove->node, own_.find(key(graph, remove->node))->second.args);
    }
  }
  return {};
}

// A removed node is lost if the edit keeps no copy of it and a remaining node depends on it. Nodes
// that now read an equal node do not count.
void OtherRank::find_lost(const Graph& graph, const Edit& edit) {
  lost_.clear();
  removes_own_ = false;
  if (own_.empty()) return;
  std::set<std::string> removed_names;
  std::unordered_set<NodeId> removed;
  for (const Change& change : edit.changes) {
    const auto* remove = std::get_if<RemoveNode>(&change);
    if (remove == nullptr) continue;
    const std::string name = key(graph, remove->node);
    removes_own_ = removes_own_ || own_.contains(name);
    removed_names.insert(name);
    if (const NodeId id = graph.find(name)) removed.insert(id);
  }
  if (!removes_own_) return;
  std::map<std::string, std::string> copies;  // source, by name
  std::set<std::string> kept;
  std::map<std::pair<NodeId, NodeId>, NodeId> exchanged;  // by reader and input
  for (const Change& change : edit.changes) {
    if (const auto* insert = std::get_if<InsertNode>(&change)) {
      const auto record = parse_json(insert->node, "the node to insert");
      if (!record || !record->is_object()) continue;
      const std::string before = key(graph, insert->before);
      const std::string_view prefix = split_half(before).prefix;
      const std::string copied = in_edits(prefix, text_of(*record, "copy"));
      const std::string name = in_edits(prefix, text_of(*record, "name"));
      std::string source;
      if (const auto own = own_.find(copied); own != own_.end())
        source = own->second.source;
      else if (const auto copy = copies.find(copied); copy != copies.end())
        source = copy->second;
      if (source.empty()) continue;
      if (!removed_names.contains(name)) kept.insert(source);
      copies.insert_or_assign(name, std::move(source));
    } else if (const auto* replace = std::get_if<ReplaceCall>(&change)) {
      const std::string name = key(graph, replace->node);
      const NodeId reader = graph.find(name);
      if (!reader) continue;
      const PartId part = graph.node(reader).part;
      for (const auto& [was, is] : replace->inputs)
        exchanged.insert_or_assign({reader, graph.find(part, was)}, graph.find(part, is));
    }
  }
  std::map<NodeId, std::vector<NodeId>> readers;
  for (const NodeId id : graph.order())
    for (const NodeId input : graph.inputs(id))
      if (removed.contains(input)) readers[input].push_back(id);
  EqualNodes equal(graph, removed);
  const auto is_needed = [&](NodeId start) {
    std::unordered_set<NodeId> seen{start};
    std::vector<NodeId> open{start};
    while (!open.empty()) {
      const NodeId id = open.back();
      open.pop_back();
      for (const NodeId reader : readers[id]) {
        if (removed.contains(reader)) {
          if (seen.insert(reader).second) open.push_back(reader);
          continue;
        }
        const auto now = exchanged.find({reader, id});
        if (now == exchanged.end() || !equal.are_equal(id, now->second)) return true;
      }
    }
    return false;
  };
  for (const std::string& name : removed_names) {
    const auto own = own_.find(name);
    const NodeId id = graph.find(name);
    if (own != own_.end() && id && !kept.contains(own->second.source) && is_needed(id))
      lost_.insert(name);
  }
}

Result<void> OtherRank::check_integers(const std::string& name, const OrderedJson& record,
                                       std::string_view prefix) const {
  if (!has_integer(record, "args") && !has_integer(record, "kwargs")) return {};
  const std::string like = text_of(record, "like");
  if (const auto own = own_.find(in_edits(prefix, like)); own != own_.end())
    return refuse("{} would get the constants of another rank: {}, its origin, has {} on this rank",
                  name, like, own->second.args);
  if (!like.empty()) return {};
  if (removes_own_)
    return refuse(
        "{} may get the constants of another rank: the edit removes a node whose constants differ "
        "on this rank",
        name);
  return {};
}

// The offset of a view may depend on its constants.
void OtherRank::keep_layout(const Graph& graph, NodeId view, OrderedJson& val) {
  std::size_t next = 0;
  if (graph.node(view).kind == NodeKind::call && graph.op(graph.node(view)).is_view())
    take_layout(graph, view, val, next);
}

Result<void> OtherRank::adapt_insert(Graph& graph, InsertNode& insert) {
  auto parsed = parse_json(insert.node, "the node to insert");
  if (!parsed || !parsed->is_object()) return {};  // the editor reports it
  OrderedJson& record = *parsed;
  const std::string before = key(graph, insert.before);
  const std::string_view prefix = split_half(before).prefix;
  const std::string name = text_of(record, "name");
  if (!is_here(graph, before)) {
    targets_.insert_or_assign(in_edits(prefix, name), std::string());
    return {};
  }
  const std::string copied = text_of(record, "copy");
  const std::string origin = in_edits(prefix, copied);
  if (const auto found = own_.find(origin); !copied.empty() && found != own_.end()) {
    const Own own = found->second;
    const NodeId id = graph.find(origin);
    const NodeId view = id ? id : graph.find(own.source);
    if (const auto val = record.find("val"); view && val != record.end())
      keep_layout(graph, view, *val);
    own_.insert_or_assign(in_edits(prefix, name), own);
  }
  if (copied.empty() && is_strict_) JOINTER_CHECK(check_integers(name, record, prefix));
  const std::string called = copied.empty() ? text_of(record, "target") : target(graph, origin);
  targets_.insert_or_assign(in_edits(prefix, name), called);
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
  const std::string name = key(graph, replace.node);
  if (replace.target) targets_.insert_or_assign(name, *replace.target);
  if (const auto own = own_.find(name); own != own_.end() && (replace.args || replace.kwargs))
    return refuse(
        "{} has rank-specific constants, {}: the recipe would overwrite them with those of another "
        "rank",
        replace.node, own->second.args);
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
  rename(replace.val, [&](OrderedJson& val) {
    const NodeId id = graph.find(name);
    if (id && !replace.target && own_.contains(name)) keep_layout(graph, id, val);
    return names_.rename_value(val);
  });
  if (is_strict_ && !unknown.empty()) return refuse("{}: {}", replace.node, unknown);
  return {};
}

}  // namespace jointer
