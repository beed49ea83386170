#include "app/launch/baseline.h"

#include <fmt/ranges.h>

#include <vector>

#include "core/base/counted.h"
#include "core/graph/size_text.h"
#include "core/graph/title_in_text.h"

namespace jointer {
namespace {

// The outputs that the runner returns: all except those that a pair's forward saves for backward.
std::vector<const OutputEntry*> outputs_of(const Graph& graph) {
  std::vector<const OutputEntry*> outputs;
  for (std::size_t i = 0; i < graph.part_count(); ++i) {
    const Part& part = graph.part(PartId(i));
    const bool saves = graph.is_pair() && part.kind == CaptureKind::forward;
    for (const OutputEntry& entry : part.outputs)
      if (!saves || entry.role != Role::saved) outputs.push_back(&entry);
  }
  return outputs;
}

const Tensor* tensor_of(const Graph& graph, const OutputEntry& entry) {
  return entry.node ? graph.single_tensor(graph.node(entry.node)) : nullptr;
}

std::string text(const Graph& graph, const OutputEntry& entry) {
  const Tensor* tensor = tensor_of(graph, entry);
  return tensor == nullptr ? "None" : type_text(graph, *tensor);
}

bool fits(const Graph& graph, const OutputEntry& entry, const Graph& baseline,
          const OutputEntry& expected) {
  const Tensor *a = tensor_of(graph, entry), *b = tensor_of(baseline, expected);
  // An entry without a tensor is None if it also has no node. Otherwise, it is a tensor that the
  // file does not describe.
  if (a == nullptr) return b == nullptr || static_cast<bool>(entry.node);
  if (b == nullptr) return static_cast<bool>(expected.node);
  if (a->dtype != b->dtype || a->rank != b->rank) return false;
  const std::span<const Dim> sizes = graph.shape(*a), wanted = baseline.shape(*b);
  for (std::size_t i = 0; i < sizes.size(); ++i)
    if (!sizes[i].expression && !wanted[i].expression && sizes[i].value != wanted[i].value)
      return false;
  return true;
}

}  // namespace

Result<void> check_baseline(const Graph& graph, const Graph& baseline) {
  const auto after_space = [](std::string_view title) {
    return title.empty() ? std::string() : fmt::format(" {}", title);
  };
  const auto outputs = outputs_of(graph), expected = outputs_of(baseline);
  if (outputs.size() != expected.size())
    return fail(Error::Kind::usage,
                "cannot compare outputs: the baseline{} has {}, but {} has {}; choose a baseline "
                "with the same outputs",
                after_space(baseline.title()), counted(expected.size(), "output"),
                title_in_text(graph), outputs.size());
  for (std::size_t i = 0; i < outputs.size(); ++i)
    if (!fits(graph, *outputs[i], baseline, *expected[i]))
      return fail(Error::Kind::usage,
                  "cannot compare outputs: output {} is {} in the baseline{}, but {} in {}; choose "
                  "a baseline with the same outputs",
                  i, text(baseline, *expected[i]), after_space(baseline.title()),
                  text(graph, *outputs[i]), title_in_text(graph));
  return {};
}

}  // namespace jointer
