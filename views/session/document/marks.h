#pragma once

#include <QObject>
#include <optional>
#include <vector>

#include "core/schedule/time_range.h"
#include "core/workspace/workspace.h"
#include "views/session/snapshot/snapshot.h"

namespace jointer::views {

// The moments that the user has marked, in the order in which they were marked. A mark refers to a
// node by name, so it moves with the node, and a joint graph shows the marks of its pair. In states
// of the graph that lack the node, the mark is kept but not shown.
class Marks : public QObject {
  Q_OBJECT
 public:
  using QObject::QObject;

  // Marks a point in the memory profile of `shown`, or removes the mark if there is one.
  void toggle(const Snapshot& shown, std::size_t moment);
  void set(std::vector<MarkedMoment> marks) {
    if (std::exchange(marks_, std::move(marks)) != marks_) emit changed();
  }

  [[nodiscard]] const std::vector<MarkedMoment>& all() const { return marks_; }
  // The marked points in the memory profile of `shown`.
  [[nodiscard]] std::vector<std::size_t> moments(const Snapshot& shown) const;
  // The time between the two marks around a moment or, if one side has none, between the two
  // nearest marks. nullopt unless there are two marks at different times.
  [[nodiscard]] std::optional<TimeRange> range_around(const Snapshot& shown,
                                                      std::size_t moment) const;

 signals:
  void changed();

 private:
  std::vector<MarkedMoment> marks_;
};

}  // namespace jointer::views
