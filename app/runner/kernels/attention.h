#pragma once

// Scaled dot product attention by its definition, for what no fused kernel of the CPU takes: head
// sizes of keys and values that differ, a bias, or because a person asks for it.

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

// Which kernel captured attention operators run with, where they do not run under their own name:
// on the CPU, which has none of that name, and on CUDA where a person chooses. Automatic: the CPU's
// fused one where it fits, else the definition (math).
void use_attention(AttentionKernel kernel);

// The operator of ours that runs attention with the chosen kernel in place of a captured one; empty
// if `target` is no attention.
std::string_view attention_by_choice(std::string_view target);

}  // namespace jointer::runner
