// aten._fused_rms_norm_backward on the CPU. Torch 2.11 has it only for CUDA and MPS (the forward is
// composite and runs everywhere).
//
// With x the input, r the saved 1 / sqrt(mean(x^2) + eps) of each row, w the weight, g the gradient
// of the output, n the row's size, xh = x * r and gw = g * w:
//   dx = r * (gw - xh * sum(gw * xh) / n)        dw = sum over rows of g * xh
// in fp32, then rounded to the types of x and w. Source: torch/_decomp/decompositions.py,
// _fused_rms_norm_backward.

#include <ATen/ATen.h>
#include <torch/library.h>

namespace jointer::runner {
namespace {

std::tuple<at::Tensor, at::Tensor> fused_rms_norm_backward(
    const at::Tensor& grad_out, const at::Tensor& input, at::IntArrayRef normalized_shape,
    const at::Tensor& rstd, const std::optional<at::Tensor>& weight, std::array<bool, 2> mask) {
  const auto axis = input.dim() - static_cast<std::int64_t>(normalized_shape.size());
  std::vector<std::int64_t> inner, outer;
  std::int64_t size = 1;
  for (std::int64_t d = 0; d < input.dim(); ++d) {
    (d < axis ? outer : inner).push_back(d);
    if (d >= axis) size *= input.size(d);
  }
  const bool has_weight = weight && weight->defined();
  const at::Tensor grad = grad_out.to(at::kFloat);
  const at::Tensor normalized = input.to(at::kFloat) * rstd;
  at::Tensor grad_input, grad_weight;
  if (mask[0]) {
    const at::Tensor weighted = has_weight ? grad * weight->to(at::kFloat) : grad;
    const at::Tensor mean = (weighted * normalized).sum(inner, true) / static_cast<double>(size);
    grad_input = ((weighted - normalized * mean) * rstd).to(input.scalar_type());
  }
  if (mask[1] && has_weight) {
    const at::Tensor product = grad * normalized;
    grad_weight = (outer.empty() ? product : product.sum(outer)).to(weight->scalar_type());
  }
  return {grad_input, grad_weight};
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, CPU, m) {
  m.impl("_fused_rms_norm_backward", TORCH_FN(fused_rms_norm_backward));
}

}  // namespace jointer::runner
