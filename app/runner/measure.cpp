#include "app/runner/measure.h"

#include <ATen/core/dispatch/Dispatcher.h>

#include <algorithm>
#include <unordered_map>

#include "core/base/median.h"

namespace jointer::runner {
namespace {

// The number of steps in which nodes are timed: as they run, and then in isolation.
constexpr std::int64_t kTimedSteps = 5;

bool is_call(const MeasuredProgram& run, const Instruction& instruction) {
  return run.graph.node(instruction.node).kind == NodeKind::call;
}

// Follows allocated bytes from call to call. A call's scratch memory is the device's peak during
// the call minus what is allocated after it.
class MemoryFollower final : public Follower {
 public:
  explicit MemoryFollower(const MeasuredProgram& run) : run_(run) {
    const std::int64_t start = run.platform.memory().allocated;
    memory_.profile.push_back(start);
    memory_.resident_peak = start;
    memory_.figures.peak_allocated = start;
  }

  void before(std::size_t) override { run_.platform.reset_peaks(); }
  void called(std::size_t index) override {
    run_.platform.synchronize();
    const Instruction& instruction = run_.program.instructions[index];
    const MemoryFigures now = run_.platform.memory();
    if (!is_call(run_, instruction)) return;
    memory_.profile.push_back(now.allocated);
    memory_.resident_peak = std::max(memory_.resident_peak, now.allocated);
    if (now.peak_allocated > now.allocated)
      memory_.scratch.push_back(
          {.position = instruction.position, .bytes = now.peak_allocated - now.allocated});
  }
  void freed(std::size_t index) override {
    if (is_call(run_, run_.program.instructions[index]))
      memory_.profile.push_back(run_.platform.memory().allocated);
  }

  MemoryOfStep take() { return std::move(memory_); }

 private:
  const MeasuredProgram& run_;
  MemoryOfStep memory_;
};

// Records two marks per call in an ordinary step.
class SpanFollower final : public Follower {
 public:
  SpanFollower(const MeasuredProgram& run, Marks& marks) : run_(run), marks_(marks) {}
  void before(std::size_t index) override { marks_.mark(1 + 2 * index); }
  void called(std::size_t index) override { marks_.mark(2 + 2 * index); }
  void freed(std::size_t) override {}

 private:
  const MeasuredProgram& run_;
  Marks& marks_;
};

// Records the same marks with one collective at a time: a collective starts when all ranks have
// arrived, and nothing else runs until its wait returns.
class IsolatingFollower final : public Follower {
 public:
  IsolatingFollower(const MeasuredProgram& run, Marks& marks)
      : run_(run),
        marks_(marks),
        wait_(c10::Dispatcher::singleton().findSchemaOrThrow("_c10d_functional::wait_tensor", "")) {
  }
  void before(std::size_t index) override {
    const Instruction& instruction = run_.program.instructions[index];
    if (instruction.starts_collective) {
      const Node& node = run_.graph.node(instruction.node);
      if (node.group)
        run_.groups.barrier(std::string(run_.graph.text(run_.graph.group(node.group).name)));
    }
    marks_.mark(1 + 2 * index);
  }
  void called(std::size_t index) override {
    const Instruction& instruction = run_.program.instructions[index];
    if (instruction.starts_collective)
      for (std::uint32_t r = 0; r < instruction.result_count; ++r) {
        torch::jit::Stack stack{run_.interpreter.get(instruction.first_result + r)};
        if (stack.front().isTensor()) wait_.callBoxed(&stack);
      }
    marks_.mark(2 + 2 * index);
  }
  void freed(std::size_t) override {}

 private:
  const MeasuredProgram& run_;
  Marks& marks_;
  c10::OperatorHandle wait_;
};

}  // namespace

StepOr<MemoryOfStep> measure_memory(const MeasuredProgram& run) {
  run.interpreter.copy_released_inputs(true);
  run.interpreter.clear();
  run.platform.synchronize();
  MemoryFollower follower(run);
  if (const StepResult done = run.interpreter.step(&follower); !done)
    return tl::unexpected(done.error());
  run.interpreter.clear();
  run.platform.synchronize();
  // Measures the peaks in an ordinary step, which moves values into the calls that read them last.
  run.platform.reset_peaks();
  if (const StepResult done = run.interpreter.step(); !done) return tl::unexpected(done.error());
  run.platform.synchronize();
  MemoryOfStep memory = follower.take();
  memory.figures = run.platform.memory();
  run.interpreter.copy_released_inputs(false);
  return memory;
}

StepOr<std::vector<std::int64_t>> measure_steps(const MeasuredProgram& run, int warmup,
                                                int iterations,
                                                const std::function<StepResult()>& step) {
  run.status.set_stage("warm up");
  for (int i = 0; i < warmup; ++i) {
    run.reporter.stage("warm up", i, warmup);
    if (const StepResult done = step(); !done) return tl::unexpected(done.error());
  }
  run.platform.synchronize();
  run.groups.barrier();
  run.status.set_stage("measure");
  const auto marks = run.platform.marks(static_cast<std::size_t>(iterations) + 1);
  marks->mark(0);
  for (int i = 0; i < iterations; ++i) {
    run.reporter.stage("measure", i, iterations);
    if (const StepResult done = step(); !done) return tl::unexpected(done.error());
    marks->mark(static_cast<std::size_t>(i) + 1);
  }
  std::vector<std::int64_t> times = marks->read();
  for (std::size_t i = times.size() - 1; i > 0; --i) times[i] -= times[i - 1];
  times.erase(times.begin());
  return times;
}

StepOr<std::vector<NodeTime>> measure_nodes(const MeasuredProgram& run) {
  run.status.set_stage("profile");
  const std::size_t count = run.program.instructions.size();
  std::vector<std::vector<std::int64_t>> own(count);
  std::vector<std::int64_t> last;
  for (std::int64_t i = 0; i < 2 * kTimedSteps; ++i) {
    run.reporter.stage("profile", i, 2 * kTimedSteps);
    const bool isolated = i < kTimedSteps;
    const auto marks = run.platform.marks(1 + 2 * count);
    run.platform.synchronize();
    run.groups.barrier();
    marks->mark(0);
    std::unique_ptr<Follower> follower;
    if (isolated)
      follower = std::make_unique<IsolatingFollower>(run, *marks);
    else
      follower = std::make_unique<SpanFollower>(run, *marks);
    if (const StepResult done = run.interpreter.step(follower.get()); !done)
      return tl::unexpected(done.error());
    last = marks->read();
    for (std::size_t n = 0; isolated && n < count; ++n)
      own[n].push_back(last[2 + 2 * n] - last[1 + 2 * n]);
  }
  std::vector<NodeTime> times;
  std::unordered_map<std::uint32_t, std::size_t> index_of;  // by the collective's node
  for (std::size_t n = 0; n < count; ++n) {
    const Instruction& instruction = run.program.instructions[n];
    if (!is_call(run, instruction)) continue;
    // A collective, or a copy to the host or back, lasts until its wait ends.
    if (instruction.waits) {
      const NodeId start = run.graph.collective_of_wait(run.graph.node(instruction.node));
      if (const auto found = start ? index_of.find(start.value()) : index_of.end();
          found != index_of.end())
        times[found->second].end_ns = last[2 + 2 * n];
    }
    if (instruction.starts_collective || instruction.starts_transfer)
      index_of[instruction.node.value()] = times.size();
    times.push_back({.position = instruction.position,
                     .start_ns = last[1 + 2 * n],
                     .end_ns = last[2 + 2 * n],
                     .own_ns = median(std::move(own[n]))});
  }
  return times;
}

}  // namespace jointer::runner
