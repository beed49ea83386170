#include "views/session/kernels/kernel_lanes.h"

#include <algorithm>
#include <map>
#include <utility>

#include "core/base/checked.h"
#include "core/base/index.h"

namespace jointer::views {
namespace {

using KernelKind = kernels::Kernel::Kind;

// The collective that a kernel starts or waits for, as an index in Simulation::collectives; -1 if
// there is none.
std::int32_t collective_of(const Simulation& simulation, const kernels::Kernel& kernel) {
  for (const NodeId node : kernel.nodes)
    if (const std::int32_t collective = simulation.collective_of(node); collective >= 0)
      return collective;
  return -1;
}

}  // namespace

ItemColor kernel_color(const SnapshotKernels& kernels, std::size_t row) {
  const kernels::Kernel& kernel = kernels.kernel(row);
  const bool is_call = kernel.kind == KernelKind::external ||
                       kernel.kind == KernelKind::template_ ||
                       kernel.kind == KernelKind::collective;
  if (!is_call) return ItemColor::memory;
  const Snapshot& snapshot = *kernels.snapshot();
  for (const NodeId node : kernel.nodes)
    if (const ItemColor color = node_color(snapshot.graph, snapshot.analysis, node);
        color != ItemColor::memory)
      return color;
  return ItemColor::memory;
}

KernelLanes::KernelLanes(SnapshotKernelsPtr kernels, AxisKind kind) : kernels_(std::move(kernels)) {
  if (kind == AxisKind::program_order)
    place_in_program_order();
  else
    place_in_time();
  add_lanes();
  find_places(kind);
}

LaneItem KernelLanes::item(std::size_t row, std::int64_t begin, std::int64_t end) const {
  const std::vector<NodeId>& nodes = kernels_->kernel(row).nodes;
  return {.begin = begin,
          .end = end,
          .node = nodes.empty() ? NodeId() : nodes.front(),
          .color = kernel_color(*kernels_, row),
          .kernel = static_cast<std::int32_t>(row)};
}

void KernelLanes::place_in_program_order() {
  const auto steps = kernels_->snapshot()->analysis.memory.steps();
  for (std::size_t step = 0; step < steps.size(); ++step) {
    const std::int32_t row = kernels_->row_of(steps[step]);
    if (row < 0 || !kernels_->rows()[as_index(row)].launches) continue;
    const auto begin = static_cast<std::int64_t>(step);
    if (!compute_.empty() && compute_.back().kernel == row)
      compute_.back().end = begin + 1;
    else
      compute_.push_back(item(as_index(row), begin, begin + 1));
  }
  length_ = std::max<std::int64_t>(static_cast<std::int64_t>(steps.size()), 1);
}

void KernelLanes::place_in_time() {
  const Simulation& simulation = kernels_->snapshot()->analysis.simulation;
  std::vector<std::int64_t> ends(simulation.collectives().size());  // of collectives
  std::map<std::int32_t, std::int64_t> idle_from;  // by stream: when its last collective ends
  std::int64_t now = 0, last = 0;
  for (std::size_t row = 0; row < kernels_->rows().size(); ++row) {
    const kernels::Kernel& kernel = kernels_->kernel(row);
    const KernelRow& figures = kernels_->rows()[row];
    if (kernel.kind == KernelKind::wait) {
      const std::int32_t collective = collective_of(simulation, kernel);
      if (collective >= 0) now = std::max(now, ends[as_index(collective)]);
      continue;
    }
    if (!figures.launches || figures.ns <= 0) continue;
    if (kernel.kind != KernelKind::collective) {
      const std::int64_t end = saturating_add(now, figures.ns);
      compute_.push_back(item(row, now, end));
      now = end;
      continue;
    }
    const std::int32_t collective = collective_of(simulation, kernel);
    const std::int32_t stream =
        collective < 0
            ? -1
            : simulation.timing(simulation.collectives()[as_index(collective)].start).stream;
    const std::int64_t begin = std::max(now, idle_from[stream]);
    const std::int64_t end = saturating_add(begin, figures.ns);
    idle_from[stream] = end;
    if (collective >= 0) ends[as_index(collective)] = end;
    collectives_.push_back(item(row, begin, end));
    last = std::max(last, end);
  }
  std::ranges::stable_sort(collectives_, {}, &LaneItem::begin);
  length_ = std::max<std::int64_t>({now, last, 1});
}

void KernelLanes::add_lanes() {
  lanes_.emplace_back("kernels", GroupId{}, std::move(compute_), kernels_->shared_names());
  if (!collectives_.empty())
    lanes_.emplace_back("collectives", GroupId{}, std::move(collectives_),
                        kernels_->shared_names());
  compute_.clear();
  collectives_.clear();
}

void KernelLanes::find_places(AxisKind kind) {
  const std::size_t rows = kernels_->rows().size();
  first_place_.assign(rows + 1, 0);
  for (const Lane& lane : lanes_)
    for (const LaneItem& each : lane.items()) ++first_place_[as_index(each.kernel) + 1];
  for (std::size_t row = 0; row < rows; ++row) {
    const KernelRow& figures = kernels_->rows()[row];
    const bool is_in_another = kind != AxisKind::program_order && figures.is_measured;
    if (figures.launches && first_place_[row + 1] == 0 && !is_in_another) ++left_out_;
    first_place_[row + 1] += first_place_[row];
  }
  places_.resize(first_place_.back());
  std::vector<std::size_t> next(first_place_.begin(), first_place_.end() - 1);
  for (std::size_t lane = 0; lane < lanes_.size(); ++lane)
    for (const LaneItem& each : lanes_[lane].items())
      places_[next[as_index(each.kernel)]++] = {lane, each.begin, each.end};
}

}  // namespace jointer::views
