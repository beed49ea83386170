#include "views/compare/state_table_model.h"

#include <functional>

#include "views/session/text/number_text.h"

namespace jointer::views {

StateTableModel::StateTableModel(QObject* parent)
    : TableModel({tr("1 state"), tr("%1 states")}, parent) {
  const auto column = [](Unit unit, const QString& title, const QString& meaning) {
    return Column{.title = title, .unit = unit, .meaning = meaning};
  };
  set_columns({
      {.title = tr("state"),
       .meaning = tr("State of an open document, or a file."),
       .max_width = 360},
      column(Unit::bytes, tr("peak"), tr("Maximum allocated memory.")),
      column(Unit::change, tr("Δ peak"),
             tr("Change in peak memory relative to the first state, which is chosen above.")),
      column(Unit::time, tr("step"), tr("Estimated step time.")),
      column(Unit::change, tr("Δ step"),
             tr("Change in step time relative to the first state, which is chosen above.")),
      column(Unit::time, tr("exposed"),
             tr("Time of collectives, and of copies to or from the host, that compute does not "
                "cover.")),
      column(Unit::time, tr("compute"),
             tr("Sum of the times of all kernels on the compute stream.")),
      column(Unit::time, tr("communication"), tr("Sum of the times of all collectives.")),
      column(Unit::bytes, tr("reserved"),
             tr("Memory that the caching allocator reserves on the device.")),
      column(Unit::count, tr("nodes"), tr("Number of nodes.")),
  });
}

void StateTableModel::set(std::vector<Row> rows, std::size_t reference) {
  begin_rows();
  rows_ = std::move(rows);
  reference_ = reference;
  set_rows(std::vector<int>(rows_.size(), -1));
}

const Metrics* StateTableModel::metrics(std::size_t row) const {
  if (row >= rows_.size()) return nullptr;
  const auto& found = rows_[row].metrics;
  return found && *found ? &**found : nullptr;
}

std::optional<std::int64_t> StateTableModel::change(int row, std::int64_t Metrics::*value) const {
  const Metrics* now = metrics(static_cast<std::size_t>(row));
  const Metrics* before = metrics(reference_);
  if (now == nullptr || before == nullptr || before->*value == 0) return std::nullopt;
  const double share =
      static_cast<double>(now->*value - before->*value) / static_cast<double>(before->*value);
  return static_cast<std::int64_t>(share * kPartsPerOne);
}

std::optional<std::int64_t> StateTableModel::number(int row, int column) const {
  const Metrics* m = metrics(static_cast<std::size_t>(row));
  if (m == nullptr) return std::nullopt;
  switch (column) {
    case peak_column:
      return m->peak_bytes;
    case peak_change_column:
      return change(row, &Metrics::peak_bytes);
    case step_column:
      return m->step_ns;
    case step_change_column:
      return change(row, &Metrics::step_ns);
    case exposed_column:
      return m->exposed_ns;
    case compute_column:
      return m->compute_ns;
    case communication_column:
      return m->communication_ns;
    case reserved_column:
      return m->reserved_bytes;
    case nodes_column:
      return static_cast<std::int64_t>(m->nodes);
    default:
      return std::nullopt;
  }
}

QString StateTableModel::text(int row, int column) const {
  const Row& r = rows_[static_cast<std::size_t>(row)];
  if (column != name_column) return {};
  return r.metrics ? r.name : tr("%1 ...").arg(r.name);
}

QString StateTableModel::note(int row, int column) const {
  const auto& found = rows_[static_cast<std::size_t>(row)].metrics;
  if (column != name_column || !found || *found) return {};
  return to_qstring(found->error().message);
}

bool StateTableModel::is_alarm(int row) const {
  const auto& found = rows_[static_cast<std::size_t>(row)].metrics;
  return found && !*found;
}

std::uint64_t StateTableModel::key(int row) const {
  return std::hash<QString>()(rows_[static_cast<std::size_t>(row)].name);
}

}  // namespace jointer::views
