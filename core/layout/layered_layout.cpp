// Computes a layered drawing of a directed acyclic graph.
//
// Terms
//   rank     a horizontal row of boxes; every edge goes down at least one rank.
//   item     an entry of a rank: a box, or a bend of an edge that passes through the rank.
//   chain    the bends of the edges that leave one node. These edges share one chain down to the
//            lowest reader, and each branches off above its reader, so a value read far below is a
//            single line.
//   segment  a piece of an edge between items of neighboring ranks.
//
// Steps
//   1. Assign ranks by the longest path from the top. Then let nodes with more outgoing than
//      incoming edges sink as far as their readers allow, which shortens edges. If a rank would
//      have more boxes than allowed, place all boxes again, in the order of their numbers: each in
//      the first rank below its inputs that has room and is at most kWindow above the lowest rank
//      so far. A node that is computed shortly before it is read then stays near its reader.
//   2. Build the chains.
//   3. Order the items within ranks: sweeps down and up sort by the mean position of neighbors
//      (barycenters). Keep the order with the fewest crossings.
//   4. Assign x: in each sweep, the items of every rank move as close to the means of their
//      neighbors (in least squares) as their order and the minimum distances allow. This is an
//      isotonic regression, solved exactly by pooling adjacent violators. Then further rounds align
//      the bends of a chain, and items that are each other's only neighbor on the facing sides, at
//      the same x.
//   5. Route edges: straight between ranks, vertical through them. No line crosses a box.
//
// Cost: steps 3 and 4 take O(s (i + e) log i) for s sweeps, e segments and i items; there are at
// most nodes * ranks items.
// Source: K. Sugiyama, S. Tagawa, M. Toda, "Methods for visual understanding of hierarchical system
// structures" (1981). Deviations: shared chains, and step 4.

#include "core/layout/layered_layout.h"

#include <algorithm>
#include <numeric>

namespace jointer {
namespace {

constexpr int kOrderSweeps = 8;
constexpr int kPlaceSweeps = 6;
constexpr int kStraightRounds = 12;
constexpr double kBendWidth = 4, kBendGap = 6;
constexpr std::uint32_t kWindow = 6;
constexpr double kBendWeight = 4;
constexpr double kMiddleWeight = 0.3;
constexpr std::uint32_t kNone = 0xFFFFFFFF;

class Layering {
 public:
  Layering(const LayoutGraph& graph, const LayoutStyle& style) : graph_(graph), style_(style) {}

  Layout run() {
    find_ranks();
    make_items();
    order_ranks();
    place();
    return layout();
  }

 private:
  struct Item {
    std::uint32_t rank = 0;
    std::uint32_t node = kNone;  // kNone for a bend
    double x = 0;
    std::vector<std::uint32_t> above, below;  // neighbors
  };

  void find_ranks() {
    ranks_.assign(graph_.nodes, 0);
    std::vector<std::vector<std::uint32_t>> readers(graph_.nodes);
    std::vector<std::uint32_t> inputs(graph_.nodes, 0);
    for (const LayoutEdge& e : graph_.edges) {
      readers[e.from].push_back(e.to);
      ++inputs[e.to];
    }
    for (std::uint32_t n = 0; n < graph_.nodes; ++n)
      for (const std::uint32_t to : readers[n]) ranks_[to] = std::max(ranks_[to], ranks_[n] + 1);
    if (style_.max_in_rank > 0 && max_in_rank() > style_.max_in_rank) return deal_ranks(readers);
    for (std::uint32_t n = graph_.nodes; n-- > 0;) {
      if (readers[n].size() <= inputs[n]) continue;
      std::uint32_t lowest = kNone;
      for (const std::uint32_t to : readers[n]) lowest = std::min(lowest, ranks_[to] - 1);
      ranks_[n] = lowest;
    }
    if (style_.max_in_rank > 0 && max_in_rank() > style_.max_in_rank) deal_ranks(readers);
  }

  [[nodiscard]] std::uint32_t max_in_rank() const {
    std::vector<std::uint32_t> counts(graph_.nodes, 0);
    std::uint32_t max_count = 0;
    for (const std::uint32_t rank : ranks_) max_count = std::max(max_count, ++counts[rank]);
    return max_count;
  }

  void deal_ranks(const std::vector<std::vector<std::uint32_t>>& readers) {
    ranks_.assign(graph_.nodes, 0);
    std::vector<std::uint32_t> counts(graph_.nodes + 1, 0);
    std::uint32_t lowest = 0;
    for (std::uint32_t n = 0; n < graph_.nodes; ++n) {
      std::uint32_t& rank = ranks_[n];  // so far, the first rank below the node's inputs
      rank = std::max(rank, lowest - std::min(lowest, kWindow));
      while (counts[rank] >= style_.max_in_rank) ++rank;
      ++counts[rank];
      lowest = std::max(lowest, rank);
      for (const std::uint32_t to : readers[n]) ranks_[to] = std::max(ranks_[to], rank + 1);
    }
  }

  std::uint32_t add_item(std::uint32_t rank, std::uint32_t node) {
    if (rank >= by_rank_.size()) by_rank_.resize(rank + 1);
    items_.push_back({.rank = rank, .node = node});
    const auto id = static_cast<std::uint32_t>(items_.size() - 1);
    by_rank_[rank].push_back(id);
    return id;
  }

  void join(std::uint32_t above, std::uint32_t below) {
    items_[above].below.push_back(below);
    items_[below].above.push_back(above);
  }

  // Item n < graph_.nodes is the box of node n; the items after these are bends.
  void make_items() {
    for (std::uint32_t n = 0; n < graph_.nodes; ++n) add_item(ranks_[n], n);
    chains_.resize(graph_.nodes);
    for (const LayoutEdge& e : graph_.edges) {
      std::vector<std::uint32_t>& chain = chains_[e.from];
      const std::uint32_t bends = ranks_[e.to] - ranks_[e.from] - 1;
      while (chain.size() < bends) {
        const std::uint32_t bend =
            add_item(ranks_[e.from] + 1 + static_cast<std::uint32_t>(chain.size()), kNone);
        join(chain.empty() ? e.from : chain.back(), bend);
        chain.push_back(bend);
      }
      join(bends == 0 ? e.from : chain[bends - 1], e.to);
    }
  }

  // For each item, its position in its rank.
  [[nodiscard]] std::vector<std::uint32_t> places() const {
    std::vector<std::uint32_t> at(items_.size());
    for (const auto& rank : by_rank_)
      for (std::uint32_t i = 0; i < rank.size(); ++i) at[rank[i]] = i;
    return at;
  }

  void sort_rank(std::vector<std::uint32_t>& rank, std::vector<std::uint32_t>& at, bool down) {
    std::vector<std::pair<double, std::uint32_t>> keys;
    for (std::uint32_t i = 0; i < rank.size(); ++i) {
      const auto& neighbors = down ? items_[rank[i]].above : items_[rank[i]].below;
      double sum = 0;
      for (const std::uint32_t n : neighbors) sum += at[n];
      // An item without neighbors is sorted by its own position.
      keys.emplace_back(neighbors.empty() ? i : sum / static_cast<double>(neighbors.size()),
                        rank[i]);
    }
    std::ranges::stable_sort(keys, {}, &std::pair<double, std::uint32_t>::first);
    for (std::uint32_t i = 0; i < rank.size(); ++i) {
      rank[i] = keys[i].second;
      at[rank[i]] = i;
    }
  }

  // The number of pairs of segments that cross, which is the number of inversions, counted with a
  // Fenwick tree.
  [[nodiscard]] std::size_t crossings(const std::vector<std::uint32_t>& at) const {
    std::size_t count = 0;
    for (std::size_t r = 0; r + 1 < by_rank_.size(); ++r) {
      std::vector<std::uint32_t> seen(by_rank_[r + 1].size() + 1, 0);
      std::size_t total = 0;
      for (const std::uint32_t item : by_rank_[r]) {
        const auto& below = items_[item].below;
        for (const std::uint32_t b : below) {
          std::size_t left_or_here = 0;
          for (std::size_t i = at[b] + 1; i > 0; i &= i - 1) left_or_here += seen[i];
          count += total - left_or_here;
        }
        for (const std::uint32_t b : below)
          for (std::size_t i = at[b] + 1; i < seen.size(); i += i & (~i + 1)) ++seen[i];
        total += below.size();
      }
    }
    return count;
  }

  void order_ranks() {
    std::vector<std::uint32_t> at = places();
    auto best = by_rank_;
    std::size_t fewest = crossings(at);
    for (int sweep = 0; sweep < kOrderSweeps && fewest > 0; ++sweep) {
      const bool down = sweep % 2 == 0;
      for (std::size_t i = 1; i < by_rank_.size(); ++i)
        sort_rank(by_rank_[down ? i : by_rank_.size() - 1 - i], at, down);
      if (const std::size_t now = crossings(at); now < fewest) {
        fewest = now;
        best = by_rank_;
      }
    }
    by_rank_ = std::move(best);
  }

  [[nodiscard]] double width(const Item& item) const {
    return item.node == kNone ? kBendWidth : style_.node_width;
  }
  [[nodiscard]] double distance(const Item& left, const Item& right) const {
    const bool is_bend = left.node == kNone || right.node == kNone;
    return (width(left) + width(right)) / 2 + (is_bend ? kBendGap : style_.node_gap);
  }

  struct Wish {
    double x = 0, weight = 1;
  };

  // Minimizes the sum of weight * (x - wish)^2 subject to x[i + 1] - x[i] >= distance. Items that
  // touch each other form a pool that moves as a unit.
  void grant(const std::vector<std::uint32_t>& rank, const std::vector<Wish>& wishes) {
    struct Pool {
      double sum = 0, weight = 0;
      std::size_t end = 0;
      [[nodiscard]] double mean() const { return sum / weight; }
    };
    std::vector<Pool> pools;
    std::vector<double> offset(rank.size(), 0);
    for (std::size_t i = 0; i < rank.size(); ++i) {
      if (i > 0) offset[i] = offset[i - 1] + distance(items_[rank[i - 1]], items_[rank[i]]);
      pools.push_back({wishes[i].weight * (wishes[i].x - offset[i]), wishes[i].weight, i + 1});
      while (pools.size() > 1 && pools[pools.size() - 2].mean() > pools.back().mean()) {
        const Pool last = pools.back();
        pools.pop_back();
        pools.back().sum += last.sum;
        pools.back().weight += last.weight;
        pools.back().end = last.end;
      }
    }
    std::size_t i = 0;
    for (const Pool& pool : pools)
      for (; i < pool.end; ++i) items_[rank[i]].x = pool.mean() + offset[i];
  }

  void place_rank(const std::vector<std::uint32_t>& rank, bool use_above, bool use_below) {
    std::vector<Wish> wishes;
    for (const std::uint32_t id : rank) {
      const Item& item = items_[id];
      // A weak pull toward x = 0 keeps the drawing from leaning.
      double sum = 0, weight = kMiddleWeight;
      const auto add = [&](const std::vector<std::uint32_t>& neighbors) {
        for (const std::uint32_t n : neighbors) {
          const double w = item.node == kNone && items_[n].node == kNone ? kBendWeight : 1;
          sum += w * items_[n].x;
          weight += w;
        }
      };
      if (use_above) add(item.above);
      if (use_below) add(item.below);
      wishes.push_back({sum / weight, weight});
    }
    grant(rank, wishes);
  }

  // True if the line between the two items should be straight: both are bends of one chain, or each
  // is the other's only neighbor on that side.
  [[nodiscard]] bool belong_together(std::uint32_t above, std::uint32_t below) const {
    const Item& a = items_[above];
    const Item& b = items_[below];
    if (a.node == kNone && b.node == kNone) return true;
    return a.below.size() == 1 && b.above.size() == 1;
  }

  // Moves items that belong together to the mean of their positions, and other items as little as
  // possible. A few rounds align most of them.
  void straighten() {
    std::vector<std::uint32_t> block(items_.size());
    std::iota(block.begin(), block.end(), 0U);
    for (const auto& rank : by_rank_)
      for (const std::uint32_t id : rank)
        for (const std::uint32_t above : items_[id].above)
          if (belong_together(above, id)) block[id] = block[above];
    std::vector<double> sums(items_.size()), sizes(items_.size(), 0);
    for (const std::uint32_t b : block) ++sizes[b];
    for (int round = 0; round < kStraightRounds; ++round) {
      std::fill(sums.begin(), sums.end(), 0.0);
      for (std::size_t i = 0; i < items_.size(); ++i) sums[block[i]] += items_[i].x;
      for (const auto& rank : by_rank_) {
        std::vector<Wish> wishes;
        for (const std::uint32_t id : rank)
          wishes.push_back({sums[block[id]] / sizes[block[id]], sizes[block[id]]});
        grant(rank, wishes);
      }
    }
  }

  void place() {
    for (const auto& rank : by_rank_) {
      double x = 0;
      for (std::size_t i = 0; i < rank.size(); ++i) {
        if (i > 0) x += distance(items_[rank[i - 1]], items_[rank[i]]);
        items_[rank[i]].x = x;
      }
      for (const std::uint32_t item : rank) items_[item].x -= x / 2;
    }
    for (int sweep = 0; sweep < kPlaceSweeps; ++sweep) {
      const bool down = sweep % 2 == 0;
      const bool both = sweep + 2 >= kPlaceSweeps;
      for (std::size_t i = 0; i < by_rank_.size(); ++i)
        place_rank(by_rank_[down ? i : by_rank_.size() - 1 - i], down || both, !down || both);
    }
    straighten();
  }

  [[nodiscard]] Layout layout() const {
    Layout out;
    double left = 0, right = 0;
    for (std::size_t i = 0; i < items_.size(); ++i) {
      const double half = width(items_[i]) / 2;
      left = i == 0 ? items_[i].x - half : std::min(left, items_[i].x - half);
      right = i == 0 ? items_[i].x + half : std::max(right, items_[i].x + half);
    }
    const double pitch = style_.node_height + style_.rank_gap;
    for (std::size_t r = 0; r < by_rank_.size(); ++r)
      out.rank_tops.push_back(static_cast<double>(r) * pitch);
    out.ranks = ranks_;
    const auto x_of = [&](std::uint32_t item) { return items_[item].x - left; };
    const auto top_of = [&](std::uint32_t item) { return out.rank_tops[items_[item].rank]; };
    for (std::uint32_t n = 0; n < graph_.nodes; ++n)
      out.centers.push_back({x_of(n), top_of(n) + style_.node_height / 2});
    for (const LayoutEdge& e : graph_.edges) {
      Layout::Route route;
      route.points.push_back({x_of(e.from), top_of(e.from) + style_.node_height});
      for (std::uint32_t i = 0; i + ranks_[e.from] + 1 < ranks_[e.to]; ++i) {
        const std::uint32_t bend = chains_[e.from][i];
        route.points.push_back({x_of(bend), top_of(bend)});
        route.points.push_back({x_of(bend), top_of(bend) + style_.node_height});
      }
      route.points.push_back({x_of(e.to), top_of(e.to)});
      out.routes.push_back(std::move(route));
    }
    out.width = right - left;
    out.height = by_rank_.empty() ? 0 : out.rank_tops.back() + style_.node_height;
    return out;
  }

  const LayoutGraph& graph_;
  const LayoutStyle& style_;
  std::vector<std::uint32_t> ranks_;                 // by node
  std::vector<Item> items_;                          // boxes first, by node
  std::vector<std::vector<std::uint32_t>> chains_;   // by node: its bends, from top to bottom
  std::vector<std::vector<std::uint32_t>> by_rank_;  // items from left to right
};

}  // namespace

Layout layered_layout(const LayoutGraph& graph, const LayoutStyle& style) {
  return Layering(graph, style).run();
}

}  // namespace jointer
