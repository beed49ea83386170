// Runs captured attention operators on a device that lacks them, or with a kernel other than the
// captured one.
//
// Computes, for each head, with S = scale * Q K^T (+ bias, -inf above the diagonal if causal):
//   forward   P = softmax(S), O = P V, L = logsumexp(S)
//   backward  P = exp(S - L), dV = P^T dO, dP = dO V^T, dS = P * (dP - rowsum(dO * O)),
//             dQ = scale * dS K, dK = scale * dS^T Q
// Cost: O(batch * heads * queries * keys) memory, and that times the head size in time. On the CPU,
// torch's fused kernel, which never stores S, is used if it supports the tensors, that is, if the
// query is not empty, head sizes and numbers of heads are equal, and there is no bias, unless the
// user chose `math`. On CUDA, torch's kernels are used in the same way (kernel_on_cuda).
// Source: Dao et al., FlashAttention (2022), section 3 and appendix B; the operators' signatures
// are torch 2.11's.
// Deviations: dropout is refused, since every kernel draws different random numbers.

#include "app/runner/kernels/attention.h"

#include <ATen/ATen.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/library.h>

#include <atomic>
#include <cmath>

namespace jointer::runner {
namespace {

std::atomic<AttentionKernel> chosen{AttentionKernel::automatic};

double scale_of(const at::Tensor& query, const std::optional<double>& scale) {
  return scale ? *scale : 1.0 / std::sqrt(static_cast<double>(query.size(-1)));
}

// Computes S in fp32.
at::Tensor scores(const at::Tensor& query, const at::Tensor& key,
                  const std::optional<at::Tensor>& bias, const AttentionOptions& options) {
  at::Tensor s = at::matmul(query.to(at::kFloat), key.to(at::kFloat).transpose(-2, -1));
  s.mul_(scale_of(query, options.scale));
  if (bias && bias->defined()) s.add_(*bias);
  if (options.is_causal) {
    const at::Tensor above =
        at::ones({s.size(-2), s.size(-1)}, s.options().dtype(at::kBool)).triu_(1);
    s.masked_fill_(above, -std::numeric_limits<float>::infinity());
  }
  return s;
}

// Copies an output to the layout that it has in the capture, on which later reads may rely: batch x
// queries x heads x size in memory.
at::Tensor as_captured(const at::Tensor& t, at::ScalarType dtype) {
  const at::Tensor laid_out =
      at::empty({t.size(0), t.size(2), t.size(1), t.size(3)}, t.options().dtype(dtype))
          .transpose(1, 2);
  return laid_out.copy_(t);
}

void refuse_dropout(double dropout) {
  TORCH_CHECK(
      dropout == 0,
      "attention with dropout needs the random numbers of the captured kernel, which no other "
      "kernel draws; run it on the device of the capture, without --attention");
}

bool fused_takes(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                 const std::optional<at::Tensor>& bias) {
  return chosen != AttentionKernel::math && !(bias && bias->defined()) &&
         query.size(-1) == value.size(-1) && query.size(1) == key.size(1) &&
         query.size(1) == value.size(1) && query.numel() > 0;
}

// The kernel on CUDA: the chosen one or, if none was chosen, the fastest that supports the tensors.
// The result is the same for a forward and its backward.
AttentionKernel kernel_on_cuda(const at::Tensor& query, const at::Tensor& key,
                               const at::Tensor& value, const std::optional<at::Tensor>& bias) {
  if (chosen != AttentionKernel::automatic) return chosen;
  constexpr std::int64_t kAlignment = 16, kMaxFlashSize = 256;  // bytes, elements
  const auto aligned = [](const at::Tensor& t) {
    return t.size(-1) * static_cast<std::int64_t>(t.element_size()) % kAlignment == 0;
  };
  if ((bias && bias->defined()) || query.size(1) != key.size(1) || !aligned(query) ||
      !aligned(value))
    return AttentionKernel::math;
  const bool is_half = query.scalar_type() == at::kHalf || query.scalar_type() == at::kBFloat16;
  if (is_half && query.size(-1) == value.size(-1) && query.size(-1) <= kMaxFlashSize)
    return AttentionKernel::flash;
  return is_half || query.scalar_type() == at::kFloat ? AttentionKernel::efficient
                                                      : AttentionKernel::math;
}

// CUDA's efficient kernel pads the rows of logsumexp to a multiple of this.
constexpr std::int64_t kEfficientRows = 32;

std::tuple<at::Tensor, at::Tensor> forward_on_cuda(const at::Tensor& query, const at::Tensor& key,
                                                   const at::Tensor& value,
                                                   const std::optional<at::Tensor>& bias,
                                                   const AttentionOptions& options) {
  switch (kernel_on_cuda(query, key, value, bias)) {
    case AttentionKernel::flash: {
      TORCH_CHECK(!(bias && bias->defined()),
                  "flash attention does not support a bias; leave out --attention flash");
      const auto result = at::_scaled_dot_product_flash_attention(
          query, key, value, 0.0, options.is_causal, false, options.scale);
      return {std::get<0>(result), std::get<1>(result)};
    }
    case AttentionKernel::efficient: {
      const auto result = at::_scaled_dot_product_efficient_attention(
          query, key, value, bias, true, 0.0, options.is_causal, options.scale);
      return {std::get<0>(result), std::get<1>(result).narrow(2, 0, query.size(2))};
    }
    case AttentionKernel::cudnn: {
      const auto result = at::_scaled_dot_product_cudnn_attention(
          query, key, value, bias, true, 0.0, options.is_causal, false, options.scale);
      return {std::get<0>(result), std::get<1>(result).flatten(2)};
    }
    case AttentionKernel::automatic:
    case AttentionKernel::math:
      break;
  }
  return attention(query, key, value, bias, options);
}

AttentionGradients backward_on_cuda(const at::Tensor& grad_out, const at::Tensor& query,
                                    const at::Tensor& key, const at::Tensor& value,
                                    const std::optional<at::Tensor>& bias, const at::Tensor& out,
                                    const at::Tensor& logsumexp, const AttentionOptions& options) {
  // Without dropout, the random state is unused, but it must be passed.
  const at::Tensor none = at::zeros({}, query.options().dtype(at::kLong));
  const at::Tensor mask = bias ? *bias : at::Tensor();
  switch (kernel_on_cuda(query, key, value, bias)) {
    case AttentionKernel::flash: {
      auto [q, k, v] = at::_scaled_dot_product_flash_attention_backward(
          grad_out, query, key, value, out, logsumexp, at::Tensor(), at::Tensor(), query.size(2),
          key.size(2), 0.0, options.is_causal, none, none, options.scale);
      return {q, k, v};
    }
    case AttentionKernel::efficient: {
      const std::int64_t rows = query.size(2);
      const std::int64_t padded = (rows + kEfficientRows - 1) / kEfficientRows * kEfficientRows;
      auto [q, k, v, b] = at::_scaled_dot_product_efficient_attention_backward(
          grad_out, query, key, value, mask, out,
          at::constant_pad_nd(logsumexp, {0, padded - rows}), none, none, 0.0,
          {true, true, true, false}, options.is_causal, options.scale);
      return {q, k, v};
    }
    case AttentionKernel::cudnn: {
      auto [q, k, v] = at::_scaled_dot_product_cudnn_attention_backward(
          grad_out, query, key, value, out, logsumexp.unsqueeze(-1), none, none, mask, at::Tensor(),
          at::Tensor(), query.size(2), key.size(2), 0.0, options.is_causal, options.scale);
      return {q, k, v};
    }
    case AttentionKernel::automatic:
    case AttentionKernel::math:
      break;
  }
  return attention_backward(grad_out, query, key, value, bias, out, logsumexp, options);
}

std::tuple<at::Tensor, at::Tensor> forward(const at::Tensor& query, const at::Tensor& key,
                                           const at::Tensor& value,
                                           const std::optional<at::Tensor>& bias, double dropout,
                                           const AttentionOptions& options) {
  refuse_dropout(dropout);
  if (query.is_cuda()) return forward_on_cuda(query, key, value, bias, options);
  if (fused_takes(query, key, value, bias))
    return at::_scaled_dot_product_flash_attention_for_cpu(query, key, value, 0.0,
                                                           options.is_causal, {}, options.scale);
  return attention(query, key, value, bias, options);
}

AttentionGradients backward(const at::Tensor& grad_out, const at::Tensor& query,
                            const at::Tensor& key, const at::Tensor& value,
                            const std::optional<at::Tensor>& bias, const at::Tensor& out,
                            const at::Tensor& logsumexp, double dropout,
                            const AttentionOptions& options) {
  refuse_dropout(dropout);
  if (query.is_cuda())
    return backward_on_cuda(grad_out, query, key, value, bias, out, logsumexp, options);
  if (fused_takes(query, key, value, bias)) {
    auto [q, k, v] = at::_scaled_dot_product_flash_attention_for_cpu_backward(
        grad_out, query, key, value, out, logsumexp, 0.0, options.is_causal, {}, options.scale);
    return {q, k, v};
  }
  return attention_backward(grad_out, query, key, value, bias, out, logsumexp, options);
}

using Flash = std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor, c10::SymInt, c10::SymInt,
                         at::Tensor, at::Tensor, at::Tensor>;

Flash flash(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value, double dropout,
            bool is_causal, bool /*return_debug_mask*/, std::optional<double> scale) {
  auto [out, logsumexp] = forward(query, key, value, {}, dropout, {is_causal, scale});
  const auto random = query.options().dtype(at::kUInt64);
  return {out,
          logsumexp,
          at::Tensor(),
          at::Tensor(),
          query.size(2),
          key.size(2),
          at::zeros({2}, random),
          at::zeros({}, random),
          at::empty({0}, query.options())};
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> flash_backward(
    const at::Tensor& grad_out, const at::Tensor& query, const at::Tensor& key,
    const at::Tensor& value, const at::Tensor& out, const at::Tensor& logsumexp,
    const at::Tensor& /*cum_seq_q*/, const at::Tensor& /*cum_seq_k*/, c10::SymInt /*max_q*/,
    c10::SymInt /*max_k*/, double dropout, bool is_causal, const at::Tensor& /*philox_seed*/,
    const at::Tensor& /*philox_offset*/, std::optional<double> scale) {
  const AttentionGradients g =
      backward(grad_out, query, key, value, {}, out, logsumexp, dropout, {is_causal, scale});
  return {g.query, g.key, g.value};
}

Flash cudnn(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
            const std::optional<at::Tensor>& bias, bool /*compute_log_sumexp*/, double dropout,
            bool is_causal, bool /*return_debug_mask*/, std::optional<double> scale) {
  auto [out, logsumexp] = forward(query, key, value, bias, dropout, {is_causal, scale});
  const auto random = query.options().dtype(at::kLong);
  // The last dimension of cuDNN's logsumexp has size 1.
  return {out,         logsumexp.unsqueeze(-1), at::Tensor(),          at::Tensor(), query.size(2),
          key.size(2), at::zeros({}, random),   at::zeros({}, random), at::Tensor()};
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> cudnn_backward(
    const at::Tensor& grad_out, const at::Tensor& query, const at::Tensor& key,
    const at::Tensor& value, const at::Tensor& out, const at::Tensor& logsumexp,
    const at::Tensor& /*philox_seed*/, const at::Tensor& /*philox_offset*/, const at::Tensor& bias,
    const at::Tensor& /*cum_seq_q*/, const at::Tensor& /*cum_seq_k*/, c10::SymInt /*max_q*/,
    c10::SymInt /*max_k*/, double dropout, bool is_causal, std::optional<double> scale) {
  const AttentionGradients g = backward(grad_out, query, key, value, bias, out,
                                        logsumexp.squeeze(-1), dropout, {is_causal, scale});
  return {g.query, g.key, g.value};
}

std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor> efficient(
    const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
    const std::optional<at::Tensor>& bias, bool compute_log_sumexp, double dropout, bool is_causal,
    std::optional<double> scale) {
  auto [out, logsumexp] = forward(query, key, value, bias, dropout, {is_causal, scale});
  const auto random = query.options().dtype(at::kLong);
  if (!compute_log_sumexp) logsumexp = logsumexp.narrow(2, 0, 0);
  return {out, logsumexp, at::zeros({}, random), at::zeros({}, random)};
}

std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor> efficient_backward(
    const at::Tensor& grad_out, const at::Tensor& query, const at::Tensor& key,
    const at::Tensor& value, const at::Tensor& bias, const at::Tensor& out,
    const at::Tensor& logsumexp, const at::Tensor& /*philox_seed*/,
    const at::Tensor& /*philox_offset*/, double dropout, std::array<bool, 4> mask, bool is_causal,
    std::optional<double> scale) {
  TORCH_CHECK(!mask[3], "the gradient of an attention bias is not supported");
  // The kernel pads the rows of logsumexp. Remove the padding.
  const at::Tensor rows = logsumexp.narrow(2, 0, query.size(2));
  const AttentionGradients g =
      backward(grad_out, query, key, value, bias, out, rows, dropout, {is_causal, scale});
  return {g.query, g.key, g.value, at::Tensor()};
}

// Graphs captured on the CPU call this operator.
std::tuple<at::Tensor, at::Tensor> cpu_flash(const at::Tensor& query, const at::Tensor& key,
                                             const at::Tensor& value, double dropout,
                                             bool is_causal, const std::optional<at::Tensor>& mask,
                                             std::optional<double> scale) {
  return forward(query, key, value, mask, dropout, {is_causal, scale});
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> cpu_flash_backward(
    const at::Tensor& grad_out, const at::Tensor& query, const at::Tensor& key,
    const at::Tensor& value, const at::Tensor& out, const at::Tensor& logsumexp, double dropout,
    bool is_causal, const std::optional<at::Tensor>& mask, std::optional<double> scale) {
  const AttentionGradients g =
      backward(grad_out, query, key, value, mask, out, logsumexp, dropout, {is_causal, scale});
  return {g.query, g.key, g.value};
}

}  // namespace

std::tuple<at::Tensor, at::Tensor> attention(const at::Tensor& query, const at::Tensor& key,
                                             const at::Tensor& value,
                                             const std::optional<at::Tensor>& bias,
                                             const AttentionOptions& options) {
  const at::Tensor s = scores(query, key, bias, options);
  const at::Tensor logsumexp = s.logsumexp({-1});
  const at::Tensor p = at::softmax(s, -1);
  return {as_captured(at::matmul(p, value.to(at::kFloat)), query.scalar_type()), logsumexp};
}

AttentionGradients attention_backward(const at::Tensor& grad_out, const at::Tensor& query,
                                      const at::Tensor& key, const at::Tensor& value,
                                      const std::optional<at::Tensor>& bias, const at::Tensor& out,
                                      const at::Tensor& logsumexp,
                                      const AttentionOptions& options) {
  const double scale = scale_of(query, options.scale);
  const at::Tensor grad = grad_out.to(at::kFloat);
  const at::Tensor p = scores(query, key, bias, options).sub_(logsumexp.unsqueeze(-1)).exp_();
  const at::Tensor grad_value = at::matmul(p.transpose(-2, -1), grad);
  at::Tensor grad_scores = at::matmul(grad, value.to(at::kFloat).transpose(-2, -1));
  grad_scores.sub_((grad * out.to(at::kFloat)).sum(-1, true)).mul_(p).mul_(scale);
  const at::Tensor grad_query = at::matmul(grad_scores, key.to(at::kFloat));
  const at::Tensor grad_key = at::matmul(grad_scores.transpose(-2, -1), query.to(at::kFloat));
  return {as_captured(grad_query, query.scalar_type()), as_captured(grad_key, key.scalar_type()),
          as_captured(grad_value, value.scalar_type())};
}

void use_attention(AttentionKernel kernel) {
  chosen = kernel;
}

std::string_view attention_by_choice(std::string_view target) {
  static constexpr std::pair<std::string_view, std::string_view> kOperators[] = {
      {"aten._scaled_dot_product_flash_attention_for_cpu.default",
       "jointer.cpu_flash_attention.default"},
      {"aten._scaled_dot_product_flash_attention_for_cpu_backward.default",
       "jointer.cpu_flash_attention_backward.default"},
      {"aten._scaled_dot_product_flash_attention.default", "jointer.flash_attention.default"},
      {"aten._scaled_dot_product_flash_attention_backward.default",
       "jointer.flash_attention_backward.default"},
      {"aten._scaled_dot_product_cudnn_attention.default", "jointer.cudnn_attention.default"},
      {"aten._scaled_dot_product_cudnn_attention_backward.default",
       "jointer.cudnn_attention_backward.default"},
      {"aten._scaled_dot_product_efficient_attention.default",
       "jointer.efficient_attention.default"},
      {"aten._scaled_dot_product_efficient_attention_backward.default",
       "jointer.efficient_attention_backward.default"},
  };
  for (const auto& [captured, ours] : kOperators)
    if (captured == target) return ours;
  return {};
}

TORCH_LIBRARY_IMPL(aten, CPU, m) {
  m.impl("_scaled_dot_product_flash_attention", TORCH_FN(flash));
  m.impl("_scaled_dot_product_flash_attention_backward", TORCH_FN(flash_backward));
  m.impl("_scaled_dot_product_cudnn_attention", TORCH_FN(cudnn));
  m.impl("_scaled_dot_product_cudnn_attention_backward", TORCH_FN(cudnn_backward));
  m.impl("_scaled_dot_product_efficient_attention", TORCH_FN(efficient));
  m.impl("_scaled_dot_product_efficient_attention_backward", TORCH_FN(efficient_backward));
}

// Registers the same functions under Jointer's names, with the schemas of the captured operators.
TORCH_LIBRARY_FRAGMENT(jointer, m) {
  const auto define = [&m](const char* name, const char* captured, auto kernel) {
    const auto op = c10::Dispatcher::singleton().findSchemaOrThrow(captured, "");
    m.def(op.schema().cloneWithName(std::string("jointer::") + name, ""));
    m.impl(name, torch::dispatch(c10::DispatchKey::CompositeExplicitAutograd, kernel));
  };
  define("flash_attention", "aten::_scaled_dot_product_flash_attention", TORCH_FN(flash));
  define("flash_attention_backward", "aten::_scaled_dot_product_flash_attention_backward",
         TORCH_FN(flash_backward));
  define("cpu_flash_attention", "aten::_scaled_dot_product_flash_attention_for_cpu",
         TORCH_FN(cpu_flash));
  define("cpu_flash_attention_backward",
         "aten::_scaled_dot_product_flash_attention_for_cpu_backward",
         TORCH_FN(cpu_flash_backward));
  define("cudnn_attention", "aten::_scaled_dot_product_cudnn_attention", TORCH_FN(cudnn));
  define("cudnn_attention_backward", "aten::_scaled_dot_product_cudnn_attention_backward",
         TORCH_FN(cudnn_backward));
  define("efficient_attention", "aten::_scaled_dot_product_efficient_attention",
         TORCH_FN(efficient));
  define("efficient_attention_backward", "aten::_scaled_dot_product_efficient_attention_backward",
         TORCH_FN(efficient_backward));
}

}  // namespace jointer::runner
