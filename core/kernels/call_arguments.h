#pragma once

// The arguments of one call of a graph that is being decomposed, by their names in the schema.

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/kernels/fx_arguments.h"

namespace jointer::kernels {

class CallArguments {
 public:
  // `env`: the values of the preceding nodes, by node.
  CallArguments(const Graph& graph, const std::vector<FxIds>& env, const Node& node)
      : graph_(graph), arguments_(graph), env_(env), node_(node) {}

  [[nodiscard]] std::string_view packet() const { return graph_.op(node_).packet(); }
  // False for an argument that is missing or None.
  [[nodiscard]] bool has(std::string_view name) const;
  // -1 if the argument is missing or not a tensor.
  [[nodiscard]] FxId tensor(std::string_view name) const;
  // The tensors of a list, with -1 for other elements, such as None; empty if the list is missing.
  [[nodiscard]] FxIds tensors(std::string_view name) const;
  [[nodiscard]] std::int64_t integer(std::string_view name, std::int64_t default_value = 0) const;
  [[nodiscard]] double real(std::string_view name, double default_value = 0) const;
  [[nodiscard]] bool is_true(std::string_view name, bool default_value = false) const {
    return integer(name, default_value ? 1 : 0) != 0;
  }
  [[nodiscard]] Sizes integers(std::string_view name) const;
  // The numbers of a list; empty if it is missing.
  [[nodiscard]] Numbers reals(std::string_view name) const;
  [[nodiscard]] std::string_view text(std::string_view name) const;
  // The tensor with this index among those that the call returns.
  [[nodiscard]] FxTensor result(std::size_t which = 0) const;
  [[nodiscard]] std::size_t result_count() const { return graph_.tensors(node_).size(); }

 private:
  [[nodiscard]] const Argument* find(std::string_view name) const;
  [[nodiscard]] FxId of(const Argument& argument) const;

  const Graph& graph_;
  FxArguments arguments_;
  const std::vector<FxIds>& env_;
  const Node& node_;
};

}  // namespace jointer::kernels
