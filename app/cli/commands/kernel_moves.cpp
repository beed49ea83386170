#include "app/cli/commands/kernel_moves.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "app/cli/commands/predicted_kernels.h"
#include "core/base/index.h"
#include "core/kernels/kernel_order.h"

namespace jointer::cli {
namespace {

struct MoveText {
  std::string_view kernel, anchor;
  bool before = true;
};

Result<MoveText> parse_move(std::string_view text) {
  for (const std::string_view word : {" before ", " after "}) {
    const std::size_t at = text.find(word);
    if (at == std::string_view::npos || at == 0 || at + word.size() == text.size()) continue;
    return MoveText{text.substr(0, at), text.substr(at + word.size()), word == " before "};
  }
  return fail(Error::Kind::usage,
              "option --move: expected `KERNEL before KERNEL` or `KERNEL after KERNEL`, got `{}`",
              text);
}

// Returns the index of the kernel that Inductor gives this name. If there is none, returns the
// first kernel in which the node of this name runs, preferably one that is launched.
Result<std::int32_t> kernel_named(const Graph& graph, const kernels::Kernels& predicted,
                                  std::string_view name) {
  const NodeId node = graph.find(kForwardPart, name);
  std::int32_t found = -1;
  for (std::size_t i = 0; i < predicted.kernels.size(); ++i) {
    const kernels::Kernel& kernel = predicted.kernels[i];
    if (predicted_kernel_name(kernel) == name) return static_cast<std::int32_t>(i);
    if (!node || std::ranges::find(kernel.nodes, node) == kernel.nodes.end()) continue;
    const bool is_better =
        found < 0 || (!kernels::is_launch(predicted.kernels[as_index(found)].kind) &&
                      kernels::is_launch(kernel.kind));
    if (is_better) found = static_cast<std::int32_t>(i);
  }
  if (found >= 0) return found;
  if (node)
    return fail(Error::Kind::usage, "option --move: `{}` runs in no kernel; name another node",
                name);
  return fail(Error::Kind::usage,
              "option --move: the graph has no node or kernel `{}`; give the name of a node that "
              "runs in the kernel",
              name);
}

}  // namespace

Result<MovedKernels> move_kernels(const Graph& graph, const kernels::Ir& ir,
                                  kernels::Kernels predicted,
                                  const std::vector<std::string>& moves) {
  MovedKernels moved;
  moved.before = std::move(predicted);
  kernels::KernelOrder order(ir, moved.before);
  const auto label = [&](std::int32_t kernel) {
    return kernels::kernel_label(graph, moved.before, kernel);
  };
  for (const std::string& text : moves) {
    JOINTER_TRY(const MoveText move, parse_move(text));
    JOINTER_TRY(const std::int32_t kernel, kernel_named(graph, moved.before, move.kernel));
    JOINTER_TRY(const std::int32_t anchor, kernel_named(graph, moved.before, move.anchor));
    if (kernel == anchor)
      return fail(
          Error::Kind::usage,
          "option --move `{}`: both names refer to the same kernel; name two different kernels",
          text);
    const std::int32_t to = order.place_next_to(kernel, anchor, move.before);
    if (!order.move(kernel, to)) {
      const kernels::KernelOrder::Range range = order.range(kernel);
      return fail(
          Error::Kind::usage, "option --move `{}`: the kernel cannot move that far. {}", text,
          to < range.first ? earliest_reason(ir, range, label) : latest_reason(ir, range, label));
    }
    moved.moves.push_back({kernel, anchor, move.before});
    moved.texts.push_back(text);
    moved.peaks.push_back(order.memory().peak);
  }
  moved.after = order.reordered();
  return moved;
}

Json moves_json(const MovedKernels& moved) {
  Json list = Json::array();
  for (std::size_t i = 0; i < moved.moves.size(); ++i)
    list.push_back({{"move", moved.texts[i]}, {"peak_bytes", moved.peaks[i]}});
  return list;
}

}  // namespace jointer::cli
