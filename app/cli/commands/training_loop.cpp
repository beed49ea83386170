#include "app/cli/commands/training_loop.h"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "app/cli/commands/checks.h"
#include "app/cli/commands/table.h"
#include "core/base/units.h"
#include "core/cost/device.h"

namespace jointer::cli {
namespace {

std::string place(const TrainingRun& run, const Graph& graph) {
  return fmt::format("step {}, {}{}{}", run.peak_step, to_string(run.peak_phase),
                     run.peak_node ? " at " : "",
                     run.peak_node ? graph.name(run.peak_node) : std::string_view());
}

}  // namespace

void LoopOptions::add_to(CLI::App& command) {
  const HelpGroup group(command, "Training loop");
  CLI::Option* loop =
      command
          .add_option(
              "--loop", steps,
              "Also simulate N steps of a training loop around a pair or a flat training "
              "step: loss, gradients, optimizer state, and memory reserved by the allocator")
          ->type_name("N")
          ->check(whole_number(1, 100));
  set_choices(
      command.add_option("--loss", loss,
                         "With --loop and a pair: loss to compute in fp32 between the halves; "
                         "default: none"),
      {"none", "cross_entropy", "loss_parallel"})
      ->needs(loop);
  command
      .add_flag("--unboxed", unboxed,
                "With --loop and a pair: keep saved activations live until the backward ends, as "
                "if the halves ran as plain GraphModules")
      ->needs(loop);
  command
      .add_flag("--expandable-segments", expandable_segments,
                "With --loop: simulate PYTORCH_ALLOC_CONF=expandable_segments:True")
      ->needs(loop);
  command
      .add_option("--workspace-of", device,
                  "With --loop: include cuBLAS's workspaces on this device; none by default")
      ->type_name("DEVICE")
      ->needs(loop);
}

Result<TrainingRun> LoopOptions::run(const Graph& graph, const std::string& optimizer) const {
  TrainingLoop loop{
      .steps = steps,
      .optimizer = optimizer == "adamw" ? OptimizerState::adamw : OptimizerState::none,
      .loss = loss == "cross_entropy"   ? LossModel::cross_entropy
              : loss == "loss_parallel" ? LossModel::loss_parallel
                                        : LossModel::none,
      .boxed = !unboxed,
      .allocator = {.expandable_segments = expandable_segments}};
  if (!device.empty()) {
    JOINTER_TRY(const DeviceDescription described, load_device(device));
    loop.workspace_bytes = cublas_workspace_bytes(described.architecture);
  }
  return simulate_training(graph, loop);
}

Json to_json(const TrainingRun& run, const Graph& graph) {
  Json json;
  json["peak_bytes"] = run.peak_bytes;
  json["reserved_peak_bytes"] = run.reserved_peak_bytes;
  json["peak_step"] = run.peak_step;
  json["peak_phase"] = to_string(run.peak_phase);
  json["peak_node"] = run.peak_node ? Json(graph.name(run.peak_node)) : Json();
  Json& parts = json["at_peak"] = Json::object();
  for (const TrainingRun::Part& part : run.parts) parts[part.what] = part.bytes;
  json["logits_fp32_bytes"] = run.logits_fp32_bytes;
  json["phases"] = {{"forward", run.forward_peak_bytes},
                    {"loss", run.loss_peak_bytes},
                    {"backward", run.backward_peak_bytes}};
  return json;
}

std::string loop_table(const TrainingRun& run, const Graph& graph) {
  using enum Table::Align;
  Table facts({{"", left}, {"", left}});
  facts.add({"loop peak", fmt::format("{} ({})", format_bytes(run.peak_bytes), place(run, graph))});
  facts.add({"loop reserved", format_bytes(run.reserved_peak_bytes)});
  const std::string loss =
      graph.is_pair() ? fmt::format("loss {}, ", format_bytes(run.loss_peak_bytes)) : std::string();
  facts.add({"loop peaks by phase",
             fmt::format("forward {}, {}backward {}", format_bytes(run.forward_peak_bytes), loss,
                         format_bytes(run.backward_peak_bytes))});
  Table parts({{"at the loop peak", left}, {"bytes", right}, {"share", right}});
  for (const TrainingRun::Part& part : run.parts)
    parts.add(
        {part.what, format_bytes(part.bytes),
         format_percent(static_cast<double>(part.bytes) / static_cast<double>(run.peak_bytes))});
  return fmt::format("{}\n{}", facts.text(), parts.text());
}

}  // namespace jointer::cli
