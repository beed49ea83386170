#include "core/base/parallel.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <vector>

#include "core/base/environment.h"

namespace jointer {
namespace {

using Clock = std::chrono::steady_clock;
// The time for which the caller works alone: several times as long as it takes to start a thread.
constexpr std::chrono::microseconds kAlone{300};

}  // namespace

std::size_t first_true(std::size_t count, const std::function<bool(std::size_t)>& work) {
  std::atomic<std::size_t> next = 0, first = count;
  // Returns false once there is nothing left to do.
  const auto run_one = [&] {
    const std::size_t i = next++;
    if (i >= first) return false;
    if (!work(i)) return true;
    std::size_t known = first;
    while (i < known && !first.compare_exchange_weak(known, i)) {
    }
    return true;
  };
  const auto run = [&] {
    while (run_one()) {
    }
  };
  const auto started = Clock::now();
  while (Clock::now() - started < kAlone)
    if (!run_one()) return first;
  const std::size_t left = first - std::min<std::size_t>(next, first);
  const std::size_t threads = std::min(static_cast<std::size_t>(usable_cores()), left);
  std::vector<std::future<void>> others;
  for (std::size_t i = 1; i < threads; ++i) others.push_back(std::async(std::launch::async, run));
  run();
  for (auto& other : others) other.get();
  return first;
}

void run_both(const std::function<void()>& first, const std::function<void()>& second) {
  if (usable_cores() < 2) {
    first();
    return second();
  }
  std::future<void> other = std::async(std::launch::async, second);
  first();
  other.get();
}

}  // namespace jointer
