// Computes the exact step time and exposed time for every gap to which a block may be moved,
// without one simulation per gap.
//
// Terms
//   rest     the calls outside the block.
//   event    a start or a wait in the rest. Between two events, only the clocks of the host and of
//            the compute stream change (ClockDelays).
//   model    a run with a known state at every event: initially, the run of the rest alone.
//   shift    the delay of the compute stream relative to the model.
//   slack    the maximum delay relative to the model that has no effect: for the host, the time
//            until the compute stream needs what the host launches; for a stream's clock, the time
//            until its next collective is ready; for a collective, the time until its wait.
//            Negative if it is already being waited for.
//   asleep   describes a clock or a collective that is not shifted like the compute stream, but has
//            no effect before its next use: if it is delayed by more than the shift, the difference
//            is within its slack; if by less, its slack is not negative.
//
// Steps
//   1. Run the rest, and record the state at every gap, and the state and the slacks at every
//      event.
//   2. For each gap, from the last to the first, run the block from the state at the gap, then the
//      calls up to the next event.
//   3. At an event, find the first event from there on at which something that is asleep wakes. If
//      there is none, everything else runs as in the model, but is later by the shift: it exposes
//      as much, and ends later by the shift. If it is a later event, jump there: everything that
//      starts on the way is later by the shift. If it is this event, simulate it.
//   4. If a run reaches the same state as the run of the next gap, its result is known. This is the
//      case if the block only passed calls that it does not disturb.
//   5. If many events had to be simulated, because the block disturbs a busy stream for a long
//      time, use the run with the block in the gap just visited as the model. Before that gap (the
//      border), the model remains the run of the rest.
//   Step 3 may find an event at which nothing wakes, which is then simulated unnecessarily. The
//   result is the same as if all events were simulated.
//
// Cost: one run of the rest per model and, for each gap, the events until its run is in sync with
// the model or with the run of the next gap.

#include "core/schedule/time_preview.h"

#include <algorithm>
#include <bit>

namespace jointer {
namespace {

constexpr std::size_t kBlockEvents = 64;
// The work to visit an event, and to check a range of skipped events, in units of the work to run
// one call. The accumulated work decides when a new model is worthwhile.
constexpr std::size_t kEventWork = 12, kEraWork = 4;

}  // namespace

bool TimePreview::is_event(const Call& call) {
  return call.kind == Call::Kind::start || call.kind == Call::Kind::wait;
}

// --- Sets of events ---

std::uint32_t TimePreview::EventSet::next(std::uint32_t event) const {
  std::size_t block = event / kBlockEvents;
  if (block >= bits_.size()) return kNowhere;
  std::uint64_t bits = bits_[block] & (~std::uint64_t{0} << (event % kBlockEvents));
  while (bits == 0) {
    if (++block == bits_.size()) return kNowhere;
    bits = bits_[block];
  }
  return static_cast<std::uint32_t>(block * kBlockEvents) +
         static_cast<std::uint32_t>(std::countr_zero(bits));
}

// --- The run of the rest ---

TimePreview::TimePreview(const TimeWhatIf& time, const MovableOrder& calls,
                         std::span<const NodeId> block, std::size_t first, std::size_t last)
    : first_(first),
      last_(last),
      starts_(time.collectives_, kNowhere),
      first_waits_(time.collectives_, kNowhere),
      ends_(time.collectives_, kNone),
      streams_(time.streams_, 0),
      own_ends_(time.collectives_, 0),
      own_ends_from_(time.collectives_, 0) {
  for (const NodeId id : block) block_.push_back(&time.calls_[id.index()]);
  rest_.reserve(calls.size());
  std::size_t next = 0;
  for (const NodeId id : calls.nodes()) {
    if (next < block.size() && block[next] == id)
      ++next;
    else
      rest_.push_back(&time.calls_[id.index()]);
  }
  for (const Call* call : rest_)
    if (is_event(*call)) ++count_;
  events_.resize(count_ + 1);
  run_rest(0);
  find_delays();
  find_last_waits();
  find_next();
}

// Runs the rest from a rank on, starting from the current state.
void TimePreview::run_rest(std::size_t rank) {
  const bool is_first = gaps_.empty();
  last_event_ = nullptr;
  for (; rank <= rest_.size(); ++rank) {
    if (is_first && rank >= first_ && rank <= last_)
      gaps_.push_back({.before = now_, .event = next_event_, .until = {}});
    if (rank == rest_.size()) break;
    const Call& call = *rest_[rank];
    if (is_event(call)) {
      add_event(call);
      continue;
    }
    now_.launch(call.host_ns);
    if (call.kind == Call::Kind::host) continue;
    note_use_of_host();
    now_.run_kernel(call);
    if (call.kind == Call::Kind::blocking_kernel && last_event_ != nullptr)
      last_event_->resets = true;
  }
  end_rest();
}

// Updates the host's slack for a call that the host has just launched.
void TimePreview::note_use_of_host() {
  if (last_event_ == nullptr || last_event_->resets) return;
  last_event_->host_slack = std::min(last_event_->host_slack, now_.host_slack());
}

void TimePreview::add_event(const Call& call) {
  const std::uint32_t index = next_event_++;
  Event& event = events_[index];
  event.call = &call;
  event.before = now_;
  event.resets = false;
  event.host_slack = kAmpleSlack;
  last_event_ = &event;
  now_.launch(call.host_ns);
  note_use_of_host();
  const std::int64_t ready = now_.ready();
  if (call.kind == Call::Kind::start) {
    std::int64_t& stream = streams_[call.stream];
    event.clock = stream;
    event.slack = ready - stream;
    event.end = ends_[call.collective] = now_.start(call.ns, stream);
    starts_[call.collective] = index;
    return;
  }
  if (std::uint32_t& first = first_waits_[call.collective]; first == kNowhere) {
    first = index;
    if (starts_[call.collective] != kNowhere)
      waits_.push_back({.event = index, .start = starts_[call.collective]});
  }
  // Collectives that the block starts count as already complete here.
  event.slack = ready - ends_[call.collective];
  now_.wait_until(ends_[call.collective]);
}

void TimePreview::end_rest() {
  note_use_of_host();
  events_[count_].before = now_;
  model_ = now_.drain(streams_);
  stream_slacks_.clear();
  for (const std::int64_t stream : streams_) stream_slacks_.push_back(now_.ready() - stream);
  find_min_slacks();
  work_ = 0;
}

void TimePreview::find_min_slacks() {
  min_host_slacks_.assign(events_.size() / kBlockEvents + 1, kAmpleSlack);
  for (std::uint32_t e = 0; e < count_; ++e) {
    std::int64_t& min_slack = min_host_slacks_[e / kBlockEvents];
    min_slack = std::min(min_slack, events_[e].host_slack);
  }
}

// Computes the delays up to the next event from each gap and from each event after the first gap.
void TimePreview::find_delays() {
  ClockDelays until;
  std::size_t event = count_;
  for (std::size_t rank = rest_.size();; --rank) {
    if (rank < rest_.size()) {
      const Call& call = *rest_[rank];
      if (is_event(call)) {
        events_[--event].after = until;
        until = {};
      } else {
        until.precede(call);
      }
    }
    if (rank <= last_) gaps_[rank - first_].until = until;
    if (rank == first_) return;
  }
}

void TimePreview::find_last_waits() {
  std::int32_t last = -1;
  std::uint32_t waits = 0;
  for (std::uint32_t e = 0; e <= count_; ++e) {
    Event& event = events_[e];
    while (waits < waits_.size() && waits_[waits].event < e) ++waits;
    event.waits = waits;
    event.last_wait = last;
    if (e == count_ || event.call->kind != Call::Kind::start) continue;
    if (const std::uint32_t wait = first_waits_[event.call->collective]; wait != kNowhere)
      last = std::max(last, static_cast<std::int32_t>(wait));
  }
  begun_waits_ = begun_exposed_ = EventSet(events_.size());
}

void TimePreview::find_next() {
  next_starts_.assign(streams_.size() * events_.size(), count_);
  next_resets_.assign(events_.size(), count_);
  for (std::uint32_t e = count_; e-- > 0;) {
    const Event& event = events_[e];
    next_resets_[e] = event.resets ? e : next_resets_[e + 1];
    for (std::size_t s = 0; s < streams_.size(); ++s)
      next_starts_[s * events_.size() + e] = next_start(s, e + 1);
    if (event.call->kind == Call::Kind::start)
      next_starts_[event.call->stream * events_.size() + e] = e;
  }
}

// Uses the run with the block in this gap as the model for all events after the gap.
void TimePreview::use_as_model(std::size_t gap) {
  const Gap& at = gaps_[gap];
  begin(at);
  border_streams_ = at_.streams;
  at_border_.before = at.before;
  at.until.apply(at_border_.before);
  border_ = at.event;
  for (const Call* call : block_) run_own(*call);
  for (const Own& own : at_.own) ends_[own.collective] = own.end;
  now_ = at_.now;
  streams_ = at_.streams;
  next_event_ = at.event;
  run_rest(first_ + gap);
  // The set of exposed waits may have changed.
  begun_waits_ = begun_exposed_ = EventSet(events_.size());
  begun_ = 0;
}

// --- The run with the block, from a gap on ---

// Visits the gaps from last to first, so that each run can be compared with the run of the next
// gap.
std::vector<StepTime> TimePreview::run() {
  std::vector<StepTime> times(gaps_.size());
  for (std::size_t i = gaps_.size(); i-- > 0;) {
    times[i] = run_gap(gaps_[i]);
    if (work_ > rest_.size() && gaps_[i].event < count_) use_as_model(i);
  }
  return times;
}

StepTime TimePreview::run_gap(const Gap& gap) {
  begin(gap);
  for (const Call* call : block_) run_own(*call);
  gap.until.apply(at_.now);
  if (is_known(at_.begun))
    return {.step_ns = known_.time.step_ns,
            .exposed_ns = known_.time.exposed_ns + at_.now.exposed - known_.now.exposed};
  Known next{
      .begun = at_.begun, .now = at_.now, .streams = at_.streams, .own = at_.own, .time = {}};
  next.time = finish(at_.begun);
  known_ = std::move(next);
  return known_.time;
}

// Continues the run from an event.
StepTime TimePreview::finish(std::uint32_t event) {
  for (; event < count_; ++event) {
    if (is_known(event))
      return {.step_ns = known_.time.step_ns,
              .exposed_ns = known_.time.exposed_ns + at_.now.exposed - known_.now.exposed};
    const std::uint32_t awake = wakes(event);
    if (awake == kNowhere)
      return {.step_ns = model_.step_ns + at_.now.compute - events_[event].before.compute,
              .exposed_ns = at_.now.exposed + model_.exposed_ns - events_[event].before.exposed};
    if (awake > event) jump(event, awake);
    event = awake;
    if (event < count_) simulate(events_[event]);
  }
  return at_.now.drain(at_.streams);
}

// Returns true if, at this event, the run is in the same state as the run of the next gap.
// Collectives that start between the two gaps must end as they do without the block, as they did in
// that run.
bool TimePreview::is_known(std::uint32_t event) const {
  if (event != known_.begun || at_.now.host != known_.now.host ||
      at_.now.compute != known_.now.compute || at_.streams != known_.streams ||
      at_.own != known_.own)
    return false;
  const auto is_as_without = [&](const auto& later) { return later.by == 0; };
  return std::all_of(at_.eras.begin(), at_.eras.end(), is_as_without) &&
         std::all_of(at_.pending.begin(), at_.pending.end(), is_as_without);
}

void TimePreview::begin(const Gap& gap) {
  ++run_;
  at_.now = gap.before;
  at_.begun = gap.event;
  at_.streams.resize(streams_.size());
  for (std::size_t s = 0; s < streams_.size(); ++s) at_.streams[s] = clock_of_rest(s, gap.event);
  at_.eras.clear();
  at_.own.clear();
  at_.pending.clear();
  mark_begun(gap.event);
}

void TimePreview::mark_begun(std::uint32_t event) {
  const auto flip = [&](std::uint32_t start) {
    const Call& call = *events_[start].call;
    if (call.kind != Call::Kind::start) return;
    if (const std::uint32_t wait = first_waits_[call.collective]; wait != kNowhere) {
      begun_waits_.flip(wait);
      if (events_[wait].slack < 0) begun_exposed_.flip(wait);
    }
  };
  while (begun_ < event) flip(begun_++);
  while (begun_ > event) flip(--begun_);
}

void TimePreview::run_own(const Call& call) {
  at_.now.launch(call.host_ns);
  switch (call.kind) {
    case Call::Kind::host:
      break;
    case Call::Kind::kernel:
    case Call::Kind::blocking_kernel:
      at_.now.run_kernel(call);
      break;
    case Call::Kind::start:
      at_.own.push_back({.end = start(call),
                         .collective = call.collective,
                         .wait = first_waits_[call.collective]});
      break;
    case Call::Kind::wait:
      at_.now.wait_until(end_of(call.collective));
      break;
  }
}

std::int64_t TimePreview::start(const Call& call) {
  own_ends_from_[call.collective] = run_;
  return own_ends_[call.collective] = at_.now.start(call.ns, at_.streams[call.stream]);
}

void TimePreview::simulate(const Event& event) {
  const Call& call = *event.call;
  at_.now.launch(call.host_ns);
  if (call.kind == Call::Kind::start) {
    const std::int64_t by = start(call) - event.end;
    if (const std::uint32_t wait = first_waits_[call.collective]; wait != kNowhere)
      at_.pending.push_back({.wait = wait, .by = by});
  } else {
    at_.now.wait_until(end_of(call.collective));
  }
  event.after.apply(at_.now);
}

std::int64_t TimePreview::end_of(std::uint32_t collective) const {
  if (own_ends_from_[collective] == run_) return own_ends_[collective];
  const std::uint32_t event = starts_[collective];
  if (event >= at_.begun)
    for (std::size_t i = at_.eras.size(); i-- > 0;)
      if (at_.eras[i].first <= event && event < at_.eras[i].last)
        return ends_[collective] + at_.eras[i].by;
  return ends_[collective];
}

// --- Back in sync ---

// The stream's clock before an event in the run of the rest. The event must not be after the
// border.
std::int64_t TimePreview::clock_of_rest(std::size_t stream, std::uint32_t event) const {
  if (border_ != kNowhere && next_start(stream, event) >= border_) return border_streams_[stream];
  return clock_of_model(stream, event);
}

std::int64_t TimePreview::clock_of_model(std::size_t stream, std::uint32_t event) const {
  const std::uint32_t next = next_start(stream, event);
  return next == count_ ? streams_[stream] : events_[next].clock;
}

// The first event, from this one on, that may not run as in the model; kNowhere if there is none.
// The end counts as an event, as does the border, where the model changes.
std::uint32_t TimePreview::wakes(std::uint32_t event) {
  work_ += kEventWork + at_.pending.size() / 3 + at_.eras.size() * kEraWork;
  const Event& model = events_[event];
  const bool is_rest = border_ != kNowhere && event < border_;
  const std::int64_t shift = at_.now.compute - model.before.compute;
  std::uint32_t first = pending_wake(event, shift);
  if (is_rest) first = std::min(first, border_);
  first = std::min(first, begun_before_wake(event, shift));
  for (std::size_t s = 0; s < at_.streams.size(); ++s) {
    const std::int64_t clock = is_rest ? clock_of_rest(s, event) : clock_of_model(s, event);
    const std::int64_t ahead = at_.streams[s] - clock - shift;
    if (ahead == 0) continue;
    const std::uint32_t next = next_start(s, event);
    const std::int64_t slack = next == count_ ? stream_slacks_[s] : events_[next].slack;
    if (slack < std::max<std::int64_t>(ahead, 0)) first = std::min(first, next);
  }
  for (const Own& own : at_.own) {
    if (own.wait == kNowhere || own.wait < event) continue;
    const std::int64_t ahead = own.end - ends_[own.collective] - shift;
    if (ahead != 0 && events_[own.wait].slack < std::max<std::int64_t>(ahead, 0))
      first = std::min(first, own.wait);
  }
  if (first == event) return first;
  for (const Era& era : at_.eras)
    if (era.by != shift) first = std::min(first, era_wakes(era, event, shift));
  if (first == event) return first;
  return std::min(first, host_wakes(event, at_.now.host - model.before.host - shift));
}

// Checks the host, which is delayed by `ahead` more than the compute stream.
std::uint32_t TimePreview::host_wakes(std::uint32_t event, std::int64_t ahead) const {
  if (ahead == 0) return kNowhere;
  const std::int64_t needed = std::max<std::int64_t>(ahead, 0);
  // After a reset, the host has the same shift as the compute stream.
  const std::uint32_t end = std::min(next_resets_[event] + 1, count_);
  for (std::uint32_t e = event; e < end;) {
    if (e % kBlockEvents == 0 && min_host_slacks_[e / kBlockEvents] >= needed) {
      e += kBlockEvents;
    } else {
      if (events_[e].host_slack < needed) return e;
      ++e;
    }
  }
  return kNowhere;
}

// Checks collectives that were simulated.
std::uint32_t TimePreview::pending_wake(std::uint32_t event, std::int64_t shift) {
  std::uint32_t first = kNowhere;
  for (std::size_t i = 0; i < at_.pending.size();) {
    const Pending& pending = at_.pending[i];
    if (pending.wait < event) {  // already waited for
      at_.pending[i] = at_.pending.back();
      at_.pending.pop_back();
      continue;
    }
    const std::int64_t ahead = pending.by - shift;
    if (ahead != 0 && events_[pending.wait].slack < std::max<std::int64_t>(ahead, 0))
      first = std::min(first, pending.wait);
    ++i;
  }
  return first;
}

// Checks collectives that began before the gap. They end as in the model and are not delayed by the
// shift. Gives up after some waits and returns the next wait.
std::uint32_t TimePreview::begun_before_wake(std::uint32_t event, std::int64_t shift) const {
  constexpr int kMax = 64;
  if (shift == 0 || events_[at_.begun].last_wait < static_cast<std::int32_t>(event))
    return kNowhere;
  if (shift > 0) return begun_exposed_.next(event);
  std::uint32_t wait = begun_waits_.next(event);
  for (int i = 0; i < kMax && wait != kNowhere && events_[wait].slack >= -shift; ++i)
    wait = begun_waits_.next(wait + 1);
  return wait;
}

// Checks collectives that started at skipped events. Gives up after some waits and returns the next
// wait.
std::uint32_t TimePreview::era_wakes(const Era& era, std::uint32_t event,
                                     std::int64_t shift) const {
  constexpr std::size_t kMax = 64;
  if (events_[era.last].last_wait < static_cast<std::int32_t>(event)) return kNowhere;
  const std::int64_t needed = std::max<std::int64_t>(era.by - shift, 0);
  const std::size_t from = events_[event].waits;
  for (std::size_t i = from; i < waits_.size(); ++i) {
    const Wait& wait = waits_[i];
    if (wait.start >= era.first && wait.start < era.last && events_[wait.event].slack < needed)
      return wait.event;
    if (i - from > kMax) return wait.event;
  }
  return kNowhere;
}

// Skips events that run as in the model.
void TimePreview::jump(std::uint32_t from, std::uint32_t to) {
  const bool is_rest = border_ != kNowhere && from < border_;
  const Event &here = events_[from], &there = is_rest && to == border_ ? at_border_ : events_[to];
  const std::int64_t shift = at_.now.compute - here.before.compute;
  const bool resets = next_resets_[from] < to;
  at_.now.host = there.before.host + (resets ? shift : at_.now.host - here.before.host);
  at_.now.compute = there.before.compute + shift;
  at_.now.exposed += there.before.exposed - here.before.exposed;
  for (std::size_t s = 0; s < at_.streams.size(); ++s)
    if (next_start(s, from) < to)
      at_.streams[s] = (is_rest ? clock_of_rest(s, to) : clock_of_model(s, to)) + shift;
  if (!at_.eras.empty() && at_.eras.back().last == from && at_.eras.back().by == shift)
    at_.eras.back().last = to;
  else
    at_.eras.push_back({.first = from, .last = to, .by = shift});
}

}  // namespace jointer
