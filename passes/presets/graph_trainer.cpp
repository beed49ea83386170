// Converts the flags of graph_trainer to pipelines, and pipelines to flags.
//
// Flags to passes: builds upstream's list, in the same order and under the same conditions. Passes
// to flags: a pass that only one flag adds implies this flag. Passes that these flags select but
// that are not in the pipeline are disabled by name. The flags are accepted if they select exactly
// this pipeline.
//
// Deviations:
// - Arguments that upstream derives from the model (bucket plans, layers) are left to Jointer's
//   passes, which derive them from the graph. `require_all_to_all` is not set, although upstream
//   sets it for models with expert parallelism.
// - Upstream decomposes operators within `full_inductor_compilation`. Here, a separate pipeline
//   step, inductor_decomposition, precedes it.
// - `mode`, `backend`, `precompile_artifact_dir` and similar flags are refused, because they do not
//   select passes. A name in `disable_passes` that is not a pass of graph_trainer is refused, too
//   (upstream ignores it).

#include "passes/presets/graph_trainer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <type_traits>

#include "core/base/byte_units.h"
#include "core/base/checked.h"
#include "core/base/nearest_name.h"
#include "core/base/number_text.h"

namespace jointer {
namespace {

constexpr std::string_view kPrefix = "--compile.", kSuffix = "_pass";
constexpr std::string_view kMoe = "layers.*.moe";

struct Switch {
  std::string_view name;
  bool GraphTrainerFlags::*value;
  bool is_inverted = false;
};
constexpr std::array<Switch, 7> kSwitches{{
    {"enable_fsdp_ag_rs_overlap", &GraphTrainerFlags::fsdp_ag_rs_overlap},
    {"enable_fsdp_dense_region_overlap", &GraphTrainerFlags::dense_region_overlap},
    {"enable_async_tensor_parallel", &GraphTrainerFlags::async_tensor_parallel},
    {"ep_overlap.enabled", &GraphTrainerFlags::ep_overlap},
    {"ep_overlap.disable_early_grad_accumulation", &GraphTrainerFlags::early_grad_accumulation,
     true},
    {"numerics_changing_optim", &GraphTrainerFlags::numerics_changing},
    {"enable_passes", &GraphTrainerFlags::runs_passes},
}};

struct Choice {
  std::string_view name;
  std::string GraphTrainerFlags::*value;
  std::array<std::string_view, 4> choices;
};
constexpr std::array<Choice, 5> kChoices{{
    {"memory_policy",
     &GraphTrainerFlags::memory_policy,
     {"default", "full", "eager", "sac_and_offload"}},
    {"ep_overlap.chunk_dim", &GraphTrainerFlags::chunk_dim, {"batch", "seq"}},
    {"ep_overlap.strategy", &GraphTrainerFlags::strategy, {"graph", "eager"}},
    {"ep_overlap.module_fqn", &GraphTrainerFlags::module_fqn, {"layers.*", kMoe}},
    {"inductor_compilation", &GraphTrainerFlags::inductor, {"regional", "full"}},
}};

constexpr std::string_view kPrefetch = "cpu_offload_prefetch_n_layers",
                           kDefer = "cpu_offload_defer_n_layers", kBudget = "cpu_offload_budget_gb",
                           kDisable = "disable_passes";

// All passes that graph_trainer may run, under Jointer's names.
constexpr std::array<std::string_view, 22> kPasses{"eliminate_dead_code",
                                                   "canonicalize_graph",
                                                   "deduplicate_fsdp_unshard_chains",
                                                   "tag_with_memory_policy",
                                                   "apply_cpu_offload",
                                                   "selective_activation_remat",
                                                   "populate_eager_chunk_metadata",
                                                   "populate_chunk_dim_metadata",
                                                   "ep_overlap_chunk",
                                                   "isolate_ep_process_group",
                                                   "reassign_collective_pgs",
                                                   "joint_transformer_block_bucketing_reordering",
                                                   "ep_overlap_schedule",
                                                   "concretize_ep_chunk_symbolic_shapes",
                                                   "schedule_fsdp_comms_to_dense_regions",
                                                   "async_tensor_parallel",
                                                   "annotate_flex_attention_for_regional_inductor",
                                                   "annotate_rmsnorm_for_regional_inductor",
                                                   "regional_inductor",
                                                   "insert_kernel_annotations",
                                                   "full_inductor_compilation",
                                                   "cudagraph"};

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  char quote = 0;
  bool is_open = false;
  for (const char c : text) {
    if (quote != 0) {
      if (c == quote)
        quote = 0;
      else
        word += c;
    } else if (c == '"' || c == '\'') {
      quote = c;
      is_open = true;
    } else if (c == ' ' || c == '\t' || c == '\n' || c == '\\') {
      if (!word.empty() || is_open) words.push_back(std::move(word));
      word.clear();
      is_open = false;
    } else {
      word += c;
    }
  }
  if (!word.empty() || is_open) words.push_back(std::move(word));
  return words;
}

class Parser {
 public:
  explicit Parser(std::string_view text) : words_(words_of(text)) {}

  Result<GraphTrainerFlags> parse() {
    while (at_ < words_.size()) JOINTER_CHECK(flag());
    return std::move(flags_);
  }

 private:
  Result<void> flag() {
    std::string word = words_[at_++];
    value_.reset();
    if (const auto equals = word.find('='); equals != std::string::npos) {
      value_ = word.substr(equals + 1);
      word.resize(equals);
    }
    if (!word.starts_with(kPrefix))
      return fail(Error::Kind::usage,
                  "`{}` is not a graph_trainer flag that selects passes; such flags begin with {}",
                  word, kPrefix);
    std::string name = word.substr(kPrefix.size());
    // The command line accepts dashes in place of underscores.
    std::replace(name.begin(), name.end(), '-', '_');
    for (const Switch& each : kSwitches) {
      const bool is_negated = name == negated(each.name);
      if (name == each.name || is_negated) return set_switch(each, word, is_negated);
    }
    for (const Choice& each : kChoices)
      if (name == each.name) return set_choice(each, word);
    if (name == kPrefetch) return set_number(word, flags_.prefetch_layers);
    if (name == kDefer) return set_number(word, flags_.defer_layers);
    if (name == kBudget) return set_number(word, flags_.offload_budget_gb);
    if (name == kDisable) return disable(word);
    std::string known;
    for (const std::string_view each : names())
      known += fmt::format("{}{}{}", known.empty() ? "" : ", ", kPrefix, each);
    return fail(Error::Kind::usage,
                "{}: not a graph_trainer flag that selects passes{} known flags: {}", word,
                nearest_name_question(name, names(), kPrefix), known);
  }

  // `ep_overlap.no_enabled` switches off `ep_overlap.enabled`.
  static std::string negated(std::string_view name) {
    const auto dot = name.rfind('.');
    const std::size_t at = dot == std::string_view::npos ? 0 : dot + 1;
    return fmt::format("{}no_{}", name.substr(0, at), name.substr(at));
  }

  static std::vector<std::string_view> names() {
    std::vector<std::string_view> all{kPrefetch, kDefer, kBudget, kDisable};
    for (const Switch& each : kSwitches) all.push_back(each.name);
    for (const Choice& each : kChoices) all.push_back(each.name);
    return all;
  }

  Result<void> set_switch(const Switch& which, const std::string& word, bool is_negated) {
    bool on = !is_negated;
    const bool says = !value_ && at_ < words_.size() &&
                      (words_[at_] == "True" || words_[at_] == "False" || words_[at_] == "true" ||
                       words_[at_] == "false");
    if (says) value_ = words_[at_++];
    if (value_) {
      const bool is_true = *value_ == "True" || *value_ == "true";
      if (is_negated)
        return fail(Error::Kind::usage, "{}: expected no value, got `{}`", word, *value_);
      if (!is_true && *value_ != "False" && *value_ != "false")
        return fail(Error::Kind::usage, "{}: expected True or False, got `{}`", word, *value_);
      on = is_true;
    }
    flags_.*which.value = on != which.is_inverted;
    return {};
  }

  Result<std::string> value(const std::string& word) {
    if (value_) return *value_;
    if (at_ >= words_.size() || words_[at_].starts_with("--"))
      return fail(Error::Kind::usage, "{}: expected a value", word);
    return words_[at_++];
  }

  Result<void> set_choice(const Choice& which, const std::string& word) {
    JOINTER_TRY(std::string given, value(word));
    std::string known;
    for (const std::string_view each : which.choices) {
      if (each.empty()) continue;
      if (given == each) {
        flags_.*which.value = std::move(given);
        return {};
      }
      known += fmt::format("{}{}", known.empty() ? "" : ", ", each);
    }
    return fail(Error::Kind::usage, "{}: expected one of {}, got `{}`", word, known, given);
  }

  template <class Number>
  Result<void> set_number(const std::string& word, Number& number) {
    JOINTER_TRY(const std::string given, value(word));
    const auto parsed = number_of<Number>(given);
    if (!parsed || !(*parsed >= 0))
      return fail(
          Error::Kind::usage, "{}: expected {}, got `{}`", word,
          std::is_integral_v<Number> ? "an integer of at least 0" : "a number of at least 0",
          given);
    number = *parsed;
    return {};
  }

  Result<void> disable(const std::string& word) {
    JOINTER_TRY(const std::string given, value(word));
    flags_.disabled.clear();
    std::size_t begin = 0;
    while (begin <= given.size()) {
      const std::size_t end = std::min(given.find(',', begin), given.size());
      const std::string name = given.substr(begin, end - begin);
      begin = end + 1;
      if (name.empty()) continue;
      // Upstream's documentation recommends disabling this pass, but no pipeline here contains it.
      if (name == "custom_codegen_pass") continue;
      const std::string ours =
          name.ends_with(kSuffix) ? name.substr(0, name.size() - kSuffix.size()) : std::string();
      if (std::ranges::find(kPasses, ours) == kPasses.end()) {
        return fail(
            Error::Kind::usage, "{}: graph_trainer has no pass {}{} pass names end with {}", word,
            name, nearest_name_question(ours.empty() ? name : ours, kPasses, {}, kSuffix), kSuffix);
      }
      flags_.disabled.push_back(ours);
    }
    std::ranges::sort(flags_.disabled);
    flags_.disabled.erase(std::unique(flags_.disabled.begin(), flags_.disabled.end()),
                          flags_.disabled.end());
    return {};
  }

  std::vector<std::string> words_;
  std::size_t at_ = 0;
  std::optional<std::string> value_;  // the current flag's value, if given with `=`
  GraphTrainerFlags flags_;
};

using Given = std::vector<std::pair<std::string, PassValue>>;

PassValue of(std::string text) {
  return PassValue{std::move(text)};
}

Result<void> check(const GraphTrainerFlags& flags) {
  if (flags.offload_budget_gb != GraphTrainerFlags().offload_budget_gb &&
      flags.memory_policy != "sac_and_offload")
    return fail(Error::Kind::usage, "{}{} requires --compile.memory_policy sac_and_offload",
                kPrefix, kBudget);
  if (flags.ep_overlap && flags.chunk_dim == "seq" && flags.module_fqn != kMoe)
    return fail(Error::Kind::usage,
                "--compile.ep_overlap.chunk_dim seq requires --compile.ep_overlap.module_fqn {}, "
                "because attention reads the whole sequence",
                kMoe);
  return {};
}

// The arguments that differ from the defaults. Only sac_and_offload has a budget.
Given policy_arguments(const GraphTrainerFlags& flags) {
  Given given;
  if (flags.memory_policy != "default") given.emplace_back("policy", of(flags.memory_policy));
  if (flags.memory_policy == "sac_and_offload" &&
      flags.offload_budget_gb != GraphTrainerFlags().offload_budget_gb)
    given.emplace_back("offload_bytes",
                       PassValue{saturating_round(flags.offload_budget_gb * kGiB)});
  return given;
}

Given offload_arguments(const GraphTrainerFlags& flags) {
  Given given;
  if (flags.prefetch_layers != 1)
    given.emplace_back("prefetch_layers", PassValue{flags.prefetch_layers});
  if (flags.defer_layers != 1) given.emplace_back("defer_layers", PassValue{flags.defer_layers});
  return given;
}

void add_ep_overlap(Pipeline& passes, const GraphTrainerFlags& flags) {
  if (flags.strategy == "eager") {
    passes.push_back({.pass = "populate_eager_chunk_metadata", .given = {}});
  } else {
    passes.push_back(
        {.pass = "populate_chunk_dim_metadata", .given = {{"mode", of(flags.chunk_dim)}}});
    PipelineStep chunk{
        .pass = "ep_overlap_chunk",
        .given = {{"mode", of(flags.chunk_dim)}, {"module_pattern", of(flags.module_fqn)}}};
    if (!flags.early_grad_accumulation)
      chunk.given.emplace_back("optimize_grad_live_out", PassValue{false});
    passes.push_back(std::move(chunk));
  }
  passes.push_back({.pass = "isolate_ep_process_group", .given = {}});
  passes.push_back({.pass = "eliminate_dead_code", .given = {}});
}

// True if FSDP's collectives are to overlap with dense regions. If modules are chunked, these must
// be the MoE blocks, and the strategy must be "graph"; otherwise upstream warns and continues
// without the overlap.
bool overlaps_dense_regions(const GraphTrainerFlags& flags) {
  return flags.dense_region_overlap &&
         (!flags.ep_overlap || (flags.module_fqn == kMoe && flags.strategy == "graph"));
}

const PassValue* argument(const Pipeline& pipeline, std::string_view pass, std::string_view name) {
  for (const PipelineStep& step : pipeline)
    if (step.pass == pass)
      for (const auto& [key, value] : step.given)
        if (key == name) return &value;
  return nullptr;
}

template <class T>
void take(const Pipeline& pipeline, std::string_view pass, std::string_view name, T& into) {
  if (const PassValue* value = argument(pipeline, pass, name))
    if (const T* held = std::get_if<T>(&value->held)) into = *held;
}

// The flags that the pipeline steps imply. The caller must check that they select the same
// pipeline.
GraphTrainerFlags likely_flags(const Pipeline& pipeline) {
  GraphTrainerFlags flags;
  take(pipeline, "tag_with_memory_policy", "policy", flags.memory_policy);
  std::int64_t offloaded = 0;
  take(pipeline, "tag_with_memory_policy", "offload_bytes", offloaded);
  if (offloaded > 0) flags.offload_budget_gb = static_cast<double>(offloaded) / kGiB;
  take(pipeline, "apply_cpu_offload", "prefetch_layers", flags.prefetch_layers);
  take(pipeline, "apply_cpu_offload", "defer_layers", flags.defer_layers);
  flags.fsdp_ag_rs_overlap = has_pass(pipeline, "reassign_collective_pgs");
  flags.dense_region_overlap = has_pass(pipeline, "schedule_fsdp_comms_to_dense_regions");
  flags.async_tensor_parallel = has_pass(pipeline, "async_tensor_parallel");
  flags.ep_overlap = has_pass(pipeline, "ep_overlap_schedule") ||
                     has_pass(pipeline, "isolate_ep_process_group") ||
                     has_pass(pipeline, "ep_overlap_chunk");
  if (has_pass(pipeline, "populate_eager_chunk_metadata")) flags.strategy = "eager";
  take(pipeline, "populate_chunk_dim_metadata", "mode", flags.chunk_dim);
  take(pipeline, "ep_overlap_schedule", "module_pattern", flags.module_fqn);
  take(pipeline, "ep_overlap_chunk", "module_pattern", flags.module_fqn);
  take(pipeline, "ep_overlap_chunk", "mode", flags.chunk_dim);
  take(pipeline, "ep_overlap_chunk", "optimize_grad_live_out", flags.early_grad_accumulation);
  if (has_pass(pipeline, "full_inductor_compilation")) flags.inductor = "full";
  flags.numerics_changing = has_pass(pipeline, "annotate_rmsnorm_for_regional_inductor");
  return flags;
}

Pipeline enabled(const Pipeline& pipeline) {
  Pipeline steps;
  for (const PipelineStep& step : pipeline)
    if (step.is_enabled) steps.push_back(step);
  return steps;
}

}  // namespace

Result<GraphTrainerFlags> parse_graph_trainer_flags(std::string_view text) {
  JOINTER_TRY(GraphTrainerFlags flags, Parser(text).parse());
  JOINTER_CHECK(check(flags));
  return flags;
}

std::string to_text(const GraphTrainerFlags& flags) {
  const GraphTrainerFlags usual;
  std::string text;
  const auto add = [&](std::string_view name, std::string_view value) {
    text += fmt::format("{}{}{}{}{}", text.empty() ? "" : " ", kPrefix, name,
                        value.empty() ? "" : " ", value);
  };
  for (const Choice& each : kChoices) {
    const std::string& value = flags.*each.value;
    // A shell would expand an unquoted `*` to file names.
    if (value != usual.*each.value)
      add(each.name, value.find('*') == std::string::npos ? value : fmt::format("'{}'", value));
  }
  for (const Switch& each : kSwitches)
    if (flags.*each.value != usual.*each.value)
      add(each.name, each.value == &GraphTrainerFlags::runs_passes ? "False" : "");
  if (flags.prefetch_layers != usual.prefetch_layers)
    add(kPrefetch, std::to_string(flags.prefetch_layers));
  if (flags.defer_layers != usual.defer_layers) add(kDefer, std::to_string(flags.defer_layers));
  if (flags.offload_budget_gb != usual.offload_budget_gb)
    add(kBudget, fmt::format("{}", flags.offload_budget_gb));
  std::string names;
  for (const std::string& name : flags.disabled)
    names += fmt::format("{}{}{}", names.empty() ? "" : ",", name, kSuffix);
  if (!names.empty()) add(kDisable, names);
  return text;
}

Result<Pipeline> graph_trainer_pipeline(const GraphTrainerFlags& flags) {
  JOINTER_CHECK(check(flags));
  Pipeline passes;
  if (!flags.runs_passes) return passes;
  const auto is_disabled = [&](std::string_view name) {
    return std::ranges::find(flags.disabled, name) != flags.disabled.end();
  };
  const auto add = [&](std::string_view name, Given given = {}) {
    passes.push_back({.pass = std::string(name), .given = std::move(given)});
  };
  add("eliminate_dead_code");
  add("canonicalize_graph");
  add("deduplicate_fsdp_unshard_chains");
  add("tag_with_memory_policy", policy_arguments(flags));
  add("apply_cpu_offload", offload_arguments(flags));
  add("selective_activation_remat");
  if (flags.ep_overlap) add_ep_overlap(passes, flags);
  if (flags.fsdp_ag_rs_overlap) add("reassign_collective_pgs");
  add("joint_transformer_block_bucketing_reordering");
  if (flags.ep_overlap) {
    add("ep_overlap_schedule",
        {{"module_pattern", of(flags.module_fqn)},
         {"pair_first_token_exchange", PassValue{flags.module_fqn == kMoe}}});
    add("concretize_ep_chunk_symbolic_shapes");
  }
  if (overlaps_dense_regions(flags))
    add("schedule_fsdp_comms_to_dense_regions", {{"strict", PassValue{true}}});
  if (flags.async_tensor_parallel) add("async_tensor_parallel");
  if (flags.inductor == "full") {
    add("full_inductor_compilation");
  } else {
    add("annotate_flex_attention_for_regional_inductor");
    if (flags.numerics_changing) add("annotate_rmsnorm_for_regional_inductor");
    add("regional_inductor");
    if (!is_disabled("cudagraph")) add("insert_kernel_annotations");
  }
  add("cudagraph");
  std::erase_if(passes, [&](const PipelineStep& step) { return is_disabled(step.pass); });
  if (const auto full = std::ranges::find_if(
          passes,
          [](const PipelineStep& step) { return step.pass == "full_inductor_compilation"; });
      full != passes.end())
    passes.insert(full, {.pass = "inductor_decomposition", .given = {}});
  return passes;
}

Result<GraphTrainerFlags> graph_trainer_flags(const Pipeline& pipeline) {
  const Pipeline wanted = enabled(pipeline);
  GraphTrainerFlags flags = likely_flags(wanted);
  if (wanted.empty()) {
    flags.runs_passes = false;
    return flags;
  }
  JOINTER_TRY(const Pipeline all, graph_trainer_pipeline(flags));
  for (const PipelineStep& step : all)
    if (step.pass != "inductor_decomposition" && !has_pass(wanted, step.pass) &&
        std::ranges::find(flags.disabled, step.pass) == flags.disabled.end())
      flags.disabled.push_back(step.pass);
  std::ranges::sort(flags.disabled);
  // Upstream omits the annotations anyway if there is no CUDA graph.
  if (!has_pass(wanted, "cudagraph")) std::erase(flags.disabled, "insert_kernel_annotations");
  JOINTER_TRY(const Pipeline chosen, graph_trainer_pipeline(flags));
  if (chosen == wanted) return flags;
  const auto [a, b] = std::mismatch(wanted.begin(), wanted.end(), chosen.begin(), chosen.end());
  if (a == wanted.end())
    return fail(Error::Kind::usage,
                "no graph_trainer flags select this pipeline: the closest flags also run {}",
                b->pass);
  return fail(
      Error::Kind::usage,
      "no graph_trainer flags select this pipeline: the closest flags do not run `{}` as step {}",
      to_text(*a), a - wanted.begin() + 1);
}

std::string graph_trainer_recipe_file(const Pipeline& pipeline, std::string_view recipe) {
  const Pipeline steps = enabled(pipeline);
  GraphTrainerFlags flags;
  if (has_pass(steps, "full_inductor_compilation")) flags.inductor = "full";
  if (!has_pass(steps, "cudagraph")) flags.disabled = {"cudagraph"};
  flags.numerics_changing = has_pass(steps, "annotate_rmsnorm_for_regional_inductor");
  const std::string compiles = to_text(flags);
  const bool is_absolute = recipe.starts_with('/');
  return fmt::format(
      R"(# Registers a pipeline of torchtitan's graph_trainer that replays a Jointer recipe:
# {0}
# Import it before training, and select it: --compile.pass_pipeline jointer{1}{2}
{3}
import jointer
from torchtitan.experiments.graph_trainer.passes import construct_default_graph_passes
from torchtitan.experiments.graph_trainer.registry import register_pass_pipeline

RECIPE = {4}{5}

# Passes with which graph_trainer compiles the final graph.
COMPILES = (
    "annotate_flex_attention_for_regional_inductor_pass",
    "annotate_rmsnorm_for_regional_inductor_pass",
    "regional_inductor_pass",
    "insert_kernel_annotations_pass",
    "full_inductor_compilation_pass",
    "cudagraph_pass",
)


@register_pass_pipeline("jointer")
def pipeline(traced_result, config, *, parallel_dims=None):
    """Replays the recipe on the traced step, then runs graph_trainer's own compilation passes."""
    default = construct_default_graph_passes(traced_result, config, parallel_dims=parallel_dims)
    compiles = [each for each in default if getattr(each, "func", each).__name__ in COMPILES]
    replay = jointer.recipe_pass(RECIPE)
    replay.__name__ = "jointer_recipe_pass"
    return [replay, *compiles]
)",
      to_text(steps), compiles.empty() ? "" : " ", compiles,
      is_absolute ? "" : "\nfrom pathlib import Path\n",
      is_absolute ? "" : "Path(__file__).parent / ", nlohmann::json(recipe).dump());
}

}  // namespace jointer
