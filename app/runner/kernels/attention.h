#pragma once

// Scaled dot product attention by its definition, for what no fused kernel of the CPU takes: head
// sizes of keys and values that differ, a bias, or because a person asks for it.

#include <ATen/core/Tensor.h>

#include <optional>
#include <tuple>

namespace jointer::runner {

struct AttentionOptions {
  bool is_causal = false;
  std::optional<double> scale;  // none: 1 / sqrt(head size)
};

// [batch, heads, queries, size] tensors. Returns the output, in the type of the queries, and the
// logarithm of each row's sum of exponentials as [batch, heads, queries] in fp32. Sums are in fp32.
std::tuple<at::Tensor, at::Tensor> attention(const at::Tensor& query, const at::Tensor& key,
                                             const at::Tensor& value,
                                             const std::optional<at::Tensor>& bias,
                                             const AttentionOptions& options);

struct AttentionGradients {
  at::Tensor query, key, value;
};
AttentionGradients attention_backward(const at::Tensor& grad_out, const at::Tensor& query,
                                      const at::Tensor& key, const at::Tensor& value,
                                      const std::optional<at::Tensor>& bias, const at::Tensor& out,
                                      const at::Tensor& logsumexp, const AttentionOptions& options);

// All attention on the CPU by the definition.
void use_plain_attention(bool on);

}  // namespace jointer::runner
