#include "core/kernels/decompose.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <initializer_list>

#include "core/kernels/decomposer.h"
#include "core/kernels/elementwise_operators.h"

namespace jointer::kernels {

void Decomposer::add_rules() {
  for (const ElementwiseOperator& each : elementwise_operators()) {
    elementwise_.emplace(each.packet, each.op);
    rules_.emplace(each.packet, &Decomposer::elementwise);
  }
  for (const auto decompositions :
       {activation_decompositions(), gradient_decompositions(), reduction_decompositions(),
        shape_decompositions(), index_decompositions(), channel_decompositions(),
        batch_norm_decompositions(), pool_decompositions()})
    for (const Decomposition& each : decompositions) {
      functions_.emplace(each.packet, each.decompose);
      rules_.emplace(each.packet, &Decomposer::function_rule);
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
  add(&D::safe_softmax_rule, {"aten._safe_softmax"});
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
  add(&D::nll_loss_rule, {"aten.nll_loss_forward", "aten.nll_loss2d_forward"});
  add(&D::nll_loss_gradient_rule, {"aten.nll_loss_backward", "aten.nll_loss2d_backward"});
  add(&D::in_place_rule, {"aten.add_", "aten.bitwise_and_", "aten.bitwise_left_shift_",
                          "aten.bitwise_not_", "aten.bitwise_or_", "aten.bitwise_right_shift_",
                          "aten.bitwise_xor_", "aten.clamp_min_", "aten.div_", "aten.logical_and_",
                          "aten.logical_not_", "aten.logical_or_", "aten.logical_xor_", "aten.mul_",
                          "aten.relu_", "aten.sigmoid_", "aten.sin_", "aten.sqrt_", "aten.sub_"});
  add(&D::rms_norm_rule, {"aten._fused_rms_norm"});
  add(&D::rms_norm_gradient_rule, {"aten._fused_rms_norm_backward"});
  add(&D::embedding_rule, {"aten.embedding"});
  add(&D::embedding_gradient_rule, {"aten.embedding_dense_backward"});
  add(&D::slice_gradient_rule, {"aten.slice_backward"});
  add(&D::clamp_rule, {"aten.clamp"});
  add(&D::masked_fill_rule, {"aten.masked_fill", "aten.masked_fill_"});
  add(&D::index_rule, {"aten._unsafe_index", "aten.index"});
  add(&D::index_select_rule, {"aten.index_select"});
  add(&D::index_put_rule, {"aten._unsafe_index_put", "aten.index_put", "aten.index_put_"});
  add(&D::gather_rule, {"aten.gather"});
  add(&D::scatter_rule, {"aten.scatter_add", "aten.scatter"});
  add(&D::cumsum_rule, {"aten.cumprod", "aten.cumsum", "aten.logcumsumexp"});
  add(&D::matmul_rule,
      {"aten.mm", "aten.bmm", "aten.addmm", "aten.baddbmm", "aten._grouped_mm", "aten._scaled_mm"});
  add(&D::foreach_rule,
      {"aten._foreach_abs",        "aten._foreach_add",       "aten._foreach_add_",
       "aten._foreach_addcdiv",    "aten._foreach_addcdiv_",  "aten._foreach_addcmul",
       "aten._foreach_addcmul_",   "aten._foreach_clamp_max", "aten._foreach_clamp_min",
       "aten._foreach_clone",      "aten._foreach_copy",      "aten._foreach_copy_",
       "aten._foreach_div",        "aten._foreach_div_",      "aten._foreach_lerp",
       "aten._foreach_maximum",    "aten._foreach_minimum",   "aten._foreach_mul",
       "aten._foreach_mul_",       "aten._foreach_neg",       "aten._foreach_pow",
       "aten._foreach_reciprocal", "aten._foreach_rsqrt",     "aten._foreach_sign",
       "aten._foreach_sqrt",       "aten._foreach_sub"});
  add(&D::flex_attention_rule, {"flex_attention", "flex_attention_backward"});
  add(&D::copy_rule, {"aten.copy_"});
  add(&D::nothing_rule, {"aten._assert_scalar", "aten.sym_constrain_range_for_size"});
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
  return argument_value(env_, argument);
}

FxId Decomposer::input(const Node& node, std::string_view name) const {
  const Argument* found = arg(node, name);
  return found == nullptr ? -1 : of(*found);
}

std::int64_t Decomposer::number(const Node& node, std::string_view name,
                                std::int64_t default_value) const {
  const Argument* found = arg(node, name);
  return found == nullptr || found->kind == Argument::Kind::none ? default_value
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

void Decomposer::collect_inputs(const Argument& argument, FxIds& inputs) const {
  if (argument.kind == Argument::Kind::node && argument.node()) {
    for (const FxId id : env_[argument.node().index()])
      if (id >= 0) inputs.push_back(id);
  }
  for (const Argument& child : graph_.children(argument)) collect_inputs(child, inputs);
}

FxNode Decomposer::made(FxKind kind, const Node& node, FxIds inputs, Sizes numbers) const {
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

bool Decomposer::has_valid_dims(const Node& node) const {
  static constexpr std::array<std::string_view, 6> kNames{"dim",  "dims", "dim0",
                                                          "dim1", "dim2", "dimension"};
  const OperatorInfo& info = graph_.op(node);
  if (info.arguments.empty() || graph_.tensors(node).empty()) return true;
  // For operators on a list of tensors and for gradients, dimensions are those of the result.
  const bool is_of_result =
      info.arguments.front().type != "Tensor" || info.packet().ends_with("_backward");
  const std::int64_t rank = is_of_result ? static_cast<std::int64_t>(captured(node).shape.size())
                                         : builder_.rank(input(node, info.arguments.front().name));
  for (const SchemaArgument& each : info.arguments) {
    if (std::ranges::find(kNames, each.name) == kNames.end()) continue;
    Sizes dims;
    const Argument* given = arg(node, each.name);
    if (given != nullptr && given->kind != Argument::Kind::none) {
      dims = arguments_.integers(*given);
    } else if (each.type == "int") {
      std::int64_t dim = 0;
      const std::string_view text = each.default_value;
      std::from_chars(text.data(), text.data() + text.size(), dim);
      dims.push_back(dim);
    }
    for (const std::int64_t dim : dims)
      if (dim < -rank || dim >= rank) return false;
  }
  return true;
}

void Decomposer::function_rule(const Node& node) {
  const Decompose decompose_call = functions_.at(graph_.op(node).packet());
  const FxIds made = decompose_call(builder_, CallArguments(graph_, env_, node), version_);
  if (made.empty()) return fallback_rule(node);
  for (const FxId id : made) give(id);
}

// A foreach call stays one node, which is lowered to an operation for each tensor. Source:
// `register_foreach_pointwise` and `register_foreach_inplace` in torch/_inductor/lowering.py.
void Decomposer::foreach_rule(const Node& node) {
  constexpr std::string_view kStart = "aten._foreach_";
  std::string_view name = graph_.op(node).packet().substr(kStart.size());
  const bool is_in_place = name.ends_with('_');
  if (is_in_place) name.remove_suffix(1);
  FxNode all;
  all.kind = FxKind::foreach_;
  all.target = graph_.target(node);
  all.is_tuple = true;
  all.op = name == "clone" || name == "copy"          ? "clone"
           : name == "div"                            ? "truediv"
           : name == "clamp_min" || name == "maximum" ? "maximum"
           : name == "clamp_max" || name == "minimum" ? "minimum"
           : name == "addcmul"                        ? "fma"
                                                      : name;
  std::size_t count = 0;
  for (const Argument& each : graph_.args(node)) {
    FxIds ids;
    collect_inputs(each, ids);
    if (count == 0) count = ids.size();
    if (ids.empty()) {
      if (arguments_.is_number(each)) all.scalars.push_back(arguments_.real(each));
      for (const Argument& number : graph_.children(each))
        all.scalars.push_back(arguments_.real(number));
    } else if (ids.size() == 1 && count > 1) {
      all.inputs.insert(all.inputs.end(), count, ids.front());
    } else {
      all.inputs.insert(all.inputs.end(), ids.begin(), ids.end());
    }
  }
  if (count == 0 || all.inputs.size() % count != 0) return fallback_rule(node);
  if (name == "addcmul" || name == "addcdiv") {
    // The first operand is added to the product or quotient of the others.
    if (all.inputs.size() != 3 * count) return fallback_rule(node);
    all.op = name;
  }
  if (const Argument* alpha = arg(node, "alpha"); alpha && arguments_.real(*alpha) != 1)
    all.scalars.push_back(arguments_.real(*alpha));
  if (name == "lerp") {
    // It becomes a subtraction and a multiply-add.
    if (is_in_place || all.scalars.size() != 1 || all.inputs.size() != 2 * count)
      return fallback_rule(node);
    const bool is_high = all.scalars[0] >= 0.5 || all.scalars[0] <= -0.5;
    const auto middle = all.inputs.begin() + static_cast<std::ptrdiff_t>(count);
    const FxIds starts(all.inputs.begin(), middle), ends(middle, all.inputs.end());
    FxNode differences = all;
    differences.op = "sub";
    differences.target = "aten._foreach_sub.List";
    differences.scalars.clear();
    differences.inputs = ends;
    differences.inputs.insert(differences.inputs.end(), starts.begin(), starts.end());
    differences.numbers = {static_cast<std::int64_t>(count), 0};
    for (const FxId id : starts) differences.results.push_back(builder_.tensor(id));
    const FxId differing = builder_.add(std::move(differences));
    all.op = "fma";
    all.scalars = {is_high ? all.scalars[0] - 1 : all.scalars[0]};
    all.inputs = is_high ? ends : starts;
    for (std::size_t i = 0; i < count; ++i)
      all.inputs.push_back(
          builder_.getitem(differing, static_cast<std::int64_t>(i), builder_.tensor(starts[i])));
  }
  all.numbers = {static_cast<std::int64_t>(count), is_in_place ? 1 : 0};
  for (std::size_t i = 0; i < count; ++i) all.results.push_back(builder_.tensor(all.inputs[i]));
  const std::vector<FxTensor> results = all.results;
  const FxId tuple = builder_.add(std::move(all));
  if (graph_.tensors(node).empty()) return;
  for (std::size_t i = 0; i < count; ++i)
    give(builder_.getitem(tuple, static_cast<std::int64_t>(i), results[i]));
}

// --- Calls ---

void Decomposer::matmul_rule(const Node& node) {
  FxIds inputs;
  for (const Argument& each : graph_.args(node))
    if (const FxId id = of(each); id >= 0) inputs.push_back(id);
  const std::string_view packet = graph_.op(node).packet();
  FxNode product_node = made(FxKind::matmul, node, inputs);
  for (const std::string_view factor : {"beta", "alpha"})
    if (const Argument* given = arg(node, factor); given && arguments_.real(*given) != 1)
      product_node.scalars.push_back(arguments_.real(*given));
  if (packet == "aten._grouped_mm") {
    product_node.kind = FxKind::alloc_call;
    product_node.constraint = Constraint::dense;
    return give_made(std::move(product_node));
  }
  if (packet == "aten._scaled_mm") return give_made(std::move(product_node));
  // The decomposition converts its arguments before it declines; the conversions stay, unused.
  FxIds converted;
  for (const FxId id : inputs) converted.push_back(builder_.to_computation_type(id));
  const auto size = [&](std::size_t input, std::size_t dim) {
    return builder_.shape(inputs[input])[dim];
  };
  const bool is_on_gpu = builder_.tensor(inputs.front()).is_on_gpu;
  if (!is_on_gpu && small_product_on_cpu(node, converted)) return;
  // An outer product becomes an element-wise multiplication; an mm on the CPU only if it is small.
  constexpr std::int64_t kSmall = 32;
  const bool may_multiply =
      is_on_gpu ||
      product(builder_.shape(inputs[0])) + product(builder_.shape(inputs[1])) <= kSmall;
  const bool is_outer = (packet == "aten.mm" && may_multiply && size(0, 1) == 1 &&
                         size(0, 0) != 1 && size(1, 1) != 1) ||
                        (packet == "aten.bmm" && version_ > TorchVersion{2, 11} &&
                         size(0, 2) == 1 && size(1, 1) == 1);
  if (is_outer) {
    const DType type = product_node.result().dtype;
    return give(builder_.convert(builder_.pointwise("mul", converted), type));
  }
  if (packet == "aten.addmm" && is_on_gpu && size(1, 1) == 1 && size(1, 0) != 1 &&
      size(2, 1) != 1 && arg(node, "alpha") == nullptr && arg(node, "beta") == nullptr) {
    const DType type = product_node.result().dtype;
    const FxId multiplied = builder_.pointwise("mul", {converted[1], converted[2]});
    return give(builder_.convert(builder_.pointwise("add", {multiplied, converted[0]}), type));
  }
  give_made(std::move(product_node));
}

// On the CPU, the product of a row and a column is a sum of products of elements, and so is an
// addmm of a row and a small matrix. Source: torch/_inductor/decomposition.py (mm, bmm, addmm).
bool Decomposer::small_product_on_cpu(const Node& node, const FxIds& inputs) {
  const std::string_view packet = graph_.op(node).packet();
  if (packet == "aten.baddbmm") return false;
  const bool adds = packet == "aten.addmm", is_batched = packet == "aten.bmm";
  const FxId left = inputs[adds ? 1 : 0], right = inputs[adds ? 2 : 1];
  const Sizes rows = builder_.shape(left), columns = builder_.shape(right);
  if (rows[rows.size() - 2] != 1) return false;
  const DType type = builder_.dtype(left);
  constexpr std::int64_t kSmall = 16;
  FxId sum = -1;
  if (columns.back() == 1) {
    Sizes flat{rows.back()};
    if (is_batched) flat.insert(flat.begin(), rows[0]);
    const FxId both =
        builder_.pointwise("mul", {builder_.reshape(left, flat), builder_.reshape(right, flat)});
    sum = builder_.reduce("sum", both, {is_batched ? 1 : 0}, true, type);
    sum = builder_.unsqueeze(sum, is_batched ? 1 : 0);
  } else if (adds && columns[0] <= kSmall && columns[1] <= kSmall) {
    const FxId both = builder_.pointwise("mul", {builder_.permute(left, {1, 0}), right});
    sum = builder_.reduce("sum", both, {0}, true, type);
  } else {
    return false;
  }
  if (adds) {
    const auto factor = [&](std::string_view name) {
      const Argument* given = arg(node, name);
      return given == nullptr ? 1.0 : arguments_.real(*given);
    };
    sum = builder_.pointwise("mul", {sum}, {factor("alpha")});
    sum =
        builder_.pointwise("add", {sum, builder_.pointwise("mul", {inputs[0]}, {factor("beta")})});
  }
  give(builder_.convert(sum, captured(node).dtype));
  return true;
}

// The arguments are tensors, a graph that computes scores (a gradient has two graphs), the block
// mask, the scale, options, and two lists of values that the graphs read.
void Decomposer::flex_attention_rule(const Node& node) {
  const auto all = graph_.args(node);
  const bool is_gradient = graph_.op(node).packet() == "flex_attention_backward";
  const std::size_t tensors = is_gradient ? 7 : 3, mask = is_gradient ? 9 : 4;
  constexpr std::size_t kFirst = 2, kLast = 10;  // tensors of the block mask
  if (all.size() < mask + 5 || graph_.children(all[mask]).size() < kLast ||
      graph_.tensors(node).size() < 3 || of(all[0]) < 0 || of(all[1]) < 0 || of(all[2]) < 0 ||
      !captured(node).is_on_gpu)
    return fallback_rule(node);
  FxNode called;
  called.kind = is_gradient ? FxKind::flex_attention_gradient : FxKind::flex_attention;
  called.target = graph_.target(node);
  called.is_tuple = true;
  for (std::size_t i = 0; i < tensors; ++i) called.inputs.push_back(of(all[i]));
  for (std::size_t i = kFirst; i < kLast; ++i)
    called.inputs.push_back(of(graph_.children(all[mask])[i]));
  for (std::size_t i = mask + 3; i < mask + 5; ++i) collect_inputs(all[i], called.inputs);
  for (std::size_t i = 0; i < 3; ++i) called.results.push_back(captured(node, i));
  const std::vector<FxTensor> results = called.results;
  const FxId tuple = builder_.add(std::move(called));
  for (std::size_t i = 0; i < results.size(); ++i)
    give(builder_.getitem(tuple, static_cast<std::int64_t>(i), results[i]));
  for (std::size_t i = results.size(); i < graph_.children(node.value).size(); ++i) give(-1);
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
    for (const SchemaArgument& each : info.arguments) {
      const Argument* changed = each.writes ? arg(node, each.name) : nullptr;
      FxIds ids;
      if (changed != nullptr) collect_inputs(*changed, ids);
      for (const FxId id : ids)
        for (std::size_t i = 0; i < called.inputs.size(); ++i)
          if (called.inputs[i] == id) called.written[i] = true;
    }
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
  FxIds inputs;
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
  const FxIds& values = env_[arguments[0].node().index()];
  std::size_t which = 0;
  if (arguments[1].kind == Argument::Kind::string) {
    const auto elements = graph_.children(tuple.value);
    for (std::size_t i = 0; i + 1 < elements.size(); i += 2)
      if (elements[i].kind == Value::Kind::key && elements[i].text() == arguments[1].text())
        which = i / 2;
  } else {
    which = static_cast<std::size_t>(
        wrapped_dim(arguments_.integer(arguments[1]), static_cast<std::int64_t>(values.size())));
  }
  if (which < values.size()) env_[id.index()] = {values[which]};
}

void Decomposer::call(NodeId id, const Node& node) {
  if (graph_.op(node).is_getitem) return getitem_rule(id, node);
  // Nothing is computed for numbers: the values in the capture are assumed.
  if (graph_.tensors(node).empty() && !graph_.op(node).mutates &&
      graph_.op(node).packet() != "aten._assert_async")
    return;
  builder_.origin = id;
  const Rule rule = rule_for(node);
  // A call that does not fit its schema is treated as a call of an unknown operator. Arithmetic may
  // start with a number, however.
  const OperatorInfo& info = graph_.op(node);
  if (rule != &Decomposer::elementwise && !info.arguments.empty() &&
      info.arguments.front().type == "Tensor" && input(node, info.arguments.front().name) < 0)
    return fallback_rule(node);
  if (rule != &Decomposer::elementwise && rule != &Decomposer::fallback_rule &&
      rule != &Decomposer::reshape_rule && !has_valid_dims(node))
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
