#include "app/runner/program/device_progress.h"

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <thread>
#include <utility>

#include "tests/runner/fake_device/device.h"

namespace jointer::test {
namespace {

// The queue of a device that hangs fills up, and recording an event then blocks.
TEST(DeviceProgress, CanBeReadWhileAMarkBlocks) {
  runner::DeviceProgress progress(at::Device(at::kPrivateUse1, 0));
  std::promise<void> read;
  std::thread reader;
  bool was_read = false;
  DeviceOptions options;
  options.before_event = [&] {
    reader = std::thread([&] {
      static_cast<void>(progress.oldest_unfinished());
      read.set_value();
    });
    was_read = read.get_future().wait_for(std::chrono::seconds(5)) == std::future_status::ready;
  };
  FakeDevice::instance().reset(std::move(options));
  progress.mark(0);
  FakeDevice::instance().reset();
  reader.join();
  EXPECT_TRUE(was_read);
}

}  // namespace
}  // namespace jointer::test
