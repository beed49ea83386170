#pragma once

// Scaled dot product attention, computed by its definition. It is used if no fused kernel supports
// the tensors (on the CPU: an empty query, a bias, different numbers of heads, or values whose head
// size differs from that of the queries), or at the user's request.

#include <ATen/core/Tensor.h>

#include <optional>
#include <string_view>
#include <tuple>

#include "core/bench/request.h"

namespace jointer::runner {

struct AttentionOptions {
  bool is_causal = false;
  std::optional<double> scale;  // default: 1 / sqrt(head size)
};

// `query`, `key` and `value` are [batch, heads, length, size]. Returns the output, with the dtype
// of `query`, and the logsumexp of each row as [batch, heads, length of query] in fp32. Sums are
// computed in fp32.
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

// Sets the kernel for captured attention operators that do not run as captured: all of them if the
// user chose a kernel, otherwise those that were captured on another device. `automatic` selects a
// fused kernel that supports the tensors or, if there is none, the definition (math).
void use_attention(AttentionKernel kernel);

// Jointer's operator that replaces a captured attention operator and runs the chosen kernel; empty
// if `target` is not attention.
std::string_view attention_by_choice(std::string_view target);

}  // namespace jointer::runner
