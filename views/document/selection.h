#pragma once

#include <QObject>
#include <optional>
#include <span>
#include <vector>

#include "core/base/id.h"

namespace jointer::views {

// What a person looks at in one document: nodes, a moment, a stretch of the program. Every pane
// shows it and may change it; there is one a document, so it is the same everywhere.
class Selection : public QObject {
  Q_OBJECT
 public:
  using QObject::QObject;

  // Selected nodes in program order; the current one is where details are shown.
  [[nodiscard]] std::span<const NodeId> nodes() const { return nodes_; }
  [[nodiscard]] NodeId current() const { return current_; }
  [[nodiscard]] bool contains(NodeId node) const;

  // A moment: a point of the memory profile. Without one, the peak is meant.
  [[nodiscard]] std::optional<std::size_t> moment() const { return moment_; }

  // Steps [first, last).
  struct Stretch {
    std::size_t first = 0, last = 0;
    friend bool operator==(const Stretch&, const Stretch&) = default;
  };
  [[nodiscard]] std::optional<Stretch> stretch() const { return stretch_; }

 public slots:
  void select(jointer::NodeId node);
  // `current` is one of them, or none: then the first.
  void select_all(std::vector<jointer::NodeId> nodes, jointer::NodeId current = {});
  void toggle(jointer::NodeId node);
  void clear();
  void set_moment(std::optional<std::size_t> moment);
  void set_stretch(std::optional<jointer::views::Selection::Stretch> stretch);

 signals:
  void nodes_changed();
  void moment_changed();
  void stretch_changed();

 private:
  std::vector<NodeId> nodes_;  // sorted by id; ids of one reading are in program order
  NodeId current_;
  std::optional<std::size_t> moment_;
  std::optional<Stretch> stretch_;
};

}  // namespace jointer::views
