#include "core/cost/torch_nccl_2_15.h"

#include <gtest/gtest.h>

namespace jointer::test {
namespace {

constexpr NcclLinks kHopper{.gpu = NcclGpu::hopper};

// 1 MB among 8 H100s. LL: 6.6 + 7 x 0.6 us of latency, 141 GB/s x 8/7. LL128: 14 + 7 x 1.9 us and
// 346.9 x 8/7. SIMPLE: 8.4 + 7 x 3.4 us and 370 x 8/7.
TEST(TorchNccl215, UsesTheFastestProtocol) {
  const double ll = 10.8 + 1'000'000 / (1000 * 141.0 * 8 / 7);
  const double ll128 = 27.3 + 1'000'000 / (1000 * 346.875 * 8 / 7);
  ASSERT_LT(ll, ll128);
  EXPECT_NEAR(torch_nccl_2_15_ms(1'000'000, 8, NcclCall::all_gather, kHopper), ll / 1000, 1e-12);
  const double large = 27.3 + 100'000'000 / (1000 * 346.875 * 8 / 7);
  const double simple = 8.4 + 7 * 3.4 + 100'000'000 / (1000 * 370.0 * 8 / 7);
  EXPECT_NEAR(torch_nccl_2_15_ms(100'000'000, 8, NcclCall::all_gather, kHopper),
              std::min(large, simple) / 1000, 1e-12);
}

TEST(TorchNccl215, MoreBytesNeverTakeLessTime) {
  for (const NcclCall call : {NcclCall::all_gather, NcclCall::all_reduce, NcclCall::all_to_all,
                              NcclCall::reduce_scatter, NcclCall::p2p})
    for (const std::int64_t ranks : {2, 8, 16, 64}) {
      EXPECT_EQ(torch_nccl_2_15_ms(1 << 20, 1, call, kHopper), 0);
      double last = 0;
      for (std::int64_t bytes = 1 << 20; bytes <= std::int64_t{1} << 34; bytes *= 4) {
        const double ms = torch_nccl_2_15_ms(bytes, ranks, call, kHopper);
        EXPECT_GT(ms, last);
        last = ms;
      }
    }
}

TEST(TorchNccl215, NamesOfCalls) {
  EXPECT_EQ(torch_nccl_call("_c10d_functional.isend.default"), NcclCall::p2p);
  EXPECT_EQ(torch_nccl_call("_c10d_functional.all_to_all_single.default"), NcclCall::all_to_all);
  EXPECT_EQ(torch_nccl_call("_c10d_functional.broadcast.default"), std::nullopt);
}

TEST(TorchNccl215, SaturationDependsOnTheLinks) {
  // 9 x (10 + 7 x 40) us x 36 GB/s.
  EXPECT_NEAR(static_cast<double>(*torch_saturation_bytes(8, NcclCall::all_gather, kHopper)),
              9 * 290e-6 * 36e9, 2);
  EXPECT_EQ(torch_saturation_bytes(2, NcclCall::all_gather, {NcclGpu::hopper, 1}), 100 << 20);
  EXPECT_EQ(torch_saturation_bytes(8, NcclCall::all_to_all, kHopper), std::nullopt);
}

}  // namespace
}  // namespace jointer::test
