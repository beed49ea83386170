#pragma once

// Reads and writes one node as JSON, as recipes hold it (docs/recipe.md). The form is as in a
// native capture, but without tables: the record contains the module and the stack, or names a node
// that it is `like`; a tensor names the node whose storage it shares, or gets a new storage.

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/json_writer.h"
#include "core/base/result.h"
#include "core/graph/graph.h"

namespace jointer {

// The buffers for parsing records, for callers that read many.
class RecordParser {
 public:
  RecordParser();
  ~RecordParser();
  RecordParser(const RecordParser&) = delete;
  RecordParser& operator=(const RecordParser&) = delete;

  struct Buffers;
  [[nodiscard]] Buffers& buffers() { return *buffers_; }

 private:
  std::unique_ptr<Buffers> buffers_;
};

// Reads a node without adding it to the graph; its tensors, storages and texts are added to the
// graph's tables. It may name itself as the owner of a storage. Error (usage): what is wrong with
// the record; the message does not name the node.
Result<Node> read_node_record(Graph& graph, PartId part, std::string_view json,
                              RecordParser& parser);

// JSON of a call's target, arguments and result; a null member leaves the node's own unchanged.
struct CallText {
  const std::string *target = nullptr, *args = nullptr, *kwargs = nullptr, *val = nullptr;
};
Result<Node> read_call(Graph& graph, const Node& node, const CallText& text, RecordParser& parser);

// The first tensor in program order that holds each storage. Records name storages by it.
class StorageOwners {
 public:
  explicit StorageOwners(const Graph& graph);
  struct Owner {
    NodeId node;
    std::size_t tensor = 0;
  };
  [[nodiscard]] Owner of(StorageId storage) const { return owners_[storage.index()]; }

 private:
  std::vector<Owner> owners_;
};

// The node whose call a record copies, and its inputs that are replaced, by name.
struct RecordCopy {
  std::string_view of;
  std::span<const std::pair<std::string, std::string>> inputs;
};
// `copy`: the record has this instead of the operator and its arguments.
std::string write_node_record(const Graph& graph, const StorageOwners& owners, NodeId id,
                              const RecordCopy* copy = nullptr);
// The members `args`, `kwargs` and `val` of a node's record, as a replacement of a call holds them.
struct CallRecord {
  std::string args, kwargs, val;
};
// Names for the nodes that a call reads (`argument`) and for those whose storages it shares
// (`owner`). If a function is empty or returns an empty text, the node's own name is used.
struct RecordNames {
  std::function<std::string_view(NodeId)> argument, owner;
};
CallRecord write_call(const Graph& graph, const StorageOwners& owners, NodeId id,
                      const RecordNames& names = {});
// Only its `val`.
std::string write_value(const Graph& graph, const StorageOwners& owners, NodeId id,
                        const RecordNames& names = {});
void write_value(const Graph& graph, const StorageOwners& owners, NodeId id,
                 const RecordNames& names, JsonWriter& out);

}  // namespace jointer
