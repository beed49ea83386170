#pragma once

#include <sched.h>

#include <functional>
#include <future>

namespace jointer::test {

// Calls `work` on a thread that may use only one core: there, usable_cores() is 1. Returns false if
// the system does not allow that; `work` is then not called. Rethrows what `work` throws.
inline bool run_on_one_core(const std::function<void()>& work) {
  return std::async(std::launch::async,
                    [&] {
                      cpu_set_t one;
                      CPU_ZERO(&one);
                      CPU_SET(::sched_getcpu(), &one);
                      if (::sched_setaffinity(0, sizeof one, &one) != 0) return false;
                      work();
                      return true;
                    })
      .get();
}

}  // namespace jointer::test
