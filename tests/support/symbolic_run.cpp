#include "tests/support/symbolic_run.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "core/graph/effects.h"

namespace jointer::test {
namespace {

using Hash = std::uint64_t;

Hash mix(Hash a, Hash b) {
  Hash h = a * 0x9e3779b97f4a7c15ULL + b + 0x632be59bd9b4e019ULL;
  h ^= h >> 29;
  h *= 0xbf58476d1ce4e5b9ULL;
  return h ^ (h >> 32);
}

Hash text_hash(std::string_view text) {
  Hash h = 17;
  for (const char c : text) h = mix(h, static_cast<unsigned char>(c));
  return h;
}

class Run {
 public:
  explicit Run(const Graph& graph)
      : graph_(graph), views_(graph.node_count()), numbers_(graph.node_count(), 0) {}

  std::vector<Hash> go() {
    for (const NodeId id : graph_.order()) step(id);
    std::vector<Hash> results;
    for (std::size_t part = 0; part < graph_.part_count(); ++part)
      for (const OutputEntry& entry : graph_.part(PartId(part)).outputs)
        if (graph_.part_count() == 1 || part == 1 || entry.role != Role::saved)
          results.push_back(entry.node ? content(entry.node) : 0);
    for (const NodeId id : graph_.order())
      for (const View& view : views_[id.index()])
        if (graph_.node(id).kind == NodeKind::placeholder && !graph_.node(id).partner &&
            is_written_.contains(view.storage))
          results.push_back(content(view));
    return results;
  }

 private:
  struct View {
    StorageId storage;
    Hash how = 0;  // of the operators from the storage to the view
  };

  [[nodiscard]] Hash content(const View& view) const {
    const auto it = contents_.find(view.storage);
    return mix(it == contents_.end() ? 0 : it->second, view.how);
  }
  [[nodiscard]] Hash content(NodeId id) const {
    Hash h = numbers_[id.index()];
    for (const View& view : views_[id.index()]) h = mix(h, content(view));
    return h;
  }

  [[nodiscard]] Hash argument(const Argument& a) const {
    if (a.kind == Argument::Kind::node) return a.node() ? content(a.node()) : 1;
    Hash h = mix(2, static_cast<Hash>(a.kind));
    if (a.has_children()) {
      for (const Argument& child : graph_.children(a)) h = mix(h, argument(child));
      return h;
    }
    if (a.kind == Argument::Kind::string || a.kind == Argument::Kind::op)
      return mix(h, text_hash(graph_.text(a.text())));
    return a.kind == Argument::Kind::none ? h : mix(h, static_cast<Hash>(a.integer));
  }

  // Hashes the arguments of a call, without those that set the state of a random call.
  [[nodiscard]] Hash call_hash(const Node& node) const {
    const std::string_view target = graph_.target(node);
    auto args = graph_.args(node);
    if (target == "run_with_rng_state") args = args.subspan(1);
    const bool wraps = target.find("_rng_state") != std::string_view::npos;
    Hash h = text_hash(wraps ? graph_.text(args.front().text()) : target);
    for (const Argument& a : args.subspan(wraps ? 1 : 0)) h = mix(h, argument(a));
    if (wraps) return h;
    const auto keywords = graph_.children(node.kwargs);
    for (std::size_t i = 0; i + 1 < keywords.size(); i += 2) h = mix(h, argument(keywords[i + 1]));
    return h;
  }

  void step(NodeId id) {
    const Node& node = graph_.node(id);
    std::vector<View>& views = views_[id.index()];
    const auto tensors = graph_.tensors(id);
    if (node.kind == NodeKind::output) return;
    if (node.partner) {
      views = views_[node.partner.index()];
      numbers_[id.index()] = numbers_[node.partner.index()];
      return;
    }
    if (node.kind != NodeKind::call) {
      numbers_[id.index()] = text_hash(graph_.name(id));
      for (const Tensor& t : tensors) {
        views.push_back({graph_.real_storage(t.storage), text_hash(graph_.name(id))});
        contents_.try_emplace(views.back().storage, 99);
      }
      numbers_[id.index()] = 0;
      return;
    }
    run_call(id, node);
  }

  void run_call(NodeId id, const Node& node) {
    std::vector<View>& views = views_[id.index()];
    const OperatorInfo& op = graph_.op(node);
    const auto inputs = graph_.inputs(id);
    if (op.is_getitem) return take_element(id, node);
    const Hash h = call_hash(node);
    if (op.is_wait) {
      views = views_[inputs.front().index()];
      return;
    }
    if (op.is_transfer) {  // a copy on another device
      const View of = views_[inputs.front().index()].front();
      const StorageId fresh(1'000'000 + next_++);
      contents_[fresh] = contents_[of.storage];
      views.push_back({fresh, of.how});
      return;
    }
    std::vector<NodeId> written;
    written_arguments(graph_, node, written);
    for (const NodeId to : written)
      for (const View& view : views_[to.index()]) {
        contents_[view.storage] = mix(contents_[view.storage], mix(h, view.how));
        is_written_.insert(view.storage);
      }
    if (!written.empty()) {
      views = views_[written.front().index()];
      return;
    }
    auto tensors = graph_.tensors(id);
    // The state is not a result.
    if (graph_.target(node) == "run_and_save_rng_state" && !tensors.empty())
      tensors = tensors.subspan(1);
    if (op.is_view) {
      const View& of = views_[inputs.front().index()].front();
      for (std::size_t i = 0; i < tensors.size(); ++i)
        views.push_back({of.storage, mix(of.how, mix(text_hash(op.name), i))});
      return;
    }
    // Every run of a call allocates new storages.
    for (std::size_t i = 0; i < std::max<std::size_t>(tensors.size(), 1); ++i) {
      const StorageId fresh(1'000'000 + next_++);
      contents_[fresh] = mix(h, i);
      views.push_back({fresh, 0});
    }
  }

  void take_element(NodeId id, const Node& node) {
    const auto args = graph_.args(node);
    const auto& of = views_[args[0].node().index()];
    const auto index = static_cast<std::size_t>(args[1].integer);
    // run_and_save_rng_state returns the state and the result of the call.
    if (graph_.target(graph_.node(args[0].node())) == "run_and_save_rng_state") {
      views_[id.index()] = index == 1 ? of : std::vector<View>{};
    } else if (index < of.size()) {
      views_[id.index()] = {of[index]};
    } else {
      // A list within the tuple, whose tensors the call does not have.
      const StorageId fresh(1'000'000 + next_++);
      contents_[fresh] = mix(of.empty() ? 0 : contents_[of.front().storage], index);
      views_[id.index()] = {{fresh, 0}};
    }
  }

  const Graph& graph_;
  std::vector<std::vector<View>> views_;  // by node
  std::vector<Hash> numbers_;             // by node, of values that are not tensors
  std::map<StorageId, Hash> contents_;
  std::set<StorageId> is_written_;
  std::size_t next_ = 0;
};

}  // namespace

std::vector<std::uint64_t> symbolic_run(const Graph& graph) {
  return Run(graph).go();
}

}  // namespace jointer::test
