#include "passes/reordering/group_mover.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "core/base/distinct_bytes.h"
#include "core/base/units.h"

namespace jointer {

GroupMover::GroupMover(const Graph& graph, const Calls& calls, const IterativeOptions& options,
                       LiveOrder& order, Direction direction)
    : calls_(calls),
      options_(options),
      order_(order),
      estimate_(calls, {options.collective_factor, options.compute_factor}),
      graph_(graph),
      direction_(direction),
      tied_(calls.size(), kNoCall) {}

bool GroupMover::stop(std::string limit) {
  move_.limit = std::move(limit);
  return false;
}

std::span<const Call> GroupMover::ties(Call member) const {
  return direction_ == Direction::earlier ? calls_.before(member) : calls_.after(member);
}

void GroupMover::tie(Call member) {
  for (const Call tied : ties(member)) tied_[tied] = move_.call;
}

bool GroupMover::is_hidden() const {
  return static_cast<double>(move_.after.exposed()) <
         -options_.extra_overlap * static_cast<double>(move_.after.communication);
}

bool GroupMover::is_ordered(Call candidate) const {
  if (!calls_.is_start(candidate)) return false;
  for (std::size_t i = first_; i < first_ + count_; ++i) {
    const Call member = order_.at(i);
    if (calls_.is_start(member) && calls_.stream(member) == calls_.stream(candidate)) return true;
  }
  return false;
}

bool GroupMover::is_in_stretch(Call call) const {
  return call != kNoCall && call >= stretch_.first && call < stretch_.last;
}

void GroupMover::join(Call candidate) {
  if (direction_ == Direction::earlier) --first_;
  ++count_;
  ++move_.grouped;
  tie(candidate);
}

bool GroupMover::change_places(Call candidate) {
  const bool is_earlier = direction_ == Direction::earlier;
  const std::int64_t bytes =
      is_earlier ? order_.raise(first_, count_) : order_.sink(first_, count_);
  const std::size_t there = is_earlier ? first_ - 1 : first_ + 1;
  if (bytes > allowed_) {
    is_earlier ? order_.sink(there, count_) : order_.raise(there, count_);
    const auto texts = distinct_bytes(std::array{bytes, allowed_});
    return stop(fmt::format("memory: {} would be live {} {}, more than the allowed {}", texts[0],
                            is_earlier ? "before" : "after", name(candidate), texts[1]));
  }
  first_ = there;
  ++move_.moves;
  return true;
}

CollectiveMove GroupMover::move(Call call) {
  first_ = order_.place(call);
  count_ = 1;
  move_ = {.call = call, .limit = {}, .bytes_before = order_.bytes(call)};
  tie(call);
  move_.before = move_.after = begin(call);
  const bool is_earlier = direction_ == Direction::earlier;
  bool goes_on = true;
  while (goes_on) {
    if (is_earlier ? first_ == stretch_.first : first_ + count_ == stretch_.last)
      goes_on =
          stop(fmt::format("there is nothing {} it to pass", is_earlier ? "before" : "after"));
    else if (!may_go_on())
      goes_on = false;
    else if (options_.use_times && is_hidden())
      goes_on = stop(fmt::format("it is hidden by {} of compute", format_ns(move_.after.compute)));
    else
      goes_on = meet(order_.at(is_earlier ? first_ - 1 : first_ + count_));
  }
  move_.bytes_after = order_.bytes(call);
  return move_;
}

Result<void> GroupMover::move_all(Graph& graph, std::string title, PassContext& context) {
  const bool is_earlier = direction_ == Direction::earlier;
  CollectiveReport report{
      .title = std::move(title), .direction = is_earlier ? "earlier" : "later", .moves = {}};
  std::vector<Stretch> stretches(calls_.stretches().begin(), calls_.stretches().end());
  if (!is_earlier) std::ranges::reverse(stretches);
  std::int64_t visited = 0;
  std::size_t seen = 0;
  for (const Stretch stretch : stretches) {
    stretch_ = stretch;
    const std::int64_t peak = order_.peak(stretch);
    allowed_ = allowed_bytes(peak, options_.budget, context);
    const std::size_t calls = stretch.last - stretch.first;
    for (std::size_t i = 0; i < calls; ++i, ++seen) {
      const Call call = static_cast<Call>(is_earlier ? stretch.first + i : stretch.last - 1 - i);
      if (!is_moved(call)) continue;
      if (options_.max && visited >= *options_.max) break;
      ++visited;
      JOINTER_CHECK(context.report(static_cast<double>(seen) / static_cast<double>(calls_.size())));
      report.moves.push_back(move(call));
    }
    report.peak_before = std::max(report.peak_before, peak);
    report.peak_after = std::max(report.peak_after, order_.peak(stretch));
  }
  set_call_order(graph, calls_, order_.order());
  report_moves(graph, calls_, report, context);
  if (options_.unsafe) flag_overtaken(graph, calls_, order_.order(), context);
  return {};
}

}  // namespace jointer
