#pragma once

#include <QObject>
#include <optional>
#include <span>
#include <vector>

#include "core/base/id.h"
#include "core/schedule/time_range.h"

namespace jointer::views {

// The nodes, the moment and the range of time that a user has selected in a document. All panes
// share one selection: each shows it and may change it.
class Selection : public QObject {
  Q_OBJECT
 public:
  using QObject::QObject;

  // The selected nodes, sorted by id. Details are shown for the current one.
  [[nodiscard]] std::span<const NodeId> nodes() const { return nodes_; }
  [[nodiscard]] NodeId current() const { return current_; }
  [[nodiscard]] bool contains(NodeId node) const;

  // The selected point in the memory profile. If there is none, panes use the peak.
  [[nodiscard]] std::optional<std::size_t> moment() const { return moment_; }

  // The selected part of the estimated step. Tables and totals show only that part.
  [[nodiscard]] std::optional<TimeRange> range() const { return range_; }

  // The nodes that a search has found, sorted by id. Views mark them.
  [[nodiscard]] std::span<const NodeId> hits() const { return hits_; }

 public slots:
  // A null node clears the selection.
  void select(jointer::NodeId node);
  // `current` must be one of `nodes`; the default is the one with the lowest id.
  void select_all(std::vector<jointer::NodeId> nodes, jointer::NodeId current = {});
  void toggle(jointer::NodeId node);
  // Clears the nodes, the moment and the range, but not the hits.
  void clear();
  void set_moment(std::optional<std::size_t> moment);
  void set_range(std::optional<jointer::TimeRange> range);
  void set_hits(std::vector<jointer::NodeId> hits);

 signals:
  void nodes_changed();
  void moment_changed();
  void range_changed();
  void hits_changed();

 private:
  std::vector<NodeId> nodes_;
  NodeId current_;
  std::optional<std::size_t> moment_;
  std::optional<TimeRange> range_;
  std::vector<NodeId> hits_;
};

}  // namespace jointer::views
