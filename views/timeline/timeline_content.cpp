#include "views/timeline/timeline_content.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/number_range.h"
#include "core/schedule/device_capacity.h"
#include "views/session/edit/editing.h"
#include "views/session/kernels/kernel_source_text.h"
#include "views/session/sac/sac_session.h"
#include "views/session/text/number_text.h"

namespace jointer::views {
namespace {

// The axis may become at most this many times longer to fit the longer of the estimated and the
// measured step. If that step is longer still, its end is cut off and labeled.
constexpr std::int64_t kMaxStretch = 2;

// The memory axis extends to the device's capacity if that is at most this many times the maximum
// of the curves.
constexpr std::int64_t kMaxHeadroom = 3;

}  // namespace

TimelineContent::TimelineContent(Document& document)
    : document_(document),
      planner_(document.editing().planner()),
      last_(document.shared_snapshot()) {
  connect(&document_, &Document::changed, this, &TimelineContent::follow_document);
  connect(&document_, &Document::measurement_changed, this, &TimelineContent::follow_measurement);
  connect(&document_.sac(), &SacSession::changed, this, &TimelineContent::legend_changed);
  connect(&document_.shown_kernels(), &ShownKernels::changed, this,
          &TimelineContent::follow_kernels);
  // While a held block is away from its original position, the plan is not shown. Queued, since the
  // block may be released because the document has changed.
  connect(
      &planner_, &MovePlanner::held_changed, this,
      [this] {
        if (planner_.held() == nullptr) emit legend_changed();
      },
      Qt::QueuedConnection);
  update_rows();
}

const Snapshot* TimelineContent::ghost() const {
  const Snapshot* opened = document_.baseline().get();
  return show_ghost_ && opened != &shown() ? opened : nullptr;
}

const TimelineData& TimelineContent::data_of(AxisKind kind) const {
  const MeasuredTimeline* m = document_.measured();
  return kind == AxisKind::measured_time && m != nullptr ? m->timeline(kind)
                                                         : shown().timeline(kind);
}

const MeasuredCurve* TimelineContent::measured_curve() const {
  const MeasuredTimeline* m = document_.measured();
  return m == nullptr || m->curve(kind_).empty() ? nullptr : &m->curve(kind_);
}

std::optional<std::int64_t> TimelineContent::measured_bytes(std::size_t moment) const {
  const MeasuredCurve* curve = measured_curve();
  if (curve == nullptr || moment >= measured()->point_count()) return std::nullopt;
  const std::int64_t position = measured()->position(moment);
  return position < curve->end() ? std::optional(curve->bytes(curve->point_at(position)))
                                 : std::nullopt;
}

std::int64_t TimelineContent::highest_bytes() const {
  const Analysis& a = shown().analysis;
  std::int64_t max_bytes = a.memory.peak_bytes();
  if (shows_reserved()) max_bytes = std::max(max_bytes, a.reserved.peak_bytes);
  // While a block is held and after an edit, include the graph as opened in the scale, so that a
  // lower curve looks lower.
  if (const Snapshot* opened = ghost())
    max_bytes = std::max({max_bytes, opened->analysis.memory.peak_bytes(),
                          shows_reserved() ? opened->analysis.reserved.peak_bytes : 0});
  if (const MeasuredCurve* curve = measured_curve())
    max_bytes = std::max(max_bytes, curve->bytes(curve->peak()));
  if (const PlanOutcomePtr partitioned = plan())
    max_bytes = std::max(max_bytes, partitioned->figures.figures.peak_bytes);
  return max_bytes;
}

bool TimelineContent::shows_capacity() const {
  const auto capacity = capacity_bytes(shown().analysis.device);
  return capacity && *capacity / kMaxHeadroom <= highest_bytes();
}

std::int64_t TimelineContent::top_bytes() const {
  std::int64_t max_bytes = highest_bytes();
  if (shows_capacity()) max_bytes = std::max(max_bytes, *capacity_bytes(shown().analysis.device));
  return max_bytes + max_bytes / 16 + 1;
}

std::int64_t TimelineContent::axis_length() const {
  std::int64_t own = data().length();
  // Include the graph as opened here too, so that a shorter step looks shorter.
  if (const Snapshot* opened = ghost(); opened != nullptr && !is_measured_axis())
    own = std::max(own, opened->timeline(kind_).length());
  if (kind_ == AxisKind::program_order || measured() == nullptr) return own;
  const std::int64_t longer = std::max(estimated().length(), measured()->length());
  return std::clamp(longer, own, kMaxStretch * own);
}

// On the axis of estimated time, positions are times. On other axes, the points of the memory
// profile map positions to times.
TimeRange TimelineContent::range_between(double begin, double end) const {
  const std::int64_t step = shown().analysis.simulation.step_ns();
  const auto whole = [](double position) { return static_cast<std::int64_t>(position); };
  TimeRange range{.begin = whole(begin), .end = static_cast<std::int64_t>(std::ceil(end))};
  if (&data() != &shown().estimated_time) {
    const TimelineData& time = shown().estimated_time;
    const auto point_at = [&](double at) {
      return data().point_at(std::clamp<std::int64_t>(whole(at), 0, data().length() - 1));
    };
    // The first node may start after the step does.
    range.begin = begin <= 0 ? 0 : time.position(point_at(begin));
    const std::size_t next = point_at(end) + 1;
    range.end = next < time.point_count() && end < static_cast<double>(data().length())
                    ? time.position(next)
                    : step;
  }
  range.begin = std::clamp<std::int64_t>(range.begin, 0, std::max<std::int64_t>(step - 1, 0));
  range.end = std::clamp(range.end, range.begin + 1, std::max(step, range.begin + 1));
  return range;
}

std::pair<std::int64_t, std::int64_t> TimelineContent::positions_of(TimeRange range) const {
  if (&data() == &shown().estimated_time) return {range.begin, range.end};
  const TimelineData& time = shown().estimated_time;
  // A range may begin or end while a node runs.
  std::size_t first = time.first_point_at(range.begin);
  if (first == time.point_count() || time.position(first) > range.begin) --first;
  const std::size_t last = time.first_point_at(range.end);
  const bool is_inside = range.end < time.length() && last < data().point_count();
  return {data().position(first), is_inside ? data().position(last) : data().length()};
}

QString TimelineContent::position_text(double position, double resolution) const {
  if (kind_ == AxisKind::program_order)
    return count_text(static_cast<std::size_t>(std::max(position, 0.0)));
  const auto ns = static_cast<std::int64_t>(position);
  if (resolution <= 0) return time_text(ns);
  const std::int64_t next = ns + std::max<std::int64_t>(static_cast<std::int64_t>(resolution), 1);
  return to_qstring(format_ns_range(ns, next).begin);
}

QString TimelineContent::distance_text(std::int64_t begin, std::int64_t end) const {
  if (kind_ != AxisKind::program_order) return time_text(end - begin);
  return counted_text(end - begin, tr("1 call"), tr("%1 calls"));
}

// --- Lanes ---

void TimelineContent::update_rows() {
  rows_.clear();
  for (std::size_t i = 0; i < estimated().lanes().size(); ++i) {
    rows_.push_back({i, false});
    if (measured() == nullptr || measured()->lanes()[i].items().empty()) continue;
    rows_.push_back({i, true});
  }
  if (measured() != nullptr)
    for (std::size_t i = measured()->first_kernel_lane(); i < measured()->lanes().size(); ++i)
      rows_.push_back({.lane = i, .is_measured = true, .has_kernels = true});
  update_kernel_lanes();
  if (!show_kernels_) return;
  const std::size_t lanes = kernel_lanes_ ? kernel_lanes_->lanes().size() : 1;
  for (std::size_t i = 0; i < lanes; ++i) rows_.push_back({.lane = i, .has_shown_kernels = true});
}

// Recreates the lanes of kernels if the kernels or the axis have changed, and deletes them if they
// are hidden.
void TimelineContent::update_kernel_lanes() {
  const SnapshotKernelsPtr& kernels = document_.shown_kernels().shown();
  if (!show_kernels_ || !kernels) return kernel_lanes_.reset();
  if (kernel_lanes_ && kernel_lanes_->shared_kernels() == kernels && kernels_kind_ == kind_) return;
  kernels_kind_ = kind_;
  kernel_lanes_ = std::make_unique<const KernelLanes>(kernels, kind_);
}

int TimelineContent::row_of_kernels(std::size_t lane) const {
  for (std::size_t row = 0; row < rows_.size(); ++row)
    if (rows_[row].lane == lane && rows_[row].has_shown_kernels) return static_cast<int>(row);
  return -1;
}

bool TimelineContent::needs_prediction() const {
  return show_kernels_ && document_.shown_kernels().source() == ShownKernels::Source::predicted;
}

QString TimelineContent::kernels_name() const {
  return kernel_source_word(document_.shown_kernels().source());
}

QString TimelineContent::kernels_state() const {
  return document_.shown_kernels().state_text();
}

QString TimelineContent::kernels_legend() const {
  const ShownKernels::Source source = document_.shown_kernels().source();
  QString text = tr("kernels: %1").arg(kernel_source_legend(source));
  if (source == ShownKernels::Source::asked || source == ShownKernels::Source::compiled)
    text += tr(", times estimated");
  if (const std::size_t count = kernel_lanes_ ? kernel_lanes_->left_out() : 0; count > 0)
    text += kind_ == AxisKind::program_order ? tr(", %1 without a node").arg(count_text(count))
                                             : tr(", %1 without a time").arg(count_text(count));
  return text;
}

int TimelineContent::row_of(std::size_t lane, bool is_measured) const {
  for (std::size_t row = 0; row < rows_.size(); ++row)
    if (rows_[row].lane == lane && rows_[row].is_measured == is_measured &&
        !rows_[row].has_shown_kernels)
      return static_cast<int>(row);
  return -1;
}

int TimelineContent::row_of(NodeId node, bool is_measured) const {
  const std::int32_t lane = (is_measured ? *measured() : estimated()).lane_of(node);
  return lane < 0 ? -1 : row_of(static_cast<std::size_t>(lane), is_measured);
}

// --- The plan ---

// A plan is aligned with the nodes of the graph that it partitions, so it cannot be drawn over a
// different order.
bool TimelineContent::has_place_for(const SacStatePtr& state) const {
  if (!state || !state->can_change() || state->places.size() < 2 || !show_plan_) return false;
  const auto shown_steps = shown().analysis.memory.steps();
  const auto steps = state->snapshot->analysis.memory.steps();
  return state->snapshot.get() == &shown() || std::ranges::equal(shown_steps, steps);
}

// Without tags, a training step's plan would equal the step's own curve.
PlanOutcomePtr TimelineContent::plan() const {
  const SacStatePtr state = document_.sac().state();
  if (!has_place_for(state) || (state->is_step() && !state->applied_tags.any)) return nullptr;
  return state;
}

// The plan's curve is drawn in its own order, even if a search found another one.
QString TimelineContent::plan_name() const {
  const SacStatePtr state = document_.sac().state();
  const QString name = state && state->is_step() ? tr("with tags applied") : tr("as partitioned");
  return state && !state->order.empty() ? tr("%1, not reordered").arg(name) : name;
}

PlanOutcomePtr TimelineContent::what_if() const {
  const auto& preview = document_.sac().shown_preview();
  const bool is_shown = preview && preview->shown() && preview->shown()->places.size() > 1 &&
                        has_place_for(document_.sac().state());
  return is_shown ? preview->shown() : nullptr;
}

QString TimelineContent::what_if_name() const {
  const auto& preview = document_.sac().shown_preview();
  return preview ? preview->name() : QString();
}

bool TimelineContent::has_plan() const {
  const SacStatePtr state = document_.sac().state();
  return state && state->can_change();
}

// --- Changes ---

void TimelineContent::set_kind(AxisKind kind) {
  if (kind == kind_ || (kind == AxisKind::measured_time && measured() == nullptr)) return;
  const AxisKind before = std::exchange(kind_, kind);
  update_rows();
  emit kind_changed(kind, before);
}

void TimelineContent::next_kind() {
  if (kind_ == AxisKind::estimated_time && measured() != nullptr)
    return set_kind(AxisKind::measured_time);
  set_kind(kind_ == AxisKind::program_order ? AxisKind::estimated_time : AxisKind::program_order);
}

void TimelineContent::set_show_reserved(bool show) {
  show_reserved_ = show;
  emit changed();
}

void TimelineContent::set_show_lane_legend(bool show) {
  show_lane_legend_ = show;
  emit legend_changed();
}

void TimelineContent::set_show_kernels(bool show) {
  if (std::exchange(show_kernels_, show) == show) return;
  update_rows();
  emit legend_changed();
}

void TimelineContent::follow_kernels() {
  if (!show_kernels_) return;
  update_rows();
  emit legend_changed();
}

void TimelineContent::set_show_ghost(bool show) {
  show_ghost_ = show;
  emit changed();
}

void TimelineContent::set_show_plan(bool show) {
  show_plan_ = show;
  emit legend_changed();
}

void TimelineContent::follow_document() {
  const SnapshotPtr before = std::exchange(last_, document_.shared_snapshot());
  update_rows();
  emit snapshot_changed(before);
}

void TimelineContent::follow_measurement() {
  if (kind_ == AxisKind::measured_time && measured() == nullptr) set_kind(AxisKind::estimated_time);
  update_rows();
  emit measurement_changed();
}

}  // namespace jointer::views
