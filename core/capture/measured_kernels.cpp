// Ties kernels to the calls of a trace.
//
// Steps, for each compiled graph in the trace
//   1. Pair kernels and calls with equal exact labels (kernel_labels.h), as far as their number and
//      order leave no choice (CertainPairs): a name that is called three times by both sides is
//      paired in order; if the trace has only two of the calls, they are paired only where kernels
//      around them say which.
//   2. The same with rough labels, for predicted kernels that are not tied yet.
//   3. In a CUDA graph, library kernels have names that the wrapper does not contain
//      ("nvjet_tst_...", "cutlass_..."). If only external kernels and calls without a name are left
//      between two neighboring pairs, a single kernel gets all calls; if there are as many calls as
//      kernels, each gets one, since each launches at least once. Only the stream with the most
//      launches is considered, and no collectives. If the trace marks the compiled graph, this also
//      applies before the first pair and after the last one.
//   4. If the graph does not say which operators the model called (`original_aten`), as in FX text,
//      the names of predicted kernels are uncertain. If only one such kernel and one call of the
//      same category are left between two pairs, as in step 3, they are tied.
// The first compiled graph with the most tied kernels is chosen.
//
// Cost: that of CertainPairs for each compiled graph in the trace.

#include "core/capture/measured_kernels.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "core/base/certain_pairs.h"
#include "core/base/checked.h"
#include "core/base/index.h"
#include "core/capture/kernel_labels.h"

namespace jointer {
namespace {

// Maps texts to numbers from 1, and the empty text to 0.
class TokenTable {
 public:
  std::uint32_t operator[](const std::string& text) {
    if (text.empty()) return 0;
    return numbers_.try_emplace(text, static_cast<std::uint32_t>(numbers_.size() + 1))
        .first->second;
  }

 private:
  std::map<std::string, std::uint32_t> numbers_;
};

class MeasuredTies {
 public:
  MeasuredTies(const TracedGraph& graph, const KernelLabels& labels, bool is_predicted, bool is_gpu)
      : graph_(graph), labels_(labels), is_predicted_(is_predicted), is_gpu_(is_gpu) {
    for (std::size_t i = 0; i < labels_.kernels().size(); ++i) {
      const LabeledKernel& kernel = labels_.kernels()[i];
      if (kernel.is_launch && kernel.function_of < 0) launching_.push_back(i);
    }
  }

  MeasuredKernels run() {
    result_.kernels.resize(labels_.kernels().size());
    pair_by_labels();
    pair_by_neighbors();
    count_functions();
    add_untied();
    return std::move(result_);
  }

 private:
  [[nodiscard]] const LabeledKernel& kernel(std::size_t launching) const {
    return labels_.kernels()[launching_[launching]];
  }
  KernelMeasurement& measurement(std::size_t launching) {
    return result_.kernels[launching_[launching]];
  }

  void tie(std::size_t launching, std::size_t call, TiedBy by) {
    KernelMeasurement& measured = measurement(launching);
    measured.by = by;
    measured.calls.push_back(call);
    if (kernel(launching).is_collective && !is_gpu_) return;
    measured.ns = saturating_add(measured.ns.value_or(0), graph_.calls[call].ns);
  }

  void pair_by_labels() {
    TokenTable tokens;
    std::vector<std::uint32_t> exact_kernels, exact_calls, rough_kernels, rough_calls;
    for (std::size_t i = 0; i < launching_.size(); ++i) {
      exact_kernels.push_back(tokens[kernel(i).label.exact]);
      rough_kernels.push_back(tokens[kernel(i).label.rough]);
    }
    for (const TracedCall& call : graph_.calls) {
      const KernelLabel label =
          labels_.of_call(call.name, call.is_collective, graph_.launches[call.first].name);
      exact_calls.push_back(tokens[label.exact]);
      rough_calls.push_back(tokens[label.rough]);
    }
    pairs_ = CertainPairs(launching_.size(), graph_.calls.size());
    pairs_.add(exact_kernels, exact_calls);
    pairs_.add(rough_kernels, rough_calls);
    for (std::size_t i = 0; i < launching_.size(); ++i) {
      const std::uint32_t call = pairs_.of_a()[i];
      if (call == CertainPairs::kNone) continue;
      const bool is_by_operators = is_predicted_ && is_inductor_kernel(graph_.calls[call].name);
      tie(i, call, is_by_operators ? TiedBy::operators : TiedBy::name);
    }
  }

  // The stream with the most launches that are not of collectives.
  [[nodiscard]] std::int64_t main_stream() const {
    std::map<std::int64_t, std::size_t> counts;
    for (const TracedCall& call : graph_.calls)
      if (!call.is_collective) counts[graph_.launches[call.first].stream] += call.count;
    const auto largest =
        std::ranges::max_element(counts, {}, [](const auto& each) { return each.second; });
    return largest == counts.end() ? 0 : largest->first;
  }

  void pair_by_neighbors() {
    const std::int64_t stream = main_stream();
    struct Gap {
      std::vector<std::size_t> kernels, calls;  // that are not tied
      bool is_of_libraries = true;
    };
    const auto tie_gap = [&](const Gap& gap) {
      if (gap.kernels.empty() || gap.calls.empty()) return;
      if (!gap.is_of_libraries) {
        if (gap.kernels.size() == 1 && gap.calls.size() == 1 &&
            is_unnamed_call(gap.kernels.front(), gap.calls.front()))
          tie(gap.kernels.front(), gap.calls.front(), TiedBy::neighbors);
        return;
      }
      if (gap.kernels.size() == 1)
        for (const std::size_t call : gap.calls) tie(gap.kernels.front(), call, TiedBy::neighbors);
      else if (gap.kernels.size() == gap.calls.size())
        for (std::size_t i = 0; i < gap.calls.size(); ++i)
          tie(gap.kernels[i], gap.calls[i], TiedBy::neighbors);
    };
    // Collectives run on other streams, so their order relative to this one is accidental.
    std::vector<CertainPairs::Pair> anchors;
    for (const CertainPairs::Pair& pair : pairs_.in_order())
      if (!kernel(pair.first).is_collective && is_on(stream, pair.second)) anchors.push_back(pair);
    std::uint32_t first_kernel = 0, first_call = 0;
    for (std::size_t i = 0; i <= anchors.size(); ++i) {
      const bool is_last = i == anchors.size();
      const auto end_kernel =
          is_last ? static_cast<std::uint32_t>(launching_.size()) : anchors[i].first;
      const auto end_call =
          is_last ? static_cast<std::uint32_t>(graph_.calls.size()) : anchors[i].second;
      Gap gap;
      for (std::uint32_t k = first_kernel; k < end_kernel; ++k) {
        if (pairs_.of_a()[k] != CertainPairs::kNone || kernel(k).is_collective) continue;
        gap.kernels.push_back(k);
        gap.is_of_libraries = gap.is_of_libraries && kernel(k).is_library;
      }
      for (std::uint32_t c = first_call; c < end_call; ++c) {
        if (pairs_.of_b()[c] != CertainPairs::kNone || !is_on(stream, c)) continue;
        gap.calls.push_back(c);
        gap.is_of_libraries = gap.is_of_libraries && graph_.calls[c].name.empty();
      }
      // Without marks, there may be other work before the first pair and after the last one.
      if (!graph_.key.empty() || (i > 0 && !is_last)) tie_gap(gap);
      first_kernel = end_kernel + 1;
      first_call = end_call + 1;
    }
  }

  // True if the call may be a predicted kernel whose name is not certain.
  [[nodiscard]] bool is_unnamed_call(std::size_t launching, std::size_t index) const {
    const TracedCall& call = graph_.calls[index];
    const LabeledKernel& candidate = kernel(launching);
    const KernelLabel label = labels_.of_call(call.name, call.is_collective, {});
    return !candidate.is_named && !candidate.label.category.empty() &&
           candidate.label.category == label.category;
  }

  [[nodiscard]] bool is_on(std::int64_t stream, std::size_t call) const {
    return !graph_.calls[call].is_collective &&
           graph_.launches[graph_.calls[call].first].stream == stream;
  }

  // Kernels in the C++ function of another one are measured with it.
  void count_functions() {
    for (std::size_t i = 0; i < result_.kernels.size(); ++i) {
      const std::int32_t first = labels_.kernels()[i].function_of;
      if (first < 0) continue;
      const KernelMeasurement& measured = result_.kernels[as_index(first)];
      if (measured.by == TiedBy::nothing) continue;
      result_.kernels[i].by = measured.by;
      result_.kernels[i].counted_in = first;
    }
  }

  void add_untied() {
    for (std::size_t i = 0; i < result_.kernels.size(); ++i)
      if (labels_.kernels()[i].is_launch && result_.kernels[i].by == TiedBy::nothing)
        result_.untied_kernels.push_back(i);
    std::set<std::size_t> tied;
    for (const KernelMeasurement& measured : result_.kernels)
      tied.insert(measured.calls.begin(), measured.calls.end());
    for (std::size_t call = 0; call < graph_.calls.size(); ++call)
      if (tied.find(call) == tied.end()) result_.untied_calls.push_back(call);
  }

  const TracedGraph& graph_;
  const KernelLabels& labels_;
  bool is_predicted_, is_gpu_;
  std::vector<std::size_t> launching_;  // kernels that a call may be tied to
  CertainPairs pairs_{0, 0};            // of `launching_` and calls
  MeasuredKernels result_;
};

Result<MeasuredKernels> tie_best(const CompiledTrace& trace, const KernelLabels& labels,
                                 bool is_predicted, std::string_view of) {
  std::optional<MeasuredKernels> best;
  for (std::size_t i = 0; i < trace.graphs.size(); ++i) {
    MeasuredKernels ties = MeasuredTies(trace.graphs[i], labels, is_predicted, trace.is_gpu).run();
    ties.graph = i;
    if (!best || ties.tied_kernels() > best->tied_kernels()) best = std::move(ties);
  }
  if (best && best->tied_kernels() > 0) return *std::move(best);
  return input_error(
      "{}: no compiled graph in the trace has any of the {}; profile a step of the same model, "
      "compiled by the same torch{}",
      trace.label, of,
      is_predicted ? ", or use the artifacts of its compilation, which name each kernel (in the "
                     "Kernels pane, or with `jointer kernels --source measured --artifacts`)"
                   : "");
}

}  // namespace

std::string_view to_string(TiedBy by) {
  switch (by) {
    case TiedBy::name:
      return "name";
    case TiedBy::operators:
      return "operators";
    case TiedBy::neighbors:
      return "neighbors";
    case TiedBy::nothing:
      break;
  }
  return "nothing";
}

std::size_t MeasuredKernels::tied_kernels() const {
  return static_cast<std::size_t>(std::ranges::count_if(
      kernels, [](const KernelMeasurement& each) { return each.by != TiedBy::nothing; }));
}

Result<MeasuredKernels> tie_measured(const CompiledTrace& trace, const CompiledProgram& program) {
  return tie_best(trace, KernelLabels(program), false, "compilation's kernels");
}

Result<MeasuredKernels> tie_measured(const CompiledTrace& trace, const Graph& graph,
                                     const kernels::Ir& ir, const kernels::Kernels& predicted) {
  return tie_best(trace, KernelLabels(graph, ir, predicted), true, "predicted kernels");
}

}  // namespace jointer
