// reorder_compute_and_comm_for_overlap: runs a list of passes in order.
//
// Source: torch 2.11, torch/_inductor/comms.py; the list is
// config.reorder_for_compute_comm_overlap_passes, empty by default. Deviation: upstream's passes
// share a global configuration, whereas this pass has the parameters of all these passes, and each
// parameter applies to every pass in the list that has it. The list may contain only names, not
// functions.

#include <fmt/core.h>

#include <algorithm>

#include "passes/reordering/reordering.h"

namespace jointer {
namespace {

std::vector<Pass> members() {
  return {raise_comms_pass(), reorder_communication_preserving_peak_memory_pass(),
          reorder_compute_for_overlap_pass(), sink_waits_pass(), sink_waits_iterative_pass()};
}

std::vector<Parameter> parameters_of(std::span<const Pass> passes) {
  Parameter list{.name = "passes",
                 .type = Parameter::Type::list,
                 .default_value = PassValue::List{},
                 .doc =
                     "Passes to run, in this order. Torch recommends "
                     "reorder_communication_preserving_peak_memory, then sink_waits_iterative, "
                     "then reorder_communication_preserving_peak_memory again."};
  for (const Pass& pass : passes) list.choices.push_back(pass.info.name);
  std::vector<Parameter> parameters{std::move(list)};
  for (const Pass& pass : passes)
    for (const Parameter& parameter : pass.info.parameters)
      if (std::ranges::none_of(
              parameters, [&](const Parameter& known) { return known.name == parameter.name; }))
        parameters.push_back(parameter);
  return parameters;
}

Result<void> run_reorder_compute_and_comm_for_overlap(Graph& graph, const Arguments& arguments,
                                                      PassContext& context) {
  const std::vector<Pass> passes = members();
  const std::vector<std::string> names = arguments.texts("passes");
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string& name = names[i];
    const auto pass =
        std::ranges::find_if(passes, [&](const Pass& each) { return each.info.name == name; });
    std::vector<std::pair<std::string, PassValue>> given;
    for (const Parameter& parameter : pass->info.parameters)
      given.emplace_back(parameter.name, arguments.value(parameter.name));
    JOINTER_TRY(const Arguments own, Arguments::check(pass->info.parameters, given));
    context.decide("runs", fmt::format("{}; its decisions follow.", name));
    // Each pass in the list contributes an equal share of the progress.
    const auto share = static_cast<double>(names.size());
    double done = static_cast<double>(i) / share;
    PassContext::Options options;
    options.analysis = context.analysis();
    options.peak_limit = context.peak_limit();
    options.report = [&](double its) { done = (static_cast<double>(i) + its) / share; };
    options.is_cancelled = [&] { return !context.report(done); };
    PassContext part(options);
    JOINTER_CHECK(pass->run(graph, own, part));
    context.add(part);
  }
  if (names.empty()) context.decide("kept", "The list of passes is empty.");
  return {};
}

}  // namespace

Pass reorder_compute_and_comm_for_overlap_pass() {
  return {.info = {.name = "reorder_compute_and_comm_for_overlap",
                   .summary = "Runs a list of reordering passes.",
                   .source = "torch/_inductor/comms.py",
                   .stage = PassStage::reordering,
                   .parameters = parameters_of(members())},
          .run = run_reorder_compute_and_comm_for_overlap};
}

}  // namespace jointer
