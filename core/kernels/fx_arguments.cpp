#include "core/kernels/fx_arguments.h"

#include <array>
#include <string_view>

#include "core/base/is_one_of.h"

namespace jointer::kernels {
namespace {

constexpr std::array kContiguous = std::to_array<std::string_view>({
    "aten.view_as_complex",
    "aten._pdist_forward",
    "aten._pdist_backward",
    "aten._cudnn_rnn_backward",
    "aten.miopen_rnn_backward",
    "aten._embedding_bag",
    "aten._embedding_bag_forward_only",
    "aten.upsample_bicubic2d_backward",
    "aten._weight_norm_interface_backward",
    "aten._fft_c2c",
});

constexpr std::array kDense = std::to_array<std::string_view>({
    "aten._cudnn_rnn",
    "aten.miopen_rnn",
    "aten._adaptive_avg_pool2d_backward",
    "aten._thnn_fused_lstm_cell",
});

// Fallbacks of Inductor that demand no strides of their inputs.
constexpr std::array kFree = std::to_array<std::string_view>({
    "aten.topk",
    "aten.sort",
    "aten.histc",
    "aten.bincount",
    "aten.multinomial",
    "aten.randperm",
    "aten.nonzero",
    "aten.masked_scatter",
    "aten.randint",
    "aten.rand",
    "aten.randn",
    "aten.normal",
    "aten.uniform",
    "aten._unique2",
    "aten.index_reduce",
    "aten.repeat_interleave",
    "aten.view_as_real",
    "aten._conj",
});

}  // namespace

bool FxArguments::is_number(const Argument& argument) const {
  using enum Argument::Kind;
  if (argument.kind == node)
    return argument.node() && graph_.node(argument.node()).value.kind == Value::Kind::symbol;
  return argument.kind == integer || argument.kind == real || argument.kind == boolean ||
         argument.kind == symbol;
}

std::int64_t FxArguments::integer(const Argument& argument) const {
  switch (argument.kind) {
    case Argument::Kind::integer:
    case Argument::Kind::boolean:
      return argument.integer;
    case Argument::Kind::real:
      return static_cast<std::int64_t>(argument.real);
    case Argument::Kind::symbol:
      return graph_.expression_value(argument.expression());
    case Argument::Kind::node:
      if (is_number(argument))
        return graph_.expression_value(graph_.node(argument.node()).value.expression());
      return 0;
    default:
      return 0;
  }
}

double FxArguments::real(const Argument& argument) const {
  return argument.kind == Argument::Kind::real ? argument.real
                                               : static_cast<double>(integer(argument));
}

Sizes FxArguments::integers(const Argument& argument) const {
  if (is_number(argument)) return {integer(argument)};
  Sizes result;
  for (const Argument& each : graph_.children(argument)) result.push_back(integer(each));
  return result;
}

FxId argument_value(const std::vector<FxIds>& env, const Argument& argument) {
  if (argument.kind != Argument::Kind::node || !argument.node()) return -1;
  const FxIds& values = env[argument.node().index()];
  return values.size() == 1 ? values.front() : -1;
}

FxTensor captured_tensor(const Graph& graph, const Tensor& tensor) {
  FxTensor result{.dtype = tensor.dtype,
                  .is_on_gpu = graph.device_type(tensor) != DeviceType::cpu,
                  .shape = {},
                  .stride = {}};
  for (const Dim& dim : graph.shape(tensor)) result.shape.push_back(dim.value);
  for (const Dim& dim : graph.stride(tensor)) result.stride.push_back(dim.value);
  return result;
}

Constraint call_constraint(const OperatorInfo& info, bool is_backward) {
  const std::string_view packet = info.packet();
  if (packet.starts_with("aten._scaled_dot_product") ||
      packet.starts_with("aten._flash_attention") ||
      packet.starts_with("aten._efficient_attention"))
    return Constraint::attention;
  if (is_one_of(packet, kContiguous)) return Constraint::contiguous;
  if (is_one_of(packet, kDense)) return Constraint::dense;
  if (is_one_of(packet, kFree) || info.is_view) return Constraint::none;
  if (info.space() != "aten" && info.space() != "prims") return Constraint::exact;
  return is_backward ? Constraint::contiguous : Constraint::none;
}

}  // namespace jointer::kernels
