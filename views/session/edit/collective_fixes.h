#pragma once

// Determines what moving a collective gains, alone and in all identical layers. Does not use Qt.

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "core/edit/edit.h"
#include "core/schedule/what_if.h"
#include "views/session/snapshot/snapshot.h"

namespace jointer::views {

enum class FixKind : std::uint8_t {
  alone,        // moves the start and the wait, each to its best position
  with_chains,  // also moves cheap nodes that feed the start or read the wait
  all_layers,   // makes the better of these moves in all identical layers
};
inline constexpr std::size_t kFixKinds = 3;

// A move in one layer that shortens the step, or hides more communication in a step of the same
// time; its repetition in all layers; or the reason why there is none.
struct CollectiveFix {
  std::optional<Edit> edit;
  std::string why_not;     // empty if there is an edit
  Figures after;           // equal to `before` if there is no edit
  std::size_t layers = 1;  // number of layers that the edit changes
};

// The ways to move one collective.
struct CollectiveFixes {
  Figures before;
  std::array<CollectiveFix, kFixKinds> by_kind;

  [[nodiscard]] const CollectiveFix& of(FixKind kind) const {
    return by_kind[static_cast<std::size_t>(kind)];
  }
  [[nodiscard]] std::int64_t gained_ns(FixKind kind) const {
    return before.step_ns - of(kind).after.step_ns;
  }
  [[nodiscard]] std::int64_t peak_change(FixKind kind) const {
    return of(kind).after.peak_bytes - before.peak_bytes;
  }
  // The move in the collective's own layer that makes the step shortest; among equals, the one with
  // the least exposed time, then the lowest peak, then the one without chains. nullopt if there is
  // no move.
  [[nodiscard]] std::optional<FixKind> best() const;
};

// Finds fixes for one graph. Prepares its data on first use. One thread at a time may use it.
class FixFinder {
 public:
  // `peak_limit`: moves of a single collective stay within this peak memory, in bytes, if possible;
  // nullopt: within the peak before each move.
  FixFinder(SnapshotPtr snapshot, std::optional<std::int64_t> peak_limit);
  ~FixFinder();
  FixFinder(const FixFinder&) = delete;
  FixFinder& operator=(const FixFinder&) = delete;

  // `start`: the node that starts a collective, or a copy to or from the host. Error (usage): it
  // starts neither. Error (cancelled): `cancel` is true. Cost: a preview of all positions for each
  // node that moves; for the layers, a copy of the graph.
  Result<CollectiveFixes> find(NodeId start, const std::atomic<bool>& cancel);

 private:
  struct Basis;

  SnapshotPtr snapshot_;
  std::optional<std::int64_t> peak_limit_;
  std::unique_ptr<Basis> basis_;
};

}  // namespace jointer::views
