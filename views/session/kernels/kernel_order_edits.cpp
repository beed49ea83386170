#include "views/session/kernels/kernel_order_edits.h"

#include <QStringList>
#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>

#include "core/base/bytes.h"
#include "core/base/index.h"
#include "core/edit/edit.h"
#include "views/session/kernels/kernel_keys.h"
#include "views/session/kernels/predicted_kernels.h"
#include "views/session/text/number_text.h"
#include "views/session/translation/qstring.h"

namespace jointer::views {
namespace {

// The orders as predicted, by part. `of` must outlive them.
std::vector<kernels::KernelOrder> orders_of(const SnapshotKernels& of) {
  std::vector<kernels::KernelOrder> orders;
  orders.reserve(of.parts().size());
  for (const CompiledPart& part : of.parts()) orders.emplace_back(part.ir, part.scheduled);
  return orders;
}

}  // namespace

SnapshotKernelsPtr KernelOrderEdits::make_rows(const SnapshotPtr& snapshot,
                                               std::vector<CompiledPart> parts) {
  return std::make_shared<const SnapshotKernels>(snapshot, std::move(parts));
}

KernelOrderEdits::KernelOrderEdits(PredictedKernels& predicted, MakeRows make, QObject* parent)
    : QObject(parent), predicted_(predicted), make_(std::move(make)) {
  connect(&predicted_, &PredictedKernels::changed, this, &KernelOrderEdits::follow);
}

KernelOrderEdits::~KernelOrderEdits() = default;

// --- New predictions ---

void KernelOrderEdits::follow() {
  said_.clear();
  orders_.clear();
  keys_.clear();
  base_ = predicted_.shown();
  // If the prediction failed, the moves wait for the next kernels.
  if (base_ && !moves_.empty()) keep_moves();
  publish();
}

// Applies the moves to newly predicted kernels, and drops those that no longer fit.
void KernelOrderEdits::keep_moves() {
  prepare();
  QStringList dropped;
  std::vector<Move> kept;
  for (std::size_t i = 0; i < moves_.size(); ++i) {
    Move move = moves_[i];
    const bool is_applied = i < place_;
    if (find(move) && (!is_applied || apply(orders_, move)))
      kept.push_back(move);
    else if (is_applied)
      dropped << tr("move %1").arg(i + 1);
  }
  const std::size_t before = place_;
  place_ -= static_cast<std::size_t>(dropped.size());
  moves_ = std::move(kept);
  if (!dropped.isEmpty())
    said_ = tr("Dropped %1 of %2 kernel moves because they no longer fit the graph: %3.")
                .arg(dropped.size())
                .arg(before)
                .arg(dropped.join(QStringLiteral(", ")));
  emit moved();
}

void KernelOrderEdits::prepare() {
  if (!orders_.empty()) return;
  orders_ = orders_of(*base_);
  keys_ = kernel_keys(*base_);
}

NamedKernel KernelOrderEdits::named(const Chosen& kernel) const {
  const std::vector<kernels::Kernel>& of_part = base_->parts()[kernel.part].scheduled.kernels;
  const std::vector<NodeId>& nodes = of_part[as_index(kernel.kernel)].nodes;
  NamedKernel name;
  for (const NodeId node : nodes) name.nodes.push_back(edit_name(base_->snapshot()->graph, node));
  for (std::size_t i = 0; i < as_index(kernel.kernel); ++i)
    if (of_part[i].nodes == nodes) ++name.number;
  return name;
}

std::int32_t KernelOrderEdits::find(std::size_t part, const NamedKernel& name) const {
  std::vector<NodeId> nodes;
  for (const std::string& each : name.nodes) nodes.push_back(base_->snapshot()->graph.find(each));
  const std::vector<kernels::Kernel>& of_part = base_->parts()[part].scheduled.kernels;
  std::size_t before = 0;  // kernels with the same nodes
  for (std::size_t i = 0; i < of_part.size(); ++i)
    if (of_part[i].nodes == nodes && before++ == name.number) return static_cast<std::int32_t>(i);
  return -1;
}

bool KernelOrderEdits::find(Move& move) const {
  const NamedKernelMove& wanted = move.named;
  if (wanted.part >= orders_.size()) return false;
  move.move = {find(wanted.part, wanted.kernel), find(wanted.part, wanted.anchor),
               !wanted.is_after};
  return move.move.kernel >= 0 && move.move.anchor >= 0;
}

std::size_t KernelOrderEdits::first_row(std::size_t part) const {
  std::size_t first = 0;
  for (std::size_t i = 0; i < part; ++i) first += orders_[i].order().size();
  return first;
}

std::span<const std::uint64_t> KernelOrderEdits::keys(std::size_t part) const {
  return std::span(keys_).subspan(first_row(part), orders_[part].order().size());
}

bool KernelOrderEdits::apply(std::vector<kernels::KernelOrder>& orders, const Move& move) {
  kernels::KernelOrder& order = orders[move.named.part];
  const auto& [kernel, anchor, before] = move.move;
  return order.move(kernel, order.place_next_to(kernel, anchor, before));
}

void KernelOrderEdits::replay() {
  for (kernels::KernelOrder& order : orders_) order.reset();
  for (std::size_t i = 0; i < place_; ++i) apply(orders_, moves_[i]);
}

void KernelOrderEdits::publish() {
  problem_.clear();
  const bool is_as_predicted = std::ranges::all_of(
      orders_, [](const kernels::KernelOrder& order) { return order.is_as_scheduled(); });
  if (is_as_predicted) {
    ordering_.cancel();
    shown_ = base_;
    shown_keys_.clear();
    emit changed();
    return;
  }
  const auto applied = moves_.begin() + static_cast<std::ptrdiff_t>(place_);
  ordering_.start(
      [base = base_, base_keys = keys_, moves = std::vector<Move>(moves_.begin(), applied),
       make = make_](const Cancellation& job) {
        return ordered(base, base_keys, moves, make, job);
      },
      [this](Result<Ordered> made) { take(std::move(made)); });
}

// Makes new orders and applies the moves to them, since copying `orders_` would cost as much.
Result<KernelOrderEdits::Ordered> KernelOrderEdits::ordered(
    const SnapshotKernelsPtr& base, const std::vector<std::uint64_t>& base_keys,
    const std::vector<Move>& moves, const MakeRows& make, const Cancellation& job) {
  std::vector<kernels::KernelOrder> orders = orders_of(*base);
  for (const Move& move : moves) apply(orders, move);
  std::vector<CompiledPart> parts = base->parts();
  Ordered made;
  std::size_t first = 0;
  for (std::size_t part = 0; part < parts.size(); ++part) {
    if (job.is_cancelled()) return fail(Error::Kind::cancelled, "cancelled");
    for (const std::int32_t kernel : orders[part].order())
      made.keys.push_back(base_keys[first + as_index(kernel)]);
    first += orders[part].order().size();
    parts[part].scheduled = orders[part].reordered();
  }
  if (job.is_cancelled()) return fail(Error::Kind::cancelled, "cancelled");
  made.kernels = make(base->snapshot(), std::move(parts));
  return made;
}

void KernelOrderEdits::take(Result<Ordered> made) {
  if (made) {
    shown_ = std::move(made->kernels);
    shown_keys_ = std::move(made->keys);
  } else {
    said_ = problem_ = to_qstring(made.error().message);
  }
  emit changed();
}

// --- Moves ---

std::optional<KernelOrderEdits::Chosen> KernelOrderEdits::choose(std::size_t row) {
  if (!base_ || !shown_ || row >= shown_->rows().size()) return std::nullopt;
  prepare();
  // Without keys, the rows are in a predicted order, perhaps that of an earlier graph.
  if (shown_keys_.empty()) shown_keys_ = shown_ == base_ ? keys_ : kernel_keys(*shown_);
  const std::size_t part = as_index(shown_->rows()[row].part);
  if (part < orders_.size()) {
    const std::span<const std::uint64_t> of_part = keys(part);
    const auto found = std::find(of_part.begin(), of_part.end(), shown_keys_[row]);
    if (found != of_part.end())
      return Chosen{part, static_cast<std::int32_t>(found - of_part.begin())};
  }
  said_ = tr("The graph has changed and no longer has this kernel. Select another one.");
  emit changed();
  return std::nullopt;
}

std::string KernelOrderEdits::label(std::size_t part, std::int32_t kernel) const {
  return kernels::kernel_label(base_->snapshot()->graph, base_->parts()[part].scheduled, kernel,
                               first_row(part));
}

QString KernelOrderEdits::name(const Chosen& kernel) const {
  return to_qstring(label(kernel.part, kernel.kernel));
}

bool KernelOrderEdits::move(std::size_t row, Direction direction, bool past_all) {
  const std::optional<Chosen> kernel = choose(row);
  if (!kernel) return false;
  const kernels::KernelOrder& order = orders_[kernel->part];
  const std::size_t first = first_row(kernel->part);
  const auto step = static_cast<std::int32_t>(direction);
  const auto count = static_cast<std::int32_t>(order.order().size());
  for (std::int32_t at = order.place(kernel->kernel) + step; at >= 0 && at < count; at += step) {
    const std::size_t other = first + as_index(order.order()[as_index(at)]);
    if (past_all || base_->rows()[other].launches) return add(*kernel, at, direction);
  }
  return refuse(*kernel, direction);
}

bool KernelOrderEdits::move_far(std::size_t row, Direction direction) {
  const std::optional<Chosen> kernel = choose(row);
  if (!kernel) return false;
  const kernels::KernelOrder::Range range = orders_[kernel->part].range(kernel->kernel);
  return add(*kernel, direction == Direction::earlier ? range.first : range.last, direction);
}

bool KernelOrderEdits::refuse(const Chosen& kernel, Direction direction) {
  const CompiledPart& part = base_->parts()[kernel.part];
  const kernels::KernelOrder::Range range = orders_[kernel.part].range(kernel.kernel);
  const auto named = [&](std::int32_t each) { return label(kernel.part, each); };
  const std::string reason = direction == Direction::earlier
                                 ? earliest_reason(part.ir, range, named)
                                 : latest_reason(part.ir, range, named);
  if (!reason.empty())
    said_ = QStringLiteral("%1: %2").arg(name(kernel), to_qstring(reason));
  else
    said_ = (direction == Direction::earlier
                 ? tr("%1 cannot move earlier: no kernel is launched before it in its graph.")
                 : tr("%1 cannot move later: no kernel is launched after it in its graph."))
                .arg(name(kernel));
  emit changed();
  return false;
}

// `to`: the kernel's new place, that of the last kernel that it passes.
bool KernelOrderEdits::add(const Chosen& kernel, std::int32_t to, Direction direction) {
  kernels::KernelOrder& order = orders_[kernel.part];
  const std::int32_t from = order.place(kernel.kernel);
  if (to == from) return refuse(kernel, direction);
  const std::int32_t anchor = order.order()[as_index(to)];
  if (!order.move(kernel.kernel, to)) return refuse(kernel, direction);
  const bool is_before = direction == Direction::earlier;
  moves_.resize(place_);
  moves_.push_back({.named = {.kernel = named(kernel),
                              .anchor = named({kernel.part, anchor}),
                              .is_after = !is_before,
                              .part = kernel.part},
                    .move = {kernel.kernel, anchor, is_before}});
  ++place_;
  const kernels::KernelOrder::Range range = order.range(kernel.kernel);
  // Numbers kernels as the table does: those of all parts in one sequence.
  const auto number = [first = first_row(kernel.part)](std::int32_t place) {
    return count_text(first + as_index(place) + 1);
  };
  said_ = tr("%1 runs as kernel %2; any position from %3 to %4 is legal.")
              .arg(name(kernel), number(to), number(range.first), number(range.last));
  emit moved();
  publish();
  return true;
}

void KernelOrderEdits::undo() {
  if (!can_undo()) return;
  --place_;
  said_.clear();
  replay();
  emit moved();
  publish();
}

void KernelOrderEdits::redo() {
  if (!can_redo()) return;
  said_.clear();
  if (apply(orders_, moves_[place_])) {
    ++place_;
  } else {
    moves_.resize(place_);
    said_ = tr("The move no longer fits the graph. It and the moves after it were dropped.");
  }
  emit moved();
  publish();
}

void KernelOrderEdits::reset() {
  if (!can_undo()) return;
  place_ = 0;
  said_.clear();
  replay();
  emit moved();
  publish();
}

// --- Workspaces ---

NamedKernelMoves KernelOrderEdits::saved() const {
  NamedKernelMoves all{.place = place_, .extra = extra_};
  for (const Move& each : moves_) all.moves.push_back(each.named);
  return all;
}

void KernelOrderEdits::restore(NamedKernelMoves moves) {
  if (moves == saved()) return;
  extra_ = std::move(moves.extra);
  place_ = moves.place;
  moves_.clear();
  for (NamedKernelMove& move : moves.moves) moves_.push_back({.named = std::move(move)});
  emit moved();
  if (predicted_.is_current()) return follow();
  // The kernels of an earlier graph do not show which moves fit.
  said_.clear();
  orders_.clear();
  keys_.clear();
  base_.reset();
  publish();
}

// --- The recipe ---

Result<void> KernelOrderEdits::write(const QString& path) const {
  if (place_ == 0)
    return fail(Error::Kind::usage,
                "no kernels have been moved; move one before exporting the order");
  if (!base_)
    return fail(Error::Kind::usage,
                "the kernels of this graph are not predicted yet, so the moves cannot be exported; "
                "try again when they are");
  const Graph& graph = base_->snapshot()->graph;
  std::vector<std::vector<kernels::KernelMove>> moves(base_->parts().size());
  for (std::size_t i = 0; i < place_; ++i) {
    std::vector<kernels::KernelMove>& of_part = moves[moves_[i].named.part];
    // If one kernel is moved several times in a row, only the last move counts.
    if (!of_part.empty() && of_part.back().kernel == moves_[i].move.kernel) of_part.pop_back();
    of_part.push_back(moves_[i].move);
  }
  std::vector<kernels::PartMoves> parts;
  for (std::size_t part = 0; part < moves.size(); ++part) {
    const CompiledPart& compiled = base_->parts()[part];
    if (moves[part].empty()) continue;
    parts.push_back({graph, compiled.part, compiled.scheduled, compiled.torch, moves[part],
                     compiled.scheduled.peak, orders_[part].memory().peak});
  }
  JOINTER_TRY(const std::string text, kernels::write_compiled_order(graph.title(), parts));
  return write_bytes(path.toStdString(), text);
}

}  // namespace jointer::views
