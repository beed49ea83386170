#include "views/timeline/timeline_hits.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <vector>

#include "core/base/index.h"

namespace jointer::views {
namespace {

// The compiled block that an item shows, or that launched it if it is a kernel; null for a node or
// a kernel of a node.
const MeasuredBlock* block_at(const TimelineScene& scene, const LaneItem& item) {
  const MeasuredTimeline* measured = scene.content.document().measured();
  const bool is_node = item.block < 0 && item.kernel < 0;
  return is_node || measured == nullptr ? nullptr : measured->block_of(item.node);
}

// Selects the nodes of kernels or, if `adds`, adds them to the selection. The kernels may be those
// of an earlier graph, with nodes that an edit has removed.
void select_kernels(const TimelineScene& scene, std::size_t row, const LaneRun& run, bool adds) {
  Document& document = scene.content.document();
  Selection& selection = document.selection();
  const SnapshotKernels& kernels = scene.content.kernel_lanes()->kernels();
  std::vector<NodeId> nodes;
  for (const LaneItem& item : scene.lane(row).items().subspan(run.first, run.last - run.first))
    std::ranges::copy_if(kernels.kernel(as_index(item.kernel)).nodes, std::back_inserter(nodes),
                         [&](NodeId node) { return document.has(node); });
  if (adds) nodes.insert(nodes.end(), selection.nodes().begin(), selection.nodes().end());
  if (nodes.empty()) return;
  const NodeId first = nodes.front();
  selection.select_all(std::move(nodes), first);
  if (const auto moment = document.moment_of(first)) selection.set_moment(moment);
}

// Selects the nodes or, if `toggles`, adds them to the selection; removes them if all of them are
// selected already.
void select_nodes(Selection& selection, std::vector<NodeId> nodes, bool toggles) {
  if (!toggles || nodes.empty()) return selection.select_all(std::move(nodes));
  std::vector<NodeId> selected(selection.nodes().begin(), selection.nodes().end());
  const auto is_selected = [&](NodeId node) { return selection.contains(node); };
  if (std::ranges::all_of(nodes, is_selected)) {
    std::ranges::sort(nodes);
    std::erase_if(selected, [&](NodeId node) { return std::ranges::binary_search(nodes, node); });
    const NodeId last = selected.empty() ? NodeId{} : selected.back();
    return selection.select_all(std::move(selected), last);
  }
  const NodeId first = nodes.front();
  selected.insert(selected.end(), nodes.begin(), nodes.end());
  selection.select_all(std::move(selected), first);
}

}  // namespace

TimelineHit hit_timeline(const TimelineScene& scene, QPoint at) {
  TimelineHit h;
  if (at.x() < scene.layout.left() || at.x() >= scene.layout.left() + scene.layout.width())
    return h;
  if (scene.layout.is_in_memory(at)) {
    const auto begin = static_cast<std::int64_t>(std::floor(scene.axis.to_position(at.x())));
    const auto end = static_cast<std::int64_t>(std::ceil(scene.axis.to_position(at.x() + 1)));
    h.point = scene.content.data().largest_point(std::max<std::int64_t>(begin, 0),
                                                 std::max(end, begin + 1));
  } else if ((h.row = scene.layout.lane_at(at))) {
    h.run = scene.lane_track(*h.row).run_at(at.x());
  }
  return h;
}

std::pair<int, int> columns_of(const TimelineScene& scene, TimeRange range) {
  const auto [begin, end] = scene.content.positions_of(range);
  const auto column = [&](std::int64_t position) {
    const double pixel = scene.axis.to_pixel(static_cast<double>(position));
    return static_cast<int>(
        std::lround(std::clamp(pixel, scene.axis.left(), scene.axis.left() + scene.axis.width())));
  };
  const int left = column(begin);
  return {left, std::max(column(end), left + 1)};
}

void select_at(const TimelineScene& scene, QPoint at, bool toggles) {
  Selection& selection = scene.content.document().selection();
  const TimelineHit h = hit_timeline(scene, at);
  // A click outside of the selected range clears it.
  if (const auto range = selection.range())
    if (const auto [left, right] = columns_of(scene, *range); at.x() < left || at.x() > right)
      selection.set_range(std::nullopt);
  if (h.run && scene.content.rows()[*h.row].has_shown_kernels) {
    select_kernels(scene, *h.row, *h.run, toggles);
  } else if (h.run) {
    const auto items = scene.lane(*h.row).items();
    if (h.run->is_folded()) {
      std::vector<NodeId> nodes;
      for (std::size_t i = h.run->first; i < h.run->last; ++i) nodes.push_back(items[i].node);
      select_nodes(selection, std::move(nodes), toggles);
    } else if (const MeasuredBlock* block = block_at(scene, items[h.run->first])) {
      select_nodes(selection, block->nodes, toggles);
    } else if (toggles) {
      selection.toggle(items[h.run->first].node);
    } else {
      selection.select(items[h.run->first].node);
    }
    if (const auto moment = scene.content.document().moment_of(selection.current()))
      selection.set_moment(moment);
  } else if (h.point) {
    selection.set_moment(h.point);
    if (const NodeId node = scene.content.shown().analysis.memory.node_at(*h.point))
      selection.select(node);
  } else if (scene.layout.content().contains(at)) {
    selection.clear();
  }
}

TimeRange range_between(const TimelineScene& scene, int a, int b) {
  return scene.content.range_between(scene.axis.to_position(std::min(a, b)),
                                     scene.axis.to_position(std::max(a, b)));
}

}  // namespace jointer::views
