#include "views/session/kernels/kernel_order_edits.h"

#include <QStringList>
#include <algorithm>
#include <utility>

#include "core/base/bytes.h"
#include "core/base/index.h"
#include "views/session/kernels/kernel_keys.h"
#include "views/session/kernels/predicted_kernels.h"
#include "views/session/text/number_text.h"
#include "views/session/translation/qstring.h"

namespace jointer::views {

KernelOrderEdits::KernelOrderEdits(PredictedKernels& predicted, QObject* parent)
    : QObject(parent), predicted_(predicted) {
  connect(&predicted_, &PredictedKernels::changed, this, &KernelOrderEdits::follow);
}

KernelOrderEdits::~KernelOrderEdits() = default;

// --- New predictions ---

void KernelOrderEdits::follow() {
  said_.clear();
  orders_.clear();
  keys_.clear();
  base_ = predicted_.shown();
  if (!base_) {  // the prediction failed; the moves wait for the next kernels
    publish();
    return;
  }
  for (const CompiledPart& part : base_->parts()) orders_.emplace_back(part.ir, part.scheduled);
  keys_ = kernel_keys(*base_);
  QStringList dropped;
  std::vector<Move> kept;
  for (std::size_t i = 0; i < moves_.size(); ++i) {
    Move move = moves_[i];
    const bool is_applied = i < place_;
    if (find(move) && (!is_applied || apply(move)))
      kept.push_back(move);
    else if (is_applied)
      dropped << tr("move %1").arg(i + 1);
  }
  const std::size_t before = place_;
  place_ -= static_cast<std::size_t>(dropped.size());
  moves_ = std::move(kept);
  if (!dropped.isEmpty())
    said_ = tr("Moves of kernels that no longer fit the graph were dropped (%1 of %2): %3.")
                .arg(dropped.size())
                .arg(before)
                .arg(dropped.join(QStringLiteral(", ")));
  publish();
}

bool KernelOrderEdits::find(Move& move) const {
  if (move.part >= orders_.size()) return false;
  const std::span<const std::uint64_t> of_part = keys(move.part);
  const auto kernel = std::find(of_part.begin(), of_part.end(), move.kernel);
  const auto anchor = std::find(of_part.begin(), of_part.end(), move.anchor);
  if (kernel == of_part.end() || anchor == of_part.end()) return false;
  move.move.kernel = static_cast<std::int32_t>(kernel - of_part.begin());
  move.move.anchor = static_cast<std::int32_t>(anchor - of_part.begin());
  return true;
}

std::span<const std::uint64_t> KernelOrderEdits::keys(std::size_t part) const {
  std::size_t first = 0;
  for (std::size_t i = 0; i < part; ++i) first += orders_[i].order().size();
  return std::span(keys_).subspan(first, orders_[part].order().size());
}

bool KernelOrderEdits::apply(const Move& move) {
  kernels::KernelOrder& order = orders_[move.part];
  const auto& [kernel, anchor, before] = move.move;
  return order.move(kernel, order.place_next_to(kernel, anchor, before));
}

void KernelOrderEdits::replay() {
  for (kernels::KernelOrder& order : orders_) order.reset();
  for (std::size_t i = 0; i < place_; ++i) apply(moves_[i]);
}

void KernelOrderEdits::publish() {
  const bool is_as_predicted = std::ranges::all_of(
      orders_, [](const kernels::KernelOrder& order) { return order.is_as_scheduled(); });
  if (is_as_predicted) {
    shown_ = base_;
  } else {
    std::vector<CompiledPart> parts = base_->parts();
    for (std::size_t part = 0; part < parts.size(); ++part)
      parts[part].scheduled = orders_[part].reordered();
    shown_ = std::make_shared<const SnapshotKernels>(base_->snapshot(), std::move(parts));
  }
  emit changed();
}

// --- Moves ---

KernelOrderEdits::Chosen KernelOrderEdits::chosen(std::size_t row) const {
  const KernelRow& at = shown_->rows()[row];
  const std::size_t part = as_index(at.part);
  return {part, orders_[part].order()[as_index(at.kernel)]};
}

QString KernelOrderEdits::name(const Chosen& kernel) const {
  return to_qstring(kernels::kernel_label(base_->snapshot()->graph,
                                          base_->parts()[kernel.part].scheduled, kernel.kernel));
}

bool KernelOrderEdits::move(std::size_t row, Direction direction, bool past_all) {
  if (!shown_ || row >= shown_->rows().size()) return false;
  const Chosen kernel = chosen(row);
  const auto step = static_cast<std::int32_t>(direction);
  const KernelRow& own = shown_->rows()[row];
  const auto count = static_cast<std::int32_t>(orders_[kernel.part].order().size());
  for (std::int32_t at = own.kernel + step; at >= 0 && at < count; at += step) {
    const KernelRow& other =
        shown_->rows()[as_index(static_cast<std::int64_t>(row) + at - own.kernel)];
    if (past_all || other.launches) return add(kernel, at, direction);
  }
  return refuse(kernel, direction);
}

bool KernelOrderEdits::move_far(std::size_t row, Direction direction) {
  if (!shown_ || row >= shown_->rows().size()) return false;
  const Chosen kernel = chosen(row);
  const kernels::KernelOrder::Range range = orders_[kernel.part].range(kernel.kernel);
  return add(kernel, direction == Direction::earlier ? range.first : range.last, direction);
}

bool KernelOrderEdits::refuse(const Chosen& kernel, Direction direction) {
  const CompiledPart& part = base_->parts()[kernel.part];
  const kernels::KernelOrder::Range range = orders_[kernel.part].range(kernel.kernel);
  const auto label = [&](std::int32_t each) {
    return kernels::kernel_label(base_->snapshot()->graph, part.scheduled, each);
  };
  const std::string reason = direction == Direction::earlier
                                 ? earliest_reason(part.ir, range, label)
                                 : latest_reason(part.ir, range, label);
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

// `to`: the kernel's new place, which is that of the kernel that it passes last.
bool KernelOrderEdits::add(const Chosen& kernel, std::int32_t to, Direction direction) {
  kernels::KernelOrder& order = orders_[kernel.part];
  const std::int32_t from = order.place(kernel.kernel);
  if (to == from) return refuse(kernel, direction);
  const std::int32_t anchor = order.order()[as_index(to)];
  if (!order.move(kernel.kernel, to)) return refuse(kernel, direction);
  const std::span<const std::uint64_t> of_part = keys(kernel.part);
  moves_.resize(place_);
  moves_.push_back({.part = kernel.part,
                    .move = {kernel.kernel, anchor, direction == Direction::earlier},
                    .kernel = of_part[as_index(kernel.kernel)],
                    .anchor = of_part[as_index(anchor)]});
  ++place_;
  const kernels::KernelOrder::Range range = order.range(kernel.kernel);
  said_ = tr("%1 runs as kernel %2; any position from %3 to %4 is legal.")
              .arg(name(kernel), count_text(to + 1), count_text(range.first + 1),
                   count_text(range.last + 1));
  publish();
  return true;
}

void KernelOrderEdits::undo() {
  if (!can_undo()) return;
  --place_;
  said_.clear();
  replay();
  publish();
}

void KernelOrderEdits::redo() {
  if (!can_redo()) return;
  said_.clear();
  if (apply(moves_[place_])) {
    ++place_;
  } else {
    moves_.resize(place_);
    said_ = tr("The move no longer fits the graph. It and the moves after it were dropped.");
  }
  publish();
}

void KernelOrderEdits::reset() {
  if (!can_undo()) return;
  place_ = 0;
  said_.clear();
  replay();
  publish();
}

// --- The recipe ---

Result<void> KernelOrderEdits::write(const QString& path) const {
  if (!base_ || place_ == 0)
    return fail(Error::Kind::usage, "no kernels were moved; move one before you export the order");
  const Graph& graph = base_->snapshot()->graph;
  std::vector<std::vector<kernels::KernelMove>> moves(base_->parts().size());
  for (std::size_t i = 0; i < place_; ++i) {
    std::vector<kernels::KernelMove>& of_part = moves[moves_[i].part];
    // If one kernel is moved several times in a row, only the last move counts.
    if (!of_part.empty() && of_part.back().kernel == moves_[i].move.kernel) of_part.pop_back();
    of_part.push_back(moves_[i].move);
  }
  std::vector<kernels::PartMoves> parts;
  for (std::size_t part = 0; part < moves.size(); ++part) {
    const CompiledPart& compiled = base_->parts()[part];
    if (moves[part].empty()) continue;
    parts.push_back({graph, compiled.part, compiled.scheduled, compiled.torch, moves[part],
                     compiled.scheduled.peak, shown_->parts()[part].scheduled.peak});
  }
  JOINTER_TRY(const std::string text, kernels::write_compiled_order(graph.title(), parts));
  return write_bytes(path.toStdString(), text);
}

}  // namespace jointer::views
