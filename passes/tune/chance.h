#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <span>

namespace jointer {

// A seeded source of choices that gives the same everywhere: the standard's engine, and none of its
// distributions, which every library has its own of.
class Chance {
 public:
  explicit Chance(std::uint64_t seed) : engine_(seed) {}

  // Below `count`, which is not 0.
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
