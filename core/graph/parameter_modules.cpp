// Finds the modules of parameters from the calls that read them.
//
// A bucket reads several parameters as one list. The bucket and the calls that unpack it are in the
// module of one of these parameters. The module of another parameter is therefore the module of the
// first call, outside the bucket's module, that reads the parameter's member of the bucket.
//
// Steps
//   1. Among the calls that read a parameter, the first one outside the root module decides or, if
//      all are in the root, the first one; unless it reads the parameter in a list with others.
//   2. From such a bucket, follow the first reader until a call returns as many tensors as the
//      bucket has members, or writes to a list of that length. The parameter's member is at the
//      parameter's index: a getitem of the result, or the storage of an element of the list.
//   3. Visit the calls after that call in program order. A view or copy of a member that is in the
//      bucket's module may be part of the bucket. Any other call that reads the member decides.
//   4. If no call decides, the parameter belongs to the bucket's module.
//
// Cost: linear in uses, plus the length of the bucket and up to kMaxSteps per bucketed parameter.

#include "core/graph/parameter_modules.h"

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "core/graph/users.h"

namespace jointer {
namespace {

constexpr int kMaxSteps = 16;  // between a bucket and the call that unpacks it

// The position of a node in a list argument of a call, and the length of that list.
struct Place {
  std::size_t index = 0, count = 0;
};

Place place_of(const Graph& graph, NodeId call, NodeId input) {
  for (const Argument& argument : graph.args(graph.node(call))) {
    const auto members = graph.children(argument);
    for (std::size_t i = 0; i < members.size(); ++i)
      if (members[i].kind == Argument::Kind::node && members[i].node() == input)
        return {i, members.size()};
  }
  return {};
}

class Modules {
 public:
  Modules(const Graph& graph, const ModuleTree& modules)
      : graph_(graph), modules_(modules), users_(graph) {}

  void add(NodeId parameter) {
    const auto readers = users_.of(parameter);
    if (readers.empty()) return;
    const auto reader = std::ranges::find_if(
        readers, [this](NodeId id) { return modules_.of(id) != modules_.root(); });
    const NodeId first = reader == readers.end() ? readers.front() : *reader;
    found_[parameter] = modules_.of(first);
    if (const Place place = place_of(graph_, first, parameter); place.count > 1)
      find_member(parameter, first, place);
  }

  std::map<NodeId, ModuleId> take() {
    if (!members_.empty()) follow_members();
    return std::move(found_);
  }

 private:
  struct Member {
    NodeId parameter, unpacked;  // the call that unpacks the bucket
    StorageId storage;           // null: nodes carry it
    bool is_found = false;
  };

  void find_member(NodeId parameter, NodeId bucket, const Place& place) {
    NodeId at = bucket;
    for (int step = 0; step < kMaxSteps; ++step) {
      const auto readers = users_.of(at);
      if (readers.empty()) return;
      for (const NodeId reader : readers) {
        if (const NodeId written = written_member(reader, place)) {
          const Tensor* tensor = graph_.single_tensor(graph_.node(written));
          if (tensor == nullptr || !tensor->storage) return;
          by_storage_.emplace(tensor->storage, members_.size());
          members_.push_back({parameter, reader, tensor->storage});
          return;
        }
        if (graph_.tensors(reader).size() != place.count) continue;
        for (const NodeId item : users_.of(reader))
          if (is_item(item, place.index)) {
            carriers_.emplace(item, members_.size());
            members_.push_back({parameter, reader, {}});
          }
        return;
      }
      at = readers.front();
    }
  }

  // If the call writes to a list with as many elements as the bucket, returns the element for this
  // member.
  [[nodiscard]] NodeId written_member(NodeId call, const Place& place) const {
    const auto keywords = graph_.children(graph_.node(call).kwargs);
    for (std::size_t i = 1; i < keywords.size(); i += 2) {
      const auto list = graph_.children(keywords[i]);
      if (list.size() == place.count && list[place.index].kind == Argument::Kind::node &&
          graph_.text(keywords[i - 1].text()) == "out")
        return list[place.index].node();
    }
    return {};
  }

  [[nodiscard]] bool is_item(NodeId id, std::size_t index) const {
    const Node& n = graph_.node(id);
    if (n.kind != NodeKind::call || !graph_.op(n).is_getitem) return false;
    const auto args = graph_.args(n);
    return args.size() == 2 && args[1].kind == Argument::Kind::integer &&
           args[1].integer == static_cast<std::int64_t>(index);
  }

  void follow_members() {
    for (const NodeId id : graph_.order())
      for (const NodeId input : graph_.inputs(id)) {
        const auto carried = carriers_.equal_range(input);
        std::vector<std::size_t> read;
        for (auto it = carried.first; it != carried.second; ++it) read.push_back(it->second);
        if (!by_storage_.empty())
          for (const Tensor& tensor : graph_.tensors(input)) {
            const auto stored = by_storage_.equal_range(tensor.storage);
            for (auto it = stored.first; it != stored.second; ++it)
              if (graph_.position(members_[it->second].unpacked) < graph_.position(id))
                read.push_back(it->second);
          }
        for (const std::size_t member : read) decide(member, id);
      }
  }

  void decide(std::size_t index, NodeId reader) {
    Member& member = members_[index];
    if (member.is_found) return;
    ModuleId& module = found_[member.parameter];
    if (modules_.of(reader) == module && returns_input(reader)) {
      if (!member.storage) carriers_.emplace(reader, index);
      return;
    }
    module = modules_.of(reader);
    member.is_found = true;
  }

  // True for getitems, views and copies that read only one node.
  [[nodiscard]] bool returns_input(NodeId id) const {
    const Node& n = graph_.node(id);
    if (n.kind != NodeKind::call || graph_.inputs(id).size() != 1) return false;
    const OperatorInfo& op = graph_.op(n);
    return op.is_view || op.is_getitem || op.packet() == "aten.clone" ||
           op.packet() == "aten._to_copy";
  }

  const Graph& graph_;
  const ModuleTree& modules_;
  Users users_;
  std::map<NodeId, ModuleId> found_;
  std::vector<Member> members_;
  // Indices in members_, by the node or storage that holds the member.
  std::unordered_multimap<NodeId, std::size_t> carriers_;
  std::unordered_multimap<StorageId, std::size_t> by_storage_;
};

}  // namespace

std::map<NodeId, ModuleId> parameter_modules(const Graph& graph, const ModuleTree& modules,
                                             std::span<const NodeId> parameters) {
  Modules found(graph, modules);
  for (const NodeId parameter : parameters) found.add(parameter);
  return found.take();
}

}  // namespace jointer
