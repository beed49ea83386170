#pragma once

// The fraction of the communication that an order hides, by process group.

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/cost/estimator.h"
#include "core/graph/graph.h"
#include "core/schedule/simulation.h"

namespace jointer {

// The sums over a group's collectives in a simulated step; copies to and from the host do not
// count.
struct GroupTimes {
  std::int64_t total_ns = 0, exposed_ns = 0;
};
// The name is empty for collectives without a group.
using GroupTimesByName = std::map<std::string, GroupTimes, std::less<>>;

GroupTimesByName group_times(const Graph& graph, const Simulation& step);
// The times of an order of `graph`, by the groups of `graph`. A group that the order adds, the twin
// of another group, has a name that begins with that group's name; its times count for that group.
GroupTimesByName in_groups_of(const Graph& graph, const GroupTimesByName& times);

class HiddenShares {
 public:
  // Nothing is hidden.
  HiddenShares() = default;
  // The same fraction, from 0 to 1, in every group.
  explicit HiddenShares(double share) : rest_(share) {}
  // Compares two steps of the same program, of which `more` communicates more, for example because
  // it recomputes more. For each group that does, takes the hidden fraction of its additional
  // communication or of all its communication in `more`, whichever is greater, and rounds 0.9 and
  // above up to 1. Every other group gets the hidden fraction of the additional communication of
  // all groups together, or 0 if there is none.
  HiddenShares(const GroupTimesByName& less, const GroupTimesByName& more);

  // Each share that is not 0, raised by this fraction of its distance to 1.
  [[nodiscard]] HiddenShares raised(double fraction) const;
  [[nodiscard]] bool hides_nothing() const;
  // The hidden fraction, from 0 to 1, in the group with this name.
  [[nodiscard]] double of(std::string_view group) const;

 private:
  std::map<std::string, double, std::less<>> by_group_;
  double rest_ = 0;  // in other groups
};

// Hidden shares that several searches share: the first one finds them. Thread-safe.
class SharedHidden {
 public:
  // The shares, which `find` returns if they are not known yet. Waits while another thread finds
  // them. If `find` fails, so does this call, and the next one tries again.
  Result<HiddenShares> get(const std::function<Result<HiddenShares>()>& find);

 private:
  std::mutex mutex_;
  std::optional<HiddenShares> found_;
};

// Returns the costs of `graph`, indexed by node id, with the hidden fraction of every collective's
// time removed.
std::vector<NodeCost> with_hidden_communication(const Graph& graph, std::span<const NodeCost> costs,
                                                const HiddenShares& hidden);

}  // namespace jointer
