#pragma once

// Describes how fast a device runs single kernels, in addition to the peaks and efficiencies that
// the roofline model uses. core/cost/kernel_rules.h has the rules that use these numbers; the
// description's `sources` say where they come from.

#include <cstdint>
#include <string>
#include <vector>

namespace jointer {

// How the elements that a kernel reads or writes lie in memory, as neighboring threads access them.
enum class AccessPattern : std::uint8_t {
  coalesced,  // side by side, or one element for all threads
  strided,    // side by side along a dimension other than the kernel's: transposed
  gathered,   // at positions that are loaded at run time
  scattered,  // added at such positions, with atomic operations
};

// A share is the fraction of the device's bandwidth, or of its peak FLOP/s.
struct KernelRates {
  // The time that a kernel takes in addition to that for its bytes and FLOPs: `launch_us` for a
  // loop, `product_us` for a matrix product or attention.
  double launch_us = 0, product_us = 0;
  // The time from a load until its data arrive.
  double latency_us = 0;
  // Bytes that a block of threads keeps in flight; 0: no limit.
  std::int64_t block_bytes = 0;
  // The unit of memory traffic. An element that lies alone moves a whole sector or, if this is 0,
  // only itself.
  std::int64_t sector_bytes = 0;

  // Shares of the bandwidth, by access pattern and by kind of reduction.
  double coalesced = 1, strided = 1, gathered = 1, scattered = 1;
  double row_reduction = 1, column_reduction = 1;
  // The share that an operator reaches if it converts to a wider type. Such a conversion does not
  // slow loops of compiled kernels.
  double widening = 1;

  // The bandwidth of a kernel by the number of bytes that it moves; it is higher if they fit in a
  // cache. In ascending order of bytes; interpolated in between. Empty: the bandwidth of the
  // memory, for all sizes.
  struct Level {
    std::int64_t bytes = 0;
    double gbps = 0;  // 1e9 B/s
    friend bool operator==(const Level&, const Level&) = default;
  };
  std::vector<Level> levels;
  // Exponentials, logarithms, sines and the like, 1e9 per second; 0: no limit.
  double special_gops = 0;

  // The tiles of matrix products; if empty, products have the roofline's efficiency, without tiles.
  // `wave_us`: the start and the end of a tile of the first size, during which nothing is
  // multiplied.
  struct Tile {
    std::int64_t rows = 0, columns = 0;
    double share = 0;  // of the peak, while it multiplies
    friend bool operator==(const Tile&, const Tile&) = default;
  };
  std::vector<Tile> tiles;
  double wave_us = 0;

  // Attention, in ascending order of head size. A kernel is made for one of these sizes, and pads
  // smaller heads; larger heads use the shares of the largest size. If empty, the roofline's
  // efficiencies apply.
  struct Attention {
    std::int64_t head_size = 0;
    double forward = 0, backward = 0;  // shares for infinitely long sequences
    friend bool operator==(const Attention&, const Attention&) = default;
  };
  std::vector<Attention> attention;
  std::vector<Attention> cudnn_attention;  // of cuDNN's kernels; empty: as `attention`
  // A sequence takes as long as if it were this much longer, without and with a causal mask: the
  // start, and the masked halves of blocks on the diagonal, which are computed too.
  double extra_tokens = 0, extra_causal_tokens = 0;

  friend bool operator==(const KernelRates&, const KernelRates&) = default;
};

// Describes what is wrong with the rates of a description or a probe. Empty if they can be used:
// divisors are positive, lists ascend, and no number is so large that times overflow.
std::string problem_of(const KernelRates& rates);

}  // namespace jointer
