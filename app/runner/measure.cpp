#include "app/runner/measure.h"

#include <algorithm>
#include <string>

#include "core/schedule/memory_walk.h"

namespace jointer::runner {
namespace {

// The approximate maximum number of points in the memory curve of a compiled block.
constexpr std::size_t kSamples = 2000;

// If there are more than kSamples samples, divides the time into about kSamples equal parts, and
// returns the maximum of each part and the last sample.
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

// Follows requested bytes from call to call. A call's scratch memory is the device's peak during
// the call minus the bytes held after the call. The scratch memory within a compiled block is
// unknown, so the profile has the peak during the block at all of its calls.
class MemoryFollower final : public Follower {
 public:
  explicit MemoryFollower(const MeasuredProgram& run)
      : run_(run), calls_(run.graph.order().size() + 1, 0) {
    for (std::size_t i = 0; i + 1 < calls_.size(); ++i)
      calls_[i + 1] =
          calls_[i] + (run.graph.node(run.graph.order()[i]).kind == NodeKind::call ? 1 : 0);
    const std::int64_t start = run.platform.memory().requested;
    memory_.profile.assign(1 + 2 * calls_.back(), kUnknown);
    memory_.profile.front() = start;
    memory_.resident_peak = start;
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
    if (is_compiled(instruction)) return record_block(memory_.blocks[instruction.compiled], now);
    if (!is_call(run_, instruction)) return;
    memory_.profile[point_of_step(calls_[instruction.position])] = now.requested;
    memory_.resident_peak = std::max(memory_.resident_peak, now.requested);
    if (now.peak_requested > now.requested)
      memory_.scratch.push_back(
          {.position = instruction.position, .bytes = now.peak_requested - now.requested});
  }
  void freed(std::size_t index) override {
    const Instruction& instruction = run_.program.instructions[index];
    if (is_compiled(instruction) || is_call(run_, instruction))
      memory_.profile[point_of_step(calls_[instruction.position]) + 1] =
          run_.platform.memory().requested;
  }

  // A call without an instruction allocates nothing, so the bytes before it still apply.
  MemoryOfStep take() {
    for (std::size_t i = 1; i < memory_.profile.size(); ++i)
      if (memory_.profile[i] == kUnknown) memory_.profile[i] = memory_.profile[i - 1];
    return std::move(memory_);
  }

 private:
  static constexpr std::int64_t kUnknown = -1;

  void record_block(CompiledBlock& block, const MemoryFigures& now) {
    block.memory = thinned(run_.platform.stop_recording());
    block.peak_bytes = now.peak_requested;
    memory_.resident_peak = std::max(memory_.resident_peak, now.peak_requested);
    for (const std::uint32_t position : block.positions) {
      if (calls_[position + 1] == calls_[position]) continue;
      const std::size_t point = point_of_step(calls_[position]);
      memory_.profile[point] = memory_.profile[point + 1] = now.peak_requested;
    }
  }

  const MeasuredProgram& run_;
  std::vector<std::size_t> calls_;  // by position: the number of calls before it
  MemoryOfStep memory_;
};

// Waits for the device after every call, so that an error or a hang is attributed to that call.
class CallByCall final : public Follower {
 public:
  explicit CallByCall(Platform& platform) : platform_(platform) {}
  void called(std::size_t) override { platform_.synchronize(); }

 private:
  Platform& platform_;
};

}  // namespace

StepOr<std::int64_t> make_workspaces(const MeasuredProgram& run, bool recorded) {
  run.interpreter.clear();
  StepResult done;
  const std::int64_t bytes = run.platform.make_workspaces(
      [&] {
        CallByCall follower(run.platform);
        done = run.interpreter.step(&follower);
        run.interpreter.clear();
        return done.has_value();
      },
      recorded);
  if (!done) return tl::unexpected(done.error());
  return bytes;
}

StepOr<MemoryOfStep> measure_memory(const MeasuredProgram& run) {
  run.interpreter.copy_released_inputs(true);
  run.interpreter.clear();
  run.platform.synchronize();
  MemoryFollower follower(run);
  if (const StepResult done = run.interpreter.step(&follower); !done)
    return tl::unexpected(done.error());
  run.interpreter.clear();
  run.platform.synchronize();
  // Measure the peaks in an ordinary step, in which values are moved into the calls that read them
  // last.
  run.platform.release_cache();
  run.platform.reset_peaks();
  if (const StepResult done = run.interpreter.step(); !done) return tl::unexpected(done.error());
  run.platform.synchronize();
  MemoryOfStep memory = follower.take();
  memory.figures = run.platform.memory();
  // In a step with a follower, the values that a block reads last stay allocated until it returns.
  for (CompiledBlock& block : memory.blocks) {
    block.peak_bytes = std::min(block.peak_bytes, memory.figures.peak_requested);
    for (MeasuredBytes& sample : block.memory)
      sample.bytes = std::min(sample.bytes, block.peak_bytes);
  }
  if (!memory.blocks.empty())
    memory.resident_peak = std::min(memory.resident_peak, memory.figures.peak_requested);
  run.interpreter.copy_released_inputs(false);
  return memory;
}

StepOr<std::vector<std::int64_t>> measure_steps(const MeasuredProgram& run, int warmup,
                                                int iterations,
                                                const std::function<StepResult()>& step,
                                                ProfilerRanges* ranges) {
  run.status.set_stage("warm up");
  for (int i = 0; i < warmup; ++i) {
    run.reporter.stage("warm up", i, warmup);
    if (const StepResult done = step(); !done) return tl::unexpected(done.error());
  }
  run.platform.synchronize();
  run.groups.barrier();
  run.platform.keep_history(false);  // it would make the steps slower
  run.status.set_stage("measure");
  const auto marks = run.platform.marks(static_cast<std::size_t>(iterations) + 1);
  if (ranges != nullptr) ranges->start_recording();
  marks->mark(0);
  for (int i = 0; i < iterations; ++i) {
    run.reporter.stage("measure", i, iterations);
    if (ranges != nullptr) ranges->push("step " + std::to_string(i));
    if (const StepResult done = step(); !done) return tl::unexpected(done.error());
    if (ranges != nullptr) ranges->pop();
    marks->mark(static_cast<std::size_t>(i) + 1);
  }
  std::vector<std::int64_t> times = marks->read();
  // The device has finished, so the kernels of the last step are recorded.
  if (ranges != nullptr) ranges->stop_recording();
  run.platform.keep_history(true);
  for (std::size_t i = times.size() - 1; i > 0; --i) times[i] -= times[i - 1];
  times.erase(times.begin());
  return times;
}

}  // namespace jointer::runner
