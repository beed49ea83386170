#include "app/runner/backends/package.h"

#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/scalar_tensor.h>
#include <dlfcn.h>
#include <torch/csrc/inductor/aoti_package/model_package_loader.h>

#include <filesystem>
#include <memory>
#include <utility>

#include "app/runner/support/torch_error.h"

namespace jointer::runner {
namespace {

// Makes libtorch's symbols global, since generated code looks them up among the global symbols.
Result<void> make_torch_visible() {
  Dl_info info{};
  // Any function in libtorch_cpu.so shows in which folder torch's libraries are.
  const auto inside = reinterpret_cast<const void*>(&c10::Dispatcher::realSingleton);
  if (::dladdr(inside, &info) == 0 || info.dli_fname == nullptr)
    return fail(Error::Kind::run,
                "cannot find the folder from which this process loaded libtorch_cpu.so");
  const auto library = std::filesystem::path(info.dli_fname).parent_path() / "libtorch.so";
  if (::dlopen(library.c_str(), RTLD_NOW | RTLD_GLOBAL) == nullptr)
    return fail(Error::Kind::run, "{}", ::dlerror());
  return {};
}

}  // namespace

Result<Compiled> load_package(const std::string& path, at::Device device, PackageCall call) {
  JOINTER_CHECK(make_torch_visible());
  std::shared_ptr<torch::inductor::AOTIModelPackageLoader> loader;
  try {
    loader = std::make_shared<torch::inductor::AOTIModelPackageLoader>(
        path, "model", /*run_single_threaded=*/true, /*num_runners=*/1, device.index());
  } catch (const std::exception& error) {
    return fail(Error::Kind::run, "{}: {}", path, first_line(error.what()));
  }
  return Compiled([loader, call = std::move(call)](torch::jit::Stack& stack) {
    std::vector<at::Tensor> inputs;
    inputs.reserve(stack.size());
    for (std::size_t i = 0; i < stack.size(); ++i)
      inputs.push_back(call.input_is_number[i] ? at::scalar_tensor(stack[i].toInt(), at::kLong)
                                               : std::move(stack[i]).toTensor());
    stack.clear();
    // boxed_run lets the package release each input after its last use.
    std::vector<at::Tensor> outputs = loader->boxed_run(std::move(inputs));
    TORCH_CHECK(outputs.size() == call.output_is_number.size(), "the package returned ",
                outputs.size(), " tensors instead of ", call.output_is_number.size());
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      if (call.output_is_number[i])
        stack.emplace_back(outputs[i].item<std::int64_t>());
      else
        stack.emplace_back(std::move(outputs[i]));
    }
  });
}

}  // namespace jointer::runner
