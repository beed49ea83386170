#include "core/kernels/lowering.h"

#include <utility>

#include "core/kernels/access_order.h"
#include "core/kernels/decompose.h"
#include "core/kernels/lowering_state.h"
#include "core/kernels/operations.h"
#include "core/kernels/post_grad.h"

namespace jointer::kernels {
namespace {

Ir lower(FxGraph fx, TorchVersion version) {
  run_post_grad_passes(fx, version);
  Lowering lowering(fx, version);
  lowering.run();
  Ir ir = make_operations(lowering);
  add_order(ir);
  return ir;
}

}  // namespace

Ir lower(const Graph& graph, TorchVersion version) {
  return lower(graph, PartId(0), version);
}

Ir lower(const Graph& graph, PartId part, TorchVersion version) {
  return lower(decompose(graph, part, version), version);
}

Ir lower(const Graph& graph, std::span<const NodeId> calls, std::span<const NodeId> results,
         TorchVersion version) {
  return lower(decompose(graph, calls, results, version), version);
}

}  // namespace jointer::kernels
