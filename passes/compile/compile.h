#pragma once

#include <vector>

#include "core/pass/pass.h"

namespace jointer {

// Passes that choose how the runner runs the graph, mark nodes for compilation or decompose
// operators, and two that change nothing here (custom_codegen, insert_kernel_annotations). They
// have the same names as upstream.
std::vector<Pass> compile_passes();

// Passes that mark nodes for regional_inductor.
Pass annotate_flex_attention_for_regional_inductor_pass();
Pass annotate_rmsnorm_for_regional_inductor_pass();

// Reports the runs of nodes that upstream annotates with their module for profiles of captured CUDA
// graphs.
Pass insert_kernel_annotations_pass();

}  // namespace jointer
