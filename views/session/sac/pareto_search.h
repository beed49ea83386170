#pragma once

#include <QObject>
#include <QString>
#include <QTimer>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "core/policy/trade_off.h"
#include "views/session/sac/sac_state.h"
#include "views/session/work/task.h"

namespace jointer::views {

// Searches the trade-off between peak memory and step time for a state on a worker thread, and
// reports points as they are found. Destroying the object, or starting a new search, cancels a
// running search without waiting.
class ParetoSearch : public QObject {
  Q_OBJECT
 public:
  // The name of the point for the state's own plan.
  static constexpr const char* kNow = "now";

  explicit ParetoSearch(QObject* parent = nullptr);
  ~ParetoSearch() override;
  ParetoSearch(const ParetoSearch&) = delete;
  ParetoSearch& operator=(const ParetoSearch&) = delete;

  [[nodiscard]] bool is_running() const { return search_.is_running() || fit_.is_running(); }
  // Plans that a search found, budgets, presets and the state's own plan, sorted by peak once the
  // search is done.
  [[nodiscard]] const std::vector<ParetoPoint>& points() const { return points_; }

  // True, the default: the following searches may offload values to the host.
  void set_offload(bool offload) { offload_ = offload; }

  // Computes the curve and evaluates upstream's presets.
  void search(const SacStatePtr& state);
  // Finds one plan; `fitted` follows.
  void find_fastest(const SacStatePtr& state, std::int64_t peak_bytes);
  // Finds the plan with the smallest peak that is at most `percent` percent slower than the state's
  // own plan.
  void find_smallest(const SacStatePtr& state, double percent);
  void cancel();
  void clear();

  // Prepares the search on a worker thread. `state` has a base. `tell` receives points as they are
  // found.
  static Result<std::unique_ptr<TradeOff>> trade_off_of(
      const SacState& state, bool offload, std::vector<ParetoPoint> known, const Cancellation& job,
      std::function<void(const ParetoPoint&)> tell);

 signals:
  void changed();
  void fitted(const jointer::Fit& fit);
  void failed(const QString& sentence);

 private:
  struct Shared {
    std::mutex mutex;
    std::vector<ParetoPoint> found;  // not yet moved to points_
  };
  using SharedPtr = std::shared_ptr<Shared>;
  void begin();
  void take();
  void end();
  template <class Find>
  void find(const SacStatePtr& state, Find find_one);

  Task<std::vector<ParetoPoint>> search_;  // at most one of the two is running
  Task<Fit> fit_;
  SharedPtr shared_;      // of the latest search
  SacStatePtr searched_;  // the state whose curve `points_` is, once it is complete
  std::vector<ParetoPoint> points_;
  bool offload_ = true;
  QTimer timer_;
};

}  // namespace jointer::views
