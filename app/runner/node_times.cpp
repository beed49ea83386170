// Times every instruction in steps of two kinds: isolated steps, with one collective at a time, and
// ordinary steps. A call's own time is the median over the isolated steps; its start and end are
// those in the last ordinary step.
//
// If the device traces kernels, their true times are known: a call's own time is the sum over its
// kernels, and the call runs from the start of its first kernel to the end of its last. Otherwise
// marks are set before and after each call. On a GPU, marks would measure the launches of small
// kernels, so they are used there only if tracing is not possible. If a rank's trace is empty or
// cannot be started, all ranks start over with marks.

#include "app/runner/node_times.h"

#include <ATen/core/dispatch/Dispatcher.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <unordered_map>

#include "core/base/median.h"

namespace jointer::runner {
namespace {

// The number of steps of each kind.
constexpr std::int64_t kTimedSteps = 5;

// The start and end of an instruction, relative to the start of the step, and the duration of its
// work alone.
struct Timed {
  std::int64_t start_ns = 0, end_ns = 0, own_ns = 0;
};

// Times the instructions of one step.
class Stopwatch {
 public:
  virtual ~Stopwatch() = default;

  virtual void begin(std::size_t instruction) = 0;
  virtual void end(std::size_t instruction) = 0;
  // Must be called after the step. Returns the times, indexed by instruction.
  virtual std::vector<Timed> read() = 0;
};

class MarkStopwatch final : public Stopwatch {
 public:
  MarkStopwatch(const Platform& platform, std::size_t count)
      : marks_(platform.marks(1 + 2 * count)), count_(count) {
    marks_->mark(0);
  }
  void begin(std::size_t instruction) override { marks_->mark(1 + 2 * instruction); }
  void end(std::size_t instruction) override { marks_->mark(2 + 2 * instruction); }
  std::vector<Timed> read() override {
    const std::vector<std::int64_t> ns = marks_->read();
    std::vector<Timed> times;
    times.reserve(count_);
    for (std::size_t i = 0; i < count_; ++i)
      times.push_back({ns[1 + 2 * i], ns[2 + 2 * i], ns[2 + 2 * i] - ns[1 + 2 * i]});
    return times;
  }

 private:
  std::unique_ptr<Marks> marks_;
  std::size_t count_;
};

class TraceStopwatch final : public Stopwatch {
 public:
  TraceStopwatch(std::unique_ptr<KernelTracer> tracer, std::size_t count)
      : tracer_(std::move(tracer)), count_(count) {}
  void begin(std::size_t instruction) override { tracer_->begin(instruction); }
  void end(std::size_t /*instruction*/) override { tracer_->end(); }
  std::vector<Timed> read() override {
    kernels_ = tracer_->stop();
    std::vector<Timed> times(count_);
    std::vector<bool> ran(count_, false);
    const std::int64_t start = kernels_.empty() ? 0 : kernels_.front().start_ns;
    for (TracedKernel& kernel : kernels_) {
      kernel.start_ns -= start;
      kernel.end_ns -= start;
      Timed& timed = times[kernel.instruction];
      if (!ran[kernel.instruction]) timed.start_ns = kernel.start_ns;
      timed.end_ns = std::max(timed.end_ns, kernel.end_ns);
      timed.own_ns += kernel.end_ns - kernel.start_ns;
      ran[kernel.instruction] = true;
    }
    // For a call without kernels, such as a view, use the time that the device had reached before
    // the call.
    for (std::size_t i = 0; i < count_; ++i)
      if (!ran[i] && i > 0) times[i] = {times[i - 1].end_ns, times[i - 1].end_ns, 0};
    return times;
  }
  // Valid after read(): the kernels of the step, with times relative to its start.
  [[nodiscard]] const std::vector<TracedKernel>& kernels() const { return kernels_; }

 private:
  std::unique_ptr<KernelTracer> tracer_;
  std::size_t count_;
  std::vector<TracedKernel> kernels_;
};

class TimingFollower : public Follower {
 public:
  explicit TimingFollower(Stopwatch& stopwatch) : stopwatch_(stopwatch) {}
  void before(std::size_t index) override { stopwatch_.begin(index); }
  void called(std::size_t index) override { stopwatch_.end(index); }

 private:
  Stopwatch& stopwatch_;
};

// Runs one collective at a time. It starts when all ranks of its group have arrived, and this rank
// runs nothing else until the collective is done.
class IsolatingFollower final : public TimingFollower {
 public:
  IsolatingFollower(const MeasuredProgram& run, Stopwatch& stopwatch)
      : TimingFollower(stopwatch),
        run_(run),
        wait_(c10::Dispatcher::singleton().findSchemaOrThrow("_c10d_functional::wait_tensor", "")) {
  }
  void before(std::size_t index) override {
    const Instruction& instruction = run_.program.instructions[index];
    if (instruction.starts_collective) {
      const Node& node = run_.graph.node(instruction.node);
      if (node.group)
        run_.groups.barrier(std::string(run_.graph.text(run_.graph.group(node.group).name)));
    }
    TimingFollower::before(index);
  }
  void called(std::size_t index) override {
    const Instruction& instruction = run_.program.instructions[index];
    if (instruction.starts_collective)
      for (std::uint32_t r = 0; r < instruction.result_count; ++r) {
        torch::jit::Stack stack{run_.interpreter.get(instruction.first_result + r)};
        if (stack.front().isTensor()) wait_.callBoxed(&stack);
      }
    TimingFollower::called(index);
  }

 private:
  const MeasuredProgram& run_;
  c10::OperatorHandle wait_;
};

// Scales the times so that the last one is `length`, since memory was recorded in another step.
void stretch(std::vector<MeasuredBytes>& samples, std::int64_t length) {
  if (samples.empty() || samples.back().ns <= 0) return;
  const double factor = static_cast<double>(length) / static_cast<double>(samples.back().ns);
  for (MeasuredBytes& sample : samples)
    sample.ns = std::llround(static_cast<double>(sample.ns) * factor);
}

// The measured times. `own` is indexed by instruction and isolated step; all other members describe
// the last ordinary step.
struct StepsTimed {
  std::vector<std::vector<std::int64_t>> own;
  std::vector<Timed> last;
  std::vector<TracedKernel> kernels;
  bool is_traced = false;
};

StepOr<StepsTimed> time_steps(const MeasuredProgram& run) {
  const std::size_t count = run.program.instructions.size();
  StepsTimed steps;
  bool can_trace = !run.platform.device().is_cpu();
  for (std::int64_t i = 0; i < 2 * kTimedSteps; ++i) {
    if (i == 0) steps = {.own = std::vector<std::vector<std::int64_t>>(count)};
    run.reporter.stage("profile", i, 2 * kTimedSteps);
    const bool is_isolated = i < kTimedSteps;
    run.platform.synchronize();
    run.groups.barrier();
    std::unique_ptr<KernelTracer> tracer = can_trace ? run.platform.trace_kernels() : nullptr;
    std::unique_ptr<Stopwatch> stopwatch;
    TraceStopwatch* trace = nullptr;
    if (tracer) {
      auto traced = std::make_unique<TraceStopwatch>(std::move(tracer), count);
      trace = traced.get();
      stopwatch = std::move(traced);
    } else {
      stopwatch = std::make_unique<MarkStopwatch>(run.platform, count);
    }
    std::unique_ptr<TimingFollower> follower;
    if (is_isolated)
      follower = std::make_unique<IsolatingFollower>(run, *stopwatch);
    else
      follower = std::make_unique<TimingFollower>(*stopwatch);
    if (const StepResult done = run.interpreter.step(follower.get()); !done)
      return tl::unexpected(done.error());
    steps.last = stopwatch->read();
    // All ranks start over, since all must run the same number of steps, and times of both kinds
    // must not be mixed.
    if (run.groups.any(can_trace && (trace == nullptr || trace->kernels().empty()))) {
      can_trace = false;
      i = -1;
      continue;
    }
    if (trace != nullptr) steps.kernels = trace->kernels();
    for (std::size_t n = 0; is_isolated && n < count; ++n)
      steps.own[n].push_back(steps.last[n].own_ns);
  }
  steps.is_traced = can_trace;
  return steps;
}

}  // namespace

StepOr<TimesOfNodes> measure_nodes(const MeasuredProgram& run, std::vector<CompiledBlock>& blocks) {
  run.status.set_stage("profile");
  run.platform.keep_history(false);  // it would make calls slower
  auto timed = time_steps(run);
  run.platform.keep_history(true);
  if (!timed) return tl::unexpected(timed.error());
  if (!timed->is_traced && !run.platform.device().is_cpu())
    run.reporter.note(
        "kernels cannot be traced (CUPTI is missing, is used by another profiler, or the driver "
        "forbids it): nodes are timed by events around their calls, which for small kernels "
        "measure the time of launches, so --calibrate does not store the times");
  TimesOfNodes result;
  std::vector<NodeTime>& times = result.nodes;
  std::unordered_map<std::uint32_t, std::size_t> index_of;  // by the collective's node
  for (std::size_t n = 0; n < run.program.instructions.size(); ++n) {
    const Instruction& instruction = run.program.instructions[n];
    const Timed& last = timed->last[n];
    const std::int64_t own = median(std::move(timed->own[n]));
    if (is_compiled(instruction)) {
      CompiledBlock& block = blocks[instruction.compiled];
      block.start_ns = last.start_ns;
      block.end_ns = last.end_ns;
      block.own_ns = own;
      stretch(block.memory, block.end_ns - block.start_ns);
    }
    if (!is_call(run, instruction)) continue;
    // A collective, or a copy to the host or back, lasts until its wait ends, unless the end of its
    // kernel is known.
    if (instruction.waits && !timed->is_traced) {
      const NodeId start = run.graph.collective_of_wait(run.graph.node(instruction.node));
      if (const auto found = start ? index_of.find(start.value()) : index_of.end();
          found != index_of.end())
        times[found->second].end_ns = last.end_ns;
    }
    if (instruction.starts_collective || instruction.starts_transfer)
      index_of[instruction.node.value()] = times.size();
    times.push_back({.position = instruction.position,
                     .start_ns = last.start_ns,
                     .end_ns = last.end_ns,
                     .own_ns = own});
  }
  for (TracedKernel& kernel : timed->kernels)
    result.kernels.push_back({.position = run.program.instructions[kernel.instruction].position,
                              .name = std::move(kernel.name),
                              .stream = kernel.stream,
                              .start_ns = kernel.start_ns,
                              .end_ns = kernel.end_ns});
  return result;
}

}  // namespace jointer::runner
