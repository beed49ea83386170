// Gradients of activations and losses, and operators that are rare in forward graphs (prelu, binary
// cross entropy, threshold, logaddexp).
// Source: torch/_decomp/decompositions.py, torch/_refs/nn/functional/__init__.py.

#include <array>
#include <cmath>

#include "core/kernels/decompositions.h"
#include "core/kernels/wide_arguments.h"

namespace jointer::kernels {
namespace {

FxIds elu_gradient(FxBuilder& b, const CallArguments& call, TorchVersion) {
  const Wide w(b, call);
  const FxId dy = w("grad_output"), x = w("self_or_result");
  const double scale = call.real("scale", 1), slope = call.real("alpha", 1) * scale,
               inner = call.real("input_scale", 1);
  const FxId is_below = w.test("le", {x}, {0});
  const FxId scaled = w.op("mul", {dy}, {inner});
  const FxId below =
      call.is_true("is_result")
          ? w.op("mul", {scaled, w.op("add", {x}, {slope})})
          : w.op("mul", {w.op("mul", {scaled}, {slope}), w.op("exp", {w.op("mul", {x}, {inner})})});
  return w.result(w.where(is_below, below, w.op("mul", {dy}, {scale})));
}

FxIds hardswish_gradient(FxBuilder& b, const CallArguments& call, TorchVersion) {
  const Wide w(b, call);
  const FxId dy = w("grad_output"), x = w("self");
  const FxId is_low = w.test("le", {x}, {-3}), is_inner = w.test("lt", {x}, {3});
  const FxId slope = w.op("add", {w.op("truediv", {x}, {3})}, {0.5});
  const FxId inner = w.where(is_inner, w.op("mul", {dy, slope}), dy);
  return w.result(w.where(is_low, w.number(x, 0), inner));
}

FxIds hardsigmoid_gradient(FxBuilder& b, const CallArguments& call, TorchVersion) {
  const Wide w(b, call);
  const FxId dy = w("grad_output"), x = w("self");
  const FxId is_inner = b.pointwise(
      "bitwise_and", {w.test("gt", {x}, {-3}), w.test("lt", {x}, {3})}, {}, DType::boolean);
  return w.result(b.pointwise("where", {is_inner, w.op("mul", {dy}, {1.0 / 6}), w.number(x, 0)}, {},
                              b.dtype(dy)));
}

FxIds mish_gradient(FxBuilder& b, const CallArguments& call, TorchVersion) {
  const Wide w(b, call);
  const FxId dy = w("grad_output"), x = w("self");
  const FxId soft = w.where(w.test("gt", {x}, {20}), x, w.op("log1p", {w.op("exp", {x})}));
  const FxId tanh = w.op("tanh", {soft}), sigmoid = w.op("sigmoid", {x});
  const FxId rest = w.op("neg", {w.op("sub", {w.op("mul", {tanh, tanh})}, {1})});
  const FxId slope = w.op("mul", {w.op("mul", {x, sigmoid}), rest});
  return w.result(w.op("mul", {dy, w.op("add", {tanh, slope})}));
}

// 1 / the number of elements if the loss is a mean, otherwise 1.
double share_of(const FxBuilder& b, const CallArguments& call, FxId x) {
  return call.integer("reduction", 1) == 1 ? 1 / static_cast<double>(product(b.shape(x))) : 1;
}

FxIds huber_gradient(FxBuilder& b, const CallArguments& call, TorchVersion) {
  const Wide w(b, call);
  const FxId dy = w("grad_output"), given = w("self");
  const double delta = call.real("delta", 1), share = share_of(b, call, given);
  const FxId x = w.op("sub", {given, w("target")});
  const FxId is_low = w.test("lt", {x}, {-delta}), is_high = w.test("gt", {x}, {delta});
  const FxId low = w.op("mul", {w.op("mul", {dy}, {-share})}, {delta});
  const FxId high = w.op("mul", {w.op("mul", {dy}, {share})}, {delta});
  const FxId near = w.op("mul", {w.op("mul", {x}, {share}), dy});
  return w.result(w.where(is_low, low, w.where(is_high, high, near)));
}

FxIds smooth_gradient(FxBuilder& b, const CallArguments& call, TorchVersion) {
  const Wide w(b, call);
  const FxId dy = w("grad_output"), given = w("self");
  const double beta = call.real("beta", 1), share = share_of(b, call, given);
  const FxId x = w.op("sub", {given, w("target")});
  const FxId is_near = w.test("lt", {w.op("abs", {x})}, {beta});
  const FxId scaled = w.op("mul", {dy}, {share});
  const FxId near = w.op("truediv", {w.op("mul", {scaled, x})}, {beta});
  return w.result(w.where(is_near, near, w.op("mul", {scaled, w.op("sign", {x})})));
}

FxIds prelu(FxBuilder& b, const CallArguments& call, TorchVersion) {
  const FxId x = call.tensor("self"), weight = call.tensor("weight");
  const FxId mask = b.pointwise("gt", {x}, {0}, DType::boolean);
  return {b.pointwise("where", {mask, x, b.pointwise("mul", {weight, x})}, {}, b.dtype(x))};
}

FxIds prelu_gradient(FxBuilder& b, const CallArguments& call, TorchVersion) {
  const Wide w(b, call);
  const FxId dy = call.tensor("grad_output"), x = call.tensor("self"),
             weight = call.tensor("weight");
  const FxId is_above = w.test("gt", {x}, {0});
  const FxId of_input = w.where(is_above, dy, w.op("mul", {weight, dy}));
  const FxId is_positive = w.test("gt", {x}, {0});
  return {of_input, w.where(is_positive, w.number(x, 0), w.op("mul", {x, dy}))};
}

FxIds binary_cross_entropy(FxBuilder& b, const CallArguments& call, TorchVersion) {
  const Wide w(b, call);
  const FxId x = w("self"), target = w("target");
  const auto limited_log = [&](std::string_view name, FxId value) {
    const FxId log = w.op(name, {value});
    return w.op("maximum", {log, w.number(x, -100)});
  };
  const FxId without =
      w.op("mul", {w.op("sub", {target}, {1}), limited_log("log1p", w.op("neg", {x}))});
  const FxId with = w.op("mul", {target, limited_log("log", x)});
  FxId loss = w.op("sub", {without, with});
  if (call.has("weight")) loss = w.op("mul", {loss, w("weight")});
  const std::int64_t reduction = call.integer("reduction", 1);
  if (reduction != 0) loss = b.reduce("sum", loss, {}, false, b.dtype(loss), reduction == 1);
  return w.result(loss);
}

FxIds binary_cross_entropy_gradient(FxBuilder& b, const CallArguments& call, TorchVersion) {
  constexpr double kSmallest = 1e-12;
  const Wide w(b, call);
  const FxId x = w("self");
  const FxId above = w.op("mul", {w("grad_output"), w.op("sub", {x, w("target")})});
  const FxId rest = w.op("neg", {w.op("sub", {x}, {1})});
  FxId value = w.op("truediv", {above, w.op("maximum", {w.op("mul", {x, rest})}, {kSmallest})});
  if (call.has("weight")) value = w.op("mul", {value, w("weight")});
  if (call.integer("reduction", 1) == 1)
    value = w.op("truediv", {value}, {static_cast<double>(product(b.shape(x)))});
  return w.result(value);
}

FxIds threshold(FxBuilder& b, const CallArguments& call, TorchVersion) {
  const Wide w(b, call);
  const FxId x = call.tensor("self");
  const FxId is_below = w.test("le", {x}, {call.real("threshold")});
  return {w.where(is_below, w.number(x, call.real("value")), x)};
}

// max + log(1 + exp(min - max))
FxIds log_of_exponentials(FxBuilder& b, const CallArguments& call, TorchVersion) {
  const FxId given = call.tensor("self"), added = call.tensor("other");
  const DType type = computation_type(call.result().dtype);
  const FxId x = b.convert(given, type), y = b.convert(added, type);
  const Wide w(b, call);
  const FxId mask = w.test("ge", {x, y});
  const FxId high = w.where(mask, x, y), low = w.where(mask, y, x);
  const FxId is_infinite = w.test("eq", {w.op("abs", {x})}, {HUGE_VAL});
  const FxId are_equal = w.test("eq", {x, y});
  const FxId is_same = b.pointwise("logical_and", {is_infinite, are_equal}, {}, DType::boolean);
  const FxId log = w.op("log1p", {w.op("exp", {w.op("sub", {low, high})})});
  return w.result(w.where(is_same, x, w.op("add", {high, log})));
}

}  // namespace

std::span<const Decomposition> gradient_decompositions() {
  static constexpr std::array kAll = std::to_array<Decomposition>({
      {"aten._prelu_kernel", prelu},
      {"aten._prelu_kernel_backward", prelu_gradient},
      {"aten.binary_cross_entropy", binary_cross_entropy},
      {"aten.binary_cross_entropy_backward", binary_cross_entropy_gradient},
      {"aten.elu_backward", elu_gradient},
      {"aten.hardsigmoid_backward", hardsigmoid_gradient},
      {"aten.hardswish_backward", hardswish_gradient},
      {"aten.huber_loss_backward", huber_gradient},
      {"aten.logaddexp", log_of_exponentials},
      {"aten.mish_backward", mish_gradient},
      {"aten.smooth_l1_loss_backward", smooth_gradient},
      {"aten.threshold", threshold},
  });
  return kAll;
}

}  // namespace jointer::kernels
