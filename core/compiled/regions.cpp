// Finds the regions that `jointer bench --backend regional` compiles
// (resources/python/jointer/regional.py has the same rules).
//
// One walk over the program with one open region:
//   1. A marked call that returns tensors joins the open region, or opens one. A getitem, marked or
//      not, joins the open region if it reads a call of that region.
//   2. Another node closes the region if it uses a result of the region, writes memory that the
//      region touches, or touches memory that the region writes.
//   3. A call marked with other options opens a new region. A region never spans both halves of a
//      pair.
//
// Cost: one walk over nodes and edges, and, for a call that writes memory or while the open region
// does, the accesses of the open region to the same storages.
//
// Source: torchtitan's regional_inductor. Deviation: upstream merges marked calls at any distance
// and sorts the graph again; here, as when the graph is run, the order stays.

#include "core/compiled/regions.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include "core/graph/inductor_mark.h"
#include "core/graph/memory_access.h"

namespace jointer {
namespace {

bool returns_tensors(const Node& node) {
  return node.value.kind == Value::Kind::tensor || node.value.kind == Value::Kind::list;
}

class RegionWalk {
 public:
  explicit RegionWalk(const Graph& graph) : graph_(graph), region_of_(graph.node_count(), -1) {}

  std::vector<Region> run() {
    for (const NodeId id : graph_.order()) visit(id, graph_.node(id));
    close();
    find_results();
    return std::move(regions_);
  }

 private:
  void visit(NodeId id, const Node& node) {
    if (is_open_ && graph_.node(regions_.back().calls.front()).part != node.part) close();
    if (node.kind == NodeKind::output) return;
    if (is_element_of_region(node)) return join(id);
    const std::optional<std::string>& mark = mark_of(node);
    if (!mark || graph_.op(node).is_getitem || !returns_tensors(node)) {
      if (is_open_ && disturbs(id)) close();
      return;
    }
    if (is_open_ && regions_.back().options != *mark) close();
    if (!is_open_) {
      regions_.push_back({.calls = {}, .results = {}, .options = *mark});
      is_open_ = true;
    }
    join(id);
  }

  [[nodiscard]] bool is_element_of_region(const Node& node) const {
    if (!is_open_ || node.kind != NodeKind::call || !graph_.op(node).is_getitem) return false;
    const auto args = graph_.args(node);
    return !args.empty() && args[0].kind == Argument::Kind::node && args[0].node() &&
           is_in_region(args[0].node());
  }

  // True if the node is in the open region.
  [[nodiscard]] bool is_in_region(NodeId id) const {
    return is_open_ && region_of_[id.index()] == static_cast<std::int32_t>(regions_.size()) - 1;
  }

  // Nodes share the texts of their marks, so each text is read once.
  const std::optional<std::string>& mark_of(const Node& node) {
    if (node.kind != NodeKind::call || !node.custom) return unmarked_;
    const auto [known, is_new] = marks_.try_emplace(node.custom);
    if (is_new) known->second = inductor_options(graph_.text(node.custom));
    return known->second;
  }

  void join(NodeId id) {
    regions_.back().calls.push_back(id);
    region_of_[id.index()] = static_cast<std::int32_t>(regions_.size()) - 1;
    for (const MemoryAccess& access : accesses_of(id)) {
      memory_[graph_.real_storage(access.tensor->storage)].push_back(access);
      writes_ = writes_ || access.writes();
    }
  }

  const std::vector<MemoryAccess>& accesses_of(NodeId id) {
    accesses_.clear();
    add_memory_accesses(graph_, id, accesses_);
    return accesses_;
  }

  // True if the open region, which runs at the position of its last call, cannot run after this
  // node.
  bool disturbs(NodeId id) {
    if (std::ranges::any_of(graph_.inputs(id), [&](NodeId each) { return is_in_region(each); }))
      return true;
    const std::vector<MemoryAccess>& own = accesses_of(id);
    const auto is_write = [](const MemoryAccess& access) { return access.writes(); };
    if (!writes_ && std::ranges::none_of(own, is_write)) return false;
    return std::ranges::any_of(own, [&](const MemoryAccess& access) {
      const auto known = memory_.find(graph_.real_storage(access.tensor->storage));
      if (known == memory_.end()) return false;
      return std::ranges::any_of(known->second, [&](const MemoryAccess& other) {
        return must_keep_order(access.use, other.use) &&
               access.region(graph_).may_overlap(other.region(graph_));
      });
    });
  }

  void close() {
    is_open_ = writes_ = false;
    memory_.clear();
  }

  void find_results() {
    std::vector<bool> is_result(graph_.node_count(), false);
    for (const NodeId id : graph_.order())
      for (const NodeId input : graph_.inputs(id)) {
        const std::int32_t region = region_of_[input.index()];
        if (region >= 0 && region != region_of_[id.index()]) is_result[input.index()] = true;
      }
    for (Region& region : regions_)
      std::ranges::copy_if(region.calls, std::back_inserter(region.results),
                           [&](NodeId id) { return is_result[id.index()]; });
  }

  const Graph& graph_;
  std::vector<Region> regions_;
  std::vector<std::int32_t> region_of_;  // by node; -1: none
  std::map<StringId, std::optional<std::string>> marks_;
  std::optional<std::string> unmarked_;
  // The open region.
  bool is_open_ = false, writes_ = false;
  std::map<StorageId, std::vector<MemoryAccess>> memory_;
  std::vector<MemoryAccess> accesses_;
};

}  // namespace

std::vector<Region> find_regions(const Graph& graph) {
  return RegionWalk(graph).run();
}

}  // namespace jointer
