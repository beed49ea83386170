#pragma once

// Writes nodes in the form of native captures. Private to core/capture.

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/base/json_writer.h"
#include "core/capture/node_record.h"
#include "core/graph/graph.h"

namespace jointer::native {

// Indices of storages, module stacks and stack traces in a capture's tables, by id.
struct TableNumbers {
  std::vector<std::uint32_t> storages, modules, stacks;
};

// [[path, class], ...]
void write_frames(const Graph& graph, const ModuleStack& stack, JsonWriter& out);
// Bytes of the storage that a record's tensor gets if the record names none.
std::int64_t record_bytes(const Graph& graph, const Tensor& t);

// The members `copy` and `inputs` of a record.
void write_copy(const RecordCopy& copy, JsonWriter& out);

class NodeWriter {
 public:
  // Writes into a capture with tables. All arguments must outlive the writer.
  NodeWriter(const Graph& graph, const TableNumbers& tables, JsonWriter& out)
      : graph_(graph), tables_(&tables), out_(out) {}
  // Writes nodes without tables.
  NodeWriter(const Graph& graph, const StorageOwners& owners, JsonWriter& out,
             const RecordNames* names = nullptr)
      : graph_(graph), owners_(&owners), names_(names), out_(out) {}

  void write(NodeId id, const RecordCopy* copy = nullptr);
  // These write the value of one member.
  void write_args(NodeId id) { write_children(graph_.args(graph_.node(id))); }
  void write_kwargs(NodeId id) { write_pairs(graph_.children(graph_.node(id).kwargs)); }
  void write_value(NodeId id);
  void write_dim(const Dim& dim);

 private:
  void write_call(const Node& n);
  void write_place(const Node& n);
  void write_argument(const Argument& a);
  void write_pairs(std::span<const Argument> pairs);
  void write_value(const Value& v);
  void write_tensor(const Tensor& t);
  void write_storage(const Tensor& t);
  void write_dims(std::string_view key, std::span<const Dim> dims);
  void write_children(std::span<const Argument> children) {
    out_.begin_array();
    for (const Argument& child : children) write_argument(child);
    out_.end_array();
  }

  // The name that `RecordNames::argument` or `owner` gives the node.
  [[nodiscard]] std::string_view name(std::function<std::string_view(NodeId)> RecordNames::*given,
                                      NodeId id) const;

  void text_member(std::string_view key, StringId text) {
    if (text) out_.string_member(key, graph_.text(text));
  }
  void flag_member(std::string_view key, bool present, bool value) {
    if (!present) return;
    out_.key(key);
    out_.boolean(value);
  }

  const Graph& graph_;
  const TableNumbers* tables_ = nullptr;
  const StorageOwners* owners_ = nullptr;
  const RecordNames* names_ = nullptr;
  JsonWriter& out_;
  NodeId node_;             // the node whose value is being written
  std::size_t tensor_ = 0;  // index of the next tensor in it
};

}  // namespace jointer::native
