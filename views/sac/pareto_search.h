#pragma once

#include <QObject>
#include <QString>
#include <QTimer>
#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "core/partition/pareto.h"
#include "views/sac/sac_state.h"

namespace jointer::views {

// Looks for the trade-off between peak memory and step time of a state, on a working thread: points
// come while it runs. Deleting it, or a newer search, ends one that is under way without waiting.
class ParetoSearch : public QObject {
  Q_OBJECT
 public:
  explicit ParetoSearch(QObject* parent = nullptr);
  ~ParetoSearch() override;
  ParetoSearch(const ParetoSearch&) = delete;
  ParetoSearch& operator=(const ParetoSearch&) = delete;

  [[nodiscard]] bool is_running() const { return shared_ != nullptr; }
  // Budgets and presets, by growing peak once the search is done.
  [[nodiscard]] const std::vector<ParetoPoint>& points() const { return points_; }

  // The curve of budgets, and upstream's presets beside it.
  void search(const SacStatePtr& state);
  // One plan: `fitted` follows.
  void find_fastest(const SacStatePtr& state, std::int64_t peak_bytes);
  void find_smallest(const SacStatePtr& state, std::int64_t step_ns);
  void cancel();
  void clear();

 signals:
  void changed();
  void fitted(const jointer::Fit& fit);
  void failed(const QString& sentence);

 private:
  struct Shared {
    std::atomic<bool> cancel = false;
    std::mutex mutex;
    std::vector<ParetoPoint> found;  // not yet taken
  };
  using SharedPtr = std::shared_ptr<Shared>;
  SharedPtr begin();
  void take();
  static std::vector<ParetoPoint> presets_of(const SacState& state, const Shared& shared);
  template <class Find>
  void find(const SacStatePtr& state, Find find_one);

  SharedPtr shared_;  // of the search that runs
  std::vector<ParetoPoint> points_;
  QTimer timer_;
};

}  // namespace jointer::views
