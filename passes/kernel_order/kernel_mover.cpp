#include "passes/kernel_order/kernel_mover.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "core/base/distinct_bytes.h"
#include "core/base/index.h"
#include "core/base/units.h"

namespace jointer {

namespace {

std::vector<double> times_of(const KernelUnits& units, const IterativeOptions& options) {
  std::vector<double> ms;
  ms.reserve(units.size());
  for (std::size_t i = 0; i < units.size(); ++i) {
    const auto unit = static_cast<KernelUnit>(i);
    ms.push_back(units.ms(unit) *
                 (units.is_collective(unit) ? options.collective_factor : options.compute_factor));
  }
  return ms;
}

}  // namespace

double exposed_change(const ExposedTime& time, double more) {
  return std::max(0.0, time.exposed() - more) - std::max(0.0, time.exposed());
}

std::string exposed_text(double ms) {
  return format_ns(static_cast<std::int64_t>(ms * 1e6));
}

KernelMover::KernelMover(const KernelUnits& units, const IterativeOptions& options,
                         Direction direction)
    : units_(units),
      options_(options),
      direction_(direction),
      ms_(times_of(units, options)),
      order_(units.size()),
      places_(units.size()),
      tied_(units.size(), -1),
      memory_(units.memory()),
      times_(units, ms_, order_) {
  std::iota(order_.begin(), order_.end(), 0);
  std::iota(places_.begin(), places_.end(), std::size_t{0});
}

bool KernelMover::stop(KernelLimit limit, KernelUnit at, std::string why) {
  report_.limit = limit;
  report_.at = at < 0 ? -1 : units_.first_op(at);
  report_.why = std::move(why);
  return false;
}

void KernelMover::tie(KernelUnit member) {
  const std::span<const KernelUnit> tied =
      direction_ == Direction::earlier ? units_.before(member) : units_.after(member);
  for (const KernelUnit each : tied) tied_[as_index(each)] = moved_;
}

void KernelMover::join(KernelUnit candidate) {
  if (direction_ == Direction::earlier) --first_;
  ++count_;
  ++report_.grouped;
  group_peak_ = std::max(group_peak_, memory_[candidate].after_allocation);
  tie(candidate);
}

bool KernelMover::change_places(KernelUnit candidate) {
  const bool is_earlier = direction_ == Direction::earlier;
  const std::span<const KernelUnit> group = std::span(order_).subspan(first_, count_);
  const std::int64_t new_peak = is_earlier ? memory_.peak_if_later(candidate, group, group_peak_)
                                           : memory_.peak_if_earlier(candidate, group, group_peak_);
  const std::int64_t peak = memory_.peak();
  if (static_cast<double>(new_peak - peak) > static_cast<double>(peak) * options_.budget) {
    const auto texts = distinct_bytes(std::array{new_peak, peak});
    return stop(KernelLimit::memory, candidate,
                fmt::format("{} would be allocated, and the peak was {}", texts[0], texts[1]));
  }
  memory_.accept();
  const std::size_t first = is_earlier ? first_ - 1 : first_;
  const auto begin_of = order_.begin() + static_cast<std::ptrdiff_t>(first);
  const auto end_of = begin_of + static_cast<std::ptrdiff_t>(count_ + 1);
  std::rotate(begin_of, is_earlier ? begin_of + 1 : end_of - 1, end_of);
  for (std::size_t i = first; i <= first + count_; ++i) places_[as_index(order_[i])] = i;
  first_ = is_earlier ? first_ - 1 : first_ + 1;
  ++report_.moves;
  if (options_.use_times) now_ = exposed();
  return true;
}

void KernelMover::move(KernelUnit unit) {
  const bool is_earlier = direction_ == Direction::earlier;
  moved_ = unit;
  first_ = place(unit);
  count_ = 1;
  report_ = {};
  report_.op = units_.first_op(unit);
  group_peak_ = memory_[unit].after_allocation;
  tie(unit);
  begin();
  now_ = exposed();
  report_.initial_exposed_ms = now_.exposed();
  bool goes_on = true;
  while (goes_on) {
    if (is_earlier ? first_ == 0 : first_ + count_ == order_.size()) break;
    if (options_.use_times && now_.exposed() < -options_.extra_overlap * now_.communication)
      goes_on = stop(KernelLimit::hidden, -1);
    else
      goes_on = meet(order_[is_earlier ? first_ - 1 : first_ + count_]);
  }
  now_ = exposed();
  report_.communication_ms = now_.communication;
  report_.compute_ms = now_.compute;
  report_.final_exposed_ms = now_.exposed();
  report_.end = now_.end < 0 ? -1 : units_.first_op(now_.end);
  report_.overlapping = now_.kernels;
}

std::vector<KernelUnit> KernelMover::move_all(KernelPassReport& report) {
  // Note the kernel to visit next before a kernel moves. As in upstream, the kernel that is visited
  // last is never moved.
  report.peak_before = memory_.peak();
  const bool is_earlier = direction_ == Direction::earlier;
  std::int64_t visited = 0;
  KernelUnit unit = order_.empty() ? -1 : is_earlier ? order_.front() : order_.back();
  const auto next_of = [&](KernelUnit from) -> KernelUnit {
    const std::size_t at = place(from);
    if (is_earlier) return at + 1 < order_.size() ? order_[at + 1] : -1;
    return at > 0 ? order_[at - 1] : -1;
  };
  while (unit >= 0) {
    const KernelUnit next = next_of(unit);
    if (next < 0) break;
    if (is_moved(unit)) {
      if (options_.max && visited >= *options_.max) break;
      ++visited;
      move(unit);
      report.moves.push_back(std::move(report_));
    }
    unit = next;
  }
  return std::move(order_);
}

}  // namespace jointer
