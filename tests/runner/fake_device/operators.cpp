// Every operator of torch on the fake device: one kernel for all (a boxed fallback), which calls
// the CPU's on views of the same memory.
//
// Results and scratch memory come from the device's allocator. A result that aliases an argument in
// the CPU's kernel aliases it on the device.
//
// While a stream is captured, the CPU's kernel runs to find the shapes of its results, on copies of
// what is not the recording's own memory, so that it has no effect. A replay calls it on the
// arguments themselves, and writes to the same results.

#include "tests/runner/fake_device/operators.h"

#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/ops/empty.h>
#include <c10/core/CPUAllocator.h>
#include <c10/core/InferenceMode.h>
#include <torch/library.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tests/runner/fake_device/device.h"

namespace jointer::test {
namespace {

using c10::IValue;
using torch::jit::Stack;

constexpr c10::DeviceType kFake = c10::DeviceType::PrivateUse1;

bool is_fake(const at::Tensor& tensor) {
  return tensor.defined() && tensor.device().type() == kFake;
}

at::Tensor with_storage(c10::Storage storage, const at::Tensor& like, c10::DispatchKey key) {
  at::Tensor made = at::detail::make_tensor<c10::TensorImpl>(
      std::move(storage), c10::DispatchKeySet(key), like.dtype());
  made.unsafeGetTensorImpl()->set_sizes_and_strides(like.sizes(), like.strides(),
                                                    like.storage_offset());
  return made;
}

// A view of `base`, with the sizes of `like`. As torch's own views, it is an inference tensor only
// if `base` is one, whatever the current mode is.
at::Tensor view_of(const at::Tensor& base, const at::Tensor& like) {
  at::Tensor made = at::detail::make_tensor<c10::TensorImpl>(
      c10::TensorImpl::VIEW, c10::Storage(base.storage()), base.key_set(), like.dtype());
  made.unsafeGetTensorImpl()->set_sizes_and_strides(like.sizes(), like.strides(),
                                                    like.storage_offset());
  return made;
}

void free_on_device(void* data) {
  FakeDevice::instance().memory().free(data);
}

thread_local int on_device_depth = 0;

// torch's CPU allocator, which kernels of the device make use the device's.
class SwitchingAllocator final : public c10::Allocator {
 public:
  explicit SwitchingAllocator(c10::Allocator& host) { host_ = &host; }
  c10::DataPtr allocate(std::size_t bytes) override {
    if (on_device_depth == 0 || bytes == 0) return host_->allocate(bytes);
    void* data = FakeDevice::instance().allocate(static_cast<std::int64_t>(bytes));
    return {data, data, &free_on_device, at::kCPU};
  }
  [[nodiscard]] c10::DeleterFnPtr raw_deleter() const override { return &give_back; }
  void copy_data(void* to, const void* from, std::size_t bytes) const override {
    default_copy_data(to, from, bytes);
  }

 private:
  static void give_back(void* data) {
    if (FakeDevice::instance().memory().owns(data))
      free_on_device(data);
    else
      host_->raw_deallocate(data);
  }
  static inline c10::Allocator* host_ = nullptr;
};

bool allocates_only(const std::string& name) {
  return name == "aten::empty" || name == "aten::empty_strided";
}

bool reads_on_host(const std::string& name) {
  constexpr std::array kNames{"aten::_local_scalar_dense", "aten::nonzero", "aten::equal"};
  return std::ranges::find(kNames, name) != kNames.end();
}

bool is_matrix_product(const std::string& name) {
  constexpr std::array kNames{"aten::mm", "aten::addmm", "aten::bmm", "aten::baddbmm"};
  return std::ranges::find(kNames, name) != kNames.end();
}

// The arguments of a call as the CPU's kernel gets them, and how to take its results.
class HostCall {
 public:
  // `is_captured`: writes only to the memory of the recording.
  HostCall(const Stack& arguments, bool is_captured) : is_captured_(is_captured) {
    for (const IValue& argument : arguments) stack_.push_back(host_value(argument));
  }

  [[nodiscard]] Stack& stack() { return stack_; }
  [[nodiscard]] std::int64_t bytes() const { return bytes_; }

  [[nodiscard]] bool is_alias(const at::Tensor& result) const {
    return bases_.contains(result.storage().unsafeGetStorageImpl());
  }
  // The tensor on the device for a result of the CPU's kernel.
  at::Tensor on_device(const at::Tensor& result) {
    if (!result.defined()) return result;
    c10::StorageImpl* made = result.storage().unsafeGetStorageImpl();
    if (const auto base = bases_.find(made); base != bases_.end())
      return view_of(base->second, result);
    auto found = storages_.find(made);
    if (found == storages_.end()) {
      bytes_ += static_cast<std::int64_t>(result.nbytes());
      found = storages_.emplace(made, moved(result.storage())).first;
      kept_.push_back(result);  // so that its address is not used again
    }
    return with_storage(found->second, result, c10::DispatchKey::PrivateUse1);
  }

 private:
  at::Tensor host_tensor(const at::Tensor& tensor) {
    if (!is_fake(tensor)) return tensor;
    at::Tensor host = on_host(tensor);
    FakeDevice& device = FakeDevice::instance();
    if (is_captured_ &&
        !device.memory().is_of_recording(tensor.storage().data(), device.recording())) {
      const std::size_t bytes = tensor.storage().nbytes();
      const at::Tensor copy = at::empty({static_cast<std::int64_t>(bytes)}, at::kByte);
      if (bytes > 0) std::memcpy(copy.mutable_data_ptr(), tensor.storage().data(), bytes);
      host = with_storage(copy.storage(), tensor, c10::DispatchKey::CPU);
    }
    bytes_ += static_cast<std::int64_t>(tensor.nbytes());
    bases_.emplace(host.storage().unsafeGetStorageImpl(), tensor);
    return host;
  }

  IValue host_value(const IValue& value) {
    if (value.isTensor()) return host_tensor(value.toTensor());
    if (value.isTensorList()) {
      c10::List<at::Tensor> list;
      for (const at::Tensor& tensor : value.toTensorVector()) list.push_back(host_tensor(tensor));
      return list;
    }
    if (value.isOptionalTensorList()) {
      c10::List<std::optional<at::Tensor>> list;
      for (const std::optional<at::Tensor>& tensor : value.toOptionalTensorVector())
        list.push_back(tensor ? std::optional(host_tensor(*tensor)) : std::nullopt);
      return list;
    }
    if (value.isDevice()) return at::Device(at::kCPU);
    return value;
  }

  // The memory of a storage that a kernel made, as a storage of the device.
  static c10::Storage moved(c10::Storage made) {
    FakeDevice& device = FakeDevice::instance();
    const std::size_t bytes = made.nbytes();
    void* data = made.mutable_data();
    if (bytes > 0 && device.memory().owns(data)) {
      at::DataPtr taken = made.set_data_ptr(at::DataPtr());
      taken.release_context();
    } else if (bytes > 0) {  // the kernel returned memory of the host
      const void* from = data;
      data = device.allocate(static_cast<std::int64_t>(bytes));
      std::memcpy(data, from, bytes);
    }
    return {c10::Storage::use_byte_size_t(), bytes,
            at::DataPtr(data, data, bytes > 0 ? &free_on_device : [](void*) {}, {kFake, 0}),
            c10::GetAllocator(kFake), /*resizable=*/true};
  }

  bool is_captured_;
  Stack stack_;
  std::int64_t bytes_ = 0;
  // By the CPU's storage: the argument on the device, and the storage of a result.
  std::unordered_map<c10::StorageImpl*, at::Tensor> bases_;
  std::unordered_map<c10::StorageImpl*, c10::Storage> storages_;
  std::vector<at::Tensor> kept_;
};

// The argument that a call writes to and returns as its result number `index`; else -1.
std::int64_t returned_argument(const c10::FunctionSchema& schema, std::size_t index) {
  const c10::AliasInfo* result = schema.returns()[index].alias_info();
  if (result == nullptr || !result->isWrite()) return -1;
  for (std::size_t i = 0; i < schema.arguments().size(); ++i) {
    const c10::AliasInfo* argument = schema.arguments()[i].alias_info();
    if (argument != nullptr && argument->isWrite() &&
        argument->beforeSets() == result->beforeSets())
      return static_cast<std::int64_t>(i);
  }
  return -1;
}

// Calls the kernel of a captured call and copies its results to those that the capture made.
std::function<void()> captured_call(const c10::OperatorHandle& op, Stack arguments,
                                    std::vector<std::pair<std::size_t, at::Tensor>> results) {
  return [op, arguments = std::move(arguments), results = std::move(results)] {
    Stack stack = arguments;
    op.callBoxed(&stack);
    std::vector<at::Tensor> made;
    for (const IValue& value : stack)
      if (value.isTensorList())
        for (const at::Tensor& tensor : value.toTensorVector()) made.push_back(tensor);
      else
        made.push_back(value.isTensor() ? value.toTensor() : at::Tensor());
    for (const auto& [index, result] : results) result.copy_(made[index]);
  };
}

void run_on_device(const c10::OperatorHandle& op, c10::DispatchKeySet /*keys*/, Stack* stack) {
  const at::AutoDispatchBelowADInplaceOrView below;
  FakeDevice& device = FakeDevice::instance();
  const c10::FunctionSchema& schema = op.schema();
  const std::string& name = schema.name();
  const std::size_t count = schema.arguments().size();
  const Stack arguments(stack->end() - static_cast<std::ptrdiff_t>(count), stack->end());
  if (reads_on_host(name)) device.synchronize(device.clock().end_of(device.stream()), name.c_str());
  const bool captures = device.is_capturing() && !allocates_only(name);
  if (is_matrix_product(name)) device.make_workspace();

  HostCall call(arguments, captures);
  {
    const OnDeviceMemory memory;
    try {
      op.callBoxed(&call.stack());
    } catch (const c10::IndexError&) {  // CUDA's kernels check indices with assertions
      device.fail_assertion();
    }
  }
  bool runs_kernel = !allocates_only(name) && !reads_on_host(name);
  bool is_view = !schema.returns().empty();
  Stack results;
  std::vector<std::pair<std::size_t, at::Tensor>> captured;
  std::size_t made = 0;
  const auto take = [&](const at::Tensor& result) {
    const bool is_alias = !result.defined() || call.is_alias(result);
    is_view &= is_alias;
    at::Tensor tensor = call.on_device(result);
    if (captures && !is_alias) captured.emplace_back(made, on_host(tensor));
    ++made;
    return tensor;
  };
  for (std::size_t i = 0; i < schema.returns().size(); ++i) {
    const IValue& result = call.stack()[i];
    if (const std::int64_t written = returned_argument(schema, i); written >= 0) {
      results.push_back(arguments[static_cast<std::size_t>(written)]);
      is_view = false;
      ++made;
    } else if (result.isTensor()) {
      results.emplace_back(take(result.toTensor()));
    } else if (result.isTensorList()) {
      c10::List<at::Tensor> list;
      for (const at::Tensor& tensor : result.toTensorVector()) list.push_back(take(tensor));
      results.emplace_back(std::move(list));
    } else {
      results.push_back(result);
      is_view = false;
      ++made;
    }
  }
  runs_kernel &= !is_view;
  if (runs_kernel) {
    Work work{
        .name = name,
        .stream = device.stream(),
        .ns = device.options().kernel_ns + call.bytes() * 1000 / device.options().bytes_per_us};
    if (captures) {
      HostCall real(arguments, /*is_captured=*/false);
      work.run = captured_call(op, std::move(real.stack()), std::move(captured));
    }
    device.launch(std::move(work));
  }
  torch::jit::drop(*stack, count);
  for (IValue& result : results) stack->push_back(std::move(result));
}

// A copy within the device, to the host or back. The host waits for copies of memory that is not
// pinned.
at::Tensor copy(const at::Tensor& from, const at::Tensor& to, bool non_blocking) {
  FakeDevice& device = FakeDevice::instance();
  const bool crosses = is_fake(from) != is_fake(to);
  const at::Tensor& host = is_fake(from) ? to : from;
  const bool is_pinned = !crosses || device.pinned().contains(host.storage().data());
  const DeviceOptions& options = device.options();
  const std::int64_t rate = crosses ? options.copied_bytes_per_us : options.bytes_per_us;
  const bool waits = crosses && !(non_blocking && is_pinned);
  if (waits && device.is_capturing()) device.synchronize(0, "a copy of memory that is not pinned");
  const std::int64_t end = device.launch(
      {.name = !crosses        ? "Memcpy DtoD"
               : is_fake(from) ? "Memcpy DtoH"
                               : "Memcpy HtoD",
       .stream = device.stream(),
       .ns = options.kernel_ns + static_cast<std::int64_t>(to.nbytes()) * 1000 / rate,
       .run = [from = is_fake(from) ? on_host(from) : from, to = is_fake(to) ? on_host(to) : to] {
         const c10::InferenceMode no_autograd;
         to.copy_(from);
       }});
  if (waits) device.synchronize(end, "a copy");
  return to;
}

}  // namespace

at::Tensor on_host(const at::Tensor& tensor) {
  const c10::Storage& storage = tensor.storage();
  return with_storage(c10::Storage(c10::Storage::use_byte_size_t(), storage.nbytes(),
                                   at::DataPtr(const_cast<void*>(storage.data()), at::kCPU),
                                   /*allocator=*/nullptr, /*resizable=*/false),
                      tensor, c10::DispatchKey::CPU);
}

OnDeviceMemory::OnDeviceMemory() {
  // Wraps the allocator that the CPU's platform has installed.
  static SwitchingAllocator* allocator = [] {
    constexpr std::uint8_t kPriority = 101;
    auto* made = new SwitchingAllocator(*c10::GetCPUAllocator());
    c10::SetCPUAllocator(made, kPriority);
    return made;
  }();
  (void)allocator;
  ++on_device_depth;
}

OnDeviceMemory::~OnDeviceMemory() {
  --on_device_depth;
}

TORCH_LIBRARY_IMPL(_, PrivateUse1, m) {
  m.fallback(torch::CppFunction::makeFromBoxedFunction<&run_on_device>());
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("_copy_from", TORCH_FN(copy));
}

}  // namespace jointer::test
