// Settings for the passes that a search uses.
//
// torch.compile: policies and partitioners have options of torchtitan, or settings of
// torch._functorch.config. Bucketing and reordering passes have settings of torch._inductor.config
// and torch._inductor.config_comms, with upstream's names of the parameters. Inductor runs them in
// a fixed order: greedy buckets, overlap scheduling, the order for the least peak memory, and then
// a list of passes on collectives. A step that would have to run earlier than that has no setting.
//
// graph_trainer: the flags of passes/presets/graph_trainer.h. Passes of graph_trainer that only
// clean up or compile the graph stay on.
//
// Source: torch 2.15 (_inductor/config.py, config_comms.py, scheduler.py, fx_passes/post_grad.py,
// _functorch/config.py) and torchtitan 0.3.0 (config/configs.py, experiments/graph_trainer).

#include "passes/tune/training_flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>

#include "passes/presets/graph_trainer.h"

namespace jointer {
namespace {

constexpr std::string_view kInductor = "torch._inductor.config",
                           kComms = "torch._inductor.config_comms",
                           kFunctorch = "torch._functorch.config";
constexpr std::string_view kOwnPass = "this is a pass of Jointer";

// The parameters of autobucketing_reordering that torch reads from its configuration.
constexpr std::array<std::string_view, 13> kOverlapSettings{
    "collective_bucketing",
    "max_in_flight_gb",
    "max_compute_pre_fetch",
    "max_coll_distance",
    "compute_overlap_multipler",
    "max_memory_increase_gb",
    "max_memory_increase_ratio",
    "bucket_exposed_first",
    "bucket_only_internode_comms",
    "bucket_mode",
    "prioritize_bucketing_during_scheduling",
    "pre_bucketing_fsdp_collectives",
    "pre_bucketing_fsdp_collectives_bucket_cap_mb"};

// The order in which Inductor runs passes. It runs those of each stage once, except in the last.
enum class InductorStage : std::uint8_t { before, buckets, overlap, peak, collectives };

std::string python_value(const PassValue& value) {
  if (value.is_none()) return "None";
  if (const bool* flag = value.as<bool>()) return *flag ? "True" : "False";
  if (const auto* text = value.as<std::string>()) return fmt::format("\"{}\"", *text);
  return to_text(value);
}

std::string assignment(std::string_view module, std::string_view name, std::string_view value) {
  return fmt::format("{}.{} = {}", module, name, value);
}

// The value in Python of a parameter; equal numbers have equal texts.
std::string python_value(const Arguments& arguments, const Parameter& parameter) {
  const PassValue& value = arguments.value(parameter.name);
  const bool is_number = parameter.type == Parameter::Type::number && !value.is_none();
  return python_value(is_number ? PassValue(arguments.number(parameter.name)) : value);
}

std::string default_value(const Parameter& parameter) {
  const auto* whole = parameter.default_value.as<std::int64_t>();
  const bool is_number = parameter.type == Parameter::Type::number && whole != nullptr;
  return python_value(is_number ? PassValue(static_cast<double>(*whole)) : parameter.default_value);
}

// Finds the settings of torch.compile.
class CompileSettings {
 public:
  TrainingFlags find(const Pipeline& pipeline, const PassRegistry& registry) {
    for (const PipelineStep& step : pipeline) {
      if (!step.is_enabled) continue;
      now_ = {.step = step, .settings = {}, .reason = {}};
      const Pass* pass = registry.find(step.pass);
      if (pass == nullptr)
        now_.reason = "torch has no such pass";
      else if (const auto arguments = Arguments::check(pass->info.parameters, step.given))
        add(pass->info, *arguments);
      else
        now_.reason = arguments.error().message;
      if (!now_.reason.empty()) now_.settings.clear();
      flags_.steps.push_back(std::move(now_));
    }
    if (has_collectives_)
      flags_.shared = {assignment(kInductor, "reorder_for_compute_comm_overlap", "True"),
                       assignment(kInductor, "reorder_for_compute_comm_overlap_passes", "[]")};
    // It is on by default.
    if (!has_peak_)
      flags_.shared.push_back(assignment(kInductor, "reorder_for_peak_memory", "False"));
    return std::move(flags_);
  }

 private:
  void set(std::string_view module, std::string_view name, std::string_view value) {
    now_.settings.push_back(assignment(module, name, value));
  }

  void add(const PassInfo& pass, const Arguments& given) {
    const std::string_view name = pass.name;
    if (name == "fsdp_reshard_after_fwd")
      now_.settings = {fmt::format("--parallelism.fsdp_reshard_after_forward {}",
                                   given.boolean("reshard") ? "always" : "never")};
    else if (name == "min_cut_partition" || name == "knapsack_budget")
      add_partitioner(pass, given);
    else if (name == "greedy_bucketing_by_mb")
      add_greedy_buckets(given);
    else if (name == "autobucketing_reordering")
      add_overlap(pass, given);
    else if (name == "transformer_block_bucketing")
      add_block_buckets(given);
    else if (name == "reorder_for_peak_memory")
      add_peak(given);
    else if (name == "raise_comms" || name == "sink_waits" ||
             name == "reorder_compute_for_overlap" ||
             name == "reorder_communication_preserving_peak_memory" ||
             name == "sink_waits_iterative")
      add_collectives(pass, given);
    else
      now_.reason = why_none(pass);
  }

  static std::string why_none(const PassInfo& pass) {
    static const std::map<std::string_view, std::string_view> kReasons{
        {"default_partition",
         "torch.compile partitions with the minimum cut; another partitioner "
         "is set in code"},
        {"apply_sac",
         "torchtitan has the list of operators to save in its code; `jointer sac "
         "--export torchtitan` writes one"},
        {"tag_with_memory_policy",
         "--compile.memory_policy applies to flat training steps, not to joint graphs"},
        {"remove_tags", "the model's code sets the tags"},
        {"reassign_to_pg", "torch has no setting for a second process group"}};
    if (const auto found = kReasons.find(pass.name); found != kReasons.end())
      return std::string(found->second);
    return std::string(pass.source == "Jointer" ? kOwnPass : "torch has no setting for this pass");
  }

  // Returns false, and sets the reason, if Inductor has run its passes of this stage before the
  // previous steps.
  bool enter(InductorStage stage) {
    const bool is_again = stage == stage_ && stage != InductorStage::collectives;
    if (runs_blocks_ && stage >= InductorStage::peak)
      now_.reason = "graph_trainer turns off this pass with transformer_block_bucketing";
    else if (is_again)
      now_.reason = fmt::format("torch runs {} only once", now_.step.pass);
    else if (stage < stage_)
      now_.reason = fmt::format("torch runs {} before {}", now_.step.pass, last_);
    if (!now_.reason.empty()) return false;
    stage_ = stage;
    last_ = now_.step.pass;
    return true;
  }

  void add_partitioner(const PassInfo& pass, const Arguments& given) {
    if (given.boolean("ignore_tags")) {
      now_.reason = "torch's partitioner always follows tags";
      return;
    }
    if (pass.name == "min_cut_partition") {
      const std::string& regions = given.text("region_budget");
      if (regions == "ignore") now_.reason = "torch has no setting to ignore budgets of regions";
      if (regions == "part")
        set(kFunctorch, "activation_memory_budget_require_full_coverage", "False");
      return;
    }
    if (given.boolean("strict")) {
      now_.reason = "torch's rounding can exceed the budget";
      return;
    }
    static const std::map<std::string_view, std::string_view> kSolvers{
        {"dp", "dp"},
        {"greedy", "greedy"},
        {"sliding_hirschberg", "dp_knapsack_sliding_hirschberg"},
        {"knee_point", "dynamic_memory_budget_dp"}};
    set(kFunctorch, "activation_memory_budget", python_value(PassValue(given.number("budget"))));
    if (const std::string& solver = given.text("solver"); solver != "dp")
      set(kFunctorch, "activation_memory_budget_solver",
          fmt::format("\"{}\"", kSolvers.at(solver)));
  }

  void add_greedy_buckets(const Arguments& given) {
    if (!enter(InductorStage::buckets)) return;
    constexpr double kTorchCap = 2000;
    const double cap = given.number("bucket_cap_mb");
    for (const auto& [parameter, setting] :
         {std::pair("reduce_scatter", "bucket_reduce_scatters_fx"),
          std::pair("all_reduce", "bucket_all_reduces_fx"),
          std::pair("all_gather", "bucket_all_gathers_fx")}) {
      if (!given.boolean(parameter)) continue;
      set(kInductor, setting, "\"all\"");
      if (cap != kTorchCap)
        set(kInductor, fmt::format("{}_bucket_size_determinator", setting),
            fmt::format("lambda bucket: {}", python_value(PassValue(cap))));
    }
    if (given.boolean("multidtype"))
      set(kInductor, "bucket_all_gathers_bucket_mode", "\"custom_ops_multidtype\"");
  }

  void add_overlap(const PassInfo& pass, const Arguments& given) {
    if (!enter(InductorStage::overlap)) return;
    const std::string module = fmt::format("{}.aten_distributed_optimizations", kInductor);
    set(module, "enable_overlap_scheduling", "True");
    for (const Parameter& parameter : pass.parameters) {
      const std::string value = python_value(given, parameter);
      const bool is_default = value == default_value(parameter);
      if (parameter.name == "collective_bucketing") {  // off by default in torch
        set(module, parameter.name, value);
      } else if (!is_default && parameter.name != "torch_compatible") {
        const bool is_known =
            std::ranges::find(kOverlapSettings, parameter.name) != kOverlapSettings.end();
        // torch's own default, which is a number, then applies.
        if (!is_known || value == "None")
          now_.reason = fmt::format("torch has no setting for {}={}", parameter.name,
                                    to_text(given.value(parameter.name)));
        set(module, parameter.name, value);
      }
    }
  }

  void add_block_buckets(const Arguments& given) {
    if (!enter(InductorStage::buckets)) return;
    if (given.has_value("module_bucket_plans"))
      now_.reason = "graph_trainer derives the plan from the model";
    else if (given.text("bucket_mode") != "auto")
      now_.reason = "graph_trainer has no option for bucket_mode";
    now_.settings = {"--compile.mode jit --compile.passes transformer_block_bucketing"};
    runs_blocks_ = true;
  }

  void add_peak(const Arguments& given) {
    static const std::set<std::string> kMethods{"lpmf", "bfs", "dfs"};
    has_peak_ = true;
    if (!enter(InductorStage::peak)) return;
    const std::vector<std::string> methods = given.texts("methods");
    if (std::set(methods.begin(), methods.end()) != kMethods)
      now_.reason = "torch always tries lpmf, bfs and dfs";
    set(kInductor, "reorder_for_peak_memory", "True");
    const std::string_view kThreshold = "size_threshold_for_succ_based_strategy";
    if (const std::int64_t bytes = given.integer(kThreshold); bytes != 0)
      set(kInductor, kThreshold, std::to_string(bytes));
  }

  // All passes on collectives share one value of a parameter.
  void add_collectives(const PassInfo& pass, const Arguments& given) {
    if (!enter(InductorStage::collectives)) return;
    has_collectives_ = true;
    now_.settings = {fmt::format("{}.reorder_for_compute_comm_overlap_passes += [\"{}\"]",
                                 kInductor, pass.name)};
    for (const Parameter& parameter : pass.parameters) {
      const std::string value = python_value(given, parameter);
      const auto [shared, is_new] = values_.try_emplace(parameter.name, value);
      if (shared->second != value)
        now_.reason = fmt::format("torch has one {} for all steps, and an earlier step has {}",
                                  parameter.name, shared->second);
      // Passes that move collectives past one another are off by default here, and on in torch.
      const bool is_unsafe = parameter.name.ends_with("_unsafe_collectives_reorder");
      const std::string usual = is_unsafe ? "True" : default_value(parameter);
      if (value == usual) continue;
      if (parameter.name == "reorder_prefetch_limit")
        now_.reason = "torch no longer reads reorder_prefetch_limit";
      if (is_new) set(kComms, parameter.name, value);
    }
  }

  TrainingFlags flags_;
  StepFlags now_;  // of the current step
  InductorStage stage_ = InductorStage::before;
  std::string last_;  // the last pass of that stage
  bool has_peak_ = false, has_collectives_ = false, runs_blocks_ = false;
  std::map<std::string, std::string> values_;  // of the parameters of passes on collectives
};

// The flags without those that turn off passes that only clean up or compile the graph.
std::string essential_text(GraphTrainerFlags flags) {
  std::erase_if(flags.disabled, [](const std::string& pass) {
    return pass != "joint_transformer_block_bucketing_reordering" &&
           pass != "tag_with_memory_policy" && pass != "selective_activation_remat";
  });
  return to_text(flags);
}

TrainingFlags graph_trainer_settings(const Pipeline& pipeline) {
  TrainingFlags found;
  for (const PipelineStep& step : pipeline)
    if (step.is_enabled) found.steps.push_back({.step = step, .settings = {}, .reason = {}});
  if (found.steps.empty()) return found;
  const auto whole = graph_trainer_flags(pipeline);
  if (whole) {
    if (std::string text = essential_text(*whole); !text.empty())
      found.shared.push_back(std::move(text));
    return found;
  }
  for (StepFlags& each : found.steps) {
    const auto flags = graph_trainer_flags({each.step});
    if (!flags)
      each.reason = each.step.pass == "reassign_to_pg"
                        ? "graph_trainer runs reassign_collective_pgs instead "
                          "(--compile.enable_fsdp_ag_rs_overlap)"
                        : "graph_trainer has no flag for this";
  }
  const auto has_none = [](const StepFlags& each) { return !each.reason.empty(); };
  if (std::ranges::none_of(found.steps, has_none))
    found.steps.back().reason = whole.error().message;
  return found;
}

bool is_option(const std::string& setting) {
  return setting.starts_with("--");
}

// The module whose attribute a line of Python sets.
std::string module_of(const std::string& setting) {
  for (const std::string_view module : {kComms, kInductor, kFunctorch})
    if (setting.starts_with(fmt::format("{}.", module))) return std::string(module);
  return {};
}

}  // namespace

bool TrainingFlags::are_complete() const {
  return !steps.empty() &&
         std::ranges::all_of(steps, [](const StepFlags& step) { return step.reason.empty(); });
}

std::string TrainingFlags::text() const {
  std::vector<std::string> all = shared;
  for (const StepFlags& step : steps)
    all.insert(all.end(), step.settings.begin(), step.settings.end());
  std::string options, python, others;
  std::set<std::string> modules;
  for (const std::string& setting : all) {
    (is_option(setting) ? options : python) += setting + "\n";
    if (!is_option(setting)) modules.insert(module_of(setting));
  }
  for (const StepFlags& step : steps)
    if (!step.reason.empty()) others += fmt::format("# {}: {}\n", to_text(step.step), step.reason);
  std::string text;
  if (!options.empty()) text += fmt::format("# Options of torchtitan 0.3\n{}", options);
  if (!python.empty()) {
    text += "# torch 2.15, before the model is compiled\n";
    for (const std::string& module : modules) text += fmt::format("import {}\n", module);
    text += python;
  }
  if (text.empty() && others.empty()) text = "# The default settings\n";
  if (!others.empty()) text += fmt::format("# Without a setting\n{}", others);
  return text;
}

TrainingFlags training_flags(const Pipeline& pipeline, TrainedAs trained_as,
                             const PassRegistry& registry) {
  if (trained_as == TrainedAs::flat_step) return graph_trainer_settings(pipeline);
  return CompileSettings().find(pipeline, registry);
}

}  // namespace jointer
