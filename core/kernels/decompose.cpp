#include "core/kernels/decompose.h"

#include <algorithm>
#include <initializer_list>

#include "core/kernels/decomposer.h"
#include "core/kernels/elementwise_operators.h"

namespace jointer::kernels {

void Decomposer::add_rules() {
  for (const ElementwiseOperator& each : elementwise_operators()) {
    elementwise_.emplace(each.packet, each.op);
    rules_.emplace(each.packet, &Decomposer::elementwise);
  }
  const auto add = [this](Rule rule, std::initializer_list<std::string_view> packets) {
    for (const std::string_view packet : packets) rules_[packet] = rule;
  };
  using D = Decomposer;
  add(&D::alias_rule,
      {"aten.alias", "aten.detach", "aten.lift", "aten.lift_fresh", "aten.positive"});
  add(&D::reshape_rule, {"aten.view", "aten.reshape", "aten._unsafe_view", "aten._reshape_alias",
                         "aten.flatten", "aten.squeeze", "aten.unsqueeze", "aten.unflatten"});
  add(&D::permute_rule, {"aten.permute", "aten.t", "aten.transpose"});
  add(&D::expand_rule, {"aten.expand"});
  add(&D::slice_rule, {"aten.slice", "aten.narrow"});
  add(&D::select_rule, {"aten.select"});
  add(&D::split_rule, {"aten.split", "aten.split_with_sizes", "aten.chunk", "aten.unbind"});
  add(&D::stack_rule, {"aten.stack"});
  add(&D::cat_rule, {"aten.cat"});
  add(&D::convert_rule,
      {"aten._to_copy", "prims.convert_element_type", "aten.type_as", "prims.device_put"});
  add(&D::clone_rule, {"aten.clone", "aten.contiguous", "aten.lift_fresh_copy"});
  add(&D::full_rule,
      {"aten.full", "aten.zeros", "aten.ones", "aten.new_zeros", "aten.new_ones", "aten.new_full",
       "aten.zeros_like", "aten.ones_like", "aten.full_like", "aten.scalar_tensor"});
  add(&D::empty_rule, {"aten.empty", "aten.new_empty", "aten.empty_like", "aten.empty_strided"});
  add(&D::arange_rule, {"aten.arange", "prims.iota"});
  add(&D::sum_rule, {"aten.sum", "aten.mean", "aten.amax", "aten.amin", "aten.prod", "aten.any"});
  add(&D::softmax_rule, {"aten._softmax"});
  add(&D::log_softmax_rule, {"aten._log_softmax"});
  add(&D::softmax_gradient_rule, {"aten._softmax_backward_data"});
  add(&D::silu_rule, {"aten.silu"});
  add(&D::silu_gradient_rule, {"aten.silu_backward"});
  add(&D::gelu_rule, {"aten.gelu"});
  add(&D::gelu_gradient_rule, {"aten.gelu_backward"});
  add(&D::layer_norm_rule, {"aten.native_layer_norm"});
  add(&D::layer_norm_gradient_rule, {"aten.native_layer_norm_backward"});
  add(&D::output_gradient_rule, {"aten.sigmoid_backward", "aten.tanh_backward"});
  add(&D::log_softmax_gradient_rule, {"aten._log_softmax_backward_data"});
  add(&D::nll_loss_rule, {"aten.nll_loss_forward"});
  add(&D::nll_loss_gradient_rule, {"aten.nll_loss_backward"});
  add(&D::in_place_rule, {"aten.add_", "aten.sub_", "aten.mul_", "aten.div_"});
  add(&D::rms_norm_rule, {"aten._fused_rms_norm"});
  add(&D::rms_norm_gradient_rule, {"aten._fused_rms_norm_backward"});
  add(&D::embedding_rule, {"aten.embedding"});
  add(&D::embedding_gradient_rule, {"aten.embedding_dense_backward"});
  add(&D::slice_gradient_rule, {"aten.slice_backward"});
  add(&D::clamp_rule, {"aten.clamp"});
  add(&D::masked_fill_rule, {"aten.masked_fill", "aten.masked_fill_"});
  add(&D::index_rule, {"aten.index"});
  add(&D::index_select_rule, {"aten.index_select"});
  add(&D::index_put_rule, {"aten.index_put", "aten.index_put_"});
  add(&D::gather_rule, {"aten.gather"});
  add(&D::scatter_rule, {"aten.scatter_add", "aten.scatter"});
  add(&D::cumsum_rule, {"aten.cumsum"});
  add(&D::matmul_rule, {"aten.mm", "aten.bmm", "aten.addmm", "aten._grouped_mm"});
  add(&D::copy_rule, {"aten.copy_"});
  add(&D::nothing_rule,
      {"aten._assert_scalar", "aten.sym_constrain_range_for_size", "aten._assert_async"});
}

Decomposer::Rule Decomposer::rule_for(const Node& node) {
  if (known_.size() < graph_.operator_count()) known_.resize(graph_.operator_count());
  auto& [is_known, rule] = known_[node.target.index()];
  if (!is_known) {
    is_known = true;
    const OperatorInfo& info = graph_.op(node);
    const auto found = rules_.find(info.packet());
    if (info.is_wait ||
        (info.collective != CollectiveKind::none && info.space() == "_c10d_functional"))
      rule = &Decomposer::collective_rule;
    else
      rule = found == rules_.end() ? &Decomposer::fallback_rule : found->second;
  }
  return rule;
}

FxId Decomposer::of(const Argument& argument) const {
  if (argument.kind != Argument::Kind::node || !argument.node()) return -1;
  const std::vector<FxId>& values = env_[argument.node().index()];
  return values.size() == 1 ? values.front() : -1;
}

FxId Decomposer::input(const Node& node, std::string_view name) const {
  const Argument* found = arg(node, name);
  return found == nullptr ? -1 : of(*found);
}

std::int64_t Decomposer::number(const Node& node, std::string_view name,
                                std::int64_t otherwise) const {
  const Argument* found = arg(node, name);
  return found == nullptr || found->kind == Argument::Kind::none ? otherwise
                                                                 : arguments_.integer(*found);
}

double Decomposer::number_of(const Node& node, std::string_view name) const {
  const Argument* found = arg(node, name);
  return found == nullptr ? 0 : arguments_.real(*found);
}

std::span<const Argument> Decomposer::elements(const Node& node, std::string_view name) const {
  const Argument* found = arg(node, name);
  return found == nullptr ? std::span<const Argument>() : graph_.children(*found);
}

void Decomposer::collect_inputs(const Argument& argument, std::vector<FxId>& inputs) const {
  if (argument.kind == Argument::Kind::node && argument.node()) {
    for (const FxId id : env_[argument.node().index()])
      if (id >= 0) inputs.push_back(id);
  }
  for (const Argument& child : graph_.children(argument)) collect_inputs(child, inputs);
}

FxNode Decomposer::made(FxKind kind, const Node& node, std::vector<FxId> inputs,
                        Sizes numbers) const {
  FxNode result;
  result.kind = kind;
  result.target = graph_.target(node);
  result.inputs = std::move(inputs);
  result.numbers = std::move(numbers);
  result.results = {captured(node)};
  return result;
}

bool Decomposer::touches_complex(const Node& node) const {
  for (const Tensor& tensor : graph_.tensors(node))
    if (is_complex(tensor.dtype)) return true;
  return std::ranges::any_of(graph_.inputs(node), [&](NodeId producer) {
    return std::ranges::any_of(env_[producer.index()],
                               [&](FxId id) { return id >= 0 && is_complex(builder_.dtype(id)); });
  });
}

// --- Calls ---

void Decomposer::matmul_rule(const Node& node) {
  std::vector<FxId> inputs;
  for (const Argument& each : graph_.args(node))
    if (const FxId id = of(each); id >= 0) inputs.push_back(id);
  const std::string_view packet = graph_.op(node).packet();
  FxNode product_node = made(FxKind::matmul, node, inputs);
  if (packet == "aten._grouped_mm") {
    product_node.kind = FxKind::alloc_call;
    product_node.constraint = Constraint::dense;
    return give_made(std::move(product_node));
  }
  // The decomposition converts its arguments before it declines; the conversions stay, unused.
  std::vector<FxId> converted;
  for (const FxId id : inputs)
    converted.push_back(builder_.convert(id, computation_type(builder_.dtype(id))));
  const auto size = [&](std::size_t input, std::size_t dim) {
    return builder_.shape(inputs[input])[dim];
  };
  // An outer product is a multiplication of elements.
  const bool is_outer =
      (packet == "aten.mm" && size(0, 1) == 1 && size(0, 0) != 1 && size(1, 1) != 1) ||
      (packet == "aten.bmm" && version_ > TorchVersion{2, 11} && size(0, 2) == 1 &&
       size(1, 1) == 1);
  if (is_outer) {
    const DType type = product_node.result().dtype;
    return give(builder_.convert(builder_.pointwise("mul", converted), type));
  }
  if (packet == "aten.addmm" && size(1, 1) == 1 && size(1, 0) != 1 && size(2, 1) != 1 &&
      arg(node, "alpha") == nullptr && arg(node, "beta") == nullptr) {
    const DType type = product_node.result().dtype;
    const FxId multiplied = builder_.pointwise("mul", {converted[1], converted[2]});
    return give(builder_.convert(builder_.pointwise("add", {multiplied, converted[0]}), type));
  }
  give_made(std::move(product_node));
}

void Decomposer::copy_rule(const Node& node) {
  give_made(made(FxKind::copy_in_place, node, {input(node, "self"), input(node, "src")}));
}

void Decomposer::nothing_rule(const Node&) {}

void Decomposer::fallback_rule(const Node& node) {
  FxNode called;
  called.kind = FxKind::fallback;
  called.target = graph_.target(node);
  collect_inputs(node.args, called.inputs);
  collect_inputs(node.kwargs, called.inputs);
  const OperatorInfo& info = graph_.op(node);
  called.has_side_effects = info.has(OperatorTag::impure);
  called.is_view = info.is_view;
  called.constraint = call_constraint(info, builder_.graph.is_backward);
  if (info.mutates) {
    called.written.assign(called.inputs.size(), false);
    for (const SchemaArgument& each : info.arguments)
      if (const FxId id = each.writes ? input(node, each.name) : -1; id >= 0)
        for (std::size_t i = 0; i < called.inputs.size(); ++i)
          if (called.inputs[i] == id) called.written[i] = true;
  }
  std::vector<FxTensor> all;
  for (const Tensor& tensor : graph_.tensors(node)) all.push_back(captured_tensor(graph_, tensor));
  called.is_tuple = node.value.kind != Value::Kind::tensor;
  called.results = all;
  if (touches_complex(node) && !called.is_tuple &&
      called.target != "aten.view_as_complex.default") {
    called.is_complex_fallback = true;
    called.constraint = Constraint::none;
  }
  const bool is_tuple = called.is_tuple;
  const FxId id = builder_.add(std::move(called));
  if (!is_tuple) return give(id);
  std::size_t tensor = 0;
  const auto elements = graph_.children(node.value);
  const std::size_t step = node.value.kind == Value::Kind::dict ? 2 : 1;
  for (std::size_t i = step - 1; i < elements.size(); i += step) {
    if (elements[i].kind != Value::Kind::tensor) {
      give(-1);
      continue;
    }
    give(builder_.getitem(id, static_cast<std::int64_t>(tensor), all[tensor]));
    ++tensor;
  }
}

void Decomposer::collective_rule(const Node& node) {
  std::vector<FxId> inputs;
  collect_inputs(node.args, inputs);
  const OperatorInfo& info = graph_.op(node);
  if (info.is_coalesced || inputs.size() != 1 || graph_.tensors(node).size() != 1) {
    fallback_rule(node);
    for (FxNode& each : builder_.graph.nodes)
      if (each.origin == builder_.origin && each.kind == FxKind::fallback) {
        each.kind = info.is_wait ? FxKind::wait : FxKind::collective;
        each.constraint = Constraint::order;
        each.has_side_effects = true;
      }
    return;
  }
  FxNode called = made(info.is_wait ? FxKind::wait : FxKind::collective, node, std::move(inputs));
  const std::string_view packet = info.packet();
  if (packet == "_c10d_functional.all_reduce") called.kind = FxKind::all_reduce;
  if (packet == "_c10d_functional.all_reduce_") called.kind = FxKind::all_reduce_in_place;
  called.has_side_effects = true;
  called.constraint = Constraint::order;
  give_made(std::move(called));
}

// --- The graph ---

void Decomposer::placeholder(NodeId id, const Node& node, FxKind kind) {
  if (graph_.tensors(node).size() != 1) return;
  FxNode given = made(kind, node, {});
  given.name = graph_.name(id);
  builder_.origin = id;
  give_made(std::move(given));
}

void Decomposer::output(const Node& node) {
  FxNode end;
  end.kind = FxKind::output;
  end.target = "output";
  collect_inputs(node.args, end.inputs);
  builder_.add(std::move(end));
}

void Decomposer::getitem_rule(NodeId id, const Node& node) {
  const auto arguments = graph_.args(node);
  if (arguments.size() != 2 || arguments[0].kind != Argument::Kind::node) return;
  const Node& tuple = graph_.node(arguments[0].node());
  std::size_t which = 0;
  if (arguments[1].kind == Argument::Kind::string) {
    const auto elements = graph_.children(tuple.value);
    for (std::size_t i = 0; i + 1 < elements.size(); i += 2)
      if (elements[i].kind == Value::Kind::key && elements[i].text() == arguments[1].text())
        which = i / 2;
  } else {
    which = static_cast<std::size_t>(arguments_.integer(arguments[1]));
  }
  const std::vector<FxId>& values = env_[arguments[0].node().index()];
  if (which < values.size()) env_[id.index()] = {values[which]};
}

void Decomposer::call(NodeId id, const Node& node) {
  if (graph_.op(node).is_getitem) return getitem_rule(id, node);
  // Numbers are what the capture assumes.
  if (graph_.tensors(node).empty() && !graph_.op(node).mutates) return;
  builder_.origin = id;
  const Rule rule = rule_for(node);
  // A call that does not fit its schema is one of an unknown operator, except that arithmetic may
  // start with a number.
  const OperatorInfo& info = graph_.op(node);
  if (rule != &Decomposer::elementwise && !info.arguments.empty() &&
      info.arguments.front().type == "Tensor" && input(node, info.arguments.front().name) < 0)
    return fallback_rule(node);
  if (rule != &Decomposer::alias_rule && rule != &Decomposer::fallback_rule &&
      rule != &Decomposer::collective_rule && touches_complex(node)) {
    const std::string_view packet = graph_.op(node).packet();
    fallback_rule(node);
    if (packet == "aten.view" || packet == "aten._unsafe_view" || packet == "aten.t" ||
        packet == "aten.transpose")
      builder_.graph.nodes.back().target = packet == "aten.view" || packet == "aten._unsafe_view"
                                               ? "aten.reshape.default"
                                               : "aten.permute.default";
    if (packet == "aten._to_copy")
      builder_.graph.nodes.back().target = "prims.convert_element_type.default";
    return;
  }
  (this->*rule)(node);
}

void Decomposer::visit(NodeId id) {
  const Node& node = graph_.node(id);
  results_.clear();
  switch (node.kind) {
    case NodeKind::placeholder:
      placeholder(id, node, FxKind::placeholder);
      break;
    case NodeKind::get_attr:
      placeholder(id, node, FxKind::constant);
      break;
    case NodeKind::output:
      output(node);
      break;
    case NodeKind::call:
      call(id, node);
  }
  if (!results_.empty()) env_[id.index()] = results_;
}

FxGraph Decomposer::run(PartId part) {
  builder_.graph.is_backward = graph_.part(part).kind == CaptureKind::backward;
  for (const NodeId id : graph_.order())
    if (graph_.node(id).part == part) visit(id);
  return std::move(builder_.graph);
}

FxGraph Decomposer::run(std::span<const NodeId> calls, std::span<const NodeId> results) {
  std::vector<bool> is_known(graph_.node_count(), false);
  for (const NodeId id : calls) is_known[id.index()] = true;
  for (const NodeId id : calls)
    for (const NodeId given : graph_.inputs(id)) {
      if (is_known[given.index()]) continue;
      is_known[given.index()] = true;
      results_.clear();
      placeholder(given, graph_.node(given), FxKind::placeholder);
      if (!results_.empty()) env_[given.index()] = results_;
    }
  for (const NodeId id : calls) visit(id);
  FxNode end;
  end.kind = FxKind::output;
  end.target = "output";
  for (const NodeId id : results)
    for (const FxId value : env_[id.index()])
      if (value >= 0) end.inputs.push_back(value);
  builder_.add(std::move(end));
  return std::move(builder_.graph);
}

FxGraph decompose(const Graph& graph, PartId part, TorchVersion version) {
  return Decomposer(graph, version).run(part);
}

FxGraph decompose(const Graph& graph, std::span<const NodeId> calls,
                  std::span<const NodeId> results, TorchVersion version) {
  return Decomposer(graph, version).run(calls, results);
}

}  // namespace jointer::kernels
