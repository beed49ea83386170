// Edits a flat training step for graph chunking. During the pass, nodes are in the order of torch's
// node list; at the end, the graph gets the new order and names. Upstream stores its marks in
// Node.meta; here they are annotations (`custom`), as in captures.
//
// Source: torchtitan 0.3.0, experiments/graph_trainer/ep_chunk_pass.py, ep_pass_utils.py.

#include "passes/ep_overlap/chunk_program.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "core/base/number_text.h"
#include "core/graph/storages.h"

namespace jointer {

std::string_view to_string(ChunkRole role) {
  static constexpr std::array<std::string_view, 4> kNames{"split_boundary", "chunk_input", "body",
                                                          "materialization"};
  return kNames[static_cast<std::size_t>(role)];
}

ChunkProgram::ChunkProgram(Graph& of, PartId half, ChunkHints hints)
    : graph(of),
      part(half),
      sizes(of, half, std::move(hints)),
      fx(of, half),
      names(names_of(of, half)) {
  find_symbols();
}

void ChunkProgram::find_symbols() {
  const auto note = [this](const Node& node, std::vector<std::string>& symbols) {
    const auto add = [&](ExpressionId id) {
      for (const std::string& symbol : graph.expression(id).symbols())
        if (std::ranges::find(symbols, symbol) == symbols.end()) symbols.push_back(symbol);
    };
    if (node.value.kind == Value::Kind::symbol) add(node.value.expression());
    for (const Tensor& tensor : graph.tensors(node))
      for (const Dim& size : graph.shape(tensor))
        if (size.expression) add(size.expression);
  };
  const auto count = [this](std::string_view symbol) {
    if (symbol.size() < 2 || symbol[0] != 'u') return;
    const auto number = number_of<std::int64_t>(symbol.substr(1));
    if (number && *number < 1'000'000'000) symbols_ = std::max(symbols_, *number + 1);
  };
  for (const SymbolTable::Variable& each : graph.part(part).symbols.variables) count(each.name);
  std::vector<std::string> own, known;
  for (const NodeId id : graph.order()) {
    if (graph.node(id).part != part) continue;
    own.clear();
    note(graph.node(id), own);
    if (own.empty()) continue;
    for (const std::string& symbol : own) count(symbol);
    if (!is_call(id)) continue;
    known.clear();
    for (const NodeId input : graph.inputs(id)) note(graph.node(input), known);
    std::erase_if(own, [&](const std::string& symbol) {
      return sizes.is_chunk_symbol(symbol) || std::ranges::find(known, symbol) != known.end();
    });
    if (!own.empty()) bound_.emplace(id, own);
  }
}

const std::vector<std::string>& ChunkProgram::bound_symbols(NodeId id) const {
  static const std::vector<std::string> kNothing;
  const auto found = bound_.find(id);
  return found == bound_.end() ? kNothing : found->second;
}

std::string ChunkProgram::fresh_symbol() {
  return fmt::format("u{}", symbols_++);
}

const ChunkProgram::Notes& ChunkProgram::notes(NodeId id) {
  const StringId custom = graph.node(id).custom;
  const auto [at, is_new] = notes_.try_emplace(custom ? custom.value() : ~0U);
  Notes& notes = at->second;
  if (!is_new || !custom) return notes;
  const auto json = parse_json(graph.text(custom), "custom");
  if (!json || !json->is_object()) return notes;
  if (const auto name = json->find("module_fqn"); name != json->end() && name->is_string())
    notes.module = name->get<std::string>();
  notes.is_expert = json->contains("EP") || json->contains("EP_token_exchange");
  notes.is_marked = json->contains("chunked_region_role");
  return notes;
}

bool ChunkProgram::is_collective(NodeId id) const {
  return is_call(id) && graph.target(graph.node(id)).starts_with("_c10d_functional.");
}

bool ChunkProgram::depends(NodeId id) {
  const Value& value = graph.node(id).value;
  if (value.kind == Value::Kind::symbol) return sizes.depends(value.expression());
  const auto is_of_chunk = [this](const Dim& dim) { return sizes.depends(dim); };
  return std::ranges::any_of(graph.tensors(id), [&](const Tensor& tensor) {
    return std::ranges::any_of(graph.shape(tensor), is_of_chunk) ||
           std::ranges::any_of(graph.stride(tensor), is_of_chunk);
  });
}

int ChunkProgram::chunk_dim(const Tensor& tensor) {
  int found = kNone;
  const auto shape = graph.shape(tensor);
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (!sizes.depends(shape[i])) continue;
    if (found != kNone) return kSeveral;
    found = static_cast<int>(i);
  }
  return found;
}

int ChunkProgram::chunk_dim(NodeId id) {
  const Tensor* tensor = graph.single_tensor(graph.node(id));
  return tensor == nullptr ? kNone : chunk_dim(*tensor);
}

std::vector<NodeId> ChunkProgram::tensor_inputs(NodeId id) const {
  std::vector<NodeId> tensors;
  for (const NodeId input : graph.inputs(id))
    if (is_tensor(input)) tensors.push_back(input);
  return tensors;
}

std::vector<NodeId> ChunkProgram::outputs() const {
  std::vector<NodeId> read;
  for (const OutputEntry& entry : graph.part(part).outputs)
    if (entry.node) read.push_back(entry.node);
  return read;
}

StringId ChunkProgram::marked(StringId custom, const ChunkRoot& root, ChunkRole role, int chunk,
                              bool is_synthetic) {
  const auto [at, is_new] = marks_.try_emplace(std::tuple{
      custom ? custom.value() : ~0U, root.name, root.is_backward, role, chunk, is_synthetic});
  if (!is_new) return at->second;
  OrderedJson json = OrderedJson::object();
  if (custom)
    if (auto parsed = parse_json(graph.text(custom), "custom"); parsed && parsed->is_object())
      json = *std::move(parsed);
  if (is_synthetic) {
    if (!root.parent.empty())
      json["module_fqn"] = root.parent;
    else
      json.erase("module_fqn");
  }
  if (chunk == kNone)
    json.erase("chunk_id");
  else
    json["chunk_id"] = chunk;
  json["chunked_region_fqn"] = root.name;
  json["chunked_region_role"] = to_string(role);
  json["chunked_region_is_backward"] = root.is_backward;
  json["chunked_region_producer"] = "graph";
  return at->second = graph.intern(write_json(json));
}

namespace {

void set_direction(Node& node, bool is_backward) {
  node.phase = is_backward ? Phase::backward : Phase::forward;
  node.set(Node::has_autograd_backward, is_backward);
  node.set(Node::autograd_backward, is_backward);
}

}  // namespace

void ChunkProgram::mark(NodeId id, const ChunkRoot& root, ChunkRole role, int chunk) {
  const StringId custom = marked(graph.node(id).custom, root, role, chunk, false);
  graph.node(id).custom = custom;
  set_direction(graph.node(id), root.is_backward);
}

void ChunkProgram::mark_synthetic(NodeId id, const ChunkRoot& root, ChunkRole role, int chunk) {
  const StringId custom = marked(graph.node(id).custom, root, role, chunk, true);
  graph.node(id).custom = custom;
  set_direction(graph.node(id), root.is_backward);
}

NodeId ChunkProgram::add(std::string_view target, std::span<const Argument> args,
                         const Value& value, NodeId before, const ChunkRoot& root, ChunkRole role,
                         int chunk) {
  Node node;
  node.part = part;
  node.target = graph.intern_operator(target);
  node.name = graph.intern(names.create(fx_call_name(target)));
  node.args = graph.make_children(Argument::Kind::list, args);
  node.value = value;
  // Record that a symbol returned by a call has no hint; sizes in shapes need no such record.
  if (value.kind == Value::Kind::symbol && graph.expression_hint(value.expression()).empty())
    if (const auto said = graph.intern_expression(
            part, std::string(graph.expression_text(value.expression())), "null"))
      node.value = Value::of_symbol(*said);
  node.set(Node::has_args);
  node.set(Node::has_value);
  const NodeId id = graph.add_node(node);
  fx.insert(id, before);
  mark_synthetic(id, root, role, chunk);
  return id;
}

NodeId ChunkProgram::add_copy(Node node, const Argument& args, const Argument& kwargs,
                              NodeId before) {
  node.name = graph.intern(names.create(fx_call_name(graph.target(node))));
  node.args = args;
  node.kwargs = kwargs;
  const NodeId id = graph.add_node(node);
  fx.insert(id, before);
  return id;
}

void ChunkProgram::rename(NodeId id, std::string_view name) {
  if (old_names_.try_emplace(id, graph.node(id).name).second) renamed_.push_back(id);
  const StringId now = graph.intern(names.create(name));
  graph.node(id).name = now;
}

Result<StorageId> ChunkProgram::add_storage(const Tensor& like, std::span<const Dim> shape) {
  Dim bytes{static_cast<std::int64_t>(item_size(like.dtype)), {}};
  for (const Dim& size : shape) {
    if (size.expression && bytes.expression)
      return fail(Error::Kind::usage,
                  "{}: a tensor of a chunk has several symbolic dimensions, but only one is "
                  "supported",
                  sizes.where);
    const Dim& sum = size.expression ? size : bytes;
    const std::int64_t factor = size.expression ? bytes.value : size.value;
    JOINTER_TRY(bytes, sizes.times(sum, factor));
  }
  const StorageId storage = graph.add_storage(part, bytes);
  graph.storage(storage).device = like.device;
  return storage;
}

Result<Value> ChunkProgram::tensor_like(const Tensor& like, std::span<const Dim> shape,
                                        std::span<const Dim> stride, Dim offset,
                                        StorageId storage) {
  Tensor tensor = like;
  tensor.storage = storage;
  if (!storage) {
    JOINTER_TRY(tensor.storage, add_storage(like, shape));
  }
  tensor.set(Tensor::has_storage);
  return Value::of_tensor(graph.add_tensor(tensor, shape, stride, offset));
}

Result<void> ChunkProgram::finish() {
  std::vector<StringId> now;
  now.reserve(renamed_.size());
  for (const NodeId id : renamed_) {
    now.push_back(graph.node(id).name);
    graph.node(id).name = old_names_[id];
  }
  fx.apply();
  std::vector<NodeId> next(graph.node_count());
  for (std::size_t i = 1; i < graph.order().size(); ++i)
    next[graph.order()[i - 1].index()] = graph.order()[i];
  // Iterate backward, so that the next node is already in place.
  std::vector<std::pair<NodeId, StringId>> live;
  for (std::size_t i = 0; i < renamed_.size(); ++i)
    if (graph.is_live(renamed_[i])) live.emplace_back(renamed_[i], now[i]);
  std::ranges::sort(live, [this](const auto& a, const auto& b) {
    return graph.position(a.first) > graph.position(b.first);
  });
  std::vector<NodeId> ids;
  for (const auto& [id, name] : live) ids.push_back(id);
  graph.erase(ids);
  for (const auto& [id, name] : live) {
    graph.node(id).name = name;
    graph.restore(id, next[id.index()]);
  }
  return graph.finish();
}

}  // namespace jointer
