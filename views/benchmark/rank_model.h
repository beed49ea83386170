#pragma once

#include <vector>

#include "core/bench/result.h"
#include "views/tables/table_model.h"

namespace jointer::views {

// One row per rank of the current run: its stage, and the progress, elapsed time and remaining time
// of the stage. Callers pass in the current time in milliseconds, from any clock.
class RankModel : public TableModel {
  Q_OBJECT
 public:
  enum ColumnIndex : int {
    rank_column,
    stage_column,
    progress_column,
    elapsed_column,
    left_column
  };

  explicit RankModel(QObject* parent = nullptr);

  void clear();
  void update(const BenchmarkResult& so_far, qint64 now_ms);
  // Updates only the times in the rows.
  void tick(qint64 now_ms);

  [[nodiscard]] std::optional<std::int64_t> number(int row, int column) const override;
  [[nodiscard]] QString text(int row, int column) const override;
  [[nodiscard]] bool is_alarm(int row) const override;
  [[nodiscard]] std::uint64_t key(int row) const override {
    return static_cast<std::uint64_t>(rank(row).rank);
  }

 private:
  struct Rank {
    int rank = 0;
    RankResult::Status status = RankResult::Status::running;
    QString stage, reason;
    std::int64_t done = 0, total = 0;
    qint64 stage_since_ms = 0;
  };
  [[nodiscard]] const Rank& rank(int row) const { return ranks_[static_cast<std::size_t>(row)]; }

  std::vector<Rank> ranks_;
  qint64 now_ms_ = 0;
};

}  // namespace jointer::views
