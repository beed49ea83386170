#include "core/inductor/inductor_answer.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>
#include <unordered_map>
#include <utility>

#include "core/base/json_fields.h"
#include "core/base/name_table.h"

namespace jointer {
namespace {

using kernels::Kernel;

class AnswerReader {
 public:
  AnswerReader(const Graph& graph, PartId part) : graph_(graph), part_(part) {}

  Result<InductorAnswer> read(const OrderedJson& json) {
    JsonMembers members(json, "the answer from Inductor's scheduler");
    members.read("torch", answer_.torch);
    members.read("device", answer_.device);
    members.read("peak_bytes", answer_.peak);
    members.read_list("kernels", [&](const OrderedJson& each, std::size_t index) {
      read_kernel(members, each, index);
    });
    members.read_list("not_fused", [&](const OrderedJson& each, std::size_t index) {
      read_pair(members, each, index);
    });
    if (!members.problem().empty())
      return fail(Error::Kind::run,
                  "{}; Jointer's Python package may be of another version; reinstall Jointer",
                  members.problem());
    return std::move(answer_);
  }

 private:
  void read_kernel(JsonMembers& all, const OrderedJson& json, std::size_t index) {
    JsonMembers members(json, fmt::format("kernel {}", index));
    Kernel kernel;
    std::string name, kind, device;
    std::vector<std::string> nodes;
    members.read("name", name);
    members.read("kind", kind);
    members.read("device", device);
    members.read("nodes", nodes);
    members.read("reads_bytes", kernel.bytes_read);
    members.read("writes_bytes", kernel.bytes_written);
    members.read("bytes", kernel.bytes);
    std::vector<std::int64_t> iterations;
    members.read("iterations", iterations);
    if (iterations.size() == 2) {
      kernel.numel = iterations[0];
      kernel.rnumel = iterations[1];
    }
    if (const auto known = value_in(kernels::kKernelKinds, kind))
      kernel.kind = *known;
    else
      members.refuse(fmt::format("kernel {}: its kind `{}` is unknown", index, kind));
    kernel.is_on_gpu = device != "cpu";
    // Nodes that Inductor's own passes have made are not in the graph.
    for (const std::string& each : nodes)
      if (const NodeId node = graph_.find(part_, each)) kernel.nodes.push_back(node);
    index_of_[name] = static_cast<std::int32_t>(answer_.scheduled.size());
    answer_.scheduled.push_back(std::move(kernel));
    answer_.names.push_back(std::move(name));
    all.check(members);
  }

  void read_pair(JsonMembers& all, const OrderedJson& json, std::size_t index) {
    JsonMembers members(json, fmt::format("pair {} that is not fused", index));
    std::string first, second;
    InductorAnswer::NotFused pair;
    members.read("a", first);
    members.read("b", second);
    members.read("reason", pair.reason);
    const auto a = index_of_.find(first), b = index_of_.find(second);
    if (a != index_of_.end() && b != index_of_.end()) {
      pair.first = a->second;
      pair.second = b->second;
      answer_.not_fused.push_back(std::move(pair));
    }
    all.check(members);
  }

  const Graph& graph_;
  PartId part_;
  InductorAnswer answer_;
  std::unordered_map<std::string, std::int32_t> index_of_;  // kernels by name
};

}  // namespace

Result<InductorAnswer> read_inductor_answer(const OrderedJson& json, const Graph& graph,
                                            PartId part) {
  return AnswerReader(graph, part).read(json);
}

kernels::KernelList list_of(const Graph& graph, const InductorAnswer& answer) {
  kernels::KernelList list;
  list.peak = answer.peak;
  for (const Kernel& kernel : answer.scheduled)
    list.kernels.push_back(
        {kernel.kind, kernels::computing_nodes(graph, kernel.nodes), kernel.bytes});
  for (const InductorAnswer::NotFused& pair : answer.not_fused)
    list.refused.push_back({pair.first, pair.second, kernels::rule_of_reason(pair.reason)});
  return list;
}

}  // namespace jointer
