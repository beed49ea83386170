// Decomposes element-wise operators, reductions, softmax, activations, norms and losses.

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "core/kernels/decomposed_layer_norm.h"
#include "core/kernels/decomposed_norms.h"
#include "core/kernels/decomposer.h"

namespace jointer::kernels {

// --- Arithmetic ---

void Decomposer::elementwise(const Node& node) {
  FxNode operation = made(FxKind::pointwise, node, {});
  operation.op = elementwise_.at(graph_.op(node).packet());
  const auto add_scalar = [&](const Argument& scalar) {
    const bool is_real = scalar.kind == Argument::Kind::real && operation.scalars.size() < 8;
    if (is_real)
      operation.reals = static_cast<std::uint8_t>(operation.reals | 1U << operation.scalars.size());
    operation.scalars.push_back(arguments_.real(scalar));
  };
  for (const Argument& each : graph_.args(node)) {
    if (const FxId id = of(each); id >= 0)
      operation.inputs.push_back(id);
    else if (arguments_.is_number(each))
      add_scalar(each);
  }
  const bool starts_with_number = !graph_.args(node).empty() && of(graph_.args(node).front()) < 0;
  if (operation.op == "pow" && starts_with_number) operation.op = "pow_of_number";
  if (operation.op == "pow" && graph_.args(node).back().kind == Argument::Kind::integer)
    operation.numbers = {1};
  if (operation.op == "truediv")
    if (const Argument* mode = arg(node, "rounding_mode");
        mode && mode->kind == Argument::Kind::string)
      operation.op = graph_.text(mode->text()) == "floor" ? "floordiv" : "truncdiv";
  if (const Argument* alpha = arg(node, "alpha"); alpha && arguments_.real(*alpha) != 1.0) {
    add_scalar(*alpha);
    const FxTensor& result = operation.result();
    if (version_ > TorchVersion{2, 11} && operation.op == "add" && operation.inputs.size() == 2 &&
        result.is_on_gpu && is_floating(result.dtype))
      operation.op = "fma";
  }
  if (operation.inputs.empty()) return fallback_rule(node);
  give_made(std::move(operation));
}

void Decomposer::clamp_rule(const Node& node) {
  FxId value = input(node, "self");
  for (const auto& [name, op] : {std::pair("min", "maximum"), std::pair("max", "minimum")})
    if (const Argument* limit = arg(node, name); limit && limit->kind != Argument::Kind::none) {
      const FxId tensor = of(*limit);
      value = tensor >= 0 ? builder_.pointwise(op, {value, tensor})
                          : builder_.pointwise(op, {value}, {arguments_.real(*limit)});
    }
  give(value);
}

void Decomposer::masked_fill_rule(const Node& node) {
  const FxId self = input(node, "self"), mask = input(node, "mask");
  FxId value = input(node, "value");
  if (value < 0)
    value = builder_.full({}, builder_.dtype(self), builder_.tensor(self).is_on_gpu,
                          number_of(node, "value"));
  const FxId filled = builder_.pointwise("where", {mask, value, self}, {}, builder_.dtype(self));
  if (graph_.op(node).packet() == "aten.masked_fill") return give(filled);
  give_made(made(FxKind::copy_in_place, node, {self, filled}));
}

void Decomposer::sum_rule(const Node& node) {
  const std::string_view packet = graph_.op(node).packet();
  const FxId from = input(node, "self");
  const Argument* dims = arg(node, "dim");
  Sizes reduced;
  if (dims != nullptr) reduced = arguments_.integers(*dims);
  const bool is_mean = packet == "aten.mean";
  const std::string_view op = packet == "aten.amax"   ? "max"
                              : packet == "aten.amin" ? "min"
                              : packet == "aten.prod" ? "prod"
                              : packet == "aten.any"  ? "any"
                                                      : "sum";
  give(builder_.reduce(op, from, std::move(reduced), number(node, "keepdim") != 0,
                       captured(node).dtype, is_mean));
  builder_.graph.nodes.back().target = graph_.target(node);
}

void Decomposer::softmax_rule(const Node& node) {
  const DType type = captured(node).dtype;
  const Softmax parts = softmax_parts(builder_, input(node, "self"), number(node, "dim"),
                                      version_ > TorchVersion{2, 11});
  const FxId divided = builder_.pointwise("truediv", {parts.exponential, parts.sum});
  give(builder_.convert(divided, type));
}

// A softmax that is 0 in fully masked rows.
void Decomposer::safe_softmax_rule(const Node& node) {
  const DType type = captured(node).dtype;
  const FxId x = input(node, "self");
  const std::int64_t dim = wrapped_dim(number(node, "dim"), builder_.rank(x));
  const Softmax parts =
      softmax_parts(builder_, builder_.convert(x, type), dim, version_ > TorchVersion{2, 11});
  const FxId value =
      builder_.convert(builder_.pointwise("truediv", {parts.exponential, parts.sum}), type);
  const FxId masked = builder_.pointwise("eq", {x}, {-HUGE_VAL}, DType::boolean);
  const FxId counts = builder_.pointwise("logical_not", {masked}, {}, DType::boolean);
  const FxId any = builder_.reduce("any", counts, {dim}, true, DType::boolean);
  const FxId is_empty = builder_.pointwise("logical_not", {any}, {}, DType::boolean);
  const FxId zeros =
      builder_.full(Sizes(builder_.shape(value)), type, builder_.tensor(value).is_on_gpu, 0);
  give(builder_.pointwise("where", {is_empty, zeros, value}, {}, type));
}

void Decomposer::log_softmax_rule(const Node& node) {
  const DType type = captured(node).dtype;
  const Softmax parts = softmax_parts(builder_, input(node, "self"), number(node, "dim"),
                                      version_ > TorchVersion{2, 11});
  const FxId log = builder_.pointwise("log", {parts.sum});
  give(builder_.convert(builder_.pointwise("sub", {parts.shifted, log}), type));
}

void Decomposer::softmax_gradient_rule(const Node& node) {
  give(softmax_gradient(builder_, input(node, "grad_output"), input(node, "output"),
                        number(node, "dim"), captured(node).dtype));
}

void Decomposer::silu_rule(const Node& node) {
  give(silu(builder_, input(node, "self")));
}

void Decomposer::silu_gradient_rule(const Node& node) {
  give(silu_gradient(builder_, input(node, "grad_output"), input(node, "self"),
                     version_ > TorchVersion{2, 11}));
}

bool Decomposer::is_tanh(const Node& node) const {
  const Argument* form = arg(node, "approximate");
  return form && form->kind == Argument::Kind::string && graph_.text(form->text()) == "tanh";
}

void Decomposer::gelu_rule(const Node& node) {
  give(gelu(builder_, input(node, "self"), is_tanh(node)));
}

void Decomposer::gelu_gradient_rule(const Node& node) {
  give(gelu_gradient(builder_, input(node, "grad_output"), input(node, "self"), is_tanh(node)));
}

void Decomposer::layer_norm_rule(const Node& node) {
  const auto results = layer_norm(
      builder_, {.input = input(node, "input"),
                 .weight = input(node, "weight"),
                 .bias = input(node, "bias"),
                 .normalized = static_cast<std::int64_t>(elements(node, "normalized_shape").size()),
                 .eps = number_of(node, "eps")});
  for (const FxId result : results) give(result);
}

void Decomposer::layer_norm_gradient_rule(const Node& node) {
  std::array<bool, 3> wanted{true, true, true};
  const auto mask = elements(node, "output_mask");
  for (std::size_t i = 0; i < std::min(mask.size(), wanted.size()); ++i)
    wanted[i] = arguments_.is_true(mask[i]);
  const auto results = layer_norm_gradient(
      builder_, {.gradient = input(node, "grad_out"),
                 .input = input(node, "input"),
                 .mean = input(node, "mean"),
                 .factor = input(node, "rstd"),
                 .weight = input(node, "weight"),
                 .bias = input(node, "bias"),
                 .normalized = static_cast<std::int64_t>(elements(node, "normalized_shape").size()),
                 .wanted = wanted});
  for (const FxId result : results) give(result);
}

void Decomposer::output_gradient_rule(const Node& node) {
  const FxId gradient = input(node, "grad_output"), result = input(node, "output");
  give(graph_.op(node).packet() == "aten.sigmoid_backward"
           ? sigmoid_gradient(builder_, gradient, result)
           : tanh_gradient(builder_, gradient, result));
}

void Decomposer::log_softmax_gradient_rule(const Node& node) {
  give(log_softmax_gradient(builder_, input(node, "grad_output"), input(node, "output"),
                            number(node, "dim"), captured(node).dtype));
}

NllLoss Decomposer::nll_loss_of(const Node& node) const {
  constexpr std::int64_t kIgnored = -100;
  return {.input = input(node, "self"),
          .target = input(node, "target"),
          .reduction = static_cast<LossReduction>(number(node, "reduction", 1)),
          .ignored = number(node, "ignore_index", kIgnored)};
}

void Decomposer::nll_loss_rule(const Node& node) {
  if (input(node, "weight") >= 0) return fallback_rule(node);
  const auto [loss, count] = nll_loss(builder_, nll_loss_of(node));
  give(loss);
  give(count);
}

void Decomposer::nll_loss_gradient_rule(const Node& node) {
  if (input(node, "weight") >= 0) return fallback_rule(node);
  give(nll_loss_gradient(builder_, nll_loss_of(node), input(node, "grad_output"),
                         input(node, "total_weight")));
}

void Decomposer::in_place_rule(const Node& node) {
  std::string packet(graph_.op(node).packet());
  packet.pop_back();
  FxNode operation = made(FxKind::pointwise, node, {});
  operation.op = elementwise_.at(packet);
  for (const Argument& each : graph_.args(node)) {
    if (const FxId id = of(each); id >= 0)
      operation.inputs.push_back(id);
    else if (arguments_.is_number(each))
      operation.scalars.push_back(arguments_.real(each));
  }
  const FxId changed = operation.inputs.front();
  const FxId value = builder_.add(std::move(operation));
  give_made(made(FxKind::copy_in_place, node, {changed, value}));
}

void Decomposer::rms_norm_rule(const Node& node) {
  const Argument* eps = arg(node, "eps");
  const auto [result, factor] = rms_norm(
      builder_, input(node, "input"),
      static_cast<std::int64_t>(elements(node, "normalized_shape").size()), input(node, "weight"),
      eps && arguments_.is_number(*eps) ? arguments_.real(*eps) : 1e-6);
  give(result);
  give(factor);
}

void Decomposer::rms_norm_gradient_rule(const Node& node) {
  std::vector<bool> wanted;
  for (const Argument& each : elements(node, "output_mask"))
    wanted.push_back(arguments_.is_true(each));
  wanted.resize(2, true);
  const auto [input_gradient, weight_gradient] = rms_norm_gradient(
      builder_, {.gradient = input(node, "grad_out"),
                 .input = input(node, "input"),
                 .factor = input(node, "rstd"),
                 .weight = input(node, "weight"),
                 .normalized = static_cast<std::int64_t>(elements(node, "normalized_shape").size()),
                 .wants_input = wanted[0],
                 .wants_weight = wanted[1]});
  give(input_gradient);
  give(weight_gradient);
}

}  // namespace jointer::kernels
