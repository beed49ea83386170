// After each move, updates the simulation (clocks.h) of an order that is being edited.
//
// The order is divided into chunks of a fixed number of calls. The state before each chunk is
// stored: the clocks of the host, the compute stream and all other streams, and the exposed time so
// far.
//
// A move
//   1. Restarts the run at the chunk of the first call whose position changed.
//   2. After the last such call, stops before the first chunk that is in sync again: every clock is
//      later by the same amount (the shift, possibly zero), or its difference has no effect. A
//      difference has no effect in
//        - a stream's clock that neither was nor is later than both the host and the compute
//          stream, since the next collective on that stream starts later anyway; the same holds for
//          a pending collective, which ends no later than its stream's clock;
//        - the host's clock, if the host stays far enough ahead of the compute stream until it
//          waits for that stream.
//   3. Everything after that runs as before, but is later by the shift, so the stored states are
//      shifted. A collective's end is stored relative to the chunk that starts it, so it moves with
//      that chunk.
//
// Cost: the calls until the run is in sync again, plus a few additions per later chunk if there is
// a shift. If the run never gets back in sync, the cost is all calls after the move.

#include "core/schedule/time_what_if.h"

#include <algorithm>
#include <limits>

#include "core/schedule/time_preview.h"

namespace jointer {
namespace {

constexpr std::size_t kChunk = 256;
constexpr std::int64_t kAmpleSlack = std::numeric_limits<std::int64_t>::max() / 4;

}  // namespace

TimeWhatIf::TimeWhatIf(const Graph& graph, std::span<const NodeCost> costs,
                       const SimulationOptions& options, const MovableOrder& calls)
    : calls_(graph.node_count()) {
  constexpr std::uint32_t kNone = ~std::uint32_t{0};
  std::vector<std::uint32_t> collective_of(graph.node_count(), kNone);
  std::vector<std::uint32_t> stream_of(stream_keys(graph), kNone);
  for (const NodeId id : calls.nodes()) {
    const Node& n = graph.node(id);
    Call& call = calls_[id.index()];
    static_cast<TimedCall&>(call) = timed_call(graph, n, costs[id.index()]);
    if (call.kind == Call::Kind::start) {
      std::uint32_t& stream = stream_of[stream_key(graph, n, options)];
      if (stream == kNone) stream = static_cast<std::uint32_t>(streams_++);
      call.stream = stream;
      call.collective = collective_of[id.index()] = static_cast<std::uint32_t>(collectives_++);
    } else if (call.kind == Call::Kind::wait) {
      if (const NodeId start = graph.collective_of_wait(n))
        call.collective = collective_of[start.index()];
      else
        call.kind = Call::Kind::host;
    }
  }
  chunks_.resize(calls.size() / kChunk + 1);
  chunk_streams_.assign(chunks_.size() * streams_, 0);
  started_in_.assign(collectives_, 0);
  ends_.assign(collectives_, 0);
  streams_now_.assign(streams_, 0);
  for (std::size_t chunk = 0; chunk < chunks_.size(); ++chunk) {
    store(chunk);
    run_chunk(calls, chunk);
  }
  end();
}

void TimeWhatIf::restore(std::size_t chunk) {
  now_ = chunks_[chunk].before;
  std::ranges::copy(streams_of(chunk), streams_now_.begin());
}

void TimeWhatIf::store(std::size_t chunk) {
  chunks_[chunk].before = now_;
  std::ranges::copy(streams_now_, streams_of(chunk).begin());
}

void TimeWhatIf::run_chunk(const MovableOrder& calls, std::size_t chunk) {
  chunks_[chunk].host_slack = kAmpleSlack;
  chunks_[chunk].resets = false;
  const std::size_t last = std::min((chunk + 1) * kChunk, calls.size());
  for (std::size_t place = chunk * kChunk; place < last; ++place)
    run(calls_[calls[place].index()], chunk);
  // At the end, the step also waits for the host.
  if (last == calls.size() && !chunks_[chunk].resets)
    chunks_[chunk].host_slack = std::min(chunks_[chunk].host_slack, now_.host_slack());
}

void TimeWhatIf::run(Call& call, std::size_t in) {
  Chunk& chunk = chunks_[in];
  now_.launch(call.host_ns);
  if (call.kind == Call::Kind::host) return;
  if (!chunk.resets) chunk.host_slack = std::min(chunk.host_slack, now_.host_slack());
  switch (call.kind) {
    case Call::Kind::host:
      break;
    case Call::Kind::blocking_kernel:
      chunk.resets = true;
      [[fallthrough]];
    case Call::Kind::kernel:
      now_.run_kernel(call);
      break;
    case Call::Kind::start:
      started_in_[call.collective] = static_cast<std::uint32_t>(in);
      ends_[call.collective] =
          now_.start(call.ns, streams_now_[call.stream]) - chunk.before.compute;
      break;
    case Call::Kind::wait:
      call.stalls = now_.wait_until(end_of(call.collective)) > 0;
      break;
  }
}

void TimeWhatIf::end() {
  time_ = now_.drain(streams_now_);
}

// --- A move ---

void TimeWhatIf::replay(const MovableOrder& calls, Stretch changed) {
  if (changed.first >= changed.last) return;
  const std::size_t first = changed.first / kChunk;
  const std::size_t settled = (changed.last + kChunk - 1) / kChunk;
  replayed_.clear();
  for (std::size_t chunk = first; chunk < settled; ++chunk) note_ends(calls, chunk);
  restore(first);
  for (std::size_t chunk = first; chunk < chunks_.size(); ++chunk) {
    if (chunk >= settled) {
      if (is_in_step(chunk, first)) {
        shift_from(chunk);
        return;
      }
      note_ends(calls, chunk);
    }
    store(chunk);
    run_chunk(calls, chunk);
  }
  end();
}

std::int64_t TimeWhatIf::end_of(std::uint32_t collective) const {
  return chunks_[started_in_[collective]].before.compute + ends_[collective];
}

// Records the ends of the collectives that a chunk starts, before it is run again. Call this for
// every chunk in which calls moved before running any chunk again.
void TimeWhatIf::note_ends(const MovableOrder& calls, std::size_t chunk) {
  const std::size_t last = std::min((chunk + 1) * kChunk, calls.size());
  for (std::size_t place = chunk * kChunk; place < last; ++place)
    if (const Call& call = calls_[calls[place].index()]; call.kind == Call::Kind::start)
      replayed_.push_back({.collective = call.collective, .was = end_of(call.collective)});
}

bool TimeWhatIf::is_in_step(std::size_t chunk, std::size_t replayed_from) {
  const Clocks& was = chunks_[chunk].before;
  const std::int64_t shift = now_.compute - was.compute;
  const std::int64_t was_ready = was.ready(), is_ready = now_.ready();
  const auto sleeps = [&](std::int64_t before, std::int64_t after) {
    return before <= was_ready && after <= is_ready;
  };
  const auto streams = streams_of(chunk), earlier = streams_of(replayed_from);
  for (std::size_t s = 0; s < streams_; ++s) {
    if (!sleeps(streams[s], streams_now_[s]) && streams_now_[s] - streams[s] != shift) return false;
    // Collectives that started before the replayed chunks still end at the same time.
    if (shift != 0 && !sleeps(earlier[s], earlier[s])) return false;
  }
  std::erase_if(replayed_, [&](const Replayed& r) { return sleeps(r.was, end_of(r.collective)); });
  return std::all_of(replayed_.begin(), replayed_.end(),
                     [&](const Replayed& r) { return end_of(r.collective) - r.was == shift; }) &&
         host_sleeps(chunk, now_.host - was.host - shift);
}

// Returns true if a shift of the host's clock by `ahead` more than the other clocks has no effect
// from this chunk on.
bool TimeWhatIf::host_sleeps(std::size_t chunk, std::int64_t ahead) const {
  if (ahead == 0) return true;
  for (; chunk < chunks_.size(); ++chunk) {
    if (chunks_[chunk].host_slack < std::max<std::int64_t>(ahead, 0)) return false;
    if (chunks_[chunk].resets) return true;
  }
  return true;
}

// Shifts the stored states of this chunk, where the run is in sync again, and of all later chunks.
void TimeWhatIf::shift_from(std::size_t chunk) {
  const Clocks& was = chunks_[chunk].before;
  const std::int64_t shift = now_.compute - was.compute, exposed = now_.exposed - was.exposed;
  std::int64_t host = now_.host - was.host;
  time_.step_ns += shift;
  time_.exposed_ns += exposed;
  for (; chunk < chunks_.size() && (shift != 0 || host != 0 || exposed != 0); ++chunk) {
    Chunk& c = chunks_[chunk];
    c.before.host += host;
    c.before.compute += shift;
    c.before.exposed += exposed;
    c.host_slack += shift - host;
    for (std::int64_t& stream : streams_of(chunk)) stream += shift;
    if (c.resets) host = shift;
  }
}

bool TimeWhatIf::may_sleep(std::span<const NodeId> block) const {
  return std::ranges::all_of(block, [&](NodeId id) {
    const Call::Kind kind = calls_[id.index()].kind;
    return kind == Call::Kind::host || kind == Call::Kind::wait;
  });
}

bool TimeWhatIf::sleeps_from_here(const MovableOrder& calls, std::span<const NodeId> block) const {
  if (!may_sleep(block)) return false;
  std::int64_t host = 0;
  for (const NodeId id : block) {
    if (calls_[id.index()].stalls) return false;
    host += calls_[id.index()].host_ns;
  }
  if (host == 0) return true;
  const auto unnoticed = [](const Chunk& chunk) { return chunk.host_slack >= 0 && !chunk.resets; };
  const auto from = static_cast<std::ptrdiff_t>(calls.place(block.front()) / kChunk);
  return std::all_of(chunks_.begin() + from, chunks_.end(), unnoticed);
}

std::vector<StepTime> TimeWhatIf::times(const MovableOrder& calls, std::span<const NodeId> block,
                                        std::size_t first, std::size_t last) const {
  return TimePreview(*this, calls, block, first, last).run();
}

}  // namespace jointer
