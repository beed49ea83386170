// Properties of the kernels of random ops.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "core/kernels/kernels.h"
#include "tests/support/small_ir.h"

namespace jointer::test {
namespace {

using kernels::Access;
using kernels::BufferId;
using kernels::BufferLife;
using kernels::Ir;
using kernels::Kernel;
using kernels::Kernels;
using kernels::OpId;

// Ops on matrices of 64 x 32 or 32 x 64, vectors of 64, and library calls between them.
Ir random_ir(unsigned seed) {
  std::mt19937 random(seed);
  const auto pick = [&](std::size_t count) { return random() % count; };
  SmallIr small;
  std::vector<BufferId> matrices{small.input({64, 32}), small.input({64, 32}, false)};
  std::vector<BufferId> vectors{small.input({64})};
  const auto matrix = [&] { return matrices[pick(matrices.size())]; };
  const auto vector = [&] { return vectors[pick(vectors.size())]; };
  for (int i = 0; i < 60; ++i) switch (pick(7)) {
      case 0:
        matrices.push_back(small.external({64, 32}, {matrix(), matrix()}));
        break;
      case 1:
        vectors.push_back(small.sum({64}, {32}, {{matrix(), {32, 1}}}));
        break;
      case 2:
        vectors.push_back(small.pointwise({64}, {{vector(), {1}}, {vector(), {1}}}));
        break;
      case 3:
        matrices.push_back(small.pointwise({64, 32}, {{matrix(), {32, 1}}, {vector(), {1, 0}}}));
        break;
      case 4:  // in the order of columns
        matrices.push_back(small.pointwise({32, 64}, {{matrix(), {1, 32}}}));
        break;
      default:
        matrices.push_back(small.pointwise({64, 32}, {{matrix(), {32, 1}}, {matrix(), {32, 1}}}));
    }
  for (int i = 0; i < 4; ++i) {
    const BufferId id = matrix();
    if (!small.ir.buffers[static_cast<std::size_t>(id)].is_output) small.output(id);
  }
  return std::move(small.ir);
}

bool is_needed(const Ir& ir, OpId op) {
  for (const BufferId output : ir.ops[static_cast<std::size_t>(op)].outputs)
    for (const kernels::User& user : ir.buffers[static_cast<std::size_t>(output)].users)
      if (user.op < 0 || is_needed(ir, user.op)) return true;
  return false;
}

class RandomSchedule : public testing::TestWithParam<unsigned> {};

TEST_P(RandomSchedule, EachOpRunsOnceAfterWhatItReads) {
  const Ir ir = random_ir(GetParam());
  for (const TorchVersion torch : {TorchVersion{2, 11}, TorchVersion{2, 15}}) {
    const Kernels result = schedule(ir, torch);
    std::vector<int> runs(ir.ops.size(), 0);
    for (std::size_t at = 0; at < result.kernels.size(); ++at)
      for (std::size_t i = 0; i < result.kernels[at].ops.size(); ++i) {
        const auto op = static_cast<std::size_t>(result.kernels[at].ops[i]);
        ++runs[op];
        EXPECT_EQ(result.kernel_of[op], static_cast<std::int32_t>(at));
        for (const Access& read : ir.ops[op].reads) {
          const OpId maker = ir.buffers[static_cast<std::size_t>(read.buffer)].op;
          if (maker < 0) continue;
          const std::int32_t before = result.kernel_of[static_cast<std::size_t>(maker)];
          EXPECT_LE(before, static_cast<std::int32_t>(at));
          if (before != static_cast<std::int32_t>(at)) continue;
          const auto first = result.kernels[at].ops.begin();
          const auto here = first + static_cast<std::ptrdiff_t>(i);
          EXPECT_NE(std::find(first, here, maker), here);
        }
      }
    for (std::size_t op = 0; op < runs.size(); ++op)
      EXPECT_EQ(runs[op], is_needed(ir, static_cast<OpId>(op)) ? 1 : 0) << "op " << op;
  }
}

TEST_P(RandomSchedule, ThePeakIsThatOfTheLifetimes) {
  const Ir ir = random_ir(GetParam());
  const Kernels result = schedule(ir);
  std::int64_t peak = 0;
  for (std::size_t at = 0; at < result.kernels.size(); ++at) {
    std::int64_t live = 0;
    for (const BufferLife& life : result.lives) {
      const auto now = static_cast<std::int32_t>(at);
      if (life.first <= now && (life.last < 0 || life.last >= now)) live += life.allocated;
    }
    EXPECT_EQ(live, result.after_allocation[at]);
    peak = std::max(peak, live);
  }
  EXPECT_EQ(peak, result.peak);
  EXPECT_LE(result.peak, result.fused_peak);
}

TEST_P(RandomSchedule, FusionMovesFewerBytes) {
  const Ir ir = random_ir(GetParam());
  std::int64_t fused = 0, apart = 0;
  for (const Kernel& kernel : schedule(ir).kernels) {
    fused += kernel.bytes;
    EXPECT_LE(kernel.bytes, kernel.bytes_read + kernel.bytes_written);
    for (const OpId op : kernel.ops)
      for (const auto* accesses : {&ir.ops[static_cast<std::size_t>(op)].reads,
                                   &ir.ops[static_cast<std::size_t>(op)].writes})
        for (const Access& access : *accesses) apart += access.bytes;
  }
  EXPECT_LE(fused, apart);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomSchedule, testing::Range(0U, 100U));

}  // namespace
}  // namespace jointer::test
