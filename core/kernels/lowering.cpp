#include "core/kernels/lowering.h"

#include "core/kernels/access_order.h"
#include "core/kernels/cancellation_poll.h"
#include "core/kernels/decompose.h"
#include "core/kernels/lowering_state.h"
#include "core/kernels/operations.h"
#include "core/kernels/post_grad.h"

namespace jointer::kernels {
namespace {

Result<Ir> lower(FxGraph fx, TorchVersion version, const std::function<bool()>& is_cancelled) {
  CancellationPoll poll(is_cancelled);
  const auto cancelled = [] { return fail(Error::Kind::cancelled, "cancelled"); };
  run_post_grad_passes(fx, version);
  if (poll.is_cancelled()) return cancelled();
  Lowering lowering(fx, version);
  lowering.run(poll);
  if (poll.is_cancelled()) return cancelled();
  Ir ir = make_operations(lowering, poll);
  if (poll.is_cancelled()) return cancelled();
  add_order(ir);
  return ir;
}

}  // namespace

Ir lower(const Graph& graph, TorchVersion version) {
  return lower(graph, PartId(0), version, {}).value();
}

Result<Ir> lower(const Graph& graph, PartId part, TorchVersion version,
                 const std::function<bool()>& is_cancelled) {
  return lower(decompose(graph, part, version), version, is_cancelled);
}

Result<Ir> lower(const Graph& graph, std::span<const NodeId> calls, std::span<const NodeId> results,
                 TorchVersion version, const std::function<bool()>& is_cancelled) {
  return lower(decompose(graph, calls, results, version), version, is_cancelled);
}

}  // namespace jointer::kernels
