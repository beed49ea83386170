#pragma once

#include <QTimer>
#include <algorithm>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "views/session/work/task.h"

namespace jointer::views {

// A value of the latest key, such as a number of the current plan, that takes too long to compute
// on this thread. It is computed on a worker thread, a short time after the key was set, since
// another key may follow. At most one computation runs; of the keys set while it runs, only the
// latest is computed. The values of recent keys are cached. `Key` needs ==.
template <class Key, class Value>
class LatestValue {
 public:
  static constexpr int kDelayMs = 120;
  static constexpr std::size_t kRemembered = 24;  // number of keys whose values are cached

  // `compute` runs on a worker thread, so it must not refer to the owner of this object. `changed`
  // is called on this thread when a computation for the current key has ended.
  using Compute = std::function<Result<Value>(const Key& key)>;
  LatestValue(Compute compute, std::function<void()> changed)
      : compute_(std::move(compute)), changed_(std::move(changed)) {
    soon_.setSingleShot(true);
    soon_.setInterval(kDelayMs);
    QObject::connect(&soon_, &QTimer::timeout, &soon_, [this] { start(); });
  }
  LatestValue(const LatestValue&) = delete;
  LatestValue& operator=(const LatestValue&) = delete;

  // Replaces the key; with nullopt, there is no value. A key whose computation failed is tried
  // again.
  void follow(std::optional<Key> key) {
    key_ = std::move(key);
    problem_.clear();
    value_.reset();
    if (key_)
      if (const auto known = std::ranges::find(known_, *key_, &Known::key); known != known_.end())
        value_ = known->value;
    if (!key_ || value_)
      soon_.stop();
    else
      soon_.start();
  }
  // Drops all cached values.
  void forget() { known_.clear(); }

  // nullopt until it is known.
  [[nodiscard]] const std::optional<Value>& value() const { return value_; }
  // Why the value cannot be computed, in one sentence; otherwise empty.
  [[nodiscard]] const std::string& problem() const { return problem_; }
  [[nodiscard]] bool is_settled() const { return !soon_.isActive() && !finding_.is_running(); }

 private:
  struct Known {
    Key key;
    Value value;
  };

  void start() {
    if (finding_.is_running() || !key_) return;
    finding_.start([compute = compute_, key = *key_] { return compute(key); },
                   [this, key = *key_](Result<Value> found) { take(key, std::move(found)); });
  }
  void take(const Key& key, Result<Value> found) {
    if (found) {
      known_.push_front({key, *found});
      if (known_.size() > kRemembered) known_.pop_back();
    }
    if (!key_ || !(*key_ == key)) {
      if (key_ && !value_) soon_.start();
      return;
    }
    soon_.stop();
    if (found)
      value_ = *std::move(found);
    else
      problem_ = found.error().message;
    changed_();
  }

  Compute compute_;
  std::function<void()> changed_;
  std::optional<Key> key_;
  std::optional<Value> value_;
  std::string problem_;
  std::deque<Known> known_;  // newest first
  QTimer soon_;
  Task<Value> finding_;
};

}  // namespace jointer::views
