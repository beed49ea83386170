// Fills the table `collectives`.

#include "core/cost/collective_model.h"
#include "core/query/table_columns.h"

namespace jointer {
namespace {

using Timing = CollectiveTiming;

const Node& start_of(const TableSource& s, const Timing& c) {
  return s.graph.node(c.start);
}

constexpr std::array<TableColumn<Timing>, 15> kColumns{{
    {{"node_id", "INTEGER PRIMARY KEY", "Node that starts the collective"},
     [](const auto&, const auto& c, auto& row) { row.integer(c.start.value()); }},
    {{"node", "TEXT", "Name of `node_id`"},
     [](const auto& s, const auto& c, auto& row) { row.text(s.graph.name(c.start)); }},
    {{"wait_id", "INTEGER", "First node that waits for the collective; NULL if there is none"},
     [](const auto&, const auto& c, auto& row) {
       c.wait ? row.integer(c.wait.value()) : row.null();
     }},
    {{"operator", "TEXT", "Operator that `node_id` calls"},
     [](const auto& s, const auto& c, auto& row) { row.text(s.graph.target(start_of(s, c))); }},
    {{"group_name", "TEXT", "Process group; NULL for a copy"},
     [](const auto& s, const auto& c, auto& row) {
       row.text_or_null(c.group ? s.graph.group_label(c.group) : std::string_view());
     }},
    {{"is_copy", "INTEGER", "1 for a copy to or from the host, else 0"},
     [](const auto&, const auto& c, auto& row) { row.integer(c.is_transfer ? 1 : 0); }},
    {{"phase", "TEXT", "forward or backward"},
     [](const auto& s, const auto& c, auto& row) { row.text(s.phase(start_of(s, c))); }},
    {{"module", "TEXT", "Module of `node_id`"},
     [](const auto& s, const auto& c, auto& row) { row.text(s.module(c.start)); }},
    {{"bytes", "INTEGER", "Size of the message"},
     [](const auto& s, const auto& c, auto& row) {
       row.integer(c.is_transfer ? s.graph.output_bytes(start_of(s, c))
                                 : collective_bytes(s.graph, start_of(s, c)));
     }},
    {{"ready_ns", "INTEGER",
      "Time at which the collective has been launched and all earlier work on the compute stream "
      "is done"},
     [](const auto&, const auto& c, auto& row) { row.integer(c.ready_ns); }},
    {{"start_ns", "INTEGER", "Time at which the collective starts on its stream"},
     [](const auto&, const auto& c, auto& row) { row.integer(c.start_ns); }},
    {{"end_ns", "INTEGER", "Time at which the collective ends"},
     [](const auto&, const auto& c, auto& row) { row.integer(c.end_ns); }},
    {{"ns", "INTEGER", "Duration"},
     [](const auto&, const auto& c, auto& row) { row.integer(c.end_ns - c.start_ns); }},
    {{"exposed_ns", "INTEGER", "Exposed time"},
     [](const auto&, const auto& c, auto& row) { row.integer(c.exposed_ns); }},
    {{"reason", "TEXT", "Reason why the collective is exposed; NULL if it is hidden"},
     [](const auto& s, const auto& c, auto& row) { row.owned_text(reason_text(s.graph, c)); }},
}};

void fill(const TableSource& source, RowWriter& writer, const TableWriter::Row& row) {
  for (const Timing& c : source.analysis.simulation.collectives()) {
    writer.start();
    write_row(kColumns, source, c, writer);
    if (!row()) return;
  }
}

}  // namespace

TableWriter collective_table() {
  return {{"collectives", "Collectives, and copies to and from the host", columns_of(kColumns)},
          fill};
}

}  // namespace jointer
