#include "app/runner/kernels/replacements.h"

#include <ATen/ATen.h>
#include <torch/library.h>

#include <array>

namespace jointer::runner {
namespace {

// histc for integers, which torch supports only on CUDA. Counts the elements in [min, max] in bins
// of equal width; max belongs to the last bin.
at::Tensor histc_of_integers(const at::Tensor& self, std::int64_t bins, const at::Scalar& min,
                             const at::Scalar& max) {
  if (self.is_floating_point()) return at::histc(self, bins, min, max);
  const at::Tensor values = self.to(at::kDouble);
  double low = min.toDouble(), high = max.toDouble();
  if (low == high && values.numel() > 0) {
    low = values.min().item<double>();
    high = values.max().item<double>();
  }
  if (low == high) {
    low -= 1;
    high += 1;
  }
  return at::histc(values, bins, low, high).to(self.scalar_type());
}

constexpr std::string_view kCpuAttention =
    "torch's fused CPU attention or, for tensors that it does not support, unfused attention";
constexpr std::string_view kCudaAttention =
    "flash or memory-efficient attention or, for tensors that neither supports, unfused attention";

constexpr std::array kReplacements{
    Replacement{at::kCPU, "aten._scaled_dot_product_flash_attention.default",
                "aten._scaled_dot_product_flash_attention.default", kCpuAttention},
    Replacement{at::kCPU, "aten._scaled_dot_product_flash_attention_backward.default",
                "aten._scaled_dot_product_flash_attention_backward.default", kCpuAttention},
    Replacement{at::kCPU, "aten._scaled_dot_product_cudnn_attention.default",
                "aten._scaled_dot_product_cudnn_attention.default", kCpuAttention},
    Replacement{at::kCPU, "aten._scaled_dot_product_cudnn_attention_backward.default",
                "aten._scaled_dot_product_cudnn_attention_backward.default", kCpuAttention},
    Replacement{at::kCPU, "aten._scaled_dot_product_efficient_attention.default",
                "aten._scaled_dot_product_efficient_attention.default", kCpuAttention},
    Replacement{at::kCPU, "aten._scaled_dot_product_efficient_attention_backward.default",
                "aten._scaled_dot_product_efficient_attention_backward.default", kCpuAttention},
    Replacement{at::kCPU, "aten._fused_rms_norm.default", "aten._fused_rms_norm.default",
                "its parts, operator by operator"},
    Replacement{at::kCPU, "aten._fused_rms_norm_backward.default",
                "aten._fused_rms_norm_backward.default", "its parts, operator by operator"},
    Replacement{at::kCPU, "aten.histc.default", "jointer.histc_of_integers.default",
                "a histogram of the values converted to float64"},
    Replacement{at::kCUDA, "aten._scaled_dot_product_flash_attention_for_cpu.default",
                "jointer.cpu_flash_attention.default", kCudaAttention},
    Replacement{at::kCUDA, "aten._scaled_dot_product_flash_attention_for_cpu_backward.default",
                "jointer.cpu_flash_attention_backward.default", kCudaAttention},
};

}  // namespace

const Replacement* find_replacement(std::string_view target, c10::DeviceType on) {
  for (const Replacement& replacement : kReplacements)
    if (replacement.on == on && replacement.captured == target) return &replacement;
  return nullptr;
}

TORCH_LIBRARY_FRAGMENT(jointer, m) {
  m.def("histc_of_integers(Tensor self, int bins=100, Scalar min=0, Scalar max=0) -> Tensor",
        torch::dispatch(c10::DispatchKey::CompositeExplicitAutograd, TORCH_FN(histc_of_integers)));
}

}  // namespace jointer::runner
