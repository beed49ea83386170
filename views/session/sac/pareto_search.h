#pragma once

#include <QObject>
#include <QString>
#include <QTimer>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "core/policy/ordered_search.h"
#include "core/policy/trade_off.h"
#include "views/session/sac/ordered_plan.h"
#include "views/session/work/task.h"

namespace jointer::views {

// Searches on a worker thread for a state's trade-off between peak memory and step time, and
// reports points as they are found. Destroying the object, or starting a new search, cancels a
// running search without waiting.
class ParetoSearch : public QObject {
  Q_OBJECT
 public:
  struct Settings {
    bool offload = true;  // plans may offload values
    LimitedMemory memory = LimitedMemory::allocated;
    bool orders = true;  // find an order for each plan if the graph communicates
    // Orders may use additional process groups (OrderFinderOptions::twin_groups).
    bool twin_groups = false;
    friend bool operator==(const Settings&, const Settings&) = default;
  };
  // The hidden shares of communication (SharedHidden) for one state, found once and used by all
  // searches for it, whatever their limits.
  class Hidden {
   public:
    // The shares for this state and these settings: those of the last call, or new ones if the
    // state or a setting other than `offload` has changed.
    std::shared_ptr<SharedHidden> of(const SacStatePtr& state, const Settings& settings);

   private:
    SacStatePtr state_;
    Settings settings_;
    std::shared_ptr<SharedHidden> shares_;
  };
  // The name of the point for the state's own plan.
  static constexpr const char* kNow = "now";

  explicit ParetoSearch(QObject* parent = nullptr);

  [[nodiscard]] bool is_running() const { return search_.is_running() || fit_.is_running(); }
  // The plans that a search found, those of budgets and presets, and the state's own, sorted by
  // peak.
  [[nodiscard]] const std::vector<ParetoPoint>& points() const { return points_; }

  // Returns true if the search for `points` also finds an order for each of its plans: the points
  // are then the estimates in that order, and lower bounds hold for any order.
  [[nodiscard]] bool is_ordered() const { return is_ordered_; }

  [[nodiscard]] const Settings& settings() const { return settings_; }
  // If true (the default), later searches may offload values to the host.
  void set_offload(bool offload) { settings_.offload = offload; }
  // If true (the default), later searches also find an order for each plan.
  [[nodiscard]] bool orders() const { return settings_.orders; }
  void set_orders(bool orders);
  // If true (not the default), the orders that later searches find may use additional process
  // groups.
  [[nodiscard]] bool twin_groups() const { return settings_.twin_groups; }
  void set_twin_groups(bool twin_groups);
  // The kind of memory that limits apply to; allocated memory by default.
  [[nodiscard]] LimitedMemory memory() const { return settings_.memory; }
  void set_memory(LimitedMemory memory);

  // Computes the curve and evaluates torchtitan's presets.
  void search(const SacStatePtr& state);
  // Searches for the fastest plan with at most `limit_bytes` of `memory()`. `fitted`, with the
  // nearest plan if none fits, or `failed` follows; `fitted` is emitted immediately if the latest
  // search within a limit that was completed had the same limit and settings.
  void find_fastest(const SacStatePtr& state, std::int64_t limit_bytes);
  // Like `find_fastest`, but for a preview; `tried` or `failed` follows. Starts after a short
  // delay, since another limit may follow, and after the curve if that is being computed. Ignored
  // while `is_finding`. A later `find_fastest` with the same limit continues this search.
  void try_fastest(const SacStatePtr& state, std::int64_t limit_bytes);
  void stop_trying();
  // Returns true during a search for a plan that will be used, not only previewed.
  [[nodiscard]] bool is_finding() const { return fit_.is_running() && !is_trial_; }
  // The fastest known point for this state within the limit, without presets; null if there is
  // none, or if the known points are for another choice of orders. Once the curve is complete, the
  // plan that `find_fastest` finds is at least as good.
  [[nodiscard]] const ParetoPoint* fastest_known(const SacStatePtr& state,
                                                 std::int64_t limit_bytes) const;
  // Searches for the plan with the smallest peak that is at most `percent` percent slower than the
  // state's own plan; `fitted` or `failed` follows. `ordered`: the estimates of the state's plan in
  // its order, if it has one.
  void find_smallest(const SacStatePtr& state, double percent,
                     const std::optional<OrderedFigures>& ordered = {});
  void cancel();
  void clear();

  // Prepares a search; call it on a worker thread. Requires `state.can_change()`. `tell` receives
  // points as they are found; may be empty. `known`, `reference_ns`: see TradeOffOptions.
  static Result<std::unique_ptr<TradeOff>> trade_off_of(
      const SacState& state, const Settings& settings, std::vector<ParetoPoint> known,
      const Cancellation& job, std::function<void(const ParetoPoint&)> tell,
      std::int64_t reference_ns = 0);
  // A function that finds orders for plans of this state, until `job` is cancelled. Empty if plans
  // keep their own order.
  static FindOrder find_order_of(const SacState& state, const Settings& settings,
                                 const Cancellation& job);

 signals:
  void memory_changed();
  // `orders` or `twin_groups` has changed.
  void orders_changed();
  void changed();
  // `state`: the state that the search started from.
  void fitted(const jointer::Fit& fit, const jointer::views::SacStatePtr& state);
  void tried(const jointer::Fit& fit);
  void failed(const QString& sentence);

 private:
  struct Shared {
    std::mutex mutex;
    std::vector<ParetoPoint> found;  // not yet moved to points_
  };
  using SharedPtr = std::shared_ptr<Shared>;
  // A limit within which to find the fastest plan.
  struct Limit {
    SacStatePtr state;
    std::int64_t bytes = 0;
    Settings settings;
    friend bool operator==(const Limit&, const Limit&) = default;
  };
  struct Fitted {
    Limit limit;
    Fit fit;
  };
  void begin();
  void take();
  void end();
  // `limit`: nullopt when searching for the smallest plan.
  template <class Find>
  void find(const SacStatePtr& state, std::optional<Limit> limit, bool is_trial, Find find_one);
  [[nodiscard]] bool is_known(const SacStatePtr& state) const;
  [[nodiscard]] std::vector<ParetoPoint> known_plans(const SacStatePtr& state) const;
  void find(const Limit& limit, bool is_trial);
  void start_trial();
  void stop_waiting();

  Task<std::vector<ParetoPoint>> search_;  // at most one of the two tasks is running
  Task<Fit> fit_;
  SharedPtr shared_;          // shared with the latest search
  SacStatePtr searched_;      // the state that `points_` belong to
  bool is_complete_ = false;  // `points_` has the whole curve of `searched_`
  bool is_ordered_ = false;
  Settings searched_with_;  // the settings when the search for `points_` started
  std::vector<ParetoPoint> points_;
  Settings settings_;
  Hidden hidden_;
  QTimer timer_;
  std::optional<Limit> limit_;    // the limit of the running search for a plan
  bool is_trial_ = false;         // the running search is for a preview
  std::optional<Limit> to_try_;   // the limit to try when `soon_` fires
  std::optional<Fitted> latest_;  // the result of the latest completed search
  QTimer soon_;
};

}  // namespace jointer::views
