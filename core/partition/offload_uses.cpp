#include "core/partition/offload_uses.h"

#include <utility>

namespace jointer {

OffloadUses::OffloadUses(const PairOrders& orders, const Offloadable& offloadable) {
  const Graph& graph = orders.graph();
  const auto storage_of = [&](const Tensor& t) {
    return static_cast<std::uint32_t>(graph.real_storage(t.storage).index());
  };
  std::vector<std::pair<std::uint32_t, Use>> uses;
  std::vector<std::pair<std::uint32_t, Place>> readers;
  storage_.reserve(orders.size());
  for (Place p = 0; p < orders.size(); ++p) {
    const NodeId id = orders.node(p);
    storage_.push_back(offloadable.can_offload(id) ? storage_of(graph.tensors(id).front()) : kNone);
    if (!orders.has(p, PairOrders::is_call)) continue;
    const auto add_uses = [&](Place value, bool is_result) {
      for (const Tensor& t : graph.tensors(orders.node(value)))
        if (t.storage) uses.emplace_back(storage_of(t), Use{.call = p, .is_result = is_result});
    };
    add_uses(p, true);
    for (const Place input : orders.inputs(p)) {
      add_uses(input, false);
      readers.emplace_back(input, p);
    }
  }
  uses_ = Lists<Use>::of_pairs(uses, graph.storage_count());
  readers_ = Lists<Place>::of_pairs(readers, orders.size());
}

}  // namespace jointer
