#include "core/base/parallel.h"

#include <algorithm>
#include <atomic>
#include <future>
#include <vector>

#include "core/base/environment.h"

namespace jointer {

std::size_t first_true(std::size_t count, const std::function<bool(std::size_t)>& work) {
  std::atomic<std::size_t> next = 0, first = count;
  const auto run = [&] {
    for (std::size_t i = next++; i < first; i = next++) {
      if (!work(i)) continue;
      std::size_t known = first;
      while (i < known && !first.compare_exchange_weak(known, i)) {
      }
    }
  };
  const std::size_t threads = std::min(static_cast<std::size_t>(usable_cores()), count);
  std::vector<std::future<void>> others;
  for (std::size_t i = 1; i < threads; ++i) others.push_back(std::async(std::launch::async, run));
  run();
  for (auto& other : others) other.get();
  return first;
}

}  // namespace jointer
