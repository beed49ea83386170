// Fills the tables `step`, `nodes` and `inputs`.

#include <fmt/format.h>

#include <array>

#include "core/query/table_columns.h"

namespace jointer {
namespace {

// --- step ---

struct Step {};

constexpr std::array<TableColumn<Step>, 11> kStepColumns{{
    {{"title", "TEXT", "Name of the graph"},
     [](const auto& s, const auto&, auto& row) { row.text(s.graph.title()); }},
    {{"device", "TEXT", "Device for which times are estimated"},
     [](const auto& s, const auto&, auto& row) { row.text(s.analysis.device.name); }},
    {{"estimator", "TEXT", "Description of the estimator"},
     [](const auto& s, const auto&, auto& row) { row.text(s.analysis.estimator); }},
    {{"step_ns", "INTEGER", "Step time"},
     [](const auto& s, const auto&, auto& row) { row.integer(s.analysis.simulation.step_ns()); }},
    {{"compute_ns", "INTEGER", "Total time of kernels"},
     [](const auto& s, const auto&, auto& row) {
       row.integer(s.analysis.simulation.compute_ns());
     }},
    {{"communication_ns", "INTEGER", "Total time of collectives"},
     [](const auto& s, const auto&, auto& row) {
       row.integer(s.analysis.simulation.communication_ns());
     }},
    {{"exposed_ns", "INTEGER", "Total exposed time of collectives and copies"},
     [](const auto& s, const auto&, auto& row) {
       row.integer(s.analysis.simulation.exposed_ns());
     }},
    {{"host_bound_ns", "INTEGER", "Time during which the compute stream waits for the CPU"},
     [](const auto& s, const auto&, auto& row) {
       row.integer(s.analysis.simulation.host_bound_ns());
     }},
    {{"peak_bytes", "INTEGER", "Maximum allocated bytes"},
     [](const auto& s, const auto&, auto& row) { row.integer(s.analysis.memory.peak_bytes()); }},
    {{"reserved_peak_bytes", "INTEGER", "Maximum reserved bytes"},
     [](const auto& s, const auto&, auto& row) { row.integer(s.analysis.reserved.peak_bytes); }},
    {{"flops", "INTEGER", "Floating-point operations"},
     [](const auto& s, const auto&, auto& row) { row.integer(s.analysis.total_flops.total); }},
}};

void fill_step(const TableSource& source, RowWriter& writer, const TableWriter::Row& row) {
  writer.start();
  write_row(kStepColumns, source, Step{}, writer);
  row();
}

// --- nodes ---

std::string_view kind_name(NodeKind kind) {
  static constexpr std::array<std::string_view, 4> kNames{"placeholder", "call", "get_attr",
                                                          "output"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::string_view stream_name(const TableSource& s, NodeId id) {
  const std::int32_t stream = s.analysis.simulation.timing(id).stream;
  if (stream < 0) return {};
  return s.analysis.simulation.streams()[static_cast<std::size_t>(stream)].name;
}

const Tensor* first_tensor(const TableSource& s, NodeId id) {
  const auto tensors = s.graph.tensors(id);
  return tensors.empty() ? nullptr : &tensors.front();
}

std::string shape_text(const TableSource& s, const Tensor& tensor) {
  std::string text = "[";
  for (const Dim& dim : s.graph.shape(tensor))
    fmt::format_to(std::back_inserter(text), "{}{}", text.size() > 1 ? ", " : "", dim.value);
  return text + "]";
}

// Only calls have times; writes NULL for other nodes.
void write_time(const TableSource& s, NodeId id, RowWriter& row,
                std::int64_t (*of)(const NodeTiming&)) {
  if (s.graph.node(id).kind == NodeKind::call)
    row.integer(of(s.analysis.simulation.timing(id)));
  else
    row.null();
}

constexpr std::array<TableColumn<NodeId>, 24> kNodeColumns{{
    {{"node_id", "INTEGER PRIMARY KEY", "Number of the node; edits do not change it"},
     [](const auto&, const auto& id, auto& row) { row.integer(id.value()); }},
    {{"node", "TEXT", "Name"},
     [](const auto& s, const auto& id, auto& row) { row.text(s.graph.name(id)); }},
    {{"position", "INTEGER", "Position in program order, from 0"},
     [](const auto& s, const auto& id, auto& row) {
       row.integer(static_cast<std::int64_t>(s.graph.position(id)));
     }},
    {{"kind", "TEXT", "call, placeholder, get_attr or output"},
     [](const auto& s, const auto& id, auto& row) { row.text(kind_name(s.graph.node(id).kind)); }},
    {{"operator", "TEXT", "Operator that the node calls; NULL if the node is not a call"},
     [](const auto& s, const auto& id, auto& row) {
       const Node& n = s.graph.node(id);
       n.kind == NodeKind::call ? row.text(s.graph.target(n)) : row.null();
     }},
    {{"phase", "TEXT", "forward or backward"},
     [](const auto& s, const auto& id, auto& row) { row.text(s.phase(s.graph.node(id))); }},
    {{"role", "TEXT",
      "Role of a placeholder: parameter, buffer, input, tangent, "
      "saved, other; NULL for other nodes"},
     [](const auto& s, const auto& id, auto& row) {
       row.text_or_null(role_name(s.graph.node(id).role));
     }},
    {{"module", "TEXT", "Path of the module: layers.0.attention; empty for the root"},
     [](const auto& s, const auto& id, auto& row) { row.text(s.module(id)); }},
    {{"group_name", "TEXT", "Process group of a collective; NULL for other nodes"},
     [](const auto& s, const auto& id, auto& row) {
       const Node& n = s.graph.node(id);
       row.text_or_null(n.group ? s.graph.group_label(n.group) : std::string_view());
     }},
    {{"stream", "TEXT",
      "Stream on which the node runs: compute, copy, communication or a process group; NULL if "
      "there is none"},
     [](const auto& s, const auto& id, auto& row) { row.text_or_null(stream_name(s, id)); }},
    {{"start_ns", "INTEGER", "Time at which the node starts on its stream"},
     [](const auto& s, const auto& id, auto& row) {
       write_time(s, id, row, [](const NodeTiming& t) { return t.start; });
     }},
    {{"end_ns", "INTEGER",
      "Time at which the node ends on its stream; a wait ends once its collective has ended"},
     [](const auto& s, const auto& id, auto& row) {
       write_time(s, id, row, [](const NodeTiming& t) { return t.end; });
     }},
    {{"ns", "INTEGER", "Estimated device time, without waiting"},
     [](const auto& s, const auto& id, auto& row) {
       row.integer(s.analysis.costs[id.index()].ns);
     }},
    {{"host_ns", "INTEGER", "CPU time to launch the node"},
     [](const auto& s, const auto& id, auto& row) {
       row.integer(s.analysis.costs[id.index()].host_ns);
     }},
    {{"exposed_ns", "INTEGER",
      "Exposed time of the collective or copy that the node starts; 0 for other nodes"},
     [](const auto& s, const auto& id, auto& row) {
       const CollectiveTiming* c = s.started_by(id);
       row.integer(c == nullptr ? 0 : c->exposed_ns);
     }},
    {{"bound_by", "TEXT",
      "Resource that limits the time: compute, memory, launch, network, latency, ..."},
     [](const auto& s, const auto& id, auto& row) {
       const NodeCost& cost = s.analysis.costs[id.index()];
       row.text_or_null(cost.limit == NodeCost::Limit::none ? std::string_view()
                                                            : to_string(cost.limit));
     }},
    {{"flops", "INTEGER", "Floating-point operations, computed from shapes"},
     [](const auto& s, const auto& id, auto& row) {
       row.integer(s.analysis.flops[id.index()].total);
     }},
    {{"output_bytes", "INTEGER", "Size of the outputs; views count in full"},
     [](const auto& s, const auto& id, auto& row) {
       row.integer(s.graph.output_bytes(s.graph.node(id)));
     }},
    {{"dtype", "TEXT", "Element type of the first output"},
     [](const auto& s, const auto& id, auto& row) {
       const Tensor* tensor = first_tensor(s, id);
       row.text_or_null(tensor == nullptr ? std::string_view() : to_string(tensor->dtype));
     }},
    {{"shape", "TEXT", "Sizes of the first output: [8192, 7168]"},
     [](const auto& s, const auto& id, auto& row) {
       const Tensor* tensor = first_tensor(s, id);
       row.owned_text(tensor == nullptr ? std::string() : shape_text(s, *tensor));
     }},
    {{"policy", "TEXT", "Memory policy of the node's tag: MUST_SAVE, ...; NULL if there is none"},
     [](const auto& s, const auto& id, auto& row) {
       const MemoryPolicy policy = s.graph.node(id).policy;
       row.text_or_null(policy == MemoryPolicy::none ? std::string_view() : to_string(policy));
     }},
    {{"is_recomputed", "INTEGER",
      "1 if the node recomputes a forward node in the backward, else 0"},
     [](const auto& s, const auto& id, auto& row) {
       row.integer(s.graph.node(id).has(Node::recomputed) ? 1 : 0);
     }},
    {{"inputs", "INTEGER", "Number of nodes that the node reads"},
     [](const auto& s, const auto& id, auto& row) {
       row.integer(static_cast<std::int64_t>(s.graph.inputs(id).size()));
     }},
    {{"users", "INTEGER", "Number of nodes that read the node"},
     [](const auto& s, const auto& id, auto& row) {
       row.integer(static_cast<std::int64_t>(s.users.of(id).size()));
     }},
}};

void fill_nodes(const TableSource& source, RowWriter& writer, const TableWriter::Row& row) {
  for (const NodeId id : source.graph.order()) {
    writer.start();
    write_row(kNodeColumns, source, id, writer);
    if (!row()) return;
  }
}

// --- inputs ---

struct Input {
  NodeId node, input;
};

constexpr std::array<TableColumn<Input>, 2> kInputColumns{{
    {{"node_id", "INTEGER", "Node that reads the input"},
     [](const auto&, const auto& edge, auto& row) { row.integer(edge.node.value()); }},
    {{"input_id", "INTEGER", "Node that `node_id` reads"},
     [](const auto&, const auto& edge, auto& row) { row.integer(edge.input.value()); }},
}};

void fill_inputs(const TableSource& source, RowWriter& writer, const TableWriter::Row& row) {
  for (const NodeId id : source.graph.order())
    for (const NodeId input : source.graph.inputs(id)) {
      writer.start();
      write_row(kInputColumns, source, Input{id, input}, writer);
      if (!row()) return;
    }
}

}  // namespace

TableWriter step_table() {
  return {{"step", "Totals for the graph, in one row", columns_of(kStepColumns)}, fill_step};
}

TableWriter node_table() {
  return {{"nodes", "Nodes in the graph", columns_of(kNodeColumns)}, fill_nodes};
}

TableWriter input_table() {
  return {{"inputs", "Inputs of each node; an input that a node reads several times is listed once",
           columns_of(kInputColumns)},
          fill_inputs};
}

}  // namespace jointer
