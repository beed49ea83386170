#pragma once

// The times of single kernels on a device whose description has KernelRates: of loops by the way in
// which they access memory, of matrix products by tiles, and of attention by the size of a head.
// kernel_rules.cpp has the rules and their sources.

#include <array>
#include <cstdint>

#include "core/cost/device.h"
#include "core/cost/estimator.h"
#include "core/graph/dtype.h"

namespace jointer {

struct KernelDuration {
  double ns = 0;
  NodeCost::Limit limit = NodeCost::Limit::launch;
};

// Loops: element-wise operators, copies, reductions.
struct LoopWork {
  enum class Kind : std::uint8_t {
    element_wise,
    widening,          // an operator that converts to a wider type
    row_reduction,     // along the dimension in which elements lie side by side
    column_reduction,  // along another one
  };
  Kind kind = Kind::element_wise;
  std::array<double, 4> bytes{};  // by AccessPattern
  // Blocks of threads that may run at the same time; 0: as many as the device holds.
  std::int64_t blocks = 0;
  double special_functions = 0;  // computed: exponentials and the like

  void add(AccessPattern pattern, double moved) {
    bytes[static_cast<std::size_t>(pattern)] += moved;
  }
};

// `batch` products of [rows, k] and [k, columns].
struct ProductWork {
  std::int64_t batch = 1, rows = 1, columns = 1, k = 1;
  double bytes = 0;
  DType dtype = DType::float32;
};

struct AttentionWork {
  double flops = 0;  // that are computed (computed_flops)
  std::int64_t head_size = 0, tokens = 0;
  bool is_causal = false, is_backward = false;
  bool is_cudnn = false;  // computed by cuDNN, not by flash attention
  double bytes = 0;
  DType dtype = DType::float32;
};

// The times of single kernels. `device.kernels` must be set.
KernelDuration loop_time(const DeviceDescription& device, const LoopWork& work);
KernelDuration product_time(const DeviceDescription& device, const ProductWork& work);
KernelDuration attention_time(const DeviceDescription& device, const AttentionWork& work);

// The bytes that an access moves if its neighboring elements lie `stride` elements apart: those of
// the sectors that it touches. `bytes`: the size of the elements themselves.
double sector_traffic(const DeviceDescription& device, double bytes, std::int64_t item_bytes,
                      std::int64_t stride);

}  // namespace jointer
