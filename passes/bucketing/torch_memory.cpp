#include "passes/bucketing/torch_memory.h"

#include <algorithm>

namespace jointer {
namespace {

class Collector {
 public:
  explicit Collector(const Graph& graph) : graph_(graph), number_(graph.storage_count(), kNever) {}

  // The storages of the node's tensors that count toward memory, without duplicates.
  const std::vector<Place>& of(NodeId id) {
    found_.clear();
    add(id);
    return found_;
  }
  const std::vector<Place>& of(std::span<const NodeId> ids) {
    found_.clear();
    for (const NodeId id : ids) add(id);
    return found_;
  }
  [[nodiscard]] std::uint32_t& number(Place storage) { return number_[storage]; }

 private:
  void add(NodeId id) {
    for (const Tensor& t : graph_.tensors(id)) {
      if (!t.storage || graph_.device_type(t) == DeviceType::cpu) continue;
      const auto storage = static_cast<Place>(t.storage.index());
      if (std::ranges::find(found_, storage) == found_.end()) found_.push_back(storage);
    }
  }

  const Graph& graph_;
  std::vector<std::uint32_t> number_;  // by storage of the graph
  std::vector<Place> found_;
};

}  // namespace

TorchStorages::TorchStorages(const OverlapGraph& overlap) {
  const Graph& graph = *overlap.graph;
  Collector collector(graph);
  std::vector<std::pair<Place, Place>> allocations, reads;
  for (Place p = 0; p < overlap.size(); ++p) {
    const NodeId id = overlap.nodes[p];
    const Node& n = graph.node(id);
    const bool runs = n.kind == NodeKind::call;
    for (const Place storage : collector.of(id)) {
      std::uint32_t& number = collector.number(storage);
      if (number != kNever) continue;
      number = static_cast<std::uint32_t>(bytes.size());
      bytes.push_back(graph.storage(StorageId(storage)).bytes.value);
      readers.push_back(0);
      is_released.push_back(!graph.name(id).starts_with("primals"));
      if (runs)
        allocations.emplace_back(p, number);
      else if (n.kind != NodeKind::output)
        at_start += bytes.back();
    }
    for (const Place storage : collector.of(graph.inputs(n))) {
      const std::uint32_t number = collector.number(storage);
      if (number == kNever) continue;
      ++readers[number];
      if (runs) reads.emplace_back(p, number);
    }
  }
  allocated = PlaceLists::of_pairs(allocations, overlap.size());
  read = PlaceLists::of_pairs(reads, overlap.size());
}

void TorchMemory::run(Place place) {
  for (const Place storage : storages_.allocated.of(place)) now_ += storages_.bytes[storage];
  within_ = now_;
  for (const Place storage : storages_.read.of(place))
    if (--readers_[storage] == 0 && storages_.is_released[storage])
      now_ -= storages_.bytes[storage];
}

}  // namespace jointer
