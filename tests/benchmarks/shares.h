#pragma once

// Shares of a capture: smaller graphs to measure how time grows with size.

#include <charconv>
#include <string>
#include <string_view>
#include <vector>

#include "core/capture/native_reader.h"
#include "core/capture/native_writer.h"
#include "core/graph/derive.h"
#include "core/graph/users.h"
#include "core/open/open.h"
#include "core/partition/partition.h"

namespace jointer::benchmarks {

// Parses "2,8,32".
inline std::vector<int> numbers(std::string_view text) {
  std::vector<int> found;
  while (!text.empty()) {
    int number = 0;
    const auto end = std::from_chars(text.data(), text.data() + text.size(), number).ptr;
    found.push_back(number);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (!text.empty()) text.remove_prefix(1);
  }
  return found;
}

// A graph of the first `share`/`of` of the calls of `graph`, with their inputs. Its outputs are the
// values that none of them reads.
inline Result<Graph> first_share(Graph graph, int share, int of) {
  if (share >= of) return graph;
  const std::vector<NodeId> order(graph.order().begin(), graph.order().end());
  std::size_t calls = 0, kept = 0;
  for (const NodeId id : order) calls += graph.node(id).kind == NodeKind::call ? 1 : 0;
  const NodeId output = order.back();
  std::vector<NodeId> gone;
  for (const NodeId id : order)
    if (graph.node(id).kind == NodeKind::call &&
        kept++ >= calls * static_cast<std::size_t>(share) / static_cast<std::size_t>(of))
      gone.push_back(id);
  graph.erase(gone);
  Node& end = graph.node(output);
  end.desc = {};  // it described other values
  end.args = Argument::of_children(Argument::Kind::list, 0, 0);
  graph.refresh(output);
  const Users users(graph);
  std::vector<Argument> results;
  std::vector<NodeId> unread;
  for (const NodeId id : graph.order()) {
    if (!users.of(id).empty()) continue;
    if (graph.node(id).kind == NodeKind::call) results.push_back(Argument::of_node(id));
    if (graph.node(id).kind == NodeKind::placeholder) unread.push_back(id);
  }
  graph.erase(unread);
  const std::vector<Argument> list{graph.make_children(Argument::Kind::tuple, results)};
  graph.node(output).args = graph.make_children(Argument::Kind::list, list);
  graph.refresh(output);
  graph.part(PartId(0)).outputs = derive_outputs(graph, PartId(0));
  JOINTER_CHECK(graph.finish());
  // Written and read again, so that removed nodes take no memory.
  return read_native("share", PaddedBytes(write_native(graph)));
}

// Opens a capture; with `backward`, returns the backward half of a joint graph's minimum cut.
inline Result<Graph> open_share(const std::string& path, bool backward) {
  JOINTER_TRY(Graph graph, open_graph({.path = path}));
  if (!backward) return graph;
  JOINTER_TRY(const Partition done, partition(graph));
  JOINTER_TRY(const Graph pair, emit_pair(done.joint, done.plan));
  return read_native("backward", PaddedBytes(write_native(pair, PartId(1))));
}

}  // namespace jointer::benchmarks
