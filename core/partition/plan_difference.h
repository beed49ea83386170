#pragma once

// Compares two plans value by value: which values changed, such as from saved to recomputed, and
// what that costs. The plans may be of one joint graph, of several captures, of a pair or of a flat
// training step: values correspond if their nodes have the same name.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/graph/graph.h"
#include "core/partition/plan_rows.h"

namespace jointer {

// How the backward obtains a value; nullopt if it does not need the value.
using MaybeAction = std::optional<PlanAction>;
// "saved", "recomputed", "offloaded" or "not needed".
std::string_view to_text(MaybeAction kept);

// The second plan's estimates minus those of the first.
struct PlanAmounts {
  std::int64_t saved_bytes = 0, offloaded_bytes = 0, recompute_ns = 0;

  PlanAmounts& operator+=(const PlanAmounts& other);
  friend bool operator==(const PlanAmounts&, const PlanAmounts&) = default;
};

// The change of a value and of all values that share its storage.
struct PlanChangeRow {
  std::string name, target, module;  // target: the operator; for part of a tuple, that of the call
  std::int64_t layer = -1;           // Layers::kNone if it belongs to no layer
  MaybeAction from, to;
  PlanAmounts change;

  [[nodiscard]] bool moved() const { return from != to; }
};

// Values with the same change of policy.
struct PlanTransition {
  MaybeAction from, to;
  std::size_t count = 0;
  PlanAmounts change;  // the sum over these values
};

// Values of one layer or of one operator.
struct PlanChangeGroup {
  std::string name;               // "layer 3", "outside of layers", or an operator
  std::size_t moved = 0;          // rows whose policy changed
  PlanAmounts change;             // the sum over all rows; some changed only in cost
  std::vector<std::size_t> rows;  // indices in PlanDifference::rows
};

// Adjacent layers whose values changed in the same way.
struct PlanChangeLayers {
  PlanChangeGroup all;      // named after the first layer
  std::int64_t first = -1;  // the number of the first layer; Layers::kNone if outside of layers
  std::size_t members = 1;  // the number of layers
  // If there are several layers: the rows that correspond to each other, one per layer, in order.
  std::vector<std::vector<std::size_t>> entries;
};

struct PlanDifference {
  // The values whose policy, bytes or time changed, in program order of the second graph; values
  // that it lacks come last. The sums over these rows are the differences between the plans'
  // estimates. Values of one storage, such as a tensor and its views, share one row, that of the
  // first value that a plan saves or offloads. Values whose bytes and time are unchanged are left
  // out if neither plan saves or offloads them, or if they are views of inputs or constants.
  std::vector<PlanChangeRow> rows;

  [[nodiscard]] bool empty() const { return rows.empty(); }
  [[nodiscard]] PlanAmounts total() const;
  // Number of values whose policy changed.
  [[nodiscard]] std::size_t moved() const;
};

struct PlanSide {
  const Graph& graph;
  std::span<const PlanRow> rows;
};
// Cost: n log n.
PlanDifference plan_difference(const PlanSide& before, const PlanSide& after);

// Sorted by the change of bytes on the device or on the host, whichever is greater, then by time,
// largest first; values whose policy is unchanged come last.
std::vector<PlanTransition> transitions(const PlanDifference& difference);
std::vector<PlanTransition> transitions(const PlanDifference& difference,
                                        std::span<const std::size_t> rows);

enum class PlanGrouping : std::uint8_t { layer, target };
// Layers are in their order, then come values outside of layers; operators are sorted by the size
// of their changes, largest first.
std::vector<PlanChangeGroup> groups(const PlanDifference& difference, PlanGrouping grouping);
// The groups by layer. Adjacent layers are folded into one element if their values have the same
// modules below the layer and the same operators, and changed in the same way.
std::vector<PlanChangeLayers> folded_layers(const PlanDifference& difference);

// "64 saved -> recomputed (-14.2 GiB, +38.0 ms)". Host memory is marked as such.
std::string to_text(const PlanTransition& transition, std::string_view arrow = "->");
// "+14.2 GiB, +1.20 GiB on the host, -3.00 ms"; empty if all are zero.
std::string to_text(const PlanAmounts& change);
// "64 saved -> recomputed, 3 saved -> offloaded": without bytes and times. `max` as for `summary`.
std::string counts_text(const PlanDifference& difference, std::span<const std::size_t> rows,
                        std::string_view arrow = "->", std::size_t max = 4);
// One sentence without a period: "97 values changed: 64 saved -> ..., 33 ...", or "No values
// changed". `max`: number of transitions to list; the others are counted.
std::string summary(const PlanDifference& difference, std::string_view arrow = "->",
                    std::size_t max = 4);

}  // namespace jointer
