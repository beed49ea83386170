// Fills the table `collectives`.

#include "core/cost/collective_model.h"
#include "core/query/table_columns.h"

namespace jointer {
namespace {

using Timing = CollectiveTiming;

const Node& start_of(const TableSource& s, const Timing& c) {
  return s.graph.node(c.start);
}

constexpr std::array kColumns{
    TableColumn<Timing>{
        {"node_id", "INTEGER PRIMARY KEY", "Node that starts the collective"},
        [](const TableSource&, const Timing& c, RowWriter& row) { row.integer(c.start.value()); }},
    TableColumn<Timing>{{"node", "TEXT", "Name of `node_id`"},
                        [](const TableSource& s, const Timing& c, RowWriter& row) {
                          row.text(s.graph.name(c.start));
                        }},
    TableColumn<Timing>{
        {"wait_id", "INTEGER", "Node that waits for the collective; NULL if there is none"},
        [](const TableSource&, const Timing& c, RowWriter& row) {
          c.wait ? row.integer(c.wait.value()) : row.null();
        }},
    TableColumn<Timing>{{"operator", "TEXT", "Operator that `node_id` calls"},
                        [](const TableSource& s, const Timing& c, RowWriter& row) {
                          row.text(s.graph.target(start_of(s, c)));
                        }},
    TableColumn<Timing>{{"group_name", "TEXT", "Process group; NULL for a copy"},
                        [](const TableSource& s, const Timing& c, RowWriter& row) {
                          row.text_or_null(c.group ? s.graph.group_label(c.group)
                                                   : std::string_view());
                        }},
    TableColumn<Timing>{{"is_copy", "INTEGER", "1 for a copy to or from the host, else 0"},
                        [](const TableSource&, const Timing& c, RowWriter& row) {
                          row.integer(c.is_transfer ? 1 : 0);
                        }},
    TableColumn<Timing>{{"phase", "TEXT", "forward or backward"},
                        [](const TableSource& s, const Timing& c, RowWriter& row) {
                          row.text(s.phase(start_of(s, c)));
                        }},
    TableColumn<Timing>{
        {"module", "TEXT", "Module of `node_id`"},
        [](const TableSource& s, const Timing& c, RowWriter& row) { row.text(s.module(c.start)); }},
    TableColumn<Timing>{{"bytes", "INTEGER", "Size of the message"},
                        [](const TableSource& s, const Timing& c, RowWriter& row) {
                          row.integer(c.is_transfer ? s.graph.output_bytes(start_of(s, c))
                                                    : collective_bytes(s.graph, start_of(s, c)));
                        }},
    TableColumn<Timing>{
        {"ready_ns", "INTEGER",
         "Time at which the collective has been launched and its inputs have been computed"},
        [](const TableSource&, const Timing& c, RowWriter& row) { row.integer(c.ready_ns); }},
    TableColumn<Timing>{
        {"start_ns", "INTEGER", "Time at which the collective starts on its stream"},
        [](const TableSource&, const Timing& c, RowWriter& row) { row.integer(c.start_ns); }},
    TableColumn<Timing>{
        {"end_ns", "INTEGER", "Time at which the collective ends"},
        [](const TableSource&, const Timing& c, RowWriter& row) { row.integer(c.end_ns); }},
    TableColumn<Timing>{{"ns", "INTEGER", "Duration"},
                        [](const TableSource&, const Timing& c, RowWriter& row) {
                          row.integer(c.end_ns - c.start_ns);
                        }},
    TableColumn<Timing>{
        {"exposed_ns", "INTEGER", "Exposed time"},
        [](const TableSource&, const Timing& c, RowWriter& row) { row.integer(c.exposed_ns); }},
    TableColumn<Timing>{
        {"reason", "TEXT", "Reason why the collective is exposed; NULL if it is hidden"},
        [](const TableSource& s, const Timing& c, RowWriter& row) {
          row.owned_text(reason_text(s.graph, c));
        }},
};

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
