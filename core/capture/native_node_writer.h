#pragma once

// Writes nodes in the native capture format. Private to core/capture.

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/base/json_writer.h"
#include "core/graph/graph.h"

namespace jointer::native {

// The index of each storage, module stack and stack trace, by id, in the capture's tables.
struct TableNumbers {
  std::vector<std::uint32_t> storages, modules, stacks;
};

// Writes the frames of the stack as [[path, class], ...].
void write_frames(const Graph& graph, const ModuleStack& stack, JsonWriter& out);

class NodeWriter {
 public:
  // All arguments must outlive the writer.
  NodeWriter(const Graph& graph, const TableNumbers& tables, JsonWriter& out)
      : graph_(graph), tables_(tables), out_(out) {}

  void write(NodeId id);
  void write_dim(const Dim& dim);

 private:
  void write_argument(const Argument& a);
  void write_pairs(std::span<const Argument> pairs);
  void write_value(const Value& v);
  void write_tensor(const Tensor& t);
  void write_dims(std::string_view key, std::span<const Dim> dims);
  void write_children(std::span<const Argument> children) {
    out_.begin_array();
    for (const Argument& child : children) write_argument(child);
    out_.end_array();
  }

  void text_member(std::string_view key, StringId text) {
    if (text) out_.string_member(key, graph_.text(text));
  }
  void flag_member(std::string_view key, bool present, bool value) {
    if (!present) return;
    out_.key(key);
    out_.boolean(value);
  }

  const Graph& graph_;
  const TableNumbers& tables_;
  JsonWriter& out_;
};

}  // namespace jointer::native
