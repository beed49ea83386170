#include "core/kernels/lowering.h"

#include "core/kernels/access_order.h"
#include "core/kernels/decompose.h"
#include "core/kernels/lowering_state.h"
#include "core/kernels/operations.h"
#include "core/kernels/post_grad.h"

namespace jointer::kernels {

Ir lower(const Graph& graph, TorchVersion version) {
  FxGraph fx = decompose(graph, version);
  run_post_grad_passes(fx, version);
  Lowering lowering(fx, version);
  lowering.run();
  Ir ir = make_operations(lowering);
  add_order(ir);
  return ir;
}

}  // namespace jointer::kernels
