#include "core/edit/other_rank.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "core/base/json_fields.h"
#include "core/edit/half_name.h"
#include "core/edit/node_comparer.h"
#include "core/edit/refuse.h"
#include "core/graph/fingerprint.h"

namespace jointer {
namespace {

// The part of a call's text, `TARGET(ARGS) -> VALUE`, that contains the arguments.
std::string arguments_of(std::string_view call) {
  const std::size_t begin = std::min(call.find('('), call.size());
  const std::size_t end = call.rfind(") -> ");
  return std::string(call.substr(begin, end == std::string_view::npos ? end : end + 1 - begin));
}

bool has_integer(const OrderedJson& json) {
  return json.is_number_integer() ||
         (json.is_structured() &&
          std::any_of(json.begin(), json.end(),
                      [](const OrderedJson& each) { return has_integer(each); }));
}

// True if the arguments contain an integer, at any depth.
bool has_integer(const ArgumentRecords& arguments) {
  using Kind = ArgumentRecord::Kind;
  return std::ranges::any_of(arguments, [](const ArgumentRecord& each) {
    if (each.kind == Kind::raw) return has_integer(parse_tree(each.text).value_or(nullptr));
    return each.kind == Kind::integer || has_integer(each.children);
  });
}

// The name that edits use for a node in the half that `prefix` names.
std::string in_edits(std::string_view prefix, std::string_view name) {
  return std::string(prefix == kForward ? std::string_view() : prefix).append(name);
}

// The sizes; nullopt if one of them is symbolic.
std::optional<std::vector<SizeRecord>> numbers(std::span<const Dim> dims) {
  std::vector<SizeRecord> records;
  for (const Dim& dim : dims) {
    if (dim.expression) return std::nullopt;
    records.push_back({.value = dim.value});
  }
  return records;
}

// If the node is a view, copies the strides and offsets of its tensors on this rank to `val`,
// because they may depend on rank-specific constants. Leaves out symbolic strides and offsets, and
// tensors whose shape differs.
void keep_layout(const Graph& graph, NodeId view, ValueRecord& val) {
  if (graph.node(view).kind != NodeKind::call || !graph.op(graph.node(view)).is_view) return;
  const auto tensors = graph.tensors(view);
  std::size_t next = 0;
  visit_tensors(val, [&](TensorRecord& record) {
    if (next >= tensors.size()) return;
    const Tensor& tensor = tensors[next++];
    if (numbers(graph.shape(tensor)) != record.shape) return;
    if (tensor.has(Tensor::has_stride))
      if (auto stride = numbers(graph.stride(tensor))) record.stride = *std::move(stride);
    if (const Dim offset = graph.offset(tensor);
        tensor.has(Tensor::has_offset) && !offset.expression)
      record.offset = {.value = offset.value};
  });
}

// Determines whether an edit replaces a removed node with an equal node.
class EqualNodes {
 public:
  EqualNodes(const Graph& graph, const std::unordered_set<NodeId>& removed)
      : graph_(graph), removed_(removed), comparer_(graph, graph) {}

  // True if the two nodes have the same value on this rank: they result from the same calls, back
  // to inputs that the edit does not remove.
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

  // Adds the pairs of inputs that must be equal too. Returns false if the calls differ in any other
  // way.
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

// The nodes that an edit removes, and their readers.
class RemovedNodes {
 public:
  RemovedNodes(const Graph& graph, const std::unordered_set<NodeId>& removed)
      : graph_(graph), removed_(removed), equal_(graph, removed) {
    for (const NodeId id : graph.order())
      for (const NodeId input : graph.inputs(id))
        if (removed.contains(input)) readers_[input].push_back(id);
  }

  // Records the inputs of `reader` that the edit changes. `reader` is null if the edit inserts it.
  void exchange(NodeId reader, const InputNames& inputs) {
    if (!reader) return;
    const PartId part = graph_.node(reader).part;
    for (const auto& [was, is] : inputs)
      exchanged_.insert_or_assign({reader, graph_.find(part, was)}, graph_.find(part, is));
  }

  // True if a remaining node depends on `start` and does not read an equal node instead.
  bool is_needed(NodeId start) {
    std::unordered_set<NodeId> seen{start};
    std::vector<NodeId> open{start};
    while (!open.empty()) {
      const NodeId id = open.back();
      open.pop_back();
      for (const NodeId reader : readers_[id]) {
        if (removed_.contains(reader)) {
          if (seen.insert(reader).second) open.push_back(reader);
          continue;
        }
        const auto now = exchanged_.find({reader, id});
        if (now == exchanged_.end() || !equal_.are_equal(id, now->second)) return true;
      }
    }
    return false;
  }

 private:
  const Graph& graph_;
  const std::unordered_set<NodeId>& removed_;
  EqualNodes equal_;
  std::unordered_map<NodeId, std::vector<NodeId>> readers_;
  std::map<std::pair<NodeId, NodeId>, NodeId> exchanged_;  // by reader and input
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
  find_missing(graph, edit);
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

// A removed node with rank-specific constants is lost if the edit keeps no copy of it and a
// remaining node depends on it. A node that now reads an equal node does not depend on it.
void OtherRank::find_missing(const Graph& graph, const Edit& edit) {
  lost_.clear();
  removes_own_ = false;
  if (own_.empty()) return;
  std::set<std::string> names;
  std::unordered_set<NodeId> removed;
  for (const Change& change : edit.changes) {
    const auto* remove = std::get_if<RemoveNode>(&change);
    if (remove == nullptr) continue;
    const std::string name = key(graph, remove->node);
    removes_own_ = removes_own_ || own_.contains(name);
    names.insert(name);
    if (const NodeId id = graph.find(name)) removed.insert(id);
  }
  if (!removes_own_) return;
  const std::set<std::string> kept = kept_sources(graph, edit, names);
  RemovedNodes nodes(graph, removed);
  for (const Change& change : edit.changes)
    if (const auto* replace = std::get_if<ReplaceCall>(&change))
      nodes.exchange(graph.find(key(graph, replace->node)), replace->inputs);
  for (const std::string& name : names) {
    const auto own = own_.find(name);
    const NodeId id = graph.find(name);
    if (own != own_.end() && id && !kept.contains(own->second.source) && nodes.is_needed(id))
      lost_.insert(name);
  }
}

std::set<std::string> OtherRank::kept_sources(const Graph& graph, const Edit& edit,
                                              const std::set<std::string>& removed) const {
  std::map<std::string, std::string> copies;  // source, by name
  std::set<std::string> kept;
  for (const Change& change : edit.changes) {
    const auto* insert = std::get_if<InsertNode>(&change);
    if (insert == nullptr) continue;
    const std::string before = key(graph, insert->before);
    const std::string_view prefix = split_half(before).prefix;
    const std::string copied = in_edits(prefix, insert->node->copy.value_or(""));
    const std::string name = in_edits(prefix, insert->node->name);
    std::string source;
    if (const auto own = own_.find(copied); own != own_.end())
      source = own->second.source;
    else if (const auto copy = copies.find(copied); copy != copies.end())
      source = copy->second;
    if (source.empty()) continue;
    if (!removed.contains(name)) kept.insert(source);
    copies.insert_or_assign(name, std::move(source));
  }
  return kept;
}

Result<void> OtherRank::check_integers(const NodeRecord& record, std::string_view prefix) const {
  if (!has_integer(record.args.value_or(ArgumentRecords{})) &&
      !has_integer(record.kwargs.value_or(ArgumentRecords{})))
    return {};
  if (const auto own = own_.find(in_edits(prefix, record.like)); own != own_.end())
    return refuse("{} would get the constants of another rank: {}, its origin, has {} on this rank",
                  record.name, record.like, own->second.args);
  if (record.like.empty() && removes_own_)
    return refuse(
        "{} may get the constants of another rank: the edit removes a node whose constants differ "
        "on this rank",
        record.name);
  return {};
}

Result<void> OtherRank::adapt_insert(Graph& graph, InsertNode& insert) {
  NodeRecord record = *insert.node;
  const std::string before = key(graph, insert.before);
  const std::string_view prefix = split_half(before).prefix;
  const std::string name = in_edits(prefix, record.name);
  if (!is_here(graph, before)) {
    targets_.insert_or_assign(name, std::string());
    return {};
  }
  const std::string origin = in_edits(prefix, record.copy.value_or(""));
  if (const auto found = own_.find(origin); record.copy && found != own_.end()) {
    const Own own = found->second;
    const NodeId id = graph.find(origin);
    const NodeId view = id ? id : graph.find(own.source);
    if (view && record.val) keep_layout(graph, view, *record.val);
    own_.insert_or_assign(name, own);
  }
  if (!record.copy && is_strict_) JOINTER_CHECK(check_integers(record, prefix));
  const std::string called = record.copy ? target(graph, origin) : record.target.value_or("");
  targets_.insert_or_assign(name, called);
  const std::string unknown =
      rename(graph, called, record.args, record.kwargs, record.val ? &*record.val : nullptr);
  if (is_strict_ && !unknown.empty()) return refuse("{}: {}", record.name, unknown);
  insert.node = std::move(record);
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
  ValueRecord value = replace.val ? **replace.val : ValueRecord{};
  if (const NodeId id = graph.find(name); id && !replace.target && own_.contains(name))
    keep_layout(graph, id, value);
  const std::string unknown =
      rename(graph, target(graph, name), replace.args, replace.kwargs, &value);
  if (replace.val) replace.val = std::move(value);
  if (is_strict_ && !unknown.empty()) return refuse("{}: {}", replace.node, unknown);
  return {};
}

std::string OtherRank::rename(Graph& graph, const std::string& called,
                              std::optional<ArgumentRecords>& args,
                              std::optional<ArgumentRecords>& kwargs, ValueRecord* value) const {
  std::string unknown;
  const auto take = [&](std::string found) {
    if (unknown.empty()) unknown = std::move(found);
  };
  if (args) take(names_.rename_args(graph.op(graph.intern_operator(called)), *args));
  if (kwargs) take(names_.rename_kwargs(*kwargs));
  if (value != nullptr) take(names_.rename_value(*value));
  return unknown;
}

}  // namespace jointer
