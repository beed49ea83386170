// Lists of operators. Sources: torchtitan's compiler toolkit at the time of its pull request 2377,
// and torchtitan/distributed/activation_checkpoint.py of 2026, which extends torch's own list of
// compute-intensive operators (get_default_op_list, overload `default`). Names are as in captures;
// a higher-order operator has its plain name. An operator that a build of torch lacks occurs in no
// graph.

#include "core/policy/save_ops.h"

#include <array>

#include "core/ops/collective_targets.h"

namespace jointer {

std::span<const std::string_view> toolkit_save_ops() {
  static constexpr std::array<std::string_view, 11> kOps{
      "aten.mm.default",
      "aten._scaled_dot_product_efficient_attention.default",
      "aten._scaled_dot_product_flash_attention.default",
      "aten._scaled_dot_product_cudnn_attention.default",
      "aten._scaled_dot_product_attention_math.default",
      "aten._scaled_dot_product_fused_attention_overrideable.default",
      kReduceScatterTarget,
      "aten.max.default",
      "flex_attention",
      "torch_attn._varlen_attn.default",
      "inductor_compiled_code",
  };
  return kOps;
}

std::span<const std::string_view> titan_save_ops() {
  static constexpr std::array<std::string_view, 26> kOps{
      // torch's compute-intensive operators.
      "aten.mm.default",
      "aten.convolution.default",
      "aten.convolution_backward.default",
      "aten.bmm.default",
      "aten.addmm.default",
      "aten._scaled_dot_product_flash_attention.default",
      "aten._scaled_dot_product_efficient_attention.default",
      "aten._flash_attention_forward.default",
      "aten._efficient_attention_forward.default",
      "aten.upsample_bilinear2d.default",
      "aten._scaled_mm.default",
      // torchtitan's additions.
      "aten._scaled_dot_product_cudnn_attention.default",
      "aten._scaled_dot_product_attention_math.default",
      "aten._scaled_dot_product_fused_attention_overrideable.default",
      "aten.max.default",
      "flex_attention",
      "aten.linear.default",
      "aten.topk.default",
      "inductor_compiled_code",
      "torch_attn._varlen_attn.default",
      kReduceScatterTarget,
      kAllToAllTarget,
      "deepep.dispatch.default",
      "deepep.combine.default",
      "hybridep.dispatch.default",
      "hybridep.combine.default",
  };
  return kOps;
}

}  // namespace jointer
