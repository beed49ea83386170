// Derives the parameters of a flat training step from its gradients.
//
// A training step returns its loss and one gradient per trained parameter, in the order of the
// parameters. The parameters are the first inputs of the graph (torchtitan's graph_trainer traces
// the step this way, with a device mesh after each distributed tensor). A gradient has the shape
// and dtype of its parameter.
//
// Steps
//   1. Gradients: the tensors that the graph returns from its backward.
//   2. Match each gradient with the next input, after the last matched one, that has the same shape
//      and dtype. If a gradient has no match, derive nothing.
//   3. Name each parameter as `named_parameters` would: `path.weight`, with the path of the
//      parameter's module (core/graph/parameter_modules.h). If several parameters have the same
//      path, they are named `path.parameter_0`, `path.parameter_1`, ... A parameter without a path
//      keeps the name of its node.
//
// Cost: linear in inputs, outputs and uses.

#include "core/graph/derive_parameters.h"

#include <algorithm>
#include <map>
#include <vector>

#include "core/base/counted.h"
#include "core/graph/module_tree.h"
#include "core/graph/parameter_modules.h"

namespace jointer {
namespace {

bool is_named(Role role) {
  return role == Role::parameter || role == Role::buffer;
}

bool same_kind(const Graph& graph, const Tensor& a, const Tensor& b) {
  const auto sizes = [](const Dim& dim) { return dim.value; };
  return a.dtype == b.dtype && std::ranges::equal(graph.shape(a), graph.shape(b), {}, sizes, sizes);
}

struct Pairing {
  NodeId parameter;
  std::size_t output;  // index in Part::outputs
};

// Matches each gradient with an input. Empty if a gradient has no match, or if the capture names a
// parameter or a buffer.
std::vector<Pairing> pair_up(const Graph& graph, PartId part) {
  std::vector<NodeId> inputs;
  for (const NodeId id : graph.order()) {
    const Node& n = graph.node(id);
    if (n.part != part || n.kind != NodeKind::placeholder) continue;
    if (is_named(n.role)) return {};
    if (graph.single_tensor(n) != nullptr) inputs.push_back(id);
  }
  std::vector<Pairing> pairs;
  std::size_t next = 0;
  const auto& outputs = graph.part(part).outputs;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i].node || outputs[i].role != Role::gradient) continue;
    const Tensor* gradient = graph.single_tensor(graph.node(outputs[i].node));
    if (gradient == nullptr) continue;
    while (next < inputs.size() &&
           !same_kind(graph, *graph.single_tensor(graph.node(inputs[next])), *gradient))
      ++next;
    if (next == inputs.size()) return {};
    pairs.push_back({inputs[next++], i});
  }
  return pairs;
}

}  // namespace

void derive_step_parameters(Graph& graph, PartId part) {
  if (graph.part(part).kind != CaptureKind::train_step) return;
  const std::vector<Pairing> pairs = pair_up(graph, part);
  if (pairs.empty()) return;

  const ModuleTree modules(graph);
  std::vector<NodeId> parameters;
  parameters.reserve(pairs.size());
  for (const Pairing& pair : pairs) parameters.push_back(pair.parameter);
  std::map<NodeId, std::string> paths;
  for (const auto& [parameter, module] : parameter_modules(graph, modules, parameters))
    paths.emplace(parameter, modules.module(module).path);
  std::map<std::string, std::size_t> count, used;
  for (const auto& [parameter, path] : paths) ++count[path];

  for (const Pairing& pair : pairs) {
    const std::string& path = paths[pair.parameter];
    const std::string name = path.empty() ? std::string(graph.name(pair.parameter))
                             : count[path] == 1
                                 ? path + ".weight"
                                 : fmt::format("{}.parameter_{}", path, used[path]++);
    Node& node = graph.node(pair.parameter);
    node.role = Role::parameter;
    node.role_target = graph.intern(name);
    graph.part(part).outputs[pair.output].target = name;
  }
  graph.add_fact(
      Fact::Kind::derived,
      fmt::format(
          "{}: the step returns gradients with the same shapes in the same order. The file "
          "has no parameter names, so each parameter is named after the first module that "
          "reads it",
          counted(pairs.size(), "input counts as a parameter", "inputs count as parameters")));
}

}  // namespace jointer
