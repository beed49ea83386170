// Three greedy algorithms that compute orders of calls with low memory use. Terms: an item is
// allocated once and freed once (core/schedule/memory_items.h); a call is ready once everything
// that it depends on has run.
//
// lpmf, least peak memory first. Tracks live bytes and their maximum so far; the gap between the
//   two can be allocated without a new peak. The next call is the ready call after which the fewest
//   bytes are live, among those that allocate no more than the gap. If there is none, it is the
//   ready call that allocates the least. Ties go to fewer live bytes after the call, then to the
//   original order. If every ready call allocates more than the size threshold, the call with the
//   earliest dependent call runs next instead. A call frees the items that have no other user left.
//   A tree over all calls, sorted by the bytes that they allocate, contains the ready calls; its
//   first leaves are the calls that fit into the gap. Cost: n log n; upstream scans all ready calls
//   each time.
// bfs. The ready call with the predecessors that ran earliest runs next; the times of predecessors
//   are compared as sorted lists.
// dfs. Calls are visited in ascending order of the bytes that they allocate and use. Each call runs
//   after its dependencies, which are visited in the same order.
//
// Source: torch 2.11, torch/_inductor/memory.py (lpmf: DAC 2006, "Buffer memory optimization for
// video codec application modeled in Simulink"). Deviations: items are real storages, and a
// collective's inputs are live until its wait; each stretch is ordered separately.

#include "passes/reordering/memory_orders.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <queue>
#include <set>
#include <tuple>
#include <utility>

namespace jointer {

ItemUse::ItemUse(const Graph& graph, const MemoryOptions& options, const Calls& calls)
    : found_(graph, options,
             MovableOrder(std::vector<NodeId>(calls.nodes().begin(), calls.nodes().end()),
                          graph.node_count())),
      unused_(calls.size(), 0) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> used;
  for (std::size_t i = 0; i < found_.items.size(); ++i) {
    const MemoryItems::Item& item = found_.items[i];
    if (item.begins_fixed && item.ends_fixed) continue;
    for (const NodeId user : found_.users.of(i))
      used.emplace_back(calls.of_node(user), static_cast<std::uint32_t>(i));
    if (!item.ends_fixed && found_.users.of(i).empty())
      unused_[calls.of_node(item.begins)] += item.bytes;
  }
  used_ = Lists<std::uint32_t>::of_pairs(used, calls.size());
  std::int64_t live = 0;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const std::size_t node = calls.nodes()[i].index();
    allocated_.push_back(found_.allocated[node]);
    live += found_.allocated[node];
    high_.push_back(found_.fixed_high[i] + live);
    live -= found_.freed[node];
    low_.push_back(found_.fixed_low[i] + live);
  }
}

namespace {

// Ready calls, sorted by allocated bytes. Finds the best call that allocates no more than a given
// number of bytes.
class ReadyBySize {
 public:
  using Key = std::pair<std::int64_t, Call>;  // growth of live bytes after the call, the call

  ReadyBySize(const ItemUse& use, Stretch stretch) : stretch_(stretch) {
    const std::size_t count = stretch.last - stretch.first;
    by_size_.resize(count);
    std::iota(by_size_.begin(), by_size_.end(), static_cast<Call>(stretch.first));
    std::ranges::stable_sort(by_size_, {}, [&](Call call) { return use.allocated(call); });
    leaf_of_.resize(count);
    for (std::size_t i = 0; i < count; ++i) {
      leaf_of_[by_size_[i] - stretch.first] = i;
      sizes_.push_back(use.allocated(by_size_[i]));
    }
    while (leaves_ < count) leaves_ *= 2;
    tree_.assign(2 * leaves_, kNone);
  }

  void set(Call call, std::int64_t more) { put(call, {more, call}); }
  void remove(Call call) { put(call, kNone); }
  [[nodiscard]] bool has(Call call) const { return tree_[leaf(call)] != kNone; }

  // The call that lpmf runs next. At least one call must be ready.
  [[nodiscard]] Call next(std::int64_t gap) const {
    const Key fits = smallest(0, behind(gap));
    if (fits != kNone) return fits.second;
    const std::size_t first = first_leaf();
    return smallest(first, behind(sizes_[first])).second;
  }
  // The smallest number of bytes that a ready call allocates.
  [[nodiscard]] std::int64_t min_size() const { return sizes_[first_leaf()]; }

 private:
  static constexpr Key kNone{std::numeric_limits<std::int64_t>::max(), kNoCall};

  [[nodiscard]] std::size_t leaf(Call call) const {
    return leaves_ + leaf_of_[call - stretch_.first];
  }
  // The first leaf with a ready call.
  [[nodiscard]] std::size_t first_leaf() const {
    std::size_t at = 1;
    while (at < leaves_) at = tree_[2 * at] != kNone ? 2 * at : 2 * at + 1;
    return at - leaves_;
  }
  // The first leaf with a call that allocates more than `size`.
  [[nodiscard]] std::size_t behind(std::int64_t size) const {
    return static_cast<std::size_t>(std::upper_bound(sizes_.begin(), sizes_.end(), size) -
                                    sizes_.begin());
  }
  void put(Call call, Key key) {
    std::size_t at = leaf(call);
    tree_[at] = key;
    for (at /= 2; at > 0; at /= 2) tree_[at] = std::min(tree_[2 * at], tree_[2 * at + 1]);
  }
  [[nodiscard]] Key smallest(std::size_t first, std::size_t last) const {
    Key found = kNone;
    for (first += leaves_, last += leaves_; first < last; first /= 2, last /= 2) {
      if (first % 2 == 1) found = std::min(found, tree_[first++]);
      if (last % 2 == 1) found = std::min(found, tree_[--last]);
    }
    return found;
  }

  Stretch stretch_;
  std::vector<Call> by_size_;
  std::vector<std::int64_t> sizes_;  // by leaf
  std::vector<std::size_t> leaf_of_;
  std::size_t leaves_ = 1;  // a power of two
  std::vector<Key> tree_;   // the root is at index 1
};

class LeastPeakFirst {
 public:
  LeastPeakFirst(const Calls& calls, const OrderedCalls& rows, const ItemUse& use,
                 std::int64_t size_threshold, Stretch stretch)
      : calls_(calls),
        rows_(rows),
        use_(use),
        size_threshold_(size_threshold),
        stretch_(stretch),
        ready_(use, stretch),
        waiting_for_(calls.size(), 0),
        frees_(calls.size(), 0),
        users_left_(use.items(), 0) {
    for (std::size_t i = 0; i < use.items(); ++i) {
      const auto item = static_cast<std::uint32_t>(i);
      for (const NodeId user : use.users(item)) users_left_[i] += is_done(user) ? 0 : 1;
      if (users_left_[i] == 1) give_to_users(item);
    }
  }

  void run(std::vector<Call>& order) {
    for (std::size_t i = stretch_.first; i < stretch_.last; ++i) {
      const Call call = static_cast<Call>(i);
      frees_[call] += use_.unused(call);
      waiting_for_[call] = rows_.count_before(call);
      if (waiting_for_[call] == 0) make_ready(call);
    }
    std::int64_t live = use_.live_before(stretch_);
    std::int64_t max_live = std::max(live, use_.live_after(stretch_));
    for (std::size_t i = stretch_.first; i < stretch_.last; ++i) {
      const Call call = choose(max_live - live);
      ready_.remove(call);
      order.push_back(call);
      live += use_.allocated(call);
      max_live = std::max(max_live, live);
      live -= frees_[call];
      rows_.for_each_after(call, [&](Call after) {
        if (--waiting_for_[after] == 0) make_ready(after);
      });
      for (const std::uint32_t item : use_.used(call))
        if (--users_left_[item] == 1) give_to_users(item);
    }
  }

 private:
  // True for calls in earlier stretches, such as those in the forward of a pair.
  [[nodiscard]] bool is_done(NodeId node) const { return calls_.of_node(node) < stretch_.first; }

  void make_ready(Call call) {
    ready_.set(call, use_.allocated(call) - frees_[call]);
    if (size_threshold_ == 0) return;
    auto first = static_cast<Call>(stretch_.last);
    rows_.for_each_after(call, [&](Call after) { first = std::min(first, after); });
    by_successor_.emplace(first, by_successor_count_++, call);
  }

  Call choose(std::int64_t gap) {
    if (size_threshold_ == 0 || ready_.min_size() <= size_threshold_) return ready_.next(gap);
    while (!ready_.has(std::get<2>(*by_successor_.begin())))
      by_successor_.erase(by_successor_.begin());
    return std::get<2>(*by_successor_.begin());
  }

  // Counts the item among those that its last remaining user frees.
  void give_to_users(std::uint32_t item) {
    if (!use_.is_freed(item)) return;
    for (const NodeId user : use_.users(item)) {
      const Call call = calls_.of_node(user);
      frees_[call] += use_.bytes(item);
      if (call >= stretch_.first && call < stretch_.last && ready_.has(call))
        ready_.set(call, use_.allocated(call) - frees_[call]);
    }
  }

  const Calls& calls_;
  const OrderedCalls& rows_;
  const ItemUse& use_;
  std::int64_t size_threshold_;
  Stretch stretch_;
  ReadyBySize ready_;
  std::vector<std::uint32_t> waiting_for_;  // by call
  std::vector<std::int64_t> frees_;         // by call: bytes that it would free now
  std::vector<std::uint32_t> users_left_;   // by item
  std::set<std::tuple<Call, std::size_t, Call>> by_successor_;  // by first dependent call
  std::size_t by_successor_count_ = 0;
};

}  // namespace

void order_lpmf(const Calls& calls, const OrderedCalls& rows, const ItemUse& use,
                std::int64_t size_threshold, Stretch stretch, std::vector<Call>& order) {
  LeastPeakFirst(calls, rows, use, size_threshold, stretch).run(order);
}

void order_bfs(const OrderedCalls& rows, Stretch stretch, std::vector<Call>& order) {
  // The times at which the call's predecessors ran, and the call.
  using Entry = std::pair<std::vector<std::uint32_t>, Call>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> ready;
  const std::size_t count = stretch.last - stretch.first;
  std::vector<std::uint32_t> waiting_for(count), ran(count);
  const auto local = [&](Call call) { return call - stretch.first; };
  const auto make_ready = [&](Call call) {
    std::vector<std::uint32_t> when;
    rows.for_each_before(call, [&](Call before) { when.push_back(ran[local(before)]); });
    std::ranges::sort(when);
    ready.emplace(std::move(when), call);
  };
  for (std::size_t i = stretch.first; i < stretch.last; ++i) {
    const Call call = static_cast<Call>(i);
    waiting_for[local(call)] = rows.count_before(call);
    if (waiting_for[local(call)] == 0) make_ready(call);
  }
  for (std::uint32_t now = 0; !ready.empty(); ++now) {
    const Call call = ready.top().second;
    ready.pop();
    ran[local(call)] = now;
    order.push_back(call);
    rows.for_each_after(call, [&](Call after) {
      if (--waiting_for[local(after)] == 0) make_ready(after);
    });
  }
}

void order_dfs(const OrderedCalls& rows, const ItemUse& use, Stretch stretch,
               std::vector<Call>& order) {
  const std::size_t count = stretch.last - stretch.first;
  const auto local = [&](Call call) { return call - stretch.first; };
  std::vector<std::int64_t> touched(count);
  std::vector<Call> by_size(count);
  std::iota(by_size.begin(), by_size.end(), static_cast<Call>(stretch.first));
  for (const Call call : by_size) {
    touched[local(call)] = use.allocated(call);
    for (const std::uint32_t item : use.used(call)) touched[local(call)] += use.bytes(item);
  }
  const auto smaller = [&](Call a, Call b) {
    return std::pair(touched[local(a)], a) < std::pair(touched[local(b)], b);
  };
  std::ranges::sort(by_size, smaller);
  struct Visit {
    Call call;
    std::vector<Call> before;  // largest first: popped from the end
  };
  std::vector<bool> seen(count, false);
  std::vector<Visit> open;
  const auto enter = [&](Call call) {
    seen[local(call)] = true;
    Visit visit{.call = call, .before = {}};
    rows.for_each_before(call, [&](Call before) { visit.before.push_back(before); });
    std::ranges::sort(visit.before, [&](Call a, Call b) { return smaller(b, a); });
    open.push_back(std::move(visit));
  };
  for (const Call root : by_size) {
    if (!seen[local(root)]) enter(root);
    while (!open.empty()) {
      if (open.back().before.empty()) {
        order.push_back(open.back().call);
        open.pop_back();
        continue;
      }
      const Call next = open.back().before.back();
      open.back().before.pop_back();
      if (!seen[local(next)]) enter(next);
    }
  }
}

}  // namespace jointer
