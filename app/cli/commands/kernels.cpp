// jointer kernels FILE: shows the kernels that Inductor would make, or has made, of a graph.

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "app/cli/commands/checks.h"
#include "app/cli/commands/commands.h"
#include "app/cli/commands/compiled_answer.h"
#include "app/cli/commands/interruption.h"
#include "app/cli/commands/kernel_comparison.h"
#include "app/cli/commands/kernel_moves.h"
#include "app/cli/commands/kernel_passes.h"
#include "app/cli/commands/measured_answer.h"
#include "app/cli/commands/names_text.h"
#include "app/cli/commands/options.h"
#include "app/cli/commands/outputs.h"
#include "app/cli/commands/predicted_kernels.h"
#include "app/cli/commands/progress_line.h"
#include "app/cli/commands/table.h"
#include "app/cli/commands/unused_options.h"
#include "core/base/bytes.h"
#include "core/base/counted.h"
#include "core/base/units.h"
#include "core/capture/half_graph.h"
#include "core/graph/torch_version.h"
#include "core/inductor/ask_inductor.h"
#include "core/kernels/compiled_order.h"
#include "core/kernels/lowering.h"
#include "core/pass/pipeline_text.h"

namespace jointer::cli {
namespace {

constexpr std::size_t kMaxShown = 20, kMaxNodesShown = 4;

struct KernelsCommand {
  GraphOptions graph;
  std::string source = "inductor", half, device = "h100", torch, artifacts, trace, against, passes,
              order;
  std::vector<std::string> moves;
  bool json = false, ask_again = false;
  bool has_device = false;  // the user chose `device`
};

// The part to show: the only one, or the chosen half of a pair.
Result<PartId> chosen_part(const Graph& graph, const KernelsCommand& options) {
  if (!graph.is_pair()) {
    if (!options.half.empty())
      return fail(Error::Kind::usage, "option --half: {} is not a pair; leave out the option",
                  options.graph.file);
    return kForwardPart;
  }
  if (options.half.empty())
    return fail(
        Error::Kind::usage,
        "{} is a pair, whose halves are compiled separately; choose one with --half forward "
        "or --half backward",
        options.graph.file);
  return options.half == "forward" ? kForwardPart : kBackwardPart;
}

std::string_view stage_text(AskStage stage) {
  switch (stage) {
    case AskStage::load_torch:
      return "loading torch";
    case AskStage::decompose:
      return "decomposing";
    case AskStage::lower:
      return "lowering";
    case AskStage::fuse:
      return "fusing";
    case AskStage::reorder:
      break;
  }
  return "reordering";
}

Result<Json> ask_scheduler(const Graph& graph, PartId part, const KernelsCommand& options) {
  ProgressLine line;
  AskOptions question;
  question.device = options.device;
  question.torch = options.torch;
  question.may_be_cached = !options.ask_again;
  question.on_progress = [&](const AskProgress& progress) {
    if (line.is_seen())
      line.show(
          fmt::format("{}  {}", format_percent(progress.fraction()), stage_text(progress.stage)));
  };
  // An interruption must end the worker and delete its files.
  const Interruption interruption;
  question.is_cancelled = &Interruption::has_happened;
  return ask_inductor(graph, part, question);
}

// One row per kind of kernel: the number of kernels, and the bytes that they read and write.
Table kinds_table(const Json& kernels) {
  struct Sum {
    std::int64_t count = 0, bytes = 0;
  };
  std::map<std::string, Sum> sums;
  for (const Json& kernel : kernels) {
    Sum& sum = sums[kernel["kind"].get<std::string>()];
    ++sum.count;
    sum.bytes += kernel["bytes"].get<std::int64_t>();
  }
  using enum Table::Align;
  Table table({{"kind", left}, {"number", right}, {"bytes", right}});
  for (const auto& [kind, sum] : sums)
    table.add({kind, format_count(sum.count), format_bytes(sum.bytes)});
  return table;
}

// The kernels that read and write the most bytes.
Table largest_table(const Json& kernels) {
  std::vector<const Json*> largest;
  for (const Json& kernel : kernels) largest.push_back(&kernel);
  std::ranges::stable_sort(largest, std::greater<>(), [](const Json* kernel) {
    return (*kernel)["bytes"].get<std::int64_t>();
  });
  if (largest.size() > kMaxShown) largest.resize(kMaxShown);
  using enum Table::Align;
  Table table({{"largest kernels", left}, {"kind", left}, {"bytes", right}, {"computes", left}});
  for (const Json* kernel : largest)
    table.add({(*kernel)["name"].get<std::string>(), (*kernel)["kind"].get<std::string>(),
               format_bytes((*kernel)["bytes"].get<std::int64_t>()),
               names_text((*kernel)["nodes"], kMaxNodesShown)});
  return table;
}

// One row per reason not to fuse two kernels.
Table reasons_table(const Json& not_fused) {
  std::map<std::string, std::int64_t> counts;
  for (const Json& pair : not_fused) ++counts[pair["reason"].get<std::string>()];
  using enum Table::Align;
  Table table({{"pairs", right}, {"not fused because", left}});
  for (const auto& [reason, count] : counts) table.add({format_count(count), reason});
  return table;
}

void print_moves(const Json& answer) {
  using enum Table::Align;
  Table table({{"move", left}, {"peak after it", right}});
  for (const Json& move : answer["moves"])
    table.add(
        {move["move"].get<std::string>(), format_bytes(move["peak_bytes"].get<std::int64_t>())});
  fmt::print("\n{}", table.text());
}

void print_text(const Json& answer) {
  const auto source = answer["source"].get<std::string>();
  const bool is_compiled = source == "compiled";
  const Json& bound = answer["memory_bound"];
  const std::string torch = answer["torch"].get<std::string>();
  fmt::print("{} {}, for {}\n",
             is_compiled             ? "Compiled by"
             : source == "predicted" ? "Predicted for Inductor of"
                                     : "Inductor of",
             torch.empty() ? "an unknown version of torch" : "torch " + torch,
             answer["device"].get<std::string>());
  fmt::print("{} on the device; {} of them bound by memory, {} read and written\n",
             counted(answer["device_kernels"].get<std::size_t>(), "kernel"),
             format_count(bound["kernels"].get<std::int64_t>()),
             format_bytes(bound["bytes"].get<std::int64_t>()));
  if (answer.contains("peak_bytes"))
    fmt::print("peak of allocated memory: {}\n",
               format_bytes(answer["peak_bytes"].get<std::int64_t>()));
  fmt::print("\n{}\n{}", kinds_table(answer["kernels"]).text(),
             largest_table(answer["kernels"]).text());
  if (answer.contains("moves")) print_moves(answer);
  if (const Table reasons = reasons_table(answer["not_fused"]); !reasons.empty())
    fmt::print("\n{}", reasons.text());
  if (is_compiled) print_ties(answer);
  if (answer.contains("passes")) print_kernel_passes(answer["passes"]);
  if (answer.contains("against")) print_comparison(answer["against"]);
}

// Predicts the kernels of a graph that is not a pair, in their order after the passes or moves.
// With --export, writes the moves as a recipe of compiled order.
Result<Json> predict_part(const Graph& graph, TorchVersion version, const KernelsCommand& options) {
  if (options.moves.empty()) {
    JOINTER_TRY(const Pipeline passes, parse_pipeline(options.passes));
    return predicted_kernels(graph, version, passes);
  }
  const kernels::Ir ir = kernels::lower(graph, version);
  JOINTER_TRY(const MovedKernels moved,
              move_kernels(graph, ir, kernels::schedule(ir, version), options.moves));
  Json answer = kernels_json(graph, moved.after, version);
  answer["moves"] = moves_json(moved);
  answer["peak_bytes_before"] = moved.before.peak;
  if (options.order.empty()) return answer;
  const kernels::PartMoves part{graph,       kForwardPart,      moved.before,    version,
                                moved.moves, moved.before.peak, moved.after.peak};
  JOINTER_TRY(const std::string text,
              kernels::write_compiled_order(graph.title(), std::span(&part, 1)));
  JOINTER_CHECK(write_bytes(options.order, text));
  return answer;
}

// The kernels that Jointer predicts for the version of torch that --torch names or, by default, the
// one that made the graph.
Result<Json> predict(const Graph& graph, PartId part, const KernelsCommand& options) {
  const TorchVersion version = parse_torch_version(options.torch).value_or(torch_version_of(graph));
  Json answer;
  if (graph.is_pair()) {
    JOINTER_TRY(const Graph half, half_graph(graph, part));
    JOINTER_TRY(answer, predict_part(half, version, options));
  } else {
    JOINTER_TRY(answer, predict_part(graph, version, options));
  }
  answer["device"] = options.device;
  return answer;
}

// The kernels in a trace of compiled steps.
Result<Json> measure(const Graph& graph, PartId part, const KernelsCommand& options) {
  MeasuredRequest request;
  request.trace = options.trace;
  request.artifacts = options.artifacts;
  if (options.has_device) request.device = options.device;
  request.torch = parse_torch_version(options.torch).value_or(torch_version_of(graph));
  return measured_answer(request, graph, part);
}

Result<Json> answer_of(const Graph& graph, const KernelsCommand& options) {
  JOINTER_TRY(const PartId part, chosen_part(graph, options));
  if (options.source == "compiled") {
    JOINTER_TRY(const OpenedCompilation opened, open_compilation(options.artifacts, graph, part));
    return compiled_answer(opened, graph);
  }
  if (options.source == "measured") return measure(graph, part, options);
  if (options.source == "predicted") return predict(graph, part, options);
  JOINTER_TRY(Json answer, ask_scheduler(graph, part, options));
  if (options.against.empty()) return answer;
  if (graph.is_pair()) {
    JOINTER_TRY(const Graph half, half_graph(graph, part));
    JOINTER_TRY(answer["against"], compare_with_prediction(half, answer));
  } else {
    JOINTER_TRY(answer["against"], compare_with_prediction(graph, answer));
  }
  return answer;
}

Result<void> check_options(const CLI::App& command, const KernelsCommand& options) {
  if (options.source == "predicted") {
    JOINTER_CHECK(refuse_options(command, {"--device"},
                                 "kernels are predicted for an H100; leave out the option"));
  } else {
    JOINTER_CHECK(refuse_options(command, {"--passes"},
                                 "only predicted kernels can be reordered; use --source "
                                 "predicted"));
  }
  if (options.source != "inductor")
    JOINTER_CHECK(refuse_options(command, {"--against", "--ask-again"},
                                 "only --source inductor asks Inductor; leave out the option"));
  if (!options.moves.empty() && options.source != "predicted")
    return fail(Error::Kind::usage,
                "option --move: only predicted kernels can be moved; use --source predicted");
  if (!options.order.empty())
    JOINTER_CHECK(check_outputs({{"--export", options.order}}, options.graph.inputs()));
  if (options.order == "-") JOINTER_CHECK(refuse_options(command, {"--json"}, kNoFigures));
  if (options.source == "measured") {
    if (options.trace.empty())
      return fail(Error::Kind::usage,
                  "option --source: the source `measured` needs --trace, a torch.profiler trace of "
                  "a compiled step");
    if (options.artifacts.empty()) return {};
    return refuse_options(command, {"--torch"},
                          "the artifacts name their version of torch; leave out the option");
  }
  JOINTER_CHECK(refuse_options(command, {"--trace"},
                               "only --source measured reads a trace; leave out the option"));
  if (options.source != "compiled")
    return refuse_options(command, {"--artifacts"},
                          "only --source compiled and --source measured read artifacts; leave out "
                          "the option");
  return refuse_options(command, {"--device", "--torch"},
                        "the artifacts name their GPU and version of torch; leave out the option");
}

Result<int> run(const CLI::App& command, const KernelsCommand& options) {
  JOINTER_CHECK(check_options(command, options));
  JOINTER_TRY(const Graph graph, options.graph.open(options.json));
  JOINTER_TRY(const Json answer, answer_of(graph, options));
  if (options.order == "-") return ExitCode::done;
  if (options.json)
    print_json(answer);
  else if (options.source == "measured")
    print_measured(answer);
  else
    print_text(answer);
  return ExitCode::done;
}

}  // namespace

void add_kernels_command(CLI::App& program, int& exit_code) {
  auto options = std::make_shared<KernelsCommand>();
  CLI::App* command = program.add_subcommand(
      "kernels", "Shows the kernels that torch's compiler, Inductor, generates for a graph");
  options->graph.add_to(*command);
  set_choices(command->add_option("--source", options->source,
                                  "Where the kernels come from: `inductor` asks the scheduler of "
                                  "the installed torch, without a GPU; `predicted` needs no "
                                  "torch and takes milliseconds; `compiled` reads what a "
                                  "compilation has written; `measured` takes the times of "
                                  "kernels from a trace; default: inductor"),
              {"inductor", "predicted", "compiled", "measured"});
  command
      ->add_option("--artifacts", options->artifacts,
                   "With --source compiled or measured: TORCH_TRACE folder or log of the "
                   "compilation, a wrapper that Inductor wrote, or an AOTInductor package (.pt2); "
                   "default for --source compiled: the package of the graph in the cache of "
                   "`jointer bench --backend inductor`")
      ->type_name("PATH");
  command
      ->add_option("--trace", options->trace,
                   "With --source measured: torch.profiler trace of a compiled step")
      ->type_name("TRACE");
  set_choices(command->add_option("--against", options->against,
                                  "With --source inductor: list the differences from these "
                                  "kernels, by rule; `predicted` are those predicted for the torch "
                                  "that answers"),
              {"predicted"});
  command->add_flag("--ask-again", options->ask_again,
                    "With --source inductor: ask even if the answer is cached");
  set_choices(command->add_option("--half", options->half, "Half to show, if FILE is a pair"),
              {"forward", "backward"});
  set_choices(
      command->add_option("--device", options->device,
                          "With --source inductor: GPU to schedule for, which this machine "
                          "need not have; default: h100. With --source measured: GPU to predict "
                          "times for; default: that of the trace"),
      {"a100", "h100", "h200", "b200"});
  set_choices(command->add_option(
                  "--torch", options->torch,
                  "With --source predicted, or measured without artifacts, the version of torch to "
                  "predict for; with --source inductor, refuse answers from any other version"),
              {"2.11", "2.12", "2.13", "2.14", "2.15"});
  CLI::Option* passes = command->add_option(
      "--passes", options->passes,
      "With --source predicted: passes that change the order of kernels so that compute hides "
      "collectives, as in torch._inductor.config.reorder_for_compute_comm_overlap_passes: "
      "sink_waits, raise_comms, reorder_compute_for_overlap, "
      "reorder_communication_preserving_peak_memory, sink_waits_iterative; options as "
      "NAME{option=value}");
  passes->type_name("PASSES");
  CLI::Option* move =
      command
          ->add_option("--move", options->moves,
                       "With --source predicted: move a kernel: `KERNEL before KERNEL` or `KERNEL "
                       "after KERNEL`, each named by a node that runs in it or as in the list of "
                       "kernels; repeatable")
          ->type_name("MOVE")
          ->expected(1)
          ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
          ->excludes(passes);
  command
      ->add_option("--export", options->order,
                   "Write the moves as a recipe of compiled order, for torch.compile; `-` is "
                   "standard output, and nothing else is printed")
      ->type_name("FILE")
      ->needs(move);
  command->add_flag("--json", options->json, "Print the result as JSON");
  command->callback([command, options, &exit_code] {
    options->has_device = command->count("--device") > 0;
    exit_code = finish(run(*command, *options));
  });
}

}  // namespace jointer::cli
