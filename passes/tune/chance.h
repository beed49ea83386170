#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <span>

namespace jointer {

// A seeded source of random choices, which are the same on every platform. It uses the standard
// library's engine but not its distributions, which differ between implementations.
class Chance {
 public:
  explicit Chance(std::uint64_t seed) : engine_(seed) {}

  // A random number below `count`, which must not be 0.
  std::size_t below(std::size_t count) { return static_cast<std::size_t>(engine_() % count); }
  bool once_in(std::size_t count) { return below(count) == 0; }
  template <class Range>
  const auto& one_of(const Range& range) {
    return range[below(std::size(range))];
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace jointer
