#include "core/kernels/fx_graph.h"

#include <algorithm>
#include <numeric>

namespace jointer::kernels {

bool is_contiguous(const Sizes& shape, const Sizes& stride) {
  std::int64_t step = 1;
  for (std::size_t d = shape.size(); d-- > 0;) {
    if (shape[d] == 0) return true;
    if (shape[d] != 1 && stride[d] != step) return false;
    step *= shape[d];
  }
  return true;
}

Sizes dense_strides(const Sizes& shape) {
  Sizes stride(shape.size(), 1);
  for (std::size_t d = shape.size(); d-- > 1;) stride[d - 1] = stride[d] * shape[d];
  return stride;
}

DimOrder fill_order(const Sizes& stride) {
  DimOrder order(stride.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order,
                           [&](std::size_t a, std::size_t b) { return stride[a] > stride[b]; });
  std::ranges::reverse(order);
  return order;
}

Sizes filled_strides(const Sizes& shape, const DimOrder& order) {
  Sizes stride(shape.size(), 1);
  std::int64_t step = 1;
  for (const std::size_t dim : order) {
    stride[dim] = step;
    step *= shape[dim];
  }
  return stride;
}

bool is_low_precision(DType type) {
  return type == DType::float16 || type == DType::bfloat16;
}

void count_users(FxGraph& graph) {
  for (FxNode& node : graph.nodes) node.users.clear();
  for (std::size_t i = 0; i < graph.nodes.size(); ++i)
    for (const FxId input : graph.nodes[i].inputs) {
      if (input < 0) continue;
      FxIds& users = graph.nodes[static_cast<std::size_t>(input)].users;
      if (users.empty() || users.back() != static_cast<FxId>(i))
        users.push_back(static_cast<FxId>(i));
    }
}

}  // namespace jointer::kernels
