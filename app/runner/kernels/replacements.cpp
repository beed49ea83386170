#include "app/runner/kernels/replacements.h"

#include <ATen/ATen.h>
#include <torch/library.h>

#include <array>

namespace jointer::runner {
namespace {

// histc of integers, which torch supports only on CUDA: counts the elements in [min, max] in bins
// of equal width; max falls into the last bin.
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

constexpr std::string_view kAttention =
    "torch's fused CPU attention, or its definition if head sizes differ";

constexpr std::array kReplacements{
    Replacement{"aten._scaled_dot_product_flash_attention.default",
                "aten._scaled_dot_product_flash_attention.default", kAttention},
    Replacement{"aten._scaled_dot_product_flash_attention_backward.default",
                "aten._scaled_dot_product_flash_attention_backward.default", kAttention},
    Replacement{"aten._scaled_dot_product_cudnn_attention.default",
                "aten._scaled_dot_product_cudnn_attention.default", kAttention},
    Replacement{"aten._scaled_dot_product_cudnn_attention_backward.default",
                "aten._scaled_dot_product_cudnn_attention_backward.default", kAttention},
    Replacement{"aten._scaled_dot_product_efficient_attention.default",
                "aten._scaled_dot_product_efficient_attention.default", kAttention},
    Replacement{"aten._scaled_dot_product_efficient_attention_backward.default",
                "aten._scaled_dot_product_efficient_attention_backward.default", kAttention},
    Replacement{"aten._fused_rms_norm.default", "aten._fused_rms_norm.default",
                "its parts, operator by operator"},
    Replacement{"aten._fused_rms_norm_backward.default", "aten._fused_rms_norm_backward.default",
                "its parts, operator by operator"},
    Replacement{"aten.histc.default", "jointer.histc_of_integers.default",
                "a histogram of the values converted to float64"},
};

}  // namespace

const Replacement* find_replacement(std::string_view target) {
  for (const Replacement& replacement : kReplacements)
    if (replacement.captured == target) return &replacement;
  return nullptr;
}

TORCH_LIBRARY_FRAGMENT(jointer, m) {
  m.def("histc_of_integers(Tensor self, int bins=100, Scalar min=0, Scalar max=0) -> Tensor",
        torch::dispatch(c10::DispatchKey::CompositeExplicitAutograd, TORCH_FN(histc_of_integers)));
}

}  // namespace jointer::runner
