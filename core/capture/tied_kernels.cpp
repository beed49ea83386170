#include "core/capture/tied_kernels.h"

#include <algorithm>
#include <array>
#include <set>

namespace jointer {
namespace {

// True for views, including those of Inductor that no schema declares, and for getitem.
bool is_view_call(const Graph& graph, const Node& node) {
  const OperatorInfo& op = graph.op(node);
  return op.is_view || op.is_getitem || op.name == "aten._unsafe_view.default" ||
         op.name == "aten.reshape.default";
}

class KernelTies {
 public:
  KernelTies(const Graph& graph, PartId part) : graph_(graph), part_(part) {}

  void add(const CompiledProgram& program, std::size_t index) {
    const CompiledKernel& kernel = program.kernels[index];
    std::vector<NodeId> found;
    bool is_found = false;
    const auto add_call = [&](NodeId id) {
      is_found = true;
      if (!is_view_call(graph_, graph_.node(id))) found.push_back(id);
    };
    const std::span<const std::string> names =
        program.is_retraced ? std::span<const std::string>() : kernel.nodes;
    for (const std::string& name : names) {
      const auto target = program.targets.find(name);
      const NodeId id = call(name);
      // A graph that was decomposed differently may use the name for another call.
      if (id &&
          (target == program.targets.end() || graph_.op(graph_.node(id)).name == target->second))
        add_call(id);
      else if (unknown_.insert(name).second)
        ties_.unknown.push_back(name);
    }
    if (!is_found)
      for (const std::string& name : kernel.original_nodes)
        if (const NodeId id = call(name)) add_call(id);
    // The comment above a call of an operator also names the nodes of its inputs.
    if (!is_found && kernel.source)
      for (const std::string& name : kernel.source_nodes)
        if (const NodeId id = call(name)) add_call(id);
    std::ranges::sort(found, {}, [&](NodeId id) { return graph_.position(id); });
    found.erase(std::unique(found.begin(), found.end()), found.end());
    in_kernel_.insert(found.begin(), found.end());
    if (!is_found) ties_.untied.push_back(index);
    ties_.nodes.push_back(std::move(found));
  }

  TiedKernels take() {
    std::set<NodeId> used;
    for (const NodeId id : graph_.order())
      for (const NodeId input : graph_.inputs(id)) used.insert(input);
    for (const NodeId id : graph_.order()) {
      const Node& node = graph_.node(id);
      if (node.part != part_ || node.kind != NodeKind::call) continue;
      if (in_kernel_.find(id) != in_kernel_.end()) {
        ++ties_.tied_calls;
      } else if (!is_view_call(graph_, node) && used.find(id) != used.end()) {
        ties_.without_kernel.push_back(id);
      }
    }
    return std::move(ties_);
  }

 private:
  // The call with this name, if there is one.
  [[nodiscard]] NodeId call(std::string_view name) const {
    const NodeId id = graph_.find(part_, name);
    return id && graph_.node(id).kind == NodeKind::call ? id : NodeId();
  }

  const Graph& graph_;
  PartId part_;
  TiedKernels ties_;
  std::set<std::string> unknown_;
  std::set<NodeId> in_kernel_;
};

}  // namespace

TiedKernels tie_kernels(const CompiledProgram& program, const Graph& graph, PartId part) {
  KernelTies ties(graph, part);
  for (std::size_t i = 0; i < program.kernels.size(); ++i) ties.add(program, i);
  return ties.take();
}

std::size_t best_program(std::span<const CompiledProgram> programs, const Graph& graph,
                         PartId part) {
  const CaptureKind kind = graph.part(part).kind;
  const bool is_half = kind == CaptureKind::forward || kind == CaptureKind::backward;
  const auto rank = graph.part(part).rank;
  std::size_t best = 0;
  std::array<std::size_t, 3> best_score{};
  for (std::size_t i = 0; i < programs.size(); ++i) {
    const CompiledProgram& program = programs[i];
    const bool is_other_half = is_half && program.half && *program.half != kind;
    const bool is_other_rank = rank && program.rank && *program.rank != *rank;
    const std::array<std::size_t, 3> score{is_other_half ? 0U : 1U,
                                           tie_kernels(program, graph, part).tied_calls,
                                           is_other_rank ? 0U : 1U};
    if (i == 0 || score > best_score) {
      best = i;
      best_score = score;
    }
  }
  return best;
}

}  // namespace jointer
