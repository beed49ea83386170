#pragma once

#include "core/pass/pass.h"

namespace jointer {

// Marks for regional_inductor.
Pass annotate_flex_attention_for_regional_inductor_pass();
Pass annotate_rmsnorm_for_regional_inductor_pass();

// Where kernels of a recorded CUDA graph get their module's name.
Pass insert_kernel_annotations_pass();

}  // namespace jointer
