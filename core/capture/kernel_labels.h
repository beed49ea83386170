#pragma once

// The names of kernels in a profiler trace, by which measured_kernels.h ties kernels to calls.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/capture/compiled_kernels.h"
#include "core/graph/graph.h"
#include "core/kernels/ir.h"
#include "core/kernels/kernels.h"

namespace jointer {

// A kernel and a call in a trace may be the same if their labels are equal.
struct KernelLabel {
  // "triton_poi_fused_add_0"; "aten::mm"; "collective all-gather"; of a predicted kernel, the
  // category and the operators: "pointwise fused_add". Empty if it is unknown.
  std::string exact = {};
  // For predicted kernels, and calls that are compared with them: the category and the operators,
  // without those of nodes that only view data. Empty if it is unknown, or no operator is left.
  std::string rough = {};
  // For kernels that Inductor generates: "pointwise", "reduction", "foreach", "template", "cpp".
  // Empty for others, and for kernels of a compilation, whose names are certain.
  std::string category = {};
};

struct LabeledKernel {
  KernelLabel label;
  bool is_launch = false;   // launches work on the device
  bool is_library = false;  // a call of an ATen or library operator, not a collective
  bool is_collective = false;
  // False if the graph does not say which operators the model called in a predicted kernel; its
  // name is then uncertain.
  bool is_named = true;
  // On the CPU, where Inductor writes several kernels into one C++ function: the function's first
  // kernel. -1: the kernel is the first or only one of its function, or is not in one.
  std::int32_t function_of = -1;
};

// Labels kernels from one source, and the calls in a trace that are compared with them.
class KernelLabels {
 public:
  // For the kernels of a compilation: the names that its wrapper calls.
  explicit KernelLabels(const CompiledProgram& program);
  // For predicted kernels: names by Inductor's rule, which kernel_labels.cpp describes.
  KernelLabels(const Graph& graph, const kernels::Ir& ir, const kernels::Kernels& predicted);

  [[nodiscard]] const std::vector<LabeledKernel>& kernels() const { return kernels_; }
  // Labels a call. `name`: TracedCall::name. `launch`: the name of the call's first launch.
  [[nodiscard]] KernelLabel of_call(std::string_view name, bool is_collective,
                                    std::string_view launch) const;

 private:
  // An operator's name in the names of kernels, and whether a node that only views data has it.
  struct Word {
    std::string text;
    bool is_of_view = false;
  };

  void add_words(const Graph& graph);
  [[nodiscard]] KernelLabel label_of_generated(std::string_view name) const;
  // The words that no view has, such as " add mul".
  [[nodiscard]] static std::string words_without_views(const std::vector<const Word*>& words);

  std::vector<LabeledKernel> kernels_;
  bool is_predicted_ = false;
  std::vector<Word> words_;  // of the graph's calls, sorted
};

}  // namespace jointer
