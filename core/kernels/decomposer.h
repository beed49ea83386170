#pragma once

// The rules of a decomposition: one function for each family of operators. decompose.h describes
// what they do; decompose.cpp and decompose_*.cpp implement them.

#include <cstdint>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/base/torch_version.h"
#include "core/kernels/decomposed_losses.h"
#include "core/kernels/decompositions.h"
#include "core/kernels/fx_arguments.h"
#include "core/kernels/fx_builder.h"

namespace jointer::kernels {

class Decomposer {
 public:
  Decomposer(const Graph& graph, TorchVersion version)
      : graph_(graph), version_(version), arguments_(graph), env_(graph.node_count()) {
    add_rules();
    builder_.graph.nodes.reserve(graph.order().size() * 2);
  }

  FxGraph run(PartId part);
  FxGraph run(std::span<const NodeId> calls, std::span<const NodeId> results);

 private:
  using Rule = void (Decomposer::*)(const Node&);

  void add_rules();
  [[nodiscard]] Rule rule_for(const Node& node);
  void visit(NodeId id);
  void call(NodeId id, const Node& node);
  void placeholder(NodeId id, const Node& node, FxKind kind);
  void output(const Node& node);
  void getitem_rule(NodeId id, const Node& node);
  [[nodiscard]] bool touches_complex(const Node& node) const;
  // False if the call names a dimension that its first tensor, or its result, does not have.
  [[nodiscard]] bool has_valid_dims(const Node& node) const;

  // The values of arguments.
  [[nodiscard]] const Argument* arg(const Node& node, std::string_view name) const {
    return graph_.argument(node, name);
  }
  [[nodiscard]] FxId input(const Node& node, std::string_view name) const;
  // The value of an integer argument; `default_value` if it is missing or None.
  [[nodiscard]] std::int64_t number(const Node& node, std::string_view name,
                                    std::int64_t default_value = 0) const;
  [[nodiscard]] double number_of(const Node& node, std::string_view name) const;
  // The elements of a list; none if it is missing.
  [[nodiscard]] std::span<const Argument> elements(const Node& node, std::string_view name) const;
  [[nodiscard]] FxId of(const Argument& argument) const;
  [[nodiscard]] FxTensor captured(const Node& node, std::size_t which = 0) const {
    return captured_tensor(graph_, graph_.tensors(node)[which]);
  }
  void collect_inputs(const Argument& argument, FxIds& inputs) const;
  void give(FxId id) { results_.push_back(id); }
  // A node that returns the call's first tensor, as captured.
  FxNode made(FxKind kind, const Node& node, FxIds inputs, Sizes numbers = {}) const;
  void give_made(FxNode node) { give(builder_.add(std::move(node))); }

  // Rules.
  void elementwise(const Node& node);
  void function_rule(const Node& node);
  void foreach_rule(const Node& node);
  void alias_rule(const Node& node);
  void reshape_rule(const Node& node);
  void permute_rule(const Node& node);
  void expand_rule(const Node& node);
  void slice_rule(const Node& node);
  void select_rule(const Node& node);
  void split_rule(const Node& node);
  void stack_rule(const Node& node);
  void cat_rule(const Node& node);
  void convert_rule(const Node& node);
  void clone_rule(const Node& node);
  void full_rule(const Node& node);
  void empty_rule(const Node& node);
  void arange_rule(const Node& node);
  void sum_rule(const Node& node);
  void softmax_rule(const Node& node);
  void safe_softmax_rule(const Node& node);
  void log_softmax_rule(const Node& node);
  void softmax_gradient_rule(const Node& node);
  void silu_rule(const Node& node);
  void silu_gradient_rule(const Node& node);
  void gelu_rule(const Node& node);
  void output_gradient_rule(const Node& node);
  void log_softmax_gradient_rule(const Node& node);
  [[nodiscard]] NllLoss nll_loss_of(const Node& node) const;
  void nll_loss_rule(const Node& node);
  void nll_loss_gradient_rule(const Node& node);
  void in_place_rule(const Node& node);
  void gelu_gradient_rule(const Node& node);
  void layer_norm_rule(const Node& node);
  void layer_norm_gradient_rule(const Node& node);
  [[nodiscard]] bool is_tanh(const Node& node) const;
  void rms_norm_rule(const Node& node);
  void rms_norm_gradient_rule(const Node& node);
  void embedding_rule(const Node& node);
  void embedding_gradient_rule(const Node& node);
  void slice_gradient_rule(const Node& node);
  void clamp_rule(const Node& node);
  void masked_fill_rule(const Node& node);
  void index_rule(const Node& node);
  void index_select_rule(const Node& node);
  void index_put_rule(const Node& node);
  void gather_rule(const Node& node);
  void scatter_rule(const Node& node);
  void cumsum_rule(const Node& node);
  void matmul_rule(const Node& node);
  bool small_product_on_cpu(const Node& node, const FxIds& inputs);
  void flex_attention_rule(const Node& node);
  void copy_rule(const Node& node);
  void nothing_rule(const Node& node);
  void fallback_rule(const Node& node);
  void collective_rule(const Node& node);

  const Graph& graph_;
  TorchVersion version_;
  FxArguments arguments_;
  FxBuilder builder_;
  std::vector<FxIds> env_;  // by node: its values; -1 for an element that is not a tensor
  FxIds results_;           // of the call that is being decomposed
  std::unordered_map<std::string_view, Rule> rules_;
  std::unordered_map<std::string_view, std::string_view> elementwise_;
  std::unordered_map<std::string_view, Decompose> functions_;
  std::vector<std::pair<bool, Rule>> known_;  // by operator: true if looked up, and its rule
};

}  // namespace jointer::kernels
