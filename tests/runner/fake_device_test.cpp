// The simulated device (tests/runner/fake_device/device.h) behaves as CUDA does where the runner
// depends on it.

#include <ATen/ATen.h>
#include <c10/core/Event.h>
#include <c10/core/InferenceMode.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/runner/fake_device/device.h"
#include "tests/runner/fake_device/platform.h"

namespace jointer::test {
namespace {

using testing::HasSubstr;

constexpr std::int64_t kMiB = std::int64_t{1} << 20;
const at::Device kDevice{at::kPrivateUse1, 0};

class OnFakeDevice : public testing::Test {
 protected:
  void SetUp() override { start({}); }
  void start(DeviceOptions options) {
    platform_.reset();
    options.workspace_bytes = 0;
    FakeDevice::instance().reset(std::move(options));
    auto made = make_fake_platform({.threads = 1});
    ASSERT_TRUE(made) << made.error().message;
    platform_ = std::move(*made);
  }
  static VirtualClock& clock() { return FakeDevice::instance().clock(); }
  static at::Tensor ones(std::int64_t count) {
    return at::ones({count}, at::TensorOptions().device(kDevice));
  }

  std::unique_ptr<runner::Platform> platform_;
  c10::InferenceMode no_autograd_;
};

TEST_F(OnFakeDevice, OperatorsComputeWhatTheCpuComputes) {
  const at::Tensor a = at::randn({8, 16}), b = at::randn({16, 4});
  const at::Tensor on_device = at::relu(at::mm(a.to(kDevice), b.to(kDevice))).t().contiguous();
  EXPECT_EQ(on_device.device(), kDevice);
  EXPECT_TRUE(on_device.cpu().equal(at::relu(at::mm(a, b)).t().contiguous()));
}

TEST_F(OnFakeDevice, ViewsShareMemoryAndWritesReachIt) {
  const at::Tensor base = at::zeros({4, 4}, at::TensorOptions().device(kDevice));
  base.slice(0, 1, 3).view({8}).add_(2);
  EXPECT_EQ(base.sum().item<float>(), 16);
  const at::Tensor part = base[2];
  EXPECT_EQ(part.data_ptr(), static_cast<float*>(base.data_ptr()) + 8);
}

// Inputs are made outside of inference mode, and steps run in it.
TEST_F(OnFakeDevice, ViewsOfOrdinaryTensorsAreNotInferenceTensors) {
  at::Tensor base;
  {
    const c10::InferenceMode ordinary(false);
    base = at::zeros({4, 4}, at::TensorOptions().device(kDevice));
  }
  const at::Tensor view = base.view({2, 8});
  EXPECT_FALSE(view.is_inference());
  view.select(0, 1).fill_(3);
  EXPECT_EQ(base.sum().item<float>(), 24);
}

// CUDA's kernels check indices with assertions, after which the device is unusable.
TEST_F(OnFakeDevice, AnIndexOutOfRangeIsAnAssertion) {
  const at::Tensor table = ones(4).view({2, 2});
  const at::Tensor index = at::full({1}, 7, at::TensorOptions().dtype(at::kLong).device(kDevice));
  EXPECT_THROW(at::embedding(table, index), c10::AcceleratorError);
  EXPECT_THROW(platform_->synchronize(), c10::AcceleratorError);
}

TEST_F(OnFakeDevice, CallsReturnBeforeTheyEnd) {
  const at::Tensor a = ones(1000);
  platform_->synchronize();
  const std::int64_t start = clock().now();
  const at::Tensor b = a + 1;
  EXPECT_EQ(clock().now() - start, FakeDevice::instance().options().launch_ns);
  EXPECT_GT(clock().end_of_all(), clock().now());
  platform_->synchronize();
  EXPECT_EQ(clock().end_of_all(), clock().now());
}

TEST_F(OnFakeDevice, MarksRecordDeviceTimes) {
  const auto marks = platform_->marks(3);
  const at::Tensor a = ones(1000);
  marks->mark(0);
  at::Tensor b = a + 1;
  marks->mark(1);
  b = b + 1;
  b = b + 1;
  marks->mark(2);
  const auto ns = marks->read();
  EXPECT_EQ(ns[0], 0);
  EXPECT_GE(ns[1], FakeDevice::instance().options().kernel_ns);
  EXPECT_EQ(ns[2], 3 * ns[1]);
}

// The copy runs at the same time as the compute stream's work, until the latter waits for it.
TEST_F(OnFakeDevice, StreamsRunAtTheSameTimeUntilTheyWait) {
  const c10::impl::VirtualGuardImpl guard(at::kPrivateUse1);
  const at::Tensor a = ones(1'000'000),
                   host = at::empty({1'000'000}, at::TensorOptions().pinned_memory(true));
  EXPECT_TRUE(host.is_pinned());
  platform_->synchronize();
  const c10::Stream copies = guard.getStreamFromGlobalPool(kDevice);
  {
    const c10::StreamGuard on_copies(copies);
    host.copy_(a, /*non_blocking=*/true);
  }
  c10::Event over(at::kPrivateUse1);
  over.record(copies);
  const at::Tensor b = a + 1;
  EXPECT_LT(clock().end_of(FakeDevice::kComputeStream), clock().end_of(copies.id()));
  EXPECT_FALSE(over.query());
  over.block(guard.getStream(kDevice));
  const at::Tensor c = a + 1;
  EXPECT_GT(clock().end_of(FakeDevice::kComputeStream), clock().end_of(copies.id()));
}

TEST_F(OnFakeDevice, MemoryMatchesTheCachingAllocator) {
  platform_->start_counting();
  at::Tensor a = at::empty({100}, at::TensorOptions().device(kDevice).dtype(at::kByte));
  runner::MemoryFigures now = platform_->memory();
  EXPECT_EQ(now.requested, 100);
  EXPECT_EQ(now.allocated, 512);
  EXPECT_EQ(now.peak_reserved, 2 * kMiB);
  at::Tensor b = at::empty({3 * kMiB}, at::TensorOptions().device(kDevice).dtype(at::kByte));
  EXPECT_EQ(platform_->memory().peak_reserved, 22 * kMiB);
  b.reset();
  EXPECT_EQ(platform_->memory().requested, 100);
  platform_->release_cache();
  platform_->reset_peaks();
  EXPECT_EQ(platform_->memory().peak_reserved, 2 * kMiB);
}

TEST_F(OnFakeDevice, CachedMemoryIsReleasedBeforeMemoryRunsOut) {
  const auto bytes = [](std::int64_t mib) {
    return at::empty({mib * kMiB}, at::TensorOptions().device(kDevice).dtype(at::kByte));
  };
  platform_->limit_memory(100 * kMiB);
  at::Tensor a = bytes(60);
  a.reset();
  a = bytes(80);  // only without the cached 60
  try {
    bytes(30);
    FAIL() << "there is no memory for this";
  } catch (const c10::OutOfMemoryError& error) {
    EXPECT_THAT(error.what(), HasSubstr("CUDA out of memory. Tried to allocate 30.0 MiB"));
  }
  EXPECT_EQ(platform_->memory().allocated, 80 * kMiB);
}

// A step that is captured does not run; replays run it, on the same memory.
TEST_F(OnFakeDevice, RecordsAndReplays) {
  const at::Tensor in = ones(64), sum = at::zeros({64}, at::TensorOptions().device(kDevice));
  at::Tensor out;
  auto recording = platform_->record(
      [&] {
        const at::Tensor twice = in * 2;
        sum.add_(twice);
        out = twice + 1;
      },
      {});
  ASSERT_TRUE(recording) << recording.error().message;
  EXPECT_EQ(sum.cpu()[0].item<float>(), 0);
  EXPECT_TRUE(out.cpu()[0].isnan().item<bool>());
  (*recording)->replay();
  EXPECT_EQ(out.cpu()[0].item<float>(), 3);
  in.fill_(5);
  (*recording)->replay();
  EXPECT_EQ(out.cpu()[0].item<float>(), 11);
  EXPECT_EQ(sum.cpu()[0].item<float>(), 12);
}

TEST_F(OnFakeDevice, AReplayDoesNotWaitForTheHost) {
  at::Tensor a = ones(64);
  const auto step = [&] {
    for (int i = 0; i < 10; ++i) a.add_(1);
  };
  auto recording = platform_->record(step, {});
  ASSERT_TRUE(recording);
  platform_->synchronize();
  const std::int64_t start = clock().now();
  (*recording)->replay();
  EXPECT_EQ(clock().now() - start, FakeDevice::instance().options().launch_ns);
  platform_->synchronize();
  EXPECT_GE(clock().now() - start, 10 * FakeDevice::instance().options().kernel_ns);
}

TEST_F(OnFakeDevice, ARecordingHasItsOwnMemory) {
  const at::Tensor in = ones(64);
  ones(kMiB).reset();  // cached, but not for the recording
  at::Tensor out;
  platform_->release_cache();
  platform_->reset_peaks();
  const std::int64_t before = platform_->memory().peak_reserved;
  auto recording = platform_->record([&] { out = in * 2; }, {});
  ASSERT_TRUE(recording);
  EXPECT_EQ(platform_->memory().peak_reserved, before + 2 * kMiB);
  out.reset();
  recording->reset();
  platform_->release_cache();
  platform_->reset_peaks();
  EXPECT_EQ(platform_->memory().peak_reserved, before);
}

TEST_F(OnFakeDevice, WaitingCannotBeRecorded) {
  const at::Tensor in = ones(4);
  const auto recording = platform_->record([&] { in.sum().item(); }, {});
  ASSERT_FALSE(recording);
  EXPECT_THAT(recording.error().message, HasSubstr("not permitted when stream is capturing"));
  EXPECT_THAT(recording.error().message, HasSubstr("with --backend interpret"));
  EXPECT_EQ(in.sum().item<float>(), 4);  // it works again
}

TEST_F(OnFakeDevice, AnErrorIsReportedByALaterCall) {
  start({.faults = Faults({.kind = FaultKind::device_assert, .stage = "now", .call = 2},
                          [] { return std::string("now"); })});
  const at::Tensor a = ones(4);  // call 1
  const at::Tensor b = a + 1;    // call 2, which fails on the device
  EXPECT_THROW(platform_->synchronize(), c10::AcceleratorError);
  EXPECT_THROW(a + 1, c10::AcceleratorError);  // and for good
}

TEST_F(OnFakeDevice, KernelsAreTraced) {
  const at::Tensor a = ones(4);
  platform_->synchronize();
  auto tracer = platform_->trace_kernels();
  tracer->begin(7);
  at::Tensor b = a + 1;
  tracer->end();
  b = b + 1;  // belongs to no instruction
  const auto kernels = tracer->stop();
  ASSERT_EQ(kernels.size(), 1);
  EXPECT_EQ(kernels[0].instruction, 7);
  EXPECT_EQ(kernels[0].name, "aten::add");
}

}  // namespace
}  // namespace jointer::test
