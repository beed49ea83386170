#pragma once

// One node by itself, as a recipe holds it (docs/recipe.md): as a native capture writes it, but
// without tables. Module and stack are given themselves or taken from the node that it is `like`; a
// tensor says which node's storage it is a view of, or has a new one.

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/graph/graph.h"

namespace jointer {

// The memory that parsing a record takes, for a caller that reads many.
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

// The node, not yet in the graph; its tensors, storages and texts are in the graph's tables. It may
// name itself as the owner of a storage. Error (usage): what is wrong with it, without its name.
Result<Node> read_node_record(Graph& graph, PartId part, std::string_view json,
                              RecordParser& parser);

// What a node is called with, or returns, from JSON; the rest is left as it is in `node`.
struct CallText {
  const std::string *target = nullptr, *args = nullptr, *kwargs = nullptr, *val = nullptr;
};
Result<Node> read_call(Graph& graph, const Node& node, const CallText& text, RecordParser& parser);

// Who holds each storage first, in program order: how a record names a storage.
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

std::string write_node_record(const Graph& graph, const StorageOwners& owners, NodeId id);
// Its members `args`, `kwargs` and `val`, as a replacement of a call holds them.
struct CallRecord {
  std::string args, kwargs, val;
};
// What they call the nodes that the call reads, and those in whose memory it lies: where a function
// is empty, or its text, by their names.
struct RecordNames {
  std::function<std::string_view(NodeId)> argument, owner;
};
CallRecord write_call(const Graph& graph, const StorageOwners& owners, NodeId id,
                      const RecordNames& names = {});

}  // namespace jointer
