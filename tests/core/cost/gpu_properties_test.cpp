// Tests descriptions of GPUs by their properties. Expected figures are from NVIDIA's data sheets,
// without sparsity; properties are those that the driver reports for these GPUs.

#include "core/cost/gpu_properties.h"
#include "core/schedule/device_capacity.h"
#include "tests/support/must.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace jointer {
namespace {

const GpuProperties kA100{"NVIDIA A100-SXM4-80GB", 8, 0, 108, 1410, 1593, 5120, 84'974'239'744};
const GpuProperties kH100{"NVIDIA H100 80GB HBM3", 9, 0, 132, 1980, 2619, 5120, 84'929'347'584};
const GpuProperties kGh200{"NVIDIA GH200 480GB", 9, 0, 132, 1980, 2619, 6144, 101'468'602'368};
const GpuProperties kL40s{"NVIDIA L40S", 8, 9, 142, 2520, 9001, 384, 47'810'936'832};
const GpuProperties kRtx4090{
    "NVIDIA GeForce RTX 4090", 8, 9, 128, 2520, 10501, 384, 25'386'352'640};
const GpuProperties kH20{"NVIDIA H20", 9, 0, 78, 1980, 2619, 6144, 102'000'000'000};
const GpuProperties kSlice{
    "NVIDIA H100 80GB HBM3 MIG 1g.10gb", 9, 0, 16, 1980, 2619, 5120, 10'737'418'240};

void expect_near(double value, double expected, double share) {
  EXPECT_NEAR(value, expected, expected * share);
}

TEST(GpuProperties, PeaksAreThoseOfTheDataSheets) {
  expect_near(describe_gpu(kA100).peak_flops(DType::bfloat16), 312e12, 0.01);
  expect_near(describe_gpu(kA100).peak_flops(DType::float32), 19.5e12, 0.01);
  // Data sheets count tensor products of these GPUs at a lower clock than the maximum.
  expect_near(describe_gpu(kH100).peak_flops(DType::bfloat16), 989e12, 0.09);
  expect_near(describe_gpu(kH100).peak_flops(DType::float32), 66.9e12, 0.01);
  expect_near(describe_gpu(kL40s).peak_flops(DType::bfloat16), 362e12, 0.02);
  expect_near(describe_gpu(kL40s).peak_flops(DType::float8_e4m3fn), 733e12, 0.02);
  expect_near(describe_gpu(kL40s).peak_flops(DType::float32), 91.6e12, 0.01);
  expect_near(describe_gpu(kRtx4090).peak_flops(DType::bfloat16), 165e12, 0.01);
  expect_near(describe_gpu(kH20).peak_flops(DType::bfloat16), 148e12, 0.01);
}

TEST(GpuProperties, BandwidthIsThatOfTheMemoryBus) {
  expect_near(describe_gpu(kA100).memory_gbps, 2039, 0.01);
  expect_near(describe_gpu(kH100).memory_gbps, 3350, 0.01);
  expect_near(describe_gpu(kGh200).memory_gbps, 4000, 0.01);
  expect_near(describe_gpu(kL40s).memory_gbps, 864, 0.01);
  expect_near(describe_gpu(kRtx4090).memory_gbps, 1008, 0.01);
}

// As much as the built-in description of the same GPU leaves.
TEST(GpuProperties, AContextIsOutsideTheAllocator) {
  const auto left = [](const DeviceDescription& device) {
    return static_cast<double>(*capacity_bytes(device));
  };
  expect_near(left(describe_gpu(kH100)), left(*load_device("h100")), 0.001);
  expect_near(left(describe_gpu(kA100)), left(*load_device("a100")), 0.001);
  EXPECT_GT(describe_gpu(kL40s).outside_bytes, 0);
}

TEST(GpuProperties, AMigSliceHasItsShare) {
  const DeviceDescription slice = describe_gpu(kSlice), whole = *load_device("h100");
  EXPECT_EQ(device_id_in(kSlice.name), "");
  expect_near(slice.memory_gbps, whole.memory_gbps / 8, 0.01);
  EXPECT_EQ(slice.matmul_units, 16);
  EXPECT_EQ(slice.memory_bytes, kSlice.memory_bytes);
  EXPECT_LT(slice.peak_flops(DType::bfloat16), whole.peak_flops(DType::bfloat16) / 7);
}

TEST(GpuProperties, CardsWithoutNvlinkUsePcie) {
  EXPECT_EQ(describe_gpu(kL40s).links.intra_gbps, describe_gpu(kL40s).host_gbps);
  EXPECT_EQ(describe_gpu(kGh200).links.intra_gbps, load_device("h100")->links.intra_gbps);
}

TEST(GpuProperties, TheNameAndTheSourcesSayWhereFiguresComeFrom) {
  const DeviceDescription gpu = describe_gpu(kL40s);
  EXPECT_EQ(gpu.name, "NVIDIA L40S, by its properties");
  EXPECT_TRUE(std::ranges::any_of(gpu.sources, [](const std::string& source) {
    return source.find("142 multiprocessors at 2520 MHz") != std::string::npos;
  }));
}

TEST(GpuProperties, AreLoadedFromTheirText) {
  const auto loaded = test::must(load_device(device_text(kRtx4090)));
  EXPECT_EQ(loaded.name, describe_gpu(kRtx4090).name);
  EXPECT_EQ(loaded.id, device_text(kRtx4090)) << "the id of a description loads it again";
  EXPECT_EQ(loaded.memory_gbps, describe_gpu(kRtx4090).memory_gbps);
  for (const char* wrong : {"gpu{", "gpu{}", R"(gpu{"multiprocessors":"many"})",
                            R"(gpu{"multiprocessors":0,"sm_mhz":1000})"}) {
    const auto refused = load_device(wrong);
    ASSERT_FALSE(refused) << wrong;
    EXPECT_EQ(refused.error().kind, Error::Kind::usage) << wrong;
  }
}

TEST(GpuProperties, CapabilitiesBeforeAndAfterTheTableHaveADescription) {
  GpuProperties gpu = kL40s;
  for (const int major : {0, 6, 11, 13, 99}) {
    gpu.major = major;
    EXPECT_GT(describe_gpu(gpu).peak_flops(DType::bfloat16), 0) << major;
  }
}

TEST(GpuProperties, WithoutAMemoryClockTheBandwidthIsThatOfTheClosestDescription) {
  GpuProperties gpu = kGh200;
  gpu.memory_mhz = 0;
  EXPECT_EQ(describe_gpu(gpu).memory_gbps, load_device("h100")->memory_gbps);
}

}  // namespace
}  // namespace jointer
