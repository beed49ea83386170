#include "app/runner/session.h"

#include <ATen/Context.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <future>
#include <memory>
#include <new>
#include <optional>
#include <thread>
#include <utility>

#include "app/runner/backends/compiled.h"
#include "app/runner/compare.h"
#include "app/runner/failure.h"
#include "app/runner/launcher_watch.h"
#include "app/runner/measure.h"
#include "app/runner/memory/counting_allocator.h"
#include "app/runner/node_ranges.h"
#include "app/runner/node_times.h"
#include "app/runner/program/device_progress.h"
#include "app/runner/program/interpreter.h"
#include "app/runner/program/program_builder.h"
#include "app/runner/program/tensors.h"
#include "app/runner/program/unfinished_call.h"
#include "app/runner/support/recording_error.h"
#include "app/runner/support/reporter.h"
#include "app/runner/support/torch_error.h"
#include "app/runner/support/torch_version.h"
#include "app/runner/verification.h"
#include "app/runner/watchdog.h"
#include "core/bench/gpu_doubts.h"
#include "core/bench/snapshot_folder.h"
#include "core/graph/canonical.h"
#include "core/open/open.h"

namespace jointer::runner {
namespace {

enum ExitCode : int { done = 0, wrong_usage = 2, invalid_input = 3, failed = 4 };

// Kernels run after their calls have returned, so the device may report their errors at a later
// call.
constexpr std::string_view kReportedLate =
    "; an earlier node may be the cause; run with CUDA_LAUNCH_BLOCKING=1 to find it";

// The oldest work that the device has not finished, if the device can be asked: a query may block
// while another thread waits for the device, and fails after an error. A detached thread may
// still use `progress` when this returns, so `progress` must live until the process exits.
std::optional<DeviceProgress::Unfinished> unfinished_work(const DeviceProgress& progress) {
  using Work = std::optional<DeviceProgress::Unfinished>;
  constexpr std::chrono::seconds kPatience(2);
  const auto asked = std::make_shared<std::promise<Work>>();
  std::future<Work> answer = asked->get_future();
  std::thread([&progress, asked] {
    try {
      asked->set_value(progress.oldest_unfinished());
    } catch (const std::exception&) {
      asked->set_value(std::nullopt);
    }
  }).detach();
  return answer.wait_for(kPatience) == std::future_status::ready ? answer.get() : std::nullopt;
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
  // The name of the node that was last called, or whose value is being made; empty outside of steps
  // and inputs.
  [[nodiscard]] std::string place() const;
  // A prefix for messages about the unedited graph and about replays; otherwise empty.
  [[nodiscard]] std::string_view context() const;
  // True if closing the process groups may wait for collectives on a device.
  [[nodiscard]] bool has_groups_on_device() const {
    return groups_ && !request_.solo && !platform_->device().is_cpu();
  }
  // If memory ran out and the platform has a snapshot of that moment, writes it and adds its path
  // to `failed`.
  void add_memory_snapshot(RankFailed& failed);

 private:
  Or<Graph> open(const ProgramFiles& files) const;
  Done prepare(MakePlatform make_platform);
  Or<std::unique_ptr<Runnable>> make(Graph graph, const ProgramFiles& files, Backend backend);
  // Makes the inputs and constants and sets them. `counted`: true if their memory counts.
  Done feed(Runnable& runnable, bool counted);
  Or<std::vector<at::Tensor>> outputs_of(Runnable& runnable);
  Or<std::vector<at::Tensor>> replayed_outputs_of(Runnable& runnable);
  Done run_baseline();
  // Runs a step so that libraries allocate their workspaces.
  Done warm_up(Runnable& runnable, bool recorded);
  Or<std::unique_ptr<Recording>> record(Runnable& runnable);
  void replay(Recording& recording);
  void seed_device() const;
  Done verify(Runnable& runnable);
  Done measure(Runnable& runnable);
  // `is_exact`: true if the device had finished all earlier nodes.
  [[nodiscard]] RankFailed failure_at(const Runnable& runnable, const StepError& error,
                                      bool is_exact = false) const;
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
  [[nodiscard]] std::vector<std::string> environment() const;
  void gave_up_waiting();
  RankFailed hang();

  BenchmarkRequest request_;
  World world_;
  Reporter& reporter_;
  StatusWriter status_;
  std::string note_, hash_;
  std::unique_ptr<Platform> platform_;
  std::unique_ptr<ProcessGroups> groups_;
  std::unique_ptr<DeviceProgress> progress_;  // null on the CPU, where calls run synchronously
  std::unique_ptr<Verification> verification_;
  std::optional<NamedTensors> given_;
  std::int64_t workspace_bytes_ = 0;  // of libraries, on the device
  // `baseline_`: the unedited graph; null before and after its run.
  std::unique_ptr<Runnable> baseline_, runnable_;
  std::atomic<const Runnable*> running_ = nullptr;  // `baseline_` or `runnable_`
  std::atomic<bool> is_baseline_ = false, is_replay_ = false;
};

Or<Graph> Session::open(const ProgramFiles& files) const {
  const auto assumptions = Assumptions::parse(request_.assumptions);
  if (!assumptions) return failure("usage", "option --assume: " + assumptions.error().message);
  auto graph = open_graph({.path = path_of_rank(files.graph, world_.rank),
                           .backward = path_of_rank(files.backward, world_.rank),
                           .index = request_.graph_index,
                           .assumptions = *assumptions});
  if (!graph) return failure("load", graph.error().message);
  return std::move(*graph);
}

Done Session::prepare(MakePlatform make_platform) {
  auto platform = make_platform({.local_rank = world_.local_rank,
                                 .local_world_size = world_.local_size,
                                 .threads = request_.threads,
                                 .pins = request_.pins});
  if (!platform) return failure("device", platform.error().message);
  platform_ = std::move(*platform);
  platform_->keep_history(true);
  if (const auto chosen = platform_->choose_attention(request_.attention); !chosen)
    return failure("device", chosen.error().message);
  if (request_.tf32 != Tf32::automatic)
    if (const auto chosen = platform_->choose_tf32(request_.tf32 == Tf32::allow); !chosen)
      return failure("device", chosen.error().message);
  if (!request_.nsys.empty() && platform_->device().is_cpu())
    return failure("device",
                   "this rank runs on the CPU, but Nsight Systems records what GPUs do; leave out "
                   "--nsys");
  if (!platform_->device().is_cpu())
    progress_ = std::make_unique<DeviceProgress>(platform_->device());
  verification_ =
      std::make_unique<Verification>(request_, world_.rank, platform_->device(), reporter_);
  if (compares()) Verification::fix_workspaces();
  return {};
}

// `files`: the files from which the graph was opened. The compiler reads them too. Ends in the
// stage "inputs".
Or<std::unique_ptr<Runnable>> Session::make(Graph graph, const ProgramFiles& files,
                                            Backend backend) {
  auto runnable = std::make_unique<Runnable>();
  runnable->graph = std::move(graph);
  std::vector<CompiledRegion> regions;
  if (backend == Backend::inductor || backend == Backend::regional) {
    stage("compile");
    if (platform_->is_exclusive())
      return failure(
          "compile",
          fmt::format("{} is in exclusive compute mode, so the compiler, which is another "
                      "process, cannot use it while this rank does; allow several "
                      "processes with `nvidia-smi -c DEFAULT`, or use the backend "
                      "interpret or cudagraph",
                      platform_->name()));
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
  stage("inputs");
  auto program = build_program(
      runnable->graph, {.device = platform_->device(),
                        .regions = regions,
                        .chooses_attention = request_.attention != AttentionKernel::automatic});
  if (!program)
    return failure(program.error().kind == Error::Kind::run ? "unsupported" : "load",
                   program.error().message);
  runnable->program = std::move(*program);
  runnable->interpreter = std::make_unique<Interpreter>(runnable->program, &status_);
  runnable->interpreter->mark_progress(progress_.get());
  return runnable;
}

Done Session::feed(Runnable& runnable, bool counted) {
  const auto failed_input = [&](const InputError& error) {
    return failure(error.out_of_memory ? "memory"
                   : error.of_device   ? "device"
                                       : "load",
                   std::string(context()) + error.text,
                   std::string(runnable.graph.name(error.node)));
  };
  const InputOptions options{
      .device = platform_->device(),
      .seed = request_.seed,
      .rank = world_.rank,
      .given = given_ ? &*given_ : nullptr,
      .before_each =
          [&](NodeId node) {
            status_.set_position(static_cast<std::int64_t>(runnable.graph.position(node)));
          },
      .after_each =
          [this] {
            // Wait, so that errors of the device are attributed to this input.
            platform_->synchronize();
            platform_->release_cache();
          }};
  Inputs inputs;
  {
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
  status_.set_position(-1);
  return {};
}

RankFailed Session::failure_at(const Runnable& runnable, const StepError& error,
                               bool is_exact) const {
  return {.kind = error.out_of_memory   ? "memory"
                  : error.of_device     ? "device"
                  : error.in_collective ? "collective"
                                        : "node",
          .node = std::string(runnable.graph.name(error.node)),
          .text = fmt::format("{}{}{}", context(), error.text,
                              error.of_device && !is_exact ? kReportedLate : "")};
}

void Session::seed_device() const {
  at::Generator generator = at::globalContext().defaultGenerator(platform_->device());
  generator.set_current_seed(request_.seed);
}

Or<std::vector<at::Tensor>> Session::outputs_of(Runnable& runnable) {
  const auto run = [&]() -> Or<std::vector<at::Tensor>> {
    seed_device();
    if (const StepResult done = runnable.interpreter->step(); !done)
      return tl::unexpected(failure_at(runnable, done.error()));
    return keep(runnable.interpreter->outputs());
  };
  return verification_->outputs_of(run, [&] { return feed(runnable, true); });
}

Done Session::warm_up(Runnable& runnable, bool recorded) {
  const auto bytes = make_workspaces(measured(runnable), recorded);
  if (!bytes) return tl::unexpected(failure_at(runnable, bytes.error(), /*is_exact=*/true));
  workspace_bytes_ += *bytes;
  return {};
}

Or<std::unique_ptr<Recording>> Session::record(Runnable& runnable) {
  runnable.interpreter->mark_progress(nullptr);
  StepResult recorded;
  auto made = platform_->record([&] { recorded = runnable.interpreter->step(); },
                                runnable.interpreter->generators());
  runnable.interpreter->mark_progress(progress_.get());
  if (!recorded) {
    const StepError& error = recorded.error();
    if (!error.refuses_recording) return tl::unexpected(failure_at(runnable, error));
    // The device refused this call, not an earlier one.
    RankFailed failed = failure_at(runnable, error, /*is_exact=*/true);
    const std::string_view target = runnable.graph.target(runnable.graph.node(error.node));
    failed.text = recording_problem(target, error.text);
    return tl::unexpected(std::move(failed));
  }
  if (!made) return failure("compile", made.error().message);
  return std::move(*made);
}

void Session::replay(Recording& recording) {
  is_replay_ = true;
  recording.replay();
}

Or<std::vector<at::Tensor>> Session::replayed_outputs_of(Runnable& runnable) {
  if (auto warm = warm_up(runnable, true); !warm) return tl::unexpected(warm.error());
  if (auto fed = feed(runnable, true); !fed) return tl::unexpected(fed.error());
  auto recording = record(runnable);
  if (!recording) return tl::unexpected(recording.error());
  seed_device();
  replay(**recording);
  platform_->synchronize();
  auto outputs = keep(runnable.interpreter->outputs());
  is_replay_ = false;
  runnable.interpreter->clear();
  return outputs;
}

Done Session::verify(Runnable& runnable) {
  stage("verify");
  auto outputs = outputs_of(runnable);
  if (outputs && replays()) outputs = replayed_outputs_of(runnable);
  if (!outputs) return tl::unexpected(outputs.error());
  runnable.interpreter->clear();
  if (auto compared = verification_->compare(runnable.graph, runnable.program, *outputs); !compared)
    return compared;
  // Measure with the kernels that training uses.
  Verification::ordinary_order();
  return {};
}

// Runs the unedited graph to obtain its outputs.
Done Session::run_baseline() {
  auto unedited = open(request_.baseline);
  if (!unedited) return tl::unexpected(unedited.error());
  auto made = make(std::move(*unedited), request_.baseline, Backend::interpret);
  if (!made) return tl::unexpected(made.error());
  baseline_ = std::move(*made);
  running_ = baseline_.get();
  is_baseline_ = true;
  status_.publish_positions(false);  // the file is for positions of the edited graph
  if (auto fed = feed(*baseline_, false); !fed) return fed;
  stage("verify");
  auto outputs = outputs_of(*baseline_);
  if (!outputs) return tl::unexpected(outputs.error());
  verification_->set_baseline(baseline_->graph, std::move(*outputs));
  status_.publish_positions(true);
  is_baseline_ = false;
  running_ = nullptr;
  baseline_.reset();
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
  std::unique_ptr<ProfilerRanges> ranges;
  std::unique_ptr<NodeRanges> of_nodes;
  if (!request_.nsys.empty()) {
    ranges = platform_->profiler_ranges();
    of_nodes = std::make_unique<NodeRanges>(run, *ranges);
  }
  std::function<StepResult()> step = [&] { return runnable.interpreter->step(of_nodes.get()); };
  if (replays()) {
    if (auto warm = warm_up(runnable, true); !warm) return warm;
    platform_->release_cache();
    platform_->reset_peaks();
    auto made = record(runnable);
    if (!made) return tl::unexpected(made.error());
    recording = std::move(*made);
    memory->figures = platform_->memory();
    step = [&]() -> StepResult {
      replay(*recording);
      return {};
    };
  }
  auto times = measure_steps(run, request_.warmup, request_.iterations, step, ranges.get());
  if (!times) return tl::unexpected(failure_at(runnable, times.error()));
  is_replay_ = false;
  RankMeasured figures{.step_ns = std::move(*times),
                       .peak_bytes = memory->figures.peak_allocated,
                       .requested_peak_bytes = memory->figures.peak_requested,
                       .reserved_peak_bytes = memory->figures.peak_reserved,
                       .resident_peak_bytes = memory->resident_peak,
                       .workspace_bytes = workspace_bytes_,
                       .pinned_peak_bytes = memory->figures.peak_pinned,
                       .scratch = std::move(memory->scratch),
                       .blocks = std::move(memory->blocks),
                       .gpu = platform_->state()};
  if (figures.gpu && figures.gpu->own_bytes)
    figures.outside_bytes =
        std::max<std::int64_t>(0, *figures.gpu->own_bytes - platform_->memory().reserved);
  if (figures.gpu)
    for (std::string& doubt : gpu_doubts(*figures.gpu)) reporter_.note(std::move(doubt));
  if (request_.profile) {
    if (recording) {
      reporter_.note(
          "the times of nodes and kernels are those of interpreted steps, not of replays");
      // The steps that follow cannot use the recording's memory, so release it.
      runnable.interpreter->clear();
      recording.reset();
      platform_->release_cache();
    }
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

std::string_view Session::context() const {
  if (is_baseline_) return "in the unedited graph: ";
  return is_replay_ ? "in a replay of the captured step: " : "";
}

void Session::add_memory_snapshot(RankFailed& failed) {
  if (failed.kind != "memory" || !platform_) return;
  const auto snapshot = platform_->memory_snapshot();
  if (snapshot && snapshot->empty()) return;
  const auto path =
      snapshot ? SnapshotFolder(SnapshotFolder::default_folder()).add(hash_, world_.rank, *snapshot)
               : Result<std::string>(tl::unexpected(snapshot.error()));
  if (path)
    failed.memory_snapshot = *path;
  else
    reporter_.note("no memory snapshot was written: " + path.error().message);
}

// If the device can be asked and has not finished all calls that the host has launched, the failure
// names the oldest such call, and its position is written to the status file, so that the launcher
// can compare it with the positions of other ranks.
RankFailed Session::hang() {
  RankFailed failed{.kind = "hang",
                    .node = place(),
                    .text = fmt::format("{}no progress for {:.3g} s", context(),
                                        static_cast<double>(request_.timeout_ms) / 1000)};
  const Runnable* running = running_;
  const auto unfinished = progress_ && running != nullptr
                              ? unfinished_work(*progress_)
                              : std::optional<DeviceProgress::Unfinished>();
  if (!unfinished) return failed;
  const UnfinishedCall call = unfinished_call(running->graph, running->program, *unfinished);
  if (!failed.node.empty()) failed.text += fmt::format(" at {}", failed.node);
  failed.text += "; " + call.text;
  failed.node = call.node;
  status_.set_position(call.position);
  return failed;
}

// Called if there was no sign of life for the length of the timeout. This process cannot recover,
// but it can report its position.
void Session::gave_up_waiting() {
  reporter_.report(hang());
  ::_exit(ExitCode::failed);
}

std::vector<std::string> Session::environment() const {
  std::vector<std::string> facts = platform_->environment();
  if (request_.tf32 != Tf32::automatic)
    facts.emplace_back(request_.tf32 == Tf32::allow ? "TF32 allowed" : "TF32 forbidden");
  return facts;
}

Done Session::run(MakePlatform make_platform) {
  stage("load");
  if (auto prepared = prepare(make_platform); !prepared) return prepared;
  auto graph = open(request_.program);
  if (!graph) return tl::unexpected(graph.error());
  hash_ = graph_hash(*graph);
  reporter_.report(RankStarted{.rank = world_.rank,
                               .world_size = world_.size,
                               .pid = ::getpid(),
                               .device = platform_->name(),
                               .device_type = platform_->device().is_cpu() ? "cpu" : "cuda",
                               .hash = hash_,
                               .environment = environment(),
                               .gpu = platform_->properties()});
  if (!note_.empty()) reporter_.note(note_);
  for (std::string& note : platform_->notes()) reporter_.note(std::move(note));
  const std::jthread watchdog = start_watchdog(
      std::chrono::milliseconds(request_.timeout_ms),
      [this] { return reporter_.count() + status_.count(); }, [this] { return platform_->now(); },
      [this] { gave_up_waiting(); });

  if (!request_.inputs.empty()) {
    const Uncounted uncounted;
    auto given = read_safetensors(path_of_rank(request_.inputs, world_.rank));
    if (!given) return failure("load", given.error().message);
    given_ = std::move(*given);
  }

  stage("groups");
  auto groups = ProcessGroups::make(
      *graph, {.world = world_,
               .timeout = std::chrono::milliseconds(request_.timeout_ms),
               .backend = request_.solo ? &local_copies() : &platform_->collectives(),
               .device = platform_->device(),
               .alone = request_.solo.has_value()});
  if (!groups) return failure("collective", groups.error().message);
  groups_ = std::move(*groups);
  if (compares()) verification_->fixed_order();

  if (!request_.baseline.empty())
    if (auto ran = run_baseline(); !ran) return ran;
  auto made = make(std::move(*graph), request_.program, request_.backend);
  if (!made) return tl::unexpected(made.error());
  runnable_ = std::move(*made);
  running_ = runnable_.get();
  if (const std::string& captured = runnable_->graph.part(PartId(0)).torch_version;
      !matches_minor(captured))
    reporter_.note(
        fmt::format("captured with torch {}, run with torch {}", captured, torch_version()));
  for (const std::string& note : runnable_->program.notes) reporter_.note(note);
  platform_->limit_memory(request_.memory_limit);
  workspace_bytes_ = platform_->start_counting();
  if (auto fed = feed(*runnable_, true); !fed) return fed;
  if (compares())
    if (auto verified = verify(*runnable_); !verified) return verified;
  if (auto measured = measure(*runnable_); !measured) return measured;
  stage("finish");
  groups_->barrier();
  return {};
}

// Turns errors outside of a step into failures, such as errors in a barrier or while times are
// read, a captured step is replayed, or outputs are copied for the comparison.
Done run_guarded(Session& session, MakePlatform make_platform) {
  const auto failed = [&](std::string kind, std::string text) {
    return failure(std::move(kind), std::string(session.context()) + std::move(text),
                   session.place());
  };
  try {
    return session.run(make_platform);
  } catch (const c10::OutOfMemoryError& error) {
    return failed("memory", without_advice(error.what_without_backtrace()));
  } catch (const c10::AcceleratorError& error) {
    if (is_out_of_memory(error)) return failed("memory", summary(error));
    return failed("device", summary(error) + std::string(kReportedLate));
  } catch (const c10::DistError& error) {
    const std::string text = in_one_line(error.what_without_backtrace());
    if (is_out_of_memory(error)) return failed("memory", text);
    if (is_cuda_failure(error)) return failed("device", text + std::string(kReportedLate));
    return failed("collective", text);
  } catch (const std::bad_alloc&) {
    return failed("memory", "out of memory");
  } catch (const c10::Error& error) {
    return failed("internal", summary(error));
  } catch (const std::exception& error) {
    return failed("internal", first_line(error.what()));
  }
}

}  // namespace

int run_rank(int argc, char** argv, MakePlatform cpu, MakePlatform cuda,
             const std::string& no_device) {
  const std::jthread watch = watch_launcher();
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
    reporter.report(RankFailed{.kind = "device", .text = no_device + "; --on cpu runs on the CPU"});
    return ExitCode::failed;
  }
  Session session(std::move(*request), std::move(*world), reporter);
  if (chooses && !no_device.empty()) session.add_note(no_device + ": the CPU runs the graph");
  Done done = run_guarded(session, on_cuda ? cuda : cpu);
  if (!done) {
    session.add_memory_snapshot(done.error());
    reporter.report(done.error());
    fmt::print(stderr, "jointer-runner: {}{}{}\n", done.error().node,
               done.error().node.empty() ? "" : ": ", done.error().text);
    const ExitCode code = done.error().kind == "usage"  ? ExitCode::wrong_usage
                          : done.error().kind == "load" ? ExitCode::invalid_input
                                                        : ExitCode::failed;
    // After an error of the device, calls that release its memory would fail, too. After others,
    // closing the groups of a device waits for collectives that other ranks may never join.
    if (done.error().kind == "device" || session.has_groups_on_device()) std::_Exit(code);
    return code;
  }
  reporter.report(RankDone{});
  return ExitCode::done;
}

}  // namespace jointer::runner
