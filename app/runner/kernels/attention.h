#pragma once

// Scaled dot product attention by its definition, for what no fused CPU kernel supports (different
// head sizes of keys and values, a bias), or if the user requests it.

#include <ATen/core/Tensor.h>

#include <optional>
#include <string_view>
#include <tuple>

#include "core/bench/request.h"

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

// Sets the kernel of captured attention operators that do not run under their own name: on the CPU,
// which does not have them, and on CUDA if the user chooses a kernel. Automatic: the CPU's fused
// kernel where it fits, otherwise the definition (math).
void use_attention(AttentionKernel kernel);

// Jointer's operator that runs attention with the chosen kernel instead of the captured one; empty
// if `target` is not attention.
std::string_view attention_by_choice(std::string_view target);

}  // namespace jointer::runner
