// Registers the fake device with torch.

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>
#include <c10/core/DeviceType.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <c10/core/impl/alloc_cpu.h>

#include <cstring>

#include "tests/runner/fake_device/device.h"

namespace jointer::test {
namespace {

constexpr c10::DeviceType kFake = c10::DeviceType::PrivateUse1;
const c10::Device kDevice{kFake, 0};

c10::Stream torch_stream(StreamNumber number) {
  return c10::Stream(c10::Stream::UNSAFE, kDevice, number);
}

// Copies of events are torch's business: it has a pointer to each.
EventPtr& event_of(void* event) {
  return *static_cast<EventPtr*>(event);
}

class Guard final : public c10::impl::DeviceGuardImplInterface {
 public:
  [[nodiscard]] c10::DeviceType type() const override { return kFake; }
  [[nodiscard]] c10::Device exchangeDevice(c10::Device) const override { return kDevice; }
  [[nodiscard]] c10::Device getDevice() const override { return kDevice; }
  void setDevice(c10::Device) const override {}
  void uncheckedSetDevice(c10::Device) const noexcept override {}
  [[nodiscard]] c10::DeviceIndex deviceCount() const noexcept override { return 1; }

  [[nodiscard]] c10::Stream getStream(c10::Device) const override {
    return torch_stream(FakeDevice::instance().stream());
  }
  [[nodiscard]] c10::Stream getDefaultStream(c10::Device) const override {
    return torch_stream(FakeDevice::kComputeStream);
  }
  [[nodiscard]] c10::Stream getStreamFromGlobalPool(c10::Device, bool) const override {
    return torch_stream(FakeDevice::instance().new_stream());
  }
  [[nodiscard]] c10::Stream exchangeStream(c10::Stream stream) const override {
    return torch_stream(FakeDevice::instance().exchange_stream(stream.id()));
  }
  void synchronizeStream(const c10::Stream& stream) const override {
    FakeDevice& device = FakeDevice::instance();
    device.synchronize(device.clock().end_of(stream.id()), "synchronizing a stream");
  }
  void synchronizeDevice(const c10::DeviceIndex) const override {
    FakeDevice::instance().synchronize();
  }

  void record(void** event, const c10::Stream& stream, const c10::DeviceIndex,
              const c10::EventFlag) const override {
    if (*event == nullptr) *event = new EventPtr(std::make_shared<DeviceEvent>());
    FakeDevice::instance().record(event_of(*event), stream.id());
  }
  void block(void* event, const c10::Stream& stream) const override {
    FakeDevice::instance().block(event_of(event), stream.id());
  }
  [[nodiscard]] bool queryEvent(void* event) const override {
    FakeDevice& device = FakeDevice::instance();
    if (device.options().before_query) device.options().before_query();
    return event_of(event)->ns <= device.clock().now();
  }
  void synchronizeEvent(void* event) const override {
    FakeDevice::instance().synchronize(event_of(event)->ns, "synchronizing an event");
  }
  void destroyEvent(void* event, const c10::DeviceIndex) const noexcept override {
    delete static_cast<EventPtr*>(event);
  }
};

class DeviceAllocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(std::size_t bytes) override {
    if (bytes == 0) return {nullptr, kDevice};
    void* data = FakeDevice::instance().allocate(static_cast<std::int64_t>(bytes));
    return {data, data, &give_back, kDevice};
  }
  [[nodiscard]] c10::DeleterFnPtr raw_deleter() const override { return &give_back; }
  void copy_data(void* to, const void* from, std::size_t bytes) const override {
    std::memcpy(to, from, bytes);
  }

 private:
  static void give_back(void* data) { FakeDevice::instance().memory().free(data); }
};

class PinnedAllocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(std::size_t bytes) override {
    void* data = c10::alloc_cpu(bytes);
    FakeDevice::instance().pinned().add(data, bytes);
    return {data, data, &give_back, at::kCPU};
  }
  [[nodiscard]] c10::DeleterFnPtr raw_deleter() const override { return &give_back; }
  void copy_data(void* to, const void* from, std::size_t bytes) const override {
    std::memcpy(to, from, bytes);
  }

 private:
  static void give_back(void* data) {
    FakeDevice::instance().pinned().remove(data);
    c10::free_cpu(data);
  }
};

class Hooks final : public at::PrivateUse1HooksInterface {
 public:
  [[nodiscard]] bool isBuilt() const override { return true; }
  [[nodiscard]] bool isAvailable() const override { return true; }
  [[nodiscard]] bool hasPrimaryContext(c10::DeviceIndex) const override { return true; }
  [[nodiscard]] c10::DeviceIndex deviceCount() const override { return 1; }
  [[nodiscard]] c10::DeviceIndex getCurrentDevice() const override { return 0; }
  // Kernels are the CPU's, so they draw from its generator.
  [[nodiscard]] const at::Generator& getDefaultGenerator(c10::DeviceIndex) const override {
    return at::detail::getDefaultCPUGenerator();
  }
  [[nodiscard]] bool isPinnedPtr(const void* data) const override {
    return FakeDevice::instance().pinned().contains(data);
  }
  [[nodiscard]] c10::Allocator* getPinnedMemoryAllocator() const override {
    static auto* allocator = new PinnedAllocator;
    return allocator;
  }
};

[[maybe_unused]] const bool is_registered = [] {
  c10::register_privateuse1_backend("fake");
  c10::SetAllocator(kFake, new DeviceAllocator);
  at::RegisterPrivateUse1HooksInterface(new Hooks);
  return true;
}();

C10_REGISTER_GUARD_IMPL(PrivateUse1, Guard)

}  // namespace
}  // namespace jointer::test
