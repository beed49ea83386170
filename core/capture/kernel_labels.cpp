// Names kernels the way a profiler's trace does.
//
// Inductor calls a generated kernel
//     triton_CATEGORY_fused_OPERATORS_NUMBER   (cpp_fused_OPERATORS_NUMBER on the CPU)
// CATEGORY has three letters: `poi` for pointwise loops, `red`, `per`, `spl` and `unk` for
// reductions, `for` for lists of tensors, `tem` for templates. OPERATORS are those that the model
// called (`original_aten`), of all nodes in the kernel, sorted, each once. NUMBER counts the
// distinct kernels of a compilation; kernels with the same source share a name. On the CPU, all
// loops up to the next call, view, collective or wait are one C++ function.
//
// A prediction has no numbers. Its exact label is the category and the operators or, for lists of
// tensors, only the category; whether a reduction is `red` or `per` depends on tuning, so both are
// the same category. Inductor also names operators of nodes that only view data, and a prediction
// may include different ones. The rough label therefore leaves out every operator that a view in
// the graph has. Since names of operators contain underscores too, a kernel's name is split into
// operators of the graph in ascending order; if several ways to split it have different results, or
// the search for ways exceeds its limits, it has no rough label.
//
// Deviation: `prepare_softmax_online`, which a pass of Inductor adds, is left out of rough labels.
//
// Source: torch/_inductor/utils.py (get_fused_kernel_name), codegen/triton.py and codegen/cpp.py
// (define_kernel), wrapper_benchmark.py (categories), scheduler.py (where C++ functions end).

#include "core/capture/kernel_labels.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "core/base/index.h"
#include "core/base/name_table.h"
#include "core/capture/compiled_trace.h"
#include "core/ops/operator_table.h"

namespace jointer {
namespace {

using KernelKind = kernels::Kernel::Kind;

constexpr std::size_t kMaxWays = 8, kMaxTries = 20'000;

constexpr NameTable<std::string_view, 7> kCategories{{{"poi", "pointwise"},
                                                      {"red", "reduction"},
                                                      {"per", "reduction"},
                                                      {"unk", "reduction"},
                                                      {"spl", "reduction"},
                                                      {"for", "foreach"},
                                                      {"tem", "template"}}};

std::string_view category_of(KernelKind kind) {
  switch (kind) {
    case KernelKind::pointwise:
      return "pointwise";
    case KernelKind::reduction:
    case KernelKind::mix_order_reduction:
      return "reduction";
    case KernelKind::foreach_:
      return "foreach";
    case KernelKind::template_:
      return "template";
    default:
      return {};
  }
}

// Returns "mm" for "aten.mm.default".
std::string_view packet_word(std::string_view target) {
  const std::size_t first = target.find('.');
  if (first == std::string_view::npos) return target;
  target.remove_prefix(first + 1);
  return target.substr(0, target.find('.'));
}

// The operator that the model called.
std::string_view word_of(const Graph& graph, const Node& node) {
  if (node.original_aten) return packet_word(graph.text(node.original_aten));
  return packet_word(graph.op(node).packet());
}

bool only_views(const OperatorInfo& op) {
  return op.is_view || op.is_getitem || op.name == "aten._unsafe_view.default" ||
         op.name == "aten.reshape.default";
}

std::string collective_label(CollectiveKind kind) {
  return kind == CollectiveKind::none ? std::string()
                                      : "collective " + std::string(to_string(kind));
}

// The collective that an operator such as "_c10d_functional.all_reduce.default" starts.
CollectiveKind collective_of_target(std::string_view target) {
  return describe_operator(target).collective;
}

// The collective that a call in a trace, such as "_c10d_functional::all_reduce", starts.
CollectiveKind collective_of_event(std::string_view event) {
  const std::size_t colons = event.find("::");
  if (colons == std::string_view::npos) return CollectiveKind::none;
  std::string target(event.substr(0, colons));
  target += '.';
  target += event.substr(colons + 2);
  target += ".default";
  return collective_of_target(target);
}

// The collective of a kernel such as "ncclDevKernel_AllGather_RING_LL(...)".
CollectiveKind collective_of_kernel(std::string_view kernel) {
  constexpr NameTable<CollectiveKind, 5> kNames{{{"AllGather", CollectiveKind::all_gather},
                                                 {"ReduceScatter", CollectiveKind::reduce_scatter},
                                                 {"AllReduce", CollectiveKind::all_reduce},
                                                 {"SendRecv", CollectiveKind::all_to_all},
                                                 {"Broadcast", CollectiveKind::broadcast}}};
  const std::size_t begin = kernel.find('_');
  if (begin == std::string_view::npos) return CollectiveKind::none;
  kernel.remove_prefix(begin + 1);
  return value_in(kNames, kernel.substr(0, kernel.find_first_of("_(<")))
      .value_or(CollectiveKind::none);
}

// Returns the name that a trace gives to a call of the wrapper: "aten::mm" for extern_kernels.mm.
std::string event_of_call(std::string_view call) {
  constexpr std::string_view kExtern = "extern_kernels.", kOps = "torch.ops.", kCopy = ".copy_";
  if (call.starts_with(kExtern)) return "aten::" + std::string(call.substr(kExtern.size()));
  if (call.starts_with(kOps)) return describe_operator(call.substr(kOps.size())).event_name();
  return call.ends_with(kCopy) ? "aten::copy_" : std::string(call);
}

// The parts of "triton_per_fused_add_mean_2" and "cpp_fused_add_0".
struct GeneratedName {
  std::string_view category;   // "reduction", "cpp"
  std::string_view operators;  // "_add_mean"
};

std::optional<GeneratedName> split_name(std::string_view name) {
  constexpr std::string_view kTriton = "triton_", kCpp = "cpp_", kFused = "fused";
  GeneratedName parts;
  if (name.starts_with(kTriton)) {
    name.remove_prefix(kTriton.size());
    const auto category = value_in(kCategories, name.substr(0, name.find('_')));
    if (!category) return std::nullopt;
    parts.category = *category;
    name.remove_prefix(std::min(name.size(), name.find('_') + 1));
  } else if (name.starts_with(kCpp)) {
    name.remove_prefix(kCpp.size());
    parts.category = "cpp";
  } else {
    return std::nullopt;
  }
  const std::size_t number = name.rfind('_');
  if (!name.starts_with(kFused) || number == std::string_view::npos) return std::nullopt;
  parts.operators = name.substr(kFused.size(), number - kFused.size());
  return parts;
}

std::string exact_label(std::string_view category, std::string_view operators) {
  // Kernels for lists of tensors may have no operators in their names.
  if (category == "foreach") return "foreach";
  return std::string(category) + " fused" + std::string(operators);
}

}  // namespace

KernelLabels::KernelLabels(const CompiledProgram& program) {
  for (const CompiledKernel& kernel : program.kernels) {
    LabeledKernel& labeled = kernels_.emplace_back();
    labeled.is_launch = kernel.kind != CompiledKind::wait && kernel.kind != CompiledKind::view;
    labeled.is_library = kernel.kind == CompiledKind::external && !kernel.source;
    labeled.is_collective = kernel.kind == CompiledKind::collective;
    if (!labeled.is_launch) continue;
    if (labeled.is_collective) {
      constexpr std::string_view kOps = "torch.ops.";
      std::string_view target = kernel.name;
      if (target.starts_with(kOps)) target.remove_prefix(kOps.size());
      labeled.label.exact = collective_label(collective_of_target(target));
    } else {
      labeled.label.exact = kernel.source ? kernel.name : event_of_call(kernel.name);
    }
  }
}

KernelLabels::KernelLabels(const Graph& graph, const kernels::Ir& ir,
                           const kernels::Kernels& predicted)
    : is_predicted_(true) {
  add_words(graph);
  const bool is_all_on_cpu = graph.main_device() == DeviceType::cpu;
  std::vector<std::set<std::string_view>> words(predicted.kernels.size());
  std::int32_t open = -1;  // the first kernel of the C++ function that is being written
  for (std::size_t i = 0; i < predicted.kernels.size(); ++i) {
    const kernels::Kernel& kernel = predicted.kernels[i];
    LabeledKernel& labeled = kernels_.emplace_back();
    labeled.is_launch = kernels::is_launch(kernel.kind) && (kernel.is_on_gpu || is_all_on_cpu);
    labeled.is_library = kernel.kind == KernelKind::external;
    labeled.is_collective = kernel.kind == KernelKind::collective;
    const bool is_generated = !category_of(kernel.kind).empty();
    if (!is_generated && kernel.kind != KernelKind::nop) open = -1;
    if (!labeled.is_launch) continue;
    if (!is_generated) {
      const std::string& target = ir.ops[as_index(kernel.ops.front())].target;
      labeled.label.exact = labeled.is_collective ? collective_label(collective_of_target(target))
                                                  : describe_operator(target).event_name();
      continue;
    }
    std::size_t named = i;
    if (is_all_on_cpu && kernel.kind != KernelKind::template_) {
      if (open < 0) open = static_cast<std::int32_t>(i);
      named = as_index(open);
      if (named != i) labeled.function_of = open;
    }
    for (const NodeId id : kernel.nodes) {
      const Node& node = graph.node(id);
      if (node.kind != NodeKind::call) continue;
      words[named].insert(word_of(graph, node));
      if (!node.original_aten) kernels_[named].is_named = false;
    }
  }
  for (std::size_t i = 0; i < kernels_.size(); ++i) {
    if (words[i].empty()) continue;
    const std::string_view category =
        is_all_on_cpu ? "cpp" : category_of(predicted.kernels[i].kind);
    std::string operators;
    std::vector<const Word*> known;
    for (const std::string_view word : words[i]) {
      operators += '_';
      operators += word;
      const auto found = std::ranges::lower_bound(words_, word, {}, &Word::text);
      if (found != words_.end() && found->text == word) known.push_back(&*found);
    }
    kernels_[i].label.category = category;
    kernels_[i].label.exact = exact_label(category, operators);
    if (const std::string rough = words_without_views(known); !rough.empty())
      kernels_[i].label.rough = std::string(category) + rough;
  }
}

void KernelLabels::add_words(const Graph& graph) {
  std::map<std::string_view, bool> found{{"prepare_softmax_online", true}};
  for (const NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    if (node.kind != NodeKind::call) continue;
    bool& is_of_view = found[word_of(graph, node)];
    is_of_view = is_of_view || only_views(graph.op(node));
  }
  for (const auto& [text, is_of_view] : found)
    if (!text.empty()) words_.push_back({std::string(text), is_of_view});
}

std::string KernelLabels::words_without_views(const std::vector<const Word*>& words) {
  std::string text;
  for (const Word* word : words)
    if (!word->is_of_view) text += ' ' + word->text;
  return text;
}

KernelLabel KernelLabels::label_of_generated(std::string_view name) const {
  const std::optional<GeneratedName> parts = split_name(name);
  if (!parts) return {};
  KernelLabel label{.exact = exact_label(parts->category, parts->operators),
                    .category = std::string(parts->category)};
  // A way to split the start of the text into operators of the graph, in ascending order.
  struct Way {
    std::size_t at = 0, next = 0;  // in the text; the first word that may follow
    std::vector<const Word*> words;
  };
  const std::string_view text = parts->operators;
  std::set<std::string> results;
  std::vector<Way> open(1);
  std::size_t ways = 0;
  for (std::size_t tries = 0; !open.empty() && ways < kMaxWays; ++tries) {
    if (tries == kMaxTries) return label;
    Way way = std::move(open.back());
    open.pop_back();
    if (way.at == text.size()) {
      results.insert(words_without_views(way.words));
      ++ways;
      continue;
    }
    for (std::size_t i = way.next; i < words_.size() && text[way.at] == '_'; ++i) {
      const std::string& word = words_[i].text;
      const std::string_view rest = text.substr(way.at + 1);
      const bool fits =
          rest.starts_with(word) && (rest.size() == word.size() || rest[word.size()] == '_');
      if (!fits) continue;
      Way& longer = open.emplace_back(Way{way.at + 1 + word.size(), i + 1, way.words});
      longer.words.push_back(&words_[i]);
    }
  }
  if (results.size() == 1 && open.empty() && !results.begin()->empty())
    label.rough = std::string(parts->category) + *results.begin();
  return label;
}

KernelLabel KernelLabels::of_call(std::string_view name, bool is_collective,
                                  std::string_view launch) const {
  if (is_collective) {
    CollectiveKind kind = collective_of_event(name);
    if (kind == CollectiveKind::none) kind = collective_of_kernel(launch);
    return {.exact = collective_label(kind)};
  }
  if (!is_predicted_ || !is_inductor_kernel(name)) return {.exact = std::string(name)};
  return label_of_generated(name);
}

}  // namespace jointer
