#include "core/graph/graph.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <limits>
#include <unordered_set>

#include "core/base/checked.h"
#include "core/base/counted.h"
#include "core/graph/group_argument.h"
#include "core/graph/unused_entries.h"
#include "core/graph/validate.h"

namespace jointer {
namespace {

// The value of an expression that has not been evaluated yet.
constexpr std::int64_t kUnevaluated = std::numeric_limits<std::int64_t>::min();

// Updates sizes and storages with the values of their expressions.
void take_numbers(const Graph& graph, std::vector<Dim>& dims, std::vector<Storage>& storages) {
  for (Dim& dim : dims)
    if (dim.expression) dim.value = graph.expression_value(dim.expression);
  for (Storage& s : storages)
    if (s.bytes.expression) s.bytes.value = graph.expression_value(s.bytes.expression);
}

// Adds a fact for each group whose number of ranks the graph does not tell.
void note_unknown_sizes(Graph& graph) {
  for (const UnsizedGroup& unsized : unsized_groups(graph)) {
    const Node& n = graph.node(unsized.collective);
    const std::int64_t ranks = default_group_size(graph, n);
    std::string text = fmt::format(
        "the file lacks the number of ranks of {}: estimates assume {}{}, unless --assume {}=N "
        "says otherwise",
        unsized.group ? fmt::format("process group {}", unsized.name)
                      : "the collectives without a process group",
        counted(static_cast<std::size_t>(ranks), "rank"),
        graph.part(n.part).world_size ? ", the world size" : "", ranks_name(unsized.name));
    if (std::ranges::find(graph.facts(), text, &Fact::text) == graph.facts().end())
      graph.add_fact(Fact::Kind::derived, std::move(text));
  }
}

}  // namespace

std::string_view to_string(CaptureKind kind) {
  static constexpr std::array<std::string_view, 5> kNames{"joint", "forward", "backward",
                                                          "train_step", "subgraph"};
  return kNames[static_cast<std::size_t>(kind)];
}

// --- Queries ---

std::span<const Argument> Graph::children(const Argument& argument) const {
  if (!argument.has_children()) return {};
  return std::span(arguments_).subspan(argument.index, argument.count);
}

std::span<const Value> Graph::children(const Value& value) const {
  if (value.kind != Value::Kind::list && value.kind != Value::Kind::dict) return {};
  return std::span(values_).subspan(value.index, value.count);
}

const Argument* Graph::member(const Argument& dict, std::string_view key) const {
  if (dict.kind != Argument::Kind::dict) return nullptr;
  const auto pairs = children(dict);
  for (std::size_t i = 0; i + 1 < pairs.size(); i += 2)
    if (pairs[i].kind == Argument::Kind::string && text(pairs[i].text()) == key)
      return &pairs[i + 1];
  return nullptr;
}

const Argument* Graph::argument(const Node& node, std::string_view name) const {
  if (const Argument* keyword = member(node.kwargs, name)) return keyword;
  const int index = op(node).argument_index(name);
  const auto positional = args(node);
  if (index < 0 || static_cast<std::size_t>(index) >= positional.size()) return nullptr;
  return &positional[static_cast<std::size_t>(index)];
}

std::int64_t Graph::numel(const Tensor& t) const {
  std::int64_t product = 1;
  for (const Dim& size : shape(t)) product = saturating_mul(product, size.value);
  return product;
}

std::int64_t Graph::bytes(const Tensor& t) const {
  return saturating_mul(numel(t), item_size(t.dtype));
}

std::int64_t Graph::output_bytes(const Node& node) const {
  std::int64_t sum = 0;
  for (const Tensor& t : tensors(node)) sum = saturating_add(sum, bytes(t));
  return sum;
}

std::string_view Graph::group_label(GroupId id) const {
  const ProcessGroup& g = group(id);
  const std::string_view desc = text(g.desc);
  return desc.empty() ? text(g.name) : desc;
}

std::int64_t Graph::group_size(const Node& node) const {
  if (node.group && !group(node.group).ranks.empty())
    return static_cast<std::int64_t>(group(node.group).ranks.size());
  if (const Argument* size = argument(node, "group_size");
      size != nullptr && size->kind == Argument::Kind::integer)
    return size->integer;
  // The call has no such argument: compare the sizes of its input and its result.
  const std::span<const NodeId> given = inputs(node);
  const Tensor* out = single_tensor(node);
  if (!is_collective_start(node) || out == nullptr || given.empty()) return 1;
  const Tensor* in = single_tensor(nodes_[given.front().index()]);
  if (in == nullptr) return 1;
  const std::int64_t one = std::min(numel(*in), numel(*out));
  const bool changes_size = op(node).collective == CollectiveKind::all_gather ||
                            op(node).collective == CollectiveKind::reduce_scatter;
  return changes_size && one > 0 ? std::max(numel(*in), numel(*out)) / one : 1;
}

std::string_view Graph::expression_text(ExpressionId id) const {
  return text(expressions_[id.index()].text);
}

std::string_view Graph::expression_hint(ExpressionId id) const {
  return text(expressions_[id.index()].hint);
}

NodeId Graph::find(PartId part, std::string_view name) const {
  const StringId id = strings_.find(name);
  const auto& index = by_name_[part.index()];
  return id && id.index() < index.size() ? index[id.index()] : NodeId{};
}

NodeId Graph::find(std::string_view name) const {
  static constexpr std::array<std::string_view, 2> kHalves{"forward:", "backward:"};
  for (std::size_t part = 0; part < kHalves.size() && part < parts_.size(); ++part)
    if (name.starts_with(kHalves[part]))
      if (const NodeId id = find(PartId(part), name.substr(kHalves[part].size()))) return id;
  for (std::size_t part = 0; part < parts_.size(); ++part)
    if (const NodeId id = find(PartId(part), name)) return id;
  return {};
}

NodeId Graph::collective_of_wait(const Node& wait) const {
  if (wait.input_count == 0) return {};
  NodeId producer = inputs(wait).front();
  // A coalesced collective returns a list, and its waits read elements through getitem. The
  // backward may wait for a collective that the forward starts. Several waits may follow each
  // other.
  for (int step = 0; step < 8; ++step) {
    const Node& candidate = node(producer);
    if (is_asynchronous(candidate)) return producer;
    if (candidate.partner) {
      producer = candidate.partner;
    } else if (candidate.kind == NodeKind::call && candidate.input_count > 0 &&
               (op(candidate).is_getitem || op(candidate).is_wait)) {
      producer = inputs(candidate).front();
    } else {
      return {};
    }
  }
  return {};
}

// --- Building ---

void Graph::reserve(std::size_t nodes, std::size_t text_bytes) {
  strings_.reserve(nodes + nodes / 4, text_bytes);
  nodes_.reserve(nodes);
  order_.reserve(nodes);
  positions_.reserve(nodes);
  marks_.reserve(nodes);
  arguments_.reserve(nodes * 4);
  inputs_.reserve(nodes * 2);
  tensors_.reserve(nodes + nodes / 4);
  dims_.reserve(nodes * 8);
}

PartId Graph::add_part(Part part) {
  parts_.push_back(std::move(part));
  by_name_.emplace_back();
  return PartId(parts_.size() - 1);
}

OperatorId Graph::intern_operator(std::string_view target) {
  const StringId name = strings_.intern(target);
  if (const auto it = operator_ids_.find(name); it != operator_ids_.end()) return it->second;
  operators_.push_back(describe(target));
  const OperatorId id(operators_.size() - 1);
  operator_ids_.emplace(name, id);
  return id;
}

OperatorInfo Graph::describe(std::string_view target) const {
  const auto schema = operator_schemas_.find(target);
  return describe_operator(target, operator_version_,
                           schema == operator_schemas_.end() ? std::string_view{} : schema->second);
}

void Graph::set_operator_version(std::string_view torch_version) {
  operator_version_ = torch_version;
  for (OperatorInfo& op : operators_) op = describe(std::string(op.name));
}

void Graph::add_operator_schema(std::string_view target, std::string_view schema) {
  operator_schemas_.insert_or_assign(std::string(target), std::string(schema));
  for (OperatorInfo& op : operators_)
    if (op.name == target) op = describe(std::string(target));
}

DeviceId Graph::intern_device(std::string_view name) {
  for (std::size_t i = 0; i < devices_.size(); ++i)
    if (text(devices_[i].name) == name) return DeviceId(i);
  const std::string_view type = name.substr(0, name.find(':'));
  const DeviceType known = type == "cuda" || type == "hip" ? DeviceType::cuda
                           : type == "cpu"                 ? DeviceType::cpu
                           : type == "meta"                ? DeviceType::meta
                                                           : DeviceType::other;
  devices_.push_back({.name = intern(name), .type = known});
  return DeviceId(devices_.size() - 1);
}

Result<ExpressionId> Graph::intern_expression(PartId part, std::string_view text,
                                              std::string_view hint) {
  const StringId text_id = intern(text);
  const StringId hint_id = intern(hint);
  const auto key = std::tuple(part, text_id, hint_id);
  if (const auto it = expression_ids_.find(key); it != expression_ids_.end()) return it->second;
  JOINTER_TRY(Expression expression, Expression::parse(strings_[text_id]));
  expressions_.push_back({.text = text_id,
                          .hint = hint_id,
                          .part = part,
                          .expression = std::move(expression),
                          .value = kUnevaluated});
  const ExpressionId id(expressions_.size() - 1);
  expression_ids_.emplace(key, id);
  return id;
}

GroupId Graph::add_group(ProcessGroup group) {
  groups_.push_back(std::move(group));
  return GroupId(groups_.size() - 1);
}

ModuleStackId Graph::add_module_stack(PartId part, std::span<const ModuleFrame> frames) {
  module_stacks_.push_back({.first = static_cast<std::uint32_t>(frames_.size()),
                            .count = static_cast<std::uint32_t>(frames.size()),
                            .part = part});
  frames_.insert(frames_.end(), frames.begin(), frames.end());
  return ModuleStackId(module_stacks_.size() - 1);
}

StackId Graph::add_stack(PartId part, std::string_view text) {
  stacks_.push_back({.text = intern(text), .part = part});
  return StackId(stacks_.size() - 1);
}

StorageId Graph::add_storage(PartId part, Dim bytes) {
  storages_.push_back({.bytes = bytes, .part = part});
  real_storages_.emplace_back(storages_.size() - 1);
  return StorageId(storages_.size() - 1);
}

TensorId Graph::add_tensor(Tensor tensor, std::span<const Dim> shape, std::span<const Dim> stride,
                           Dim offset) {
  tensor.dims = static_cast<std::uint32_t>(dims_.size());
  tensor.rank = static_cast<std::uint8_t>(shape.size());
  dims_.insert(dims_.end(), shape.begin(), shape.end());
  if (stride.empty())
    dims_.insert(dims_.end(), shape.size(), Dim{});
  else
    dims_.insert(dims_.end(), stride.begin(), stride.end());
  dims_.push_back(offset);
  if (tensor.storage && !storages_[tensor.storage.index()].device)
    storages_[tensor.storage.index()].device = tensor.device;
  tensors_.push_back(tensor);
  return TensorId(tensors_.size() - 1);
}

Argument Graph::make_children(Argument::Kind kind, std::span<const Argument> children) {
  const auto first = static_cast<std::uint32_t>(arguments_.size());
  arguments_.insert(arguments_.end(), children.begin(), children.end());
  return Argument::of_children(kind, first, static_cast<std::uint32_t>(children.size()));
}

Value Graph::make_children(Value::Kind kind, std::span<const Value> children) {
  const auto first = static_cast<std::uint32_t>(values_.size());
  values_.insert(values_.end(), children.begin(), children.end());
  return {kind, first, static_cast<std::uint32_t>(children.size())};
}

void Graph::take_name(NodeId id) {
  const Node& node = nodes_[id.index()];
  auto& index = by_name_[node.part.index()];
  if (index.size() <= node.name.index()) index.resize(node.name.index() + 1);
  index[node.name.index()] = id;
}

NodeId Graph::add_node(Node node) {
  const NodeId id(nodes_.size());
  positions_.push_back(static_cast<std::uint32_t>(order_.size()));
  order_.push_back(id);
  marks_.push_back(0);
  nodes_.push_back(node);
  take_name(id);
  refresh(id);
  return id;
}

void Graph::collect_inputs(const Argument& argument) {
  if (argument.kind == Argument::Kind::node) {
    if (!argument.node()) return;
    std::uint32_t& mark = marks_[argument.node().index()];
    if (mark == mark_) return;
    mark = mark_;
    inputs_.push_back(argument.node());
    return;
  }
  for (const Argument& child : children(argument)) collect_inputs(child);
}

void Graph::refresh(NodeId id) {
  Node& n = nodes_[id.index()];
  ++mark_;
  n.first_input = static_cast<std::uint32_t>(inputs_.size());
  collect_inputs(n.args);
  collect_inputs(n.kwargs);
  n.input_count = static_cast<std::uint32_t>(inputs_.size()) - n.first_input;

  n.first_tensor = n.tensor_count = 0;
  const auto visit = [&](const auto& self, const Value& value) -> void {
    if (value.kind == Value::Kind::tensor) {
      if (n.tensor_count == 0) n.first_tensor = value.index;
      assert(value.index == n.first_tensor + n.tensor_count);
      ++n.tensor_count;
    }
    for (const Value& child : children(value)) self(self, child);
  };
  visit(visit, n.value);
}

void Graph::set_order(std::vector<NodeId> order) {
  assert(order.size() == order_.size());
  order_ = std::move(order);
  renumber(0, order_.size());
}

void Graph::renumber(std::size_t first, std::size_t last) {
  for (std::size_t i = first; i < last; ++i)
    positions_[order_[i].index()] = static_cast<std::uint32_t>(i);
}

// --- Editing ---

void Graph::move(std::span<const NodeId> nodes, NodeId before) {
  // Only the positions from the first to the last of these nodes and `before` change.
  std::size_t first = position(before), last = first;
  ++mark_;
  for (const NodeId id : nodes) {
    marks_[id.index()] = mark_;
    first = std::min(first, position(id));
    last = std::max(last, position(id) + 1);
  }
  std::vector<NodeId> stretch;
  stretch.reserve(last - first);
  const auto put_block = [&] { stretch.insert(stretch.end(), nodes.begin(), nodes.end()); };
  for (std::size_t i = first; i < last; ++i) {
    if (order_[i] == before) put_block();
    if (marks_[order_[i].index()] != mark_) stretch.push_back(order_[i]);
  }
  if (position(before) >= last) put_block();
  std::copy(stretch.begin(), stretch.end(), order_.begin() + static_cast<std::ptrdiff_t>(first));
  renumber(first, last);
}

NodeId Graph::insert(Node node, NodeId before) {
  const std::size_t at = position(before);
  const NodeId id = add_node(node);
  order_.pop_back();
  order_.insert(order_.begin() + static_cast<std::ptrdiff_t>(at), id);
  renumber(at, order_.size());
  return id;
}

void Graph::erase(NodeId id) {
  const std::size_t at = position(id);
  order_.erase(order_.begin() + static_cast<std::ptrdiff_t>(at));
  positions_[id.index()] = kNowhere;
  renumber(at, order_.size());
  const Node& erased = node(id);
  by_name_[erased.part.index()][erased.name.index()] = {};
}

void Graph::erase(std::span<const NodeId> ids) {
  for (const NodeId id : ids) {
    positions_[id.index()] = kNowhere;
    const Node& erased = node(id);
    by_name_[erased.part.index()][erased.name.index()] = {};
  }
  std::erase_if(order_, [&](NodeId id) { return positions_[id.index()] == kNowhere; });
  renumber(0, order_.size());
}

void Graph::restore(NodeId id, NodeId before) {
  const std::size_t at = position(before);
  order_.insert(order_.begin() + static_cast<std::ptrdiff_t>(at), id);
  renumber(at, order_.size());
  take_name(id);
}

Result<void> Graph::finish() {
  // Edits rarely add expressions; existing ones keep their values.
  const bool are_known = is_finished_ && std::ranges::none_of(expressions_, [](const auto& e) {
                           return e.value == kUnevaluated;
                         });
  captured_ = captured();
  is_finished_ = true;
  if (are_known)
    take_numbers(*this, dims_, storages_);
  else
    JOINTER_CHECK(evaluate_symbols(assumptions_));
  resolve_groups();
  note_unknown_sizes(*this);
  join_storages();
  find_main_device();
  return {};
}

Result<void> Graph::assume(const Assumptions& assumptions) {
  const Assumptions before = assumptions_;
  JOINTER_CHECK(check_group_assumptions(*this, assumptions));
  JOINTER_CHECK(evaluate_symbols(assumptions));
  if (auto sound = validate_sizes(*this); !sound) {
    JOINTER_CHECK(evaluate_symbols(before));
    return sound;
  }
  find_main_device();
  return {};
}

Result<void> Graph::evaluate_symbols(const Assumptions& assumptions) {
  std::vector<const SymbolTable*> tables;
  std::unordered_set<std::string_view> known;
  for (const Part& part : parts_) {
    tables.push_back(&part.symbols);
    for (const auto& variable : part.symbols.variables) known.insert(variable.name);
    for (const auto& [name, expression] : part.symbols.replacements) known.insert(name);
    for (const auto& [name, value] : part.symbols.assumed) known.insert(name);
  }
  // Text captures have no symbol table: symbols that occur only in expressions, without a hint,
  // count as unbacked.
  SymbolTable loose;
  for (const SymbolicSize& e : expressions_) {
    const std::string_view hint = text(e.hint);
    if (!hint.empty() && hint != "null") continue;
    for (const std::string& symbol : e.expression.symbols())
      if (known.insert(symbol).second) loose.variables.push_back({.name = symbol});
  }
  tables.push_back(&loose);
  JOINTER_TRY(SymbolValues values,
              SymbolValues::resolve(tables, without_group_assumptions(assumptions)));

  std::vector<std::int64_t> evaluated(expressions_.size());
  for (std::size_t i = 0; i < expressions_.size(); ++i) {
    const SymbolicSize& e = expressions_[i];
    const auto number =
        e.expression.evaluate([&](std::string_view symbol) { return values.find(symbol); });
    if (number) {
      evaluated[i] = *number;
      continue;
    }
    // The hint stands in for symbols that the capture does not describe, but does not hide an
    // overflow.
    const auto& symbols = e.expression.symbols();
    const bool is_known = std::ranges::all_of(
        symbols, [&](const auto& symbol) { return values.find(symbol).has_value(); });
    const auto hint = Expression::parse(text(e.hint));
    const auto value = hint ? hint->evaluate([](std::string_view) { return std::nullopt; })
                            : tl::unexpected(hint.error());
    if (is_known || !value)
      return input_error("size `{}`: {}", text(e.text), number.error().message);
    evaluated[i] = *value;
  }

  for (std::size_t i = 0; i < expressions_.size(); ++i) expressions_[i].value = evaluated[i];
  take_numbers(*this, dims_, storages_);

  symbol_values_ = values.all();
  assumptions_ = assumptions;
  std::erase_if(facts_, [](const Fact& f) { return f.kind == Fact::Kind::assumed; });
  std::array<std::size_t, 6> by_source{};
  for (const SymbolValue& v : symbol_values_) ++by_source[static_cast<std::size_t>(v.source)];
  const bool any_balanced = by_source[static_cast<std::size_t>(SymbolSource::balanced)] > 0;
  for (const SymbolSource source : {SymbolSource::given, SymbolSource::capture,
                                    SymbolSource::balanced, SymbolSource::fallback}) {
    const std::size_t count = by_source[static_cast<std::size_t>(source)];
    if (count == 0) continue;
    const auto first = std::ranges::find_if(
        symbol_values_, [&](const SymbolValue& v) { return v.source == source; });
    const std::string_view text = source == SymbolSource::fallback && any_balanced
                                      ? "the same share as the balanced ones"
                                      : to_string(source);
    add_fact(Fact::Kind::assumed, fmt::format("{} ({}){}{} = {}; change {} with --assume",
                                              counted(count, "size symbol has an assumed value",
                                                      "size symbols have assumed values"),
                                              text, count == 1 ? ": " : ", such as ", first->name,
                                              first->value, count == 1 ? "it" : "them"));
  }
  if (!values.violated().empty())
    add_fact(Fact::Kind::assumed,
             fmt::format("{} not hold for these sizes; first: {}",
                         counted(values.violated().size(), "assertion of the capture does",
                                 "assertions of the capture do"),
                         values.violated().front()));
  return {};
}

StringId Graph::group_name(const Node& collective) const {
  const Argument* given = argument(collective, "group_name");
  if (given == nullptr) return {};
  if (given->kind == Argument::Kind::string) return given->text();
  const auto is_group = [&](StringId type) { return text(type) == "ProcessGroup"; };
  if (given->kind == Argument::Kind::opaque)
    return is_group(given->text()) ? given->detail() : StringId();
  if (given->kind != Argument::Kind::node) return {};
  const Value& value = node(given->node()).value;
  return value.kind == Value::Kind::opaque && is_group(value.text()) ? value.detail() : StringId();
}

void Graph::resolve_groups() {
  // The maximum number of ranks to derive in total. Beyond it, the size of a group comes from the
  // argument of each collective.
  constexpr std::int64_t kMaxDerivedRanks = 1 << 20;
  std::int64_t derived_ranks = 0;
  for (NodeId id : order_) {
    Node& n = nodes_[id.index()];
    // A collective that is fused with compute does not start communication that a wait completes,
    // but has a group.
    if (!is_collective_start(n) && (n.kind != NodeKind::call || op(n).space() != "symm_mem"))
      continue;
    const StringId name = group_name(n);
    if (!name) continue;
    Part& part = parts_[n.part.index()];
    const auto known =
        std::ranges::find_if(part.groups, [&](GroupId g) { return group(g).name == name; });
    if (known != part.groups.end()) {
      n.group = *known;
    } else {
      // Group names are the same in both halves of a pair.
      const auto same = std::ranges::find_if(
          groups_, [&](const ProcessGroup& g) { return g.derived && g.name == name; });
      n.group = same == groups_.end() ? add_group({.name = name, .derived = true})
                                      : GroupId(static_cast<std::size_t>(same - groups_.begin()));
      part.groups.push_back(n.group);
    }
    ProcessGroup& g = groups_[n.group.index()];
    if (!g.derived || !g.ranks.empty()) continue;
    if (const Argument* size = argument(n, "group_size");
        size != nullptr && size->kind == Argument::Kind::integer && size->integer > 0 &&
        size->integer <= kMaxDerivedRanks - derived_ranks) {
      derived_ranks += size->integer;
      if (const ProcessGroup* twin = twin_of(*this, part, text(g.name), size->integer)) {
        g.ranks = twin->ranks;
        add_fact(Fact::Kind::derived,
                 fmt::format("the file lacks the ranks of process group {0}: "
                             "{0} is named after {1} and gets the ranks of {1}",
                             text(g.name), text(twin->name)));
        continue;
      }
      for (std::int32_t rank = 0; rank < size->integer; ++rank) g.ranks.push_back(rank);
      add_fact(Fact::Kind::derived,
               fmt::format("the file lacks the ranks of process group {0}: the group gets {1}, "
                           "according to group_size; to place them N apart, use --assume {2}=N",
                           text(g.name),
                           counted(static_cast<std::size_t>(size->integer), "consecutive rank"),
                           stride_name(text(g.name))));
    }
  }
}

void Graph::join_storages() {
  for (std::size_t i = 0; i < real_storages_.size(); ++i) real_storages_[i] = StorageId(i);
  // Producers come first, so the storage to join with is already final.
  const auto join = [&](const Node& from, const Node& to) {
    const auto a = tensors(from), b = tensors(to);
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
      if (a[i].storage && b[i].storage)
        real_storages_[a[i].storage.index()] = real_storages_[b[i].storage.index()];
  };
  for (NodeId id : order_) {
    const Node& n = node(id);
    if (n.partner) join(n, node(n.partner));
    // If an edit makes a node a view of a new storage, the views of that node follow it.
    else if ((is_wait(n) || target(n) == "aten.view.default") && n.input_count == 1)
      join(n, node(inputs(n).front()));
  }
}

StorageId Graph::captured_storage(const Tensor& tensor) const {
  const std::less<const Tensor*> before;
  const Tensor* const first = tensors_.data();
  if (captured_storages_.empty() || before(&tensor, first) ||
      !before(&tensor, first + tensors_.size()))
    return tensor.storage;
  const TensorId id(static_cast<std::size_t>(&tensor - first));
  const auto it =
      std::ranges::lower_bound(captured_storages_, id, {}, &std::pair<TensorId, StorageId>::first);
  return it != captured_storages_.end() && it->first == id ? it->second : tensor.storage;
}

void Graph::correct_storage(const Tensor& tensor, StorageId storage) {
  const TensorId id(static_cast<std::size_t>(&tensor - tensors_.data()));
  const auto it =
      std::ranges::lower_bound(captured_storages_, id, {}, &std::pair<TensorId, StorageId>::first);
  if (it == captured_storages_.end() || it->first != id)
    captured_storages_.emplace(it, id, tensor.storage);
  tensors_[id.index()].storage = storage;
}

void Graph::find_main_device() {
  std::array<double, 4> bytes{};
  const std::vector<bool> is_unused = find_unused_storages(*this);
  for (std::size_t i = 0; i < storages_.size(); ++i)
    if (const Storage& s = storages_[i]; s.device && !is_unused[i])
      bytes[static_cast<std::size_t>(device(s.device).type)] += static_cast<double>(s.bytes.value);
  const auto largest = std::ranges::max_element(bytes);
  main_device_ = static_cast<DeviceType>(largest - bytes.begin());
}

}  // namespace jointer
