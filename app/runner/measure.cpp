#include "app/runner/measure.h"

#include <ATen/core/dispatch/Dispatcher.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "core/base/median.h"

namespace jointer::runner {
namespace {

// The number of steps in which nodes are timed: as they run, and then in isolation.
constexpr std::int64_t kTimedSteps = 5;
// Points of the memory curve of a compiled block.
constexpr std::size_t kSamples = 2000;

bool is_compiled(const Instruction& instruction) {
  return instruction.kind == Instruction::Kind::compiled;
}

// A call of the graph, as opposed to a compiled block or to an instruction that feeds an input.
bool is_call(const MeasuredProgram& run, const Instruction& instruction) {
  return !is_compiled(instruction) && run.graph.node(instruction.node).kind == NodeKind::call;
}

// Keeps the maximum in each of at most kSamples equal parts of the time, and the end.
std::vector<MeasuredBytes> thinned(std::vector<MeasuredBytes> samples) {
  if (samples.size() <= kSamples) return samples;
  const std::int64_t part =
      std::max<std::int64_t>(samples.back().ns / static_cast<std::int64_t>(kSamples), 1);
  std::vector<MeasuredBytes> kept;
  for (const MeasuredBytes& sample : samples)
    if (kept.empty() || sample.ns / part != kept.back().ns / part)
      kept.push_back(sample);
    else
      kept.back().bytes = std::max(kept.back().bytes, sample.bytes);
  if (kept.back().ns != samples.back().ns) kept.push_back(samples.back());
  return kept;
}

// Scales the times so that the last one is `length`: memory was recorded in another step.
void stretch(std::vector<MeasuredBytes>& samples, std::int64_t length) {
  if (samples.empty() || samples.back().ns <= 0) return;
  const double factor = static_cast<double>(length) / static_cast<double>(samples.back().ns);
  for (MeasuredBytes& sample : samples)
    sample.ns = std::llround(static_cast<double>(sample.ns) * factor);
}

// Follows allocated bytes from call to call. A call's scratch memory is the device's peak during
// the call minus what is allocated after it. The scratch memory of a compiled block is not known: its
// calls get the peak during the block.
class MemoryFollower final : public Follower {
 public:
  explicit MemoryFollower(const MeasuredProgram& run)
      : run_(run), calls_(run.graph.order().size() + 1, 0) {
    for (std::size_t i = 0; i + 1 < calls_.size(); ++i)
      calls_[i + 1] =
          calls_[i] + (run.graph.node(run.graph.order()[i]).kind == NodeKind::call ? 1 : 0);
    const std::int64_t start = run.platform.memory().allocated;
    memory_.profile.assign(1 + 2 * calls_.back(), kUnknown);
    memory_.profile.front() = start;
    memory_.resident_peak = start;
    memory_.figures.peak_allocated = start;
    for (const CompiledCode& code : run.program.compiled) {
      CompiledBlock& block = memory_.blocks.emplace_back(CompiledBlock{.name = code.label});
      for (const NodeId node : code.nodes)
        block.positions.push_back(static_cast<std::uint32_t>(run.graph.position(node)));
    }
  }

  void before(std::size_t index) override {
    run_.platform.reset_peaks();
    if (is_compiled(run_.program.instructions[index])) run_.platform.start_recording();
  }
  void called(std::size_t index) override {
    run_.platform.synchronize();
    const Instruction& instruction = run_.program.instructions[index];
    const MemoryFigures now = run_.platform.memory();
    if (is_compiled(instruction)) return take_block(memory_.blocks[instruction.compiled], now);
    if (!is_call(run_, instruction)) return;
    memory_.profile[1 + 2 * calls_[instruction.position]] = now.allocated;
    memory_.resident_peak = std::max(memory_.resident_peak, now.allocated);
    if (now.peak_allocated > now.allocated)
      memory_.scratch.push_back(
          {.position = instruction.position, .bytes = now.peak_allocated - now.allocated});
  }
  void freed(std::size_t index) override {
    const Instruction& instruction = run_.program.instructions[index];
    if (is_compiled(instruction) || is_call(run_, instruction))
      memory_.profile[2 + 2 * calls_[instruction.position]] = run_.platform.memory().allocated;
  }

  // A call without an instruction allocates nothing.
  MemoryOfStep take() {
    for (std::size_t i = 1; i < memory_.profile.size(); ++i)
      if (memory_.profile[i] == kUnknown) memory_.profile[i] = memory_.profile[i - 1];
    return std::move(memory_);
  }

 private:
  static constexpr std::int64_t kUnknown = -1;

  void take_block(CompiledBlock& block, const MemoryFigures& now) {
    block.memory = thinned(run_.platform.stop_recording());
    block.peak_bytes = now.peak_allocated;
    memory_.resident_peak = std::max(memory_.resident_peak, now.peak_allocated);
    for (const std::uint32_t position : block.positions)
      if (calls_[position + 1] > calls_[position])
        memory_.profile[1 + 2 * calls_[position]] = memory_.profile[2 + 2 * calls_[position]] =
            now.peak_allocated;
  }

  const MeasuredProgram& run_;
  std::vector<std::size_t> calls_;  // by position: the number of calls before it
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
  // A step that is followed holds the values that a block reads last until it returns.
  for (CompiledBlock& block : memory.blocks) {
    block.peak_bytes = std::min(block.peak_bytes, memory.figures.peak_allocated);
    for (MeasuredBytes& sample : block.memory)
      sample.bytes = std::min(sample.bytes, block.peak_bytes);
  }
  if (!memory.blocks.empty())
    memory.resident_peak = std::min(memory.resident_peak, memory.figures.peak_allocated);
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

StepOr<std::vector<NodeTime>> measure_nodes(const MeasuredProgram& run,
                                            std::vector<CompiledBlock>& blocks) {
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
    if (is_compiled(instruction)) {
      CompiledBlock& block = blocks[instruction.compiled];
      block.start_ns = last[1 + 2 * n];
      block.end_ns = last[2 + 2 * n];
      block.own_ns = median(std::move(own[n]));
      stretch(block.memory, block.end_ns - block.start_ns);
    }
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
