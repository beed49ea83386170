// Finds the nodes whose storages an edit must state.
//
// A storage of `after` is matched at the first node that holds it. If that node exists in `before`
// and returns the same value, the storage matches the node's storage there, unless another storage
// of `after` already matches it (a former view has become a copy) or the sizes differ. If there is
// no match, the storage is new. The value of a common call must be stated unless its storages in
// `after` match its storages in `before`.

#include "core/edit/storage_changes.h"

namespace jointer {
namespace {

class StorageMatcher {
 public:
  StorageMatcher(const Graph& before, const Graph& after,
                 const std::function<bool(NodeId)>& keeps_value)
      : before_(before),
        after_(after),
        keeps_value_(keeps_value),
        matches_(after.storage_count()),
        is_taken_(before.storage_count(), false) {}

  std::vector<NodeId> run() {
    std::vector<NodeId> found;
    for (const NodeId id : after_.order()) {
      const Node& n = after_.node(id);
      const NodeId was = before_.find(n.part, after_.name(id));
      if (!was)
        meet_added(id);
      else if (!matches(id, was) && n.kind == NodeKind::call)
        found.push_back(id);
    }
    return found;
  }

 private:
  // The storage of `before` that corresponds to a storage of `after`.
  struct Match {
    bool is_known = false;
    StorageId was = {};  // null if the storage is new
  };

  bool matches(NodeId id, NodeId was) {
    const auto is = after_.tensors(id), old = before_.tensors(was);
    const bool keeps = old.size() == is.size() && keeps_value_(id);
    bool all = keeps;
    for (std::size_t i = 0; i < is.size(); ++i) {
      if (!is[i].storage) continue;
      const StorageId had = keeps ? old[i].storage : StorageId();
      Match& match = matches_[is[i].storage.index()];
      if (!match.is_known) match = first_match(is[i].storage, had);
      all = all && match.was == had;
    }
    return all;
  }

  Match first_match(StorageId is, StorageId had) {
    if (!had || is_taken_[had.index()] || !same_size(had, is)) return {.is_known = true};
    is_taken_[had.index()] = true;
    return {.is_known = true, .was = had};
  }

  void meet_added(NodeId id) {
    for (const Tensor& t : after_.tensors(id))
      if (t.storage) matches_[t.storage.index()].is_known = true;
  }

  [[nodiscard]] bool same_size(StorageId was, StorageId is) const {
    const Dim a = before_.storage(was).bytes, b = after_.storage(is).bytes;
    if (a.expression && b.expression)
      return before_.expression_text(a.expression) == after_.expression_text(b.expression);
    return !a.expression && !b.expression && a.value == b.value;
  }

  const Graph& before_;
  const Graph& after_;
  const std::function<bool(NodeId)>& keeps_value_;
  std::vector<Match> matches_;
  std::vector<bool> is_taken_;  // by storage of `before`: already matched
};

}  // namespace

std::vector<NodeId> storage_changes(const Graph& before, const Graph& after,
                                    const std::function<bool(NodeId)>& keeps_value) {
  return StorageMatcher(before, after, keeps_value).run();
}

}  // namespace jointer
