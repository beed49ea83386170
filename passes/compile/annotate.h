#pragma once

#include "core/pass/pass.h"

namespace jointer {

// Passes that mark nodes for regional_inductor.
Pass annotate_flex_attention_for_regional_inductor_pass();
Pass annotate_rmsnorm_for_regional_inductor_pass();

// Reports where kernels of a recorded CUDA graph get the name of their module.
Pass insert_kernel_annotations_pass();

}  // namespace jointer
