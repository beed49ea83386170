#include "views/benchmark/rank_model.h"

#include <algorithm>

#include "views/session/text/node_text.h"
#include "views/session/text/number_text.h"

namespace jointer::views {
namespace {

constexpr std::int64_t kNsPerMs = 1'000'000;

}  // namespace

RankModel::RankModel(QObject* parent) : TableModel({tr("1 rank"), tr("%1 ranks")}, parent) {
  set_columns({
      {.title = tr("rank"), .unit = Unit::count, .meaning = tr("Rank of the process.")},
      {.title = tr("stage"),
       .meaning = tr("Current stage and its progress, or how the rank ended.")},
      {.title = tr("progress"),
       .unit = Unit::share,
       .meaning = tr("Progress of the current stage."),
       .whole = static_cast<std::int64_t>(kPartsPerOne),
       .whole_unit = Unit::fraction},
      {.title = tr("elapsed"), .unit = Unit::time, .meaning = tr("Time since the stage started.")},
      {.title = tr("left"),
       .unit = Unit::time,
       .meaning = tr("Estimated time until the stage ends.")},
  });
}

void RankModel::clear() {
  begin_rows();
  ranks_.clear();
  set_rows({});
}

void RankModel::update(const BenchmarkResult& so_far, qint64 now_ms) {
  const bool is_new = ranks_.size() != so_far.ranks.size();
  if (is_new) {
    begin_rows();
    ranks_.assign(so_far.ranks.size(), {});
  }
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    const RankResult& from = so_far.ranks[i];
    Rank& to = ranks_[i];
    const QString stage = from.progress ? to_qstring(from.progress->stage) : tr("starting");
    if (stage != to.stage || is_new) to.stage_since_ms = now_ms;
    to.rank = from.rank;
    to.status = from.status;
    to.stage = stage;
    to.reason = to_qstring(from.reason);
    to.done = from.progress ? from.progress->done : 0;
    to.total = from.progress ? from.progress->total : 0;
  }
  if (is_new) set_rows(std::vector<int>(ranks_.size(), -1));
  tick(now_ms);
}

void RankModel::tick(qint64 now_ms) {
  now_ms_ = now_ms;
  emit_cells_changed();
}

std::optional<std::int64_t> RankModel::number(int row, int column) const {
  const Rank& r = rank(row);
  const bool runs = r.status == RankResult::Status::running;
  const bool is_known = runs && r.total > 0;
  const std::int64_t since_ms = std::max<std::int64_t>(now_ms_ - r.stage_since_ms, 0);
  switch (column) {
    case rank_column:
      return r.rank;
    case progress_column:
      if (r.status == RankResult::Status::done) return static_cast<std::int64_t>(kPartsPerOne);
      if (!is_known) return std::nullopt;
      return static_cast<std::int64_t>(kPartsPerOne *
                                       static_cast<double>(std::min(r.done, r.total)) /
                                       static_cast<double>(r.total));
    case elapsed_column:
      return runs ? std::optional(since_ms * kNsPerMs) : std::nullopt;
    case left_column:
      if (!is_known || r.done <= 0 || r.done > r.total) return std::nullopt;
      return since_ms * kNsPerMs / r.done * (r.total - r.done);
    default:
      return std::nullopt;
  }
}

QString RankModel::text(int row, int /*column*/) const {
  const Rank& r = rank(row);
  if (r.status == RankResult::Status::running)
    return r.total > 0
               ? tr("%1, %2 of %3").arg(r.stage, QString::number(r.done), QString::number(r.total))
               : r.stage;
  const QString status = to_qstring(to_string(r.status));
  return r.reason.isEmpty() ? status : tr("%1: %2").arg(status, r.reason);
}

bool RankModel::is_alarm(int row) const {
  const RankResult::Status status = rank(row).status;
  return status == RankResult::Status::failed || status == RankResult::Status::died ||
         status == RankResult::Status::hung;
}

}  // namespace jointer::views
