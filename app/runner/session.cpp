#include "app/runner/session.h"

#include <ATen/Context.h>
#include <fmt/core.h>
#include <unistd.h>

#include <atomic>
#include <charconv>
#include <cstdlib>
#include <new>
#include <optional>
#include <utility>

#include "app/runner/backends/compiled.h"
#include "app/runner/compare.h"
#include "app/runner/measure.h"
#include "app/runner/memory/counting_allocator.h"
#include "app/runner/node_times.h"
#include "app/runner/program/interpreter.h"
#include "app/runner/program/program_builder.h"
#include "app/runner/program/tensors.h"
#include "app/runner/support/reporter.h"
#include "app/runner/support/torch_error.h"
#include "app/runner/support/torch_version.h"
#include "app/runner/watchdog.h"
#include "core/base/counted.h"
#include "core/graph/canonical.h"
#include "core/open/open.h"

namespace jointer::runner {
namespace {

enum ExitCode : int { done = 0, wrong_usage = 2, invalid_input = 3, failed = 4 };

// The maximum difference, relative to an output's largest magnitude, for a backend that changes
// numerics: a few roundings of the coarsest floating-point type in which the graph computes.
constexpr double kHalfBound = 2e-2, kSingleBound = 1e-4;

template <class T>
using Or = tl::expected<T, RankFailed>;
using Done = Or<void>;

tl::unexpected<RankFailed> failure(std::string kind, std::string text, std::string node = {}) {
  return tl::unexpected<RankFailed>(
      {.kind = std::move(kind), .node = std::move(node), .text = std::move(text)});
}

// Kernels run after their calls have returned, so a device reports errors at a later call.
constexpr std::string_view kReportedLate =
    "; an earlier node may be the cause; run with CUDA_LAUNCH_BLOCKING=1 to find it";

// True if torch refuses an operator because it has no deterministic kernel.
bool is_about_order(std::string_view text) {
  return text.find("does not have a deterministic implementation") != std::string_view::npos;
}

// A graph, its program, and the interpreter that runs it.
struct Runnable {
  Graph graph;
  Program program;
  std::unique_ptr<Interpreter> interpreter;
};

class Session {
 public:
  Session(BenchmarkRequest request, World world, Reporter& reporter)
      : request_(std::move(request)),
        world_(std::move(world)),
        reporter_(reporter),
        status_(StatusWriter::from_environment()) {
    if (request_.solo) world_.rank = *request_.solo;
  }

  // Reported once the rank has started.
  void add_note(std::string note) { note_ = std::move(note); }
  Done run(MakePlatform make_platform);
  // The name of the node that was last called; empty outside of steps.
  [[nodiscard]] std::string place() const;

 private:
  Or<Graph> open(const ProgramFiles& files) const;
  Done prepare(MakePlatform make_platform);
  Or<std::unique_ptr<Runnable>> make(Graph graph, const ProgramFiles& files, Backend backend);
  Done feed(Runnable& runnable, bool counted);
  Or<std::vector<at::Tensor>> outputs_of(Runnable& runnable);
  Or<std::vector<at::Tensor>> replayed_outputs_of(Runnable& runnable);
  // Runs a step, after which the libraries have their workspaces.
  Done warm_up(Runnable& runnable, bool recorded);
  Or<std::unique_ptr<Recording>> record(Runnable& runnable);
  void seed_device() const;
  void use_fixed_order() const;
  Done verify(Runnable& runnable);
  Done measure(Runnable& runnable);
  [[nodiscard]] RankFailed failure_at(const Runnable& runnable, const StepError& error) const;
  void stage(const char* name) {
    status_.set_stage(name);
    reporter_.stage(name);
  }
  [[nodiscard]] MeasuredProgram measured(Runnable& runnable) {
    return {runnable.graph, runnable.program, *runnable.interpreter, *platform_, *groups_,
            reporter_,      status_};
  }
  [[nodiscard]] bool compares() const {
    return !request_.expected.empty() || !request_.baseline.empty();
  }
  [[nodiscard]] bool replays() const {
    return request_.backend == Backend::cudagraph || request_.recorded;
  }
  void gave_up_waiting();

  BenchmarkRequest request_;
  World world_;
  Reporter& reporter_;
  StatusWriter status_;
  std::string note_;
  std::unique_ptr<Platform> platform_;
  std::unique_ptr<ProcessGroups> groups_;
  std::optional<NamedTensors> given_;
  std::vector<at::Tensor> baseline_;  // outputs of the unedited graph
  // A node whose operator has no deterministic kernel on the device; empty: all have one. With such a
  // node, outputs of two runs of one graph differ by up to spread_, relative to the output's largest
  // magnitude.
  std::string random_order_;
  double spread_ = 0;
  std::int64_t workspace_bytes_ = 0;  // of libraries, on the device
  std::unique_ptr<Runnable> runnable_;
  std::atomic<const Runnable*> running_ = nullptr;  // runnable_, once it runs
};

Or<Graph> Session::open(const ProgramFiles& files) const {
  const auto assumptions = Assumptions::parse(request_.assumptions);
  if (!assumptions) return failure("usage", "option --assume: " + assumptions.error().message);
  auto graph = open_graph({.path = path_of_rank(files.graph, world_.rank),
                           .backward = path_of_rank(files.backward, world_.rank),
                           .index = request_.graph_index,
                           .choose = {},
                           .assumptions = *assumptions,
                           .progress = {}});
  if (!graph) return failure("load", graph.error().message);
  return std::move(*graph);
}

Done Session::prepare(MakePlatform make_platform) {
  auto platform = make_platform({.local_rank = world_.local_rank,
                                 .local_world_size = world_.local_size,
                                 .threads = request_.threads});
  if (!platform) return failure("device", platform.error().message);
  platform_ = std::move(*platform);
  if (const auto chosen = platform_->choose_attention(request_.attention); !chosen)
    return failure("device", chosen.error().message);
  if (compares()) use_fixed_order();
  return {};
}

// `files`: the files that the graph was opened from, which the compiler also reads.
Or<std::unique_ptr<Runnable>> Session::make(Graph graph, const ProgramFiles& files,
                                            Backend backend) {
  auto runnable = std::make_unique<Runnable>();
  runnable->graph = std::move(graph);
  std::vector<CompiledRegion> regions;
  if (backend == Backend::inductor || backend == Backend::regional) {
    stage("compile");
    auto compiled = compile_regions(runnable->graph,
                                    {.files = {path_of_rank(files.graph, world_.rank),
                                               path_of_rank(files.backward, world_.rank)},
                                     .request = request_,
                                     .rank = world_.rank,
                                     .device = platform_->device()},
                                    reporter_);
    if (!compiled) return failure("compile", compiled.error().message);
    regions = std::move(*compiled);
  }
  auto program = build_program(
      runnable->graph, {.device = platform_->device(),
                        .regions = regions,
                        .chooses_attention = request_.attention != AttentionKernel::automatic});
  if (!program)
    return failure(program.error().kind == Error::Kind::run ? "unsupported" : "load",
                   program.error().message);
  runnable->program = std::move(*program);
  runnable->interpreter = std::make_unique<Interpreter>(runnable->program, &status_);
  return runnable;
}

Done Session::feed(Runnable& runnable, bool counted) {
  const auto failed_input = [&](const InputError& error) {
    return failure(error.out_of_memory ? "memory" : "load", error.text,
                   std::string(runnable.graph.name(error.node)));
  };
  const InputOptions options{.device = platform_->device(),
                             .seed = request_.seed,
                             .rank = world_.rank,
                             .given = given_ ? &*given_ : nullptr,
                             .after_each = [this] {
                               status_.beat();
                               platform_->release_cache();
                             }};
  Inputs inputs;
  {
    // Inputs that a step releases are copied for each step. Count only the copies.
    std::optional<Uncounted> uncounted;
    if (!counted) uncounted.emplace();
    auto made = make_inputs(runnable.graph, runnable.program, options);
    if (!made) return failed_input(made.error());
    inputs = std::move(*made);
    if (const auto constants = make_constants(runnable.graph, runnable.program, options, inputs);
        !constants)
      return failed_input(constants.error());
  }
  const Program& program = runnable.program;
  for (std::size_t i = 0; i < program.inputs.size(); ++i)
    runnable.interpreter->set(program.inputs[i], std::move(inputs.values[i]));
  for (std::size_t i = 0; i < program.constants_of_graph.size(); ++i)
    runnable.interpreter->set(program.constants_of_graph[i], std::move(inputs.constants[i]));
  for (const std::string& note : inputs.notes) reporter_.note(note);
  return {};
}

RankFailed Session::failure_at(const Runnable& runnable, const StepError& error) const {
  return {.kind = error.out_of_memory   ? "memory"
                  : error.of_device     ? "device"
                  : error.in_collective ? "collective"
                                        : "node",
          .node = std::string(runnable.graph.name(error.node)),
          .text = error.of_device ? error.text + std::string(kReportedLate) : error.text};
}

// Makes sums run in a fixed order, so that two runs with the same operators differ only if their
// graphs do. On CUDA, attention has a fixed order only if operators without one are errors.
void Session::use_fixed_order() const {
  // Without this, cuBLAS is an error, too. It reads the variable when it is first used.
  ::setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:8", /*overwrite=*/0);
  const bool warns_only = platform_->device().is_cpu() || !random_order_.empty();
  at::globalContext().setDeterministicAlgorithms(true, warns_only);
  at::globalContext().setDeterministicFillUninitializedMemory(false);
}

void Session::seed_device() const {
  at::Generator generator = at::globalContext().defaultGenerator(platform_->device());
  generator.set_current_seed(request_.seed);
}

// Runs a step. If an operator turns out to have no fixed order, runs two in any order, and measures
// their spread.
Or<std::vector<at::Tensor>> Session::outputs_of(Runnable& runnable) {
  const auto run = [&]() -> Or<std::vector<at::Tensor>> {
    seed_device();
    if (const StepResult done = runnable.interpreter->step(); !done)
      return tl::unexpected(failure_at(runnable, done.error()));
    return keep(runnable.interpreter->outputs());
  };
  auto outputs = run();
  if (!outputs && random_order_.empty() && is_about_order(outputs.error().text)) {
    random_order_ = outputs.error().node;
    use_fixed_order();
    if (auto fed = feed(runnable, true); !fed) return tl::unexpected(fed.error());
    outputs = run();
  }
  if (!outputs || random_order_.empty()) return outputs;
  if (auto fed = feed(runnable, true); !fed) return tl::unexpected(fed.error());
  const auto again = run();
  if (!again) return again;
  spread_ = std::max(spread_, spread(*outputs, *again));
  return outputs;
}

Done Session::warm_up(Runnable& runnable, bool recorded) {
  const auto bytes = make_workspaces(measured(runnable), recorded);
  if (!bytes) return tl::unexpected(failure_at(runnable, bytes.error()));
  workspace_bytes_ += *bytes;
  return {};
}

Or<std::unique_ptr<Recording>> Session::record(Runnable& runnable) {
  StepResult recorded;
  auto made = platform_->record([&] { recorded = runnable.interpreter->step(); },
                                runnable.interpreter->generators());
  if (!recorded) return tl::unexpected(failure_at(runnable, recorded.error()));
  if (!made) return failure("compile", made.error().message);
  return std::move(*made);
}

Or<std::vector<at::Tensor>> Session::replayed_outputs_of(Runnable& runnable) {
  if (auto warm = warm_up(runnable, true); !warm) return tl::unexpected(warm.error());
  if (auto fed = feed(runnable, true); !fed) return tl::unexpected(fed.error());
  auto recording = record(runnable);
  if (!recording) return tl::unexpected(recording.error());
  seed_device();
  (*recording)->replay();
  platform_->synchronize();
  auto outputs = keep(runnable.interpreter->outputs());
  runnable.interpreter->clear();
  return outputs;
}

Done Session::verify(Runnable& runnable) {
  stage("verify");
  auto outputs = outputs_of(runnable);
  if (outputs && replays()) outputs = replayed_outputs_of(runnable);
  if (!outputs) return tl::unexpected(outputs.error());
  runnable.interpreter->clear();
  std::vector<std::string> names;
  for (const ProgramOutput& output : runnable.program.outputs) names.push_back(output.name);
  double bound = 0;
  if (request_.backend == Backend::inductor || request_.backend == Backend::regional) {
    bound = kSingleBound;
    for (const NodeId id : runnable.graph.order())
      for (const Tensor& tensor : runnable.graph.tensors(id))
        if (is_floating(tensor.dtype) && item_size(tensor.dtype) < 4) bound = kHalfBound;
    reporter_.note(
        fmt::format("compiled code rounds at different points than the operators it replaces: "
                    "outputs may differ by {} of their largest magnitude",
                    bound));
  }
  if (spread_ > 0) {
    bound = std::max(bound, spread_);
    reporter_.note(fmt::format(
        "{} has no deterministic kernel on this device: outputs may differ by {:.3g} of "
        "their largest magnitude, as those of two runs of one graph do",
        random_order_, spread_));
  }
  if (!request_.baseline.empty())
    reporter_.report(compare_outputs("baseline", *outputs, baseline_, names, bound));
  if (!request_.expected.empty()) {
    auto expected = read_safetensors(path_of_rank(request_.expected, world_.rank));
    if (!expected) return failure("load", expected.error().message);
    std::vector<at::Tensor> tensors(outputs->size());
    for (const auto& [index, tensor] : *expected) {
      std::size_t at = 0;
      const auto [end, status] = std::from_chars(index.data(), index.data() + index.size(), at);
      if (status != std::errc{} || end != index.data() + index.size() || at >= tensors.size())
        return failure("load",
                       fmt::format("{}: `{}` is not the index of an output; the graph has {}",
                                   request_.expected, index, counted(tensors.size(), "output")));
      tensors[at] = tensor;
    }
    reporter_.report(compare_outputs("expected", *outputs, tensors, names, bound));
  }
  // Measured steps use the kernels that a training step uses.
  at::globalContext().setDeterministicAlgorithms(false, /*warn_only=*/false);
  return {};
}

Done Session::measure(Runnable& runnable) {
  const MeasuredProgram run = measured(runnable);
  stage("warm up");
  if (!platform_->device().is_cpu())
    if (auto warm = warm_up(runnable, false); !warm) return warm;
  auto memory = measure_memory(run);
  if (!memory) return tl::unexpected(failure_at(runnable, memory.error()));
  std::unique_ptr<Recording> recording;
  std::function<StepResult()> step = [&] { return runnable.interpreter->step(); };
  if (replays()) {
    if (auto warm = warm_up(runnable, true); !warm) return warm;
    platform_->release_cache();
    platform_->reset_peaks();
    auto made = record(runnable);
    if (!made) return tl::unexpected(made.error());
    recording = std::move(*made);
    memory->figures = platform_->memory();
    step = [&]() -> StepResult {
      recording->replay();
      return {};
    };
  }
  auto times = measure_steps(run, request_.warmup, request_.iterations, step);
  if (!times) return tl::unexpected(failure_at(runnable, times.error()));
  RankMeasured figures{.step_ns = std::move(*times),
                       .peak_bytes = memory->figures.peak_allocated,
                       .requested_peak_bytes = memory->figures.peak_requested,
                       .reserved_peak_bytes = memory->figures.peak_reserved,
                       .resident_peak_bytes = memory->resident_peak,
                       .workspace_bytes = workspace_bytes_,
                       .memory_profile = {},
                       .nodes = {},
                       .kernels = {},
                       .scratch = std::move(memory->scratch),
                       .blocks = std::move(memory->blocks),
                       .gpu = platform_->state()};
  if (request_.profile) {
    if (replays())
      reporter_.note(
          "the times of nodes and kernels are those of interpreted steps, not of replays");
    figures.memory_profile = std::move(memory->profile);
    auto nodes = measure_nodes(run, figures.blocks);
    if (!nodes) return tl::unexpected(failure_at(runnable, nodes.error()));
    figures.nodes = std::move(nodes->nodes);
    figures.kernels = std::move(nodes->kernels);
  }
  reporter_.report(figures);
  return {};
}

std::string Session::place() const {
  const Runnable* running = running_;
  const std::int64_t position = status_.position();
  if (running == nullptr || position < 0 ||
      position >= static_cast<std::int64_t>(running->graph.order().size()))
    return {};
  return std::string(
      running->graph.name(running->graph.order()[static_cast<std::size_t>(position)]));
}

// Called after the timeout without a sign of life. This process cannot recover, but it can report
// where it is.
void Session::gave_up_waiting() {
  reporter_.report(
      RankFailed{.kind = "hang",
                 .node = place(),
                 .text = fmt::format("no progress for {:.3g} s",
                                     static_cast<double>(request_.timeout_ms) / 1000)});
  ::_exit(ExitCode::failed);
}

Done Session::run(MakePlatform make_platform) {
  stage("load");
  if (auto prepared = prepare(make_platform); !prepared) return prepared;
  auto graph = open(request_.program);
  if (!graph) return tl::unexpected(graph.error());
  reporter_.report(RankStarted{.rank = world_.rank,
                               .world_size = world_.size,
                               .pid = ::getpid(),
                               .device = platform_->name(),
                               .device_type = platform_->device().is_cpu() ? "cpu" : "cuda",
                               .hash = graph_hash(*graph),
                               .environment = platform_->environment()});
  if (!note_.empty()) reporter_.note(note_);
  const Watchdog watchdog(
      std::chrono::milliseconds(request_.timeout_ms),
      [this] { return reporter_.count() + status_.count(); }, [this] { gave_up_waiting(); });

  stage("groups");
  auto groups = ProcessGroups::make(
      *graph, {.world = world_,
               .timeout = std::chrono::milliseconds(request_.timeout_ms),
               .backend = request_.solo ? &local_copies() : &platform_->collectives(),
               .device = platform_->device(),
               .alone = request_.solo.has_value()});
  if (!groups) return failure("collective", groups.error().message);
  groups_ = std::move(*groups);

  stage("inputs");
  if (!request_.inputs.empty()) {
    const Uncounted uncounted;
    auto given = read_safetensors(path_of_rank(request_.inputs, world_.rank));
    if (!given) return failure("load", given.error().message);
    given_ = std::move(*given);
  }
  if (!request_.baseline.empty()) {
    auto unedited = open(request_.baseline);
    if (!unedited) return tl::unexpected(unedited.error());
    auto baseline = make(std::move(*unedited), request_.baseline, Backend::interpret);
    if (!baseline) return tl::unexpected(baseline.error());
    if (auto fed = feed(**baseline, false); !fed) return fed;
    stage("verify");
    auto outputs = outputs_of(**baseline);
    if (!outputs) return tl::unexpected(outputs.error());
    baseline_ = std::move(*outputs);
  }
  auto made = make(std::move(*graph), request_.program, request_.backend);
  if (!made) return tl::unexpected(made.error());
  runnable_ = std::move(*made);
  running_ = runnable_.get();
  if (const std::string& captured = runnable_->graph.part(PartId(0)).torch_version;
      !is_this_minor(captured))
    reporter_.note(
        fmt::format("captured with torch {}, run with torch {}", captured, torch_version()));
  for (const std::string& note : runnable_->program.notes) reporter_.note(note);
  platform_->limit_memory(request_.memory_limit);
  workspace_bytes_ = platform_->start_counting();
  stage("inputs");
  if (auto fed = feed(*runnable_, true); !fed) return fed;
  if (compares())
    if (auto verified = verify(*runnable_); !verified) return verified;
  if (auto measured = measure(*runnable_); !measured) return measured;
  groups_->barrier();
  return {};
}

// Turns errors outside a step into a failure at the node that the rank was at: of reading times, of
// a replay, of waiting for the device, and of copies that only the comparison of outputs needs.
Done run_guarded(Session& session, MakePlatform make_platform) {
  try {
    return session.run(make_platform);
  } catch (const c10::OutOfMemoryError& error) {
    return failure("memory", without_advice(error.what_without_backtrace()), session.place());
  } catch (const c10::AcceleratorError& error) {
    return failure("device", summary(error) + std::string(kReportedLate), session.place());
  } catch (const std::bad_alloc&) {
    return failure("memory", "out of memory", session.place());
  } catch (const c10::Error& error) {
    return failure("internal", summary(error), session.place());
  } catch (const std::exception& error) {
    return failure("internal", first_line(error.what()), session.place());
  }
}

}  // namespace

int run_rank(int argc, char** argv, MakePlatform cpu, MakePlatform cuda,
             const std::string& no_device) {
  Reporter reporter;
  const auto give_up = [&](const Error& error) {
    reporter.report(RankFailed{.kind = "usage", .node = {}, .text = error.message});
    fmt::print(stderr, "jointer-runner: {}\n", error.message);
    return ExitCode::wrong_usage;
  };
  auto request = parse_runner_arguments(std::vector<std::string>(argv + 1, argv + argc));
  if (!request) return give_up(request.error());
  auto world = World::from_environment();
  if (!world) return give_up(world.error());
  const bool chooses = request->on == RunOn::automatic;
  const bool on_cuda =
      request->on == RunOn::cuda || (chooses && cuda != nullptr && no_device.empty());
  if (on_cuda && cuda == nullptr) {
    reporter.report(
        RankFailed{.kind = "device",
                   .node = {},
                   .text = "this runner was built without CUDA; --on cpu runs on the CPU"});
    return ExitCode::failed;
  }
  Session session(std::move(*request), std::move(*world), reporter);
  if (chooses && !no_device.empty()) session.add_note(no_device + ": the CPU runs the graph");
  const Done done = run_guarded(session, on_cuda ? cuda : cpu);
  if (!done) {
    reporter.report(done.error());
    fmt::print(stderr, "jointer-runner: {}{}{}\n", done.error().node,
               done.error().node.empty() ? "" : ": ", done.error().text);
    // After an error of the device, calls that release its memory fail, too.
    if (done.error().kind == "device") std::_Exit(ExitCode::failed);
    return done.error().kind == "load" ? ExitCode::invalid_input : ExitCode::failed;
  }
  reporter.report(RankDone{});
  return ExitCode::done;
}

}  // namespace jointer::runner
