#pragma once

// The changes to a plan that plan_target.h combines: which values change together, and which
// policies they may get.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/graph/graph.h"
#include "core/partition/plan_what_if.h"

namespace jointer {

// A unit of change: the values that change together.
enum class MoveUnit : std::uint8_t {
  tensor,      // one tensor
  all_layers,  // the same tensor in all layers: equal path in the layer, operator and bytes
  op,          // the results of all calls of an operator
  layer,       // all tensors of a layer
};
// "tensor", "tensor in all layers", "operator" or "layer"; in the plural unless `count` is 1.
std::string_view unit_name(MoveUnit unit, std::size_t count);

// Values in one storage, which always change together.
struct SharedValues {
  std::vector<NodeId> nodes;      // in program order
  std::int64_t bytes = 0;         // needed to save the storage
  std::int64_t recompute_ns = 0;  // the maximum of SaveCandidate::recompute_ns
};

struct PlanMove {
  std::vector<SharedValues> values;  // in program order
  PlanAction from = PlanAction::save, to = PlanAction::recompute;
  std::size_t unit = 0;  // moves of equal `unit` exclude each other
  // The tensor, operator or layer: "mm_14", "aten.mm.default", "layers.3".
  std::string name;
  // The module of all values, or their module in any layer, such as "layers.*.feed_forward"; empty
  // if they are in different modules.
  std::string module;

  [[nodiscard]] std::vector<NodeId> nodes() const;
  [[nodiscard]] std::int64_t bytes() const;
  // The sum of the values' recompute_ns if the move recomputes them, otherwise 0; a call in several
  // of their chains counts once for each.
  [[nodiscard]] std::int64_t recompute_ns() const;
};

// "recompute mm_14", "offload aten.mm.default (32)".
std::string to_text(const PlanMove& move, const Graph& joint);

struct MoveOptions {
  MoveUnit unit = MoveUnit::tensor;
  bool recompute = true, offload = true;  // values may become recomputed, offloaded
};

// Returns the moves that may lower a plan's peak, in program order: from saved to recomputed or
// offloaded, and between recomputed and offloaded. `candidates` are those of the plan. Omits values
// that occupy no memory, that cannot be recomputed (for moves that would recompute them), or whose
// choice is fixed by a tag; for MoveUnit::layer, also values outside of layers. Does not check that
// values can be offloaded.
std::vector<PlanMove> moves_of(const Graph& joint, std::span<const SaveCandidate> candidates,
                               const MoveOptions& options);

}  // namespace jointer
