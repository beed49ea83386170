// Computes the peak for every gap to which a block may be moved, in one scan of the gaps.
//
// Terms
//   rest    the calls outside the block. Their ranks are their indices in the order without the
//           block. Gap k is right before rank k.
//   window  the range of ranks between the block's current gap and all gaps to which it may move.
//           Nothing changes outside.
//
// At a call of the rest, the live bytes depend only on whether the block runs before or after the
// call. An item that the block does not touch is live at the same ranks in both cases. An item that
// it touches is live in one interval of ranks if the block runs before, and in another interval if
// it runs after:
//   before  from the block (if it makes the item) or the first other maker, to the last other user
//   after   from the first other maker, to the block (if it uses the item) or the last other user
// While the block itself runs, such an item is live for one interval of gaps. The peak for every
// gap therefore follows from three sums, which are computed from their changes at the ends of
// intervals, and from running maxima from the left (block after) and from the right (block before).
//
// Cost: for each node in the block, the length of the window plus the number of items that the
// block touches; and once, the makers and users of these items.

#include <algorithm>
#include <limits>

#include "core/schedule/memory_what_if.h"

namespace jointer {
namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max() / 2;
constexpr std::int64_t kAlways = -kNever;

// A step function of the rank, from `from` on: a sum of constants over intervals.
class Steps {
 public:
  Steps(std::size_t from, std::size_t to)
      : from_(static_cast<std::int64_t>(from)), changes_(to - from + 1, 0) {}
  // Adds `amount` at the ranks in [first, last] that are in range.
  void add(std::int64_t first, std::int64_t last, std::int64_t amount) {
    const auto end = static_cast<std::int64_t>(changes_.size()) - 1;
    first = std::max<std::int64_t>(first - from_, 0);
    last = std::min(last - from_ + 1, end);
    if (first >= last) return;
    changes_[static_cast<std::size_t>(first)] += amount;
    changes_[static_cast<std::size_t>(last)] -= amount;
  }
  // Returns the values, indexed by rank - from. Nothing can be added afterwards.
  std::vector<std::int64_t> sums() && {
    for (std::size_t i = 1; i < changes_.size(); ++i) changes_[i] += changes_[i - 1];
    return std::move(changes_);
  }

 private:
  std::int64_t from_;
  std::vector<std::int64_t> changes_;
};

}  // namespace

class MemoryPreview {
 public:
  MemoryPreview(const MemoryWhatIf& memory, const MovableOrder& calls,
                std::span<const NodeId> block, std::size_t first, std::size_t last)
      : memory_(memory), calls_(calls), block_(block), first_(first), last_(last) {
    for (const NodeId id : block) places_.push_back(calls.place(id));
    begin_ = std::min(first, places_.front());
    end_ = std::max(last, places_.back() + 1 - block.size());
  }

  std::vector<std::int64_t> run() {
    std::vector<std::uint32_t> touched;
    memory_.touched_by(block_, touched);
    Steps before(begin_, end_), after(begin_, end_);
    std::vector<Steps> within(block_.size(), Steps(first_, last_ + 1));
    for (const std::uint32_t i : touched) add(find_interval(i), before, after, within);
    const std::vector<std::int64_t> rest = rest_without(touched);
    return combine(rest, std::move(before).sums(), std::move(after).sums(), std::move(within));
  }

 private:
  // An item that the block touches: the ranks of its first maker and its last user in the rest, and
  // the indices of its first maker and its last user in the block.
  struct Interval {
    std::int64_t bytes = 0;
    bool begins_fixed = false;
    std::int64_t made = kNever, used = kAlways;
    std::int64_t block_makes = kNever, block_uses = kAlways;
  };

  [[nodiscard]] std::size_t rank(std::size_t place) const {
    return place - static_cast<std::size_t>(
                       std::lower_bound(places_.begin(), places_.end(), place) - places_.begin());
  }
  // The index in the block of the call at `place`; -1 if that call is not in the block.
  [[nodiscard]] std::int64_t number(std::size_t place) const {
    const auto at = std::lower_bound(places_.begin(), places_.end(), place);
    return at == places_.end() || *at != place ? -1 : at - places_.begin();
  }

  [[nodiscard]] Interval find_interval(std::uint32_t i) const {
    const MemoryWhatIf::Item& item = memory_.found_.items[i];
    Interval x{.bytes = item.bytes, .begins_fixed = item.begins_fixed};
    for (const NodeId id : memory_.found_.makers.of(i)) {
      const std::size_t place = calls_.place(id);
      if (const std::int64_t own = number(place); own >= 0)
        x.block_makes = std::min(x.block_makes, own);
      else
        x.made = std::min(x.made, static_cast<std::int64_t>(rank(place)));
    }
    for (const NodeId id : memory_.found_.users.of(i)) {
      const std::size_t place = calls_.place(id);
      if (const std::int64_t own = number(place); own >= 0)
        x.block_uses = std::max(x.block_uses, own);
      else
        x.used = std::max(x.used, static_cast<std::int64_t>(rank(place)));
    }
    if (item.begins_fixed) x.made = kAlways;
    if (item.ends_fixed) x.used = kNever;
    return x;
  }

  // The fixed sums count an item with a fixed beginning from that beginning on, so its bytes are
  // subtracted everywhere and added where it is live.
  void add(const Interval& x, Steps& before, Steps& after, std::vector<Steps>& within) const {
    const bool makes = x.block_makes != kNever && !x.begins_fixed;
    const bool uses = x.block_uses != kAlways;
    // The item is live while its first maker runs, even if nothing uses it.
    const std::int64_t kept = std::max(x.used, x.made);
    before.add(makes ? kAlways : x.made, makes ? x.used : kept, x.bytes);
    after.add(x.made, uses ? kNever : kept, x.bytes);
    for (std::size_t j = 0; j < within.size(); ++j) {
      const auto own = static_cast<std::int64_t>(j);
      const std::int64_t from = makes && x.block_makes <= own ? kAlways : x.made + 1;
      const std::int64_t to = x.block_uses >= own             ? kNever
                              : makes && x.block_makes == own ? kept
                                                              : x.used;
      within[j].add(from, to, x.bytes);
    }
    if (!x.begins_fixed) return;
    before.add(kAlways, kNever, -x.bytes);
    after.add(kAlways, kNever, -x.bytes);
    for (Steps& steps : within) steps.add(kAlways, kNever, -x.bytes);
  }

  // The live bytes without touched items: two values for each rank in the window, before and after
  // its call allocates, and one more at the end.
  [[nodiscard]] std::vector<std::int64_t> rest_without(
      const std::vector<std::uint32_t>& touched) const {
    std::int64_t live =
        begin_ == 0 ? 0 : memory_.low_[begin_ - 1] - memory_.found_.fixed_low[begin_ - 1];
    std::vector<std::int64_t> taken_made(end_ - begin_, 0), taken_freed(end_ - begin_, 0);
    // Subtracts an item from the sums if `id` is before or in the window.
    const auto take = [&](NodeId id, std::int64_t bytes, std::vector<std::int64_t>& taken,
                          std::int64_t sign) {
      const std::size_t place = calls_.place(id);
      if (place < begin_)
        live -= sign * bytes;
      else if (number(place) < 0 && rank(place) < end_)
        taken[rank(place) - begin_] += bytes;
    };
    for (const std::uint32_t i : touched) {
      const MemoryWhatIf::Item& item = memory_.found_.items[i];
      if (!item.begins_fixed) take(item.begins, item.bytes, taken_made, 1);
      if (!item.ends_fixed) take(item.ends, item.bytes, taken_freed, -1);
    }
    std::vector<std::int64_t> rest;
    rest.reserve(2 * (end_ - begin_) + 1);
    std::size_t next = 0;  // index in the block
    for (std::size_t place = begin_; place < end_ + block_.size(); ++place) {
      if (next < places_.size() && places_[next] == place) {
        ++next;
        continue;
      }
      const std::size_t i = rest.size() / 2, node = calls_[place].index();
      rest.push_back(live);
      live += memory_.found_.allocated[node] - taken_made[i];
      rest.push_back(live);
      live -= memory_.found_.freed[node] - taken_freed[i];
    }
    rest.push_back(live);
    return rest;
  }

  [[nodiscard]] std::vector<std::int64_t> combine(const std::vector<std::int64_t>& rest,
                                                  const std::vector<std::int64_t>& before,
                                                  const std::vector<std::int64_t>& after,
                                                  std::vector<Steps>&& within) const {
    const std::size_t moved = block_.size(), count = last_ - first_ + 1;
    const std::size_t behind = end_ + moved;
    std::int64_t peak = std::max(memory_.found_.start_bytes, memory_.highest_.largest(0, begin_));
    peak = std::max(peak, memory_.highest_.largest(behind, memory_.high_.size()));

    std::vector<std::int64_t> peaks(count, peak);
    std::int64_t running = peak;
    for (std::size_t k = begin_; k <= last_; ++k) {
      if (k >= first_) peaks[k - first_] = running;
      if (k < end_)
        running = std::max(
            running, memory_.found_.fixed_high[k] + rest[2 * (k - begin_) + 1] + after[k - begin_]);
    }
    running = peak;
    for (std::size_t k = end_; k + 1 > first_; --k) {
      if (k < end_)
        running = std::max(running, memory_.found_.fixed_high[k + moved] +
                                        rest[2 * (k - begin_) + 1] + before[k - begin_]);
      if (k <= last_) peaks[k - first_] = std::max(peaks[k - first_], running);
      if (k == 0) break;
    }
    for (std::size_t j = 0; j < moved; ++j) {
      const std::vector<std::int64_t> own = std::move(within[j]).sums();
      for (std::size_t k = first_; k <= last_; ++k)
        peaks[k - first_] =
            std::max(peaks[k - first_],
                     memory_.found_.fixed_high[k + j] + rest[2 * (k - begin_)] + own[k - first_]);
    }
    return peaks;
  }

  const MemoryWhatIf& memory_;
  const MovableOrder& calls_;
  std::span<const NodeId> block_;
  std::size_t first_, last_, begin_ = 0, end_ = 0;
  std::vector<std::size_t> places_;  // positions of the block's calls
};

std::vector<std::int64_t> MemoryWhatIf::peaks(const MovableOrder& calls,
                                              std::span<const NodeId> block, std::size_t first,
                                              std::size_t last) const {
  return MemoryPreview(*this, calls, block, first, last).run();
}

}  // namespace jointer
