// Activations, losses, their gradients, and other element-wise calls (addcmul, lerp, nan_to_num).
// Source: torch/_decomp/decompositions.py, torch/_refs/nn/functional/__init__.py,
// torch/_inductor/lowering.py (addcmul, addcdiv, glu), torch/_inductor/decomposition.py (lerp).
// Like `pw_cast_for_opmath`, most of them compute in float32 if an argument is of low precision.

#include <array>
#include <cmath>

#include "core/kernels/decompositions.h"
#include "core/kernels/wide_arguments.h"

namespace jointer::kernels {
namespace {

FxId limited(const Wide& w, FxId x, double low, double high) {
  return w.op("minimum", {w.op("maximum", {x}, {low})}, {high});
}

FxIds threshold_gradient(FxBuilder& b, const CallArguments& call, TorchVersion) {
  const Wide w(b, call);
  const FxId dy = w("grad_output"), x = w("self");
  return w.result(w.where(w.test("le", {x}, {call.real("threshold")}), w.number(dy, 0), dy));
}

FxIds hardtanh_gradient(FxBuilder& b, const CallArguments& call, TorchVersion) {
  const Wide w(b, call);
  const FxId dy = w("grad_output"), x = w("self");
  const FxId outside = w.op("bitwise_or", {w.test("le", {x}, {call.real("min_val")}),
                                           w.test("ge", {x}, {call.real("max_val")})});
  return w.result(w.where(outside, w.number(dy, 0), dy));
}

FxIds hardtanh(FxBuilder& b, const CallArguments& call, TorchVersion) {
  const Wide w(b, call);
  return w.result(limited(w, w("self"), call.real("min_val", -1), call.real("max_val", 1)));
}

FxIds leaky_relu(FxBuilder& b, const CallArguments& call, TorchVersion) {
  const Wide w(b, call);
  const FxId x = w("self");
  return w.result(
      w.where(w.test("gt", {x}, {0}), x, w.op("mul", {x}, {call.real("negative_slope", 0.01)})));
}

FxIds leaky_relu_gradient(FxBuilder& b, const CallArguments& call, TorchVersion) {
  const Wide w(b, call);
  const FxId dy = w("grad_output"), x = w("self");
  return w.result(
      w.where(w.test("gt", {x}, {0}), dy, w.op("mul", {dy}, {call.real("negative_slope")})));
}

FxIds elu(FxBuilder& b, const CallArguments& call, TorchVersion) {
  const Wide w(b, call);
  const FxId x = w("self");
  const double scale = call.real("scale", 1), slope = call.real("alpha", 1) * scale;
  const FxId below =
      w.op("mul", {w.op("expm1", {w.op("mul", {x}, {call.real("input_scale", 1)})})}, {slope});
  return w.result(w.where(w.test("gt", {x}, {0}), w.op("mul", {x}, {scale}), below));
}

FxIds softplus(FxBuilder& b, const CallArguments& call, TorchVersion) {
  const Wide w(b, call);
  const FxId x = w("self"), scaled = w.op("mul", {x}, {call.real("beta", 1)});
  const FxId soft =
      w.op("truediv", {w.op("log1p", {w.op("exp", {scaled})})}, {call.real("beta", 1)});
  return w.result(w.where(w.test("gt", {scaled}, {call.real("threshold", 20)}), x, soft));
}

FxIds softplus_gradient(FxBuilder& b, const CallArguments& call, TorchVersion) {
  const Wide w(b, call);
  const FxId dy = w("grad_output"), x = w("self");
  const FxId scaled = w.op("mul", {x}, {call.real("beta", 1)}), z = w.op("exp", {scaled});
  const FxId soft = w.op("truediv", {w.op("mul", {dy, z}), w.op("add", {z}, {1})});
  return w.result(w.where(w.test("gt", {scaled}, {call.real("threshold", 20)}), dy, soft));
}

FxId hard_gate(const Wide& w, FxId x) {
  return limited(w, w.op("add", {x}, {3}), 0, 6);
}

FxIds hardsigmoid(FxBuilder& b, const CallArguments& call, TorchVersion) {
  const Wide w(b, call);
  return w.result(w.op("truediv", {hard_gate(w, w("self"))}, {6}));
}

FxIds hardswish(FxBuilder& b, const CallArguments& call, TorchVersion) {
  const Wide w(b, call);
  const FxId x = w("self");
  return w.result(w.op("truediv", {w.op("mul", {x, hard_gate(w, x)})}, {6}));
}

FxIds mish(FxBuilder& b, const CallArguments& call, TorchVersion) {
  const Wide w(b, call);
  const FxId x = w("self");
  const FxId soft = w.where(w.test("gt", {x}, {20}), x, w.op("log1p", {w.op("exp", {x})}));
  return w.result(w.op("mul", {x, w.op("tanh", {soft})}));
}

FxIds log_sigmoid(FxBuilder& b, const CallArguments& call, TorchVersion) {
  const Wide w(b, call);
  const FxId x = w("self");
  const FxId below = w.op("minimum", {w.number(x, 0), x});
  const FxId z = w.op("exp", {w.op("neg", {w.op("abs", {x})})});
  const FxId value = b.convert(w.op("sub", {below, w.op("log1p", {z})}), call.result().dtype);
  if (!b.tensor(x).is_on_gpu) return {value, b.convert(z, call.result().dtype)};
  return {value, b.full({0}, call.result().dtype, true, 0)};
}

FxIds log_sigmoid_gradient(FxBuilder& b, const CallArguments& call, TorchVersion) {
  const Wide w(b, call);
  const FxId dy = w("grad_output"), x = w("self"), given = w("buffer");
  const FxId is_negative = w.test("lt", {x}, {0});
  const FxId steepest = w.where(is_negative, w.number(x, 1), w.number(x, 0));
  const FxId sign = w.where(is_negative, w.number(x, 1), w.number(x, -1));
  const FxId z = given >= 0 && product(b.shape(given)) > 0
                     ? given
                     : w.op("exp", {w.op("neg", {w.op("abs", {x})})});
  const FxId part = w.op("mul", {sign, w.op("truediv", {z, w.op("add", {z}, {1})})});
  return w.result(w.op("mul", {dy, w.op("sub", {steepest, part})}));
}

FxIds glu(FxBuilder& b, const CallArguments& call, TorchVersion) {
  const FxId x = call.tensor("self");
  const std::int64_t dim = wrapped_dim(call.integer("dim", -1), b.rank(x));
  const std::int64_t half = b.shape(x)[static_cast<std::size_t>(dim)] / 2;
  const FxId left = b.slice(x, dim, 0, half), right = b.slice(x, dim, half, 2 * half);
  return {b.pointwise("mul", {left, b.pointwise("sigmoid", {right})})};
}

FxIds glu_gradient(FxBuilder& b, const CallArguments& call, TorchVersion) {
  const Wide w(b, call);
  const FxId dy = w("grad_output"), x = w("self");
  const std::int64_t dim = wrapped_dim(call.integer("dim", -1), b.rank(x));
  const std::int64_t half = b.shape(x)[static_cast<std::size_t>(dim)] / 2;
  const FxId left = b.slice(x, dim, 0, half);
  const FxId gate = w.op("sigmoid", {b.slice(x, dim, half, 2 * half)});
  const FxId rest = w.op("sub", {gate}, {1});
  const FxId right = w.op("mul", {w.op("mul", {w.op("mul", {rest, gate}), left}), dy});
  FxNode joined;
  joined.kind = FxKind::cat;
  joined.target = "aten.cat.default";
  joined.inputs = {w.op("mul", {gate, dy}), right};
  joined.numbers = {dim};
  joined.results = {b.tensor(x)};
  return w.result(b.add(std::move(joined)));
}

FxIds dropout_gradient(FxBuilder& b, const CallArguments& call, TorchVersion) {
  const FxId dy = call.tensor("grad_output");
  const FxId mask = b.convert(call.tensor("mask"), b.dtype(dy));
  return {b.pointwise("mul", {dy, b.pointwise("mul", {mask}, {call.real("scale")})})};
}

// `reduction`: at::Reduction.
FxId reduced_loss(const Wide& w, FxId loss, std::int64_t reduction) {
  if (reduction == 0) return loss;
  return w.b.reduce("sum", loss, {}, false, w.b.dtype(loss), reduction == 1);
}

FxIds squared_loss(FxBuilder& b, const CallArguments& call, TorchVersion) {
  const Wide w(b, call);
  const FxId difference = w.op("sub", {w("self"), w("target")});
  return w.result(reduced_loss(w, w.op("pow", {difference}, {2}), call.integer("reduction", 1)));
}

FxIds squared_loss_gradient(FxBuilder& b, const CallArguments& call, TorchVersion) {
  const Wide w(b, call);
  const FxId x = w("self");
  const double count = static_cast<double>(product(b.shape(x)));
  const double factor = call.integer("reduction", 1) == 1 ? 2 / count : 2;
  const FxId difference = w.op("sub", {x, w("target")});
  return w.result(w.op("mul", {w.op("mul", {difference}, {factor}), w("grad_output")}));
}

FxIds absolute_loss(FxBuilder& b, const CallArguments& call, TorchVersion) {
  const Wide w(b, call);
  const FxId loss = w.op("abs", {w.op("sub", {w("self"), w("target")})});
  return w.result(reduced_loss(w, loss, call.integer("reduction", 1)));
}

// huber_loss and smooth_l1_loss: a square near 0, a line beyond.
FxIds smooth_loss(FxBuilder& b, const CallArguments& call, TorchVersion) {
  const Wide w(b, call);
  const bool is_huber = call.packet() == "aten.huber_loss";
  const double limit = is_huber ? call.real("delta", 1) : call.real("beta", 1);
  const FxId size = w.op("abs", {w.op("sub", {w("self"), w("target")})});
  FxId near = w.op("mul", {w.op("mul", {size, size})}, {0.5});
  FxId far = w.op("sub", {size}, {0.5 * limit});
  if (is_huber)
    far = w.op("mul", {far}, {limit});
  else
    near = w.op("truediv", {near}, {limit});
  const FxId loss = w.where(w.test("lt", {size}, {limit}), near, far);
  return w.result(reduced_loss(w, loss, call.integer("reduction", 1)));
}

FxIds cross_entropy_of_logits(FxBuilder& b, const CallArguments& call, TorchVersion) {
  if (call.has("pos_weight")) return {};
  const Wide w(b, call);
  const FxId x = w("self"), target = w("target");
  const FxId below = w.op("minimum", {w.number(x, 0), x});
  const FxId z = w.op("exp", {w.op("neg", {w.op("abs", {x})})});
  const FxId log = w.op("sub", {below, w.op("log1p", {z})});
  const FxId rest = w.op("mul", {w.op("sub", {target}, {1}), x});
  FxId loss = w.op("sub", {rest, log});
  if (call.has("weight")) loss = w.op("mul", {loss, w("weight")});
  return w.result(reduced_loss(w, loss, call.integer("reduction", 1)));
}

// self + value * tensor1 * tensor2, or self + value * tensor1 / tensor2. On the GPU, torch 2.12 and
// later compute the addition and the last multiplication, if there is one, as an fma.
FxIds add_product(FxBuilder& b, const CallArguments& call, TorchVersion version) {
  const FxId self = call.tensor("self"), left = call.tensor("tensor1"),
             right = call.tensor("tensor2");
  if (self < 0 || left < 0 || right < 0) return {};
  const bool divides = call.packet() == "aten.addcdiv" || call.packet() == "aten.addcdiv_";
  const double value = call.real("value", 1);
  const bool has_fma = version > TorchVersion{2, 11} && b.tensor(self).is_on_gpu;
  if (!divides && value == 1 && has_fma) return {b.pointwise("fma", {left, right, self})};
  const FxId both = b.pointwise(divides ? "truediv" : "mul", {left, right});
  if (value == 1) return {b.pointwise("add", {self, both})};
  if (has_fma) return {b.pointwise("fma", {both, self}, {value})};
  return {b.pointwise("add", {self, b.pointwise("mul", {both}, {value})})};
}

FxIds lerp(FxBuilder& b, const CallArguments& call, TorchVersion) {
  const FxId start = call.tensor("self"), end = call.tensor("end");
  if (start < 0 || end < 0) return {};
  const FxId difference = b.pointwise("sub", {end, start});
  if (const FxId weight = call.tensor("weight"); weight >= 0) {
    const FxId mask = b.pointwise("ge", {b.pointwise("abs", {weight})}, {0.5}, DType::boolean);
    const FxId rest = b.pointwise("neg", {b.pointwise("sub", {weight}, {1})});
    const FxId factor = b.pointwise("where", {mask, rest, weight}, {}, b.dtype(weight));
    const FxId base = b.pointwise("where", {mask, end, start}, {}, b.dtype(start));
    return {b.pointwise("fma", {factor, difference, base})};
  }
  const double weight = call.real("weight");
  const bool is_high = weight >= 0.5 || weight <= -0.5;
  return {
      b.pointwise("fma", {difference, is_high ? end : start}, {is_high ? -(1 - weight) : weight})};
}

FxIds sign_of(FxBuilder& b, const CallArguments& call, TorchVersion) {
  return {b.pointwise("sign", {call.tensor("self")})};
}

FxIds without_nan(FxBuilder& b, const CallArguments& call, TorchVersion) {
  const FxId x = call.tensor("self");
  if (!is_floating(b.dtype(x))) return {b.pointwise("identity", {x})};
  const Wide w(b, call);
  FxId value = x;
  value = w.where(w.test("isnan", {value}), w.number(x, call.real("nan")), value);
  value = w.where(w.test("eq", {value}, {HUGE_VAL}), w.number(x, call.real("posinf")), value);
  return {w.where(w.test("eq", {value}, {-HUGE_VAL}), w.number(x, call.real("neginf")), value)};
}

}  // namespace

std::span<const Decomposition> activation_decompositions() {
  static constexpr std::array kAll = std::to_array<Decomposition>({
      {"aten.addcdiv", add_product},
      {"aten.addcmul", add_product},
      {"aten.binary_cross_entropy_with_logits", cross_entropy_of_logits},
      {"aten.elu", elu},
      {"aten.glu", glu},
      {"aten.glu_backward", glu_gradient},
      {"aten.hardsigmoid", hardsigmoid},
      {"aten.hardswish", hardswish},
      {"aten.hardtanh", hardtanh},
      {"aten.hardtanh_backward", hardtanh_gradient},
      {"aten.huber_loss", smooth_loss},
      {"aten.l1_loss", absolute_loss},
      {"aten.leaky_relu", leaky_relu},
      {"aten.leaky_relu_backward", leaky_relu_gradient},
      {"aten.lerp", lerp},
      {"aten.log_sigmoid_backward", log_sigmoid_gradient},
      {"aten.log_sigmoid_forward", log_sigmoid},
      {"aten.mish", mish},
      {"aten.mse_loss", squared_loss},
      {"aten.mse_loss_backward", squared_loss_gradient},
      {"aten.nan_to_num", without_nan},
      {"aten.native_dropout_backward", dropout_gradient},
      {"aten.sgn", sign_of},
      {"aten.smooth_l1_loss", smooth_loss},
      {"aten.softplus", softplus},
      {"aten.softplus_backward", softplus_gradient},
      {"aten.threshold_backward", threshold_gradient},
  });
  return kAll;
}

}  // namespace jointer::kernels
