#pragma once

// Faults of a simulated device: the n-th call of a stage fails in one of a few ways.

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace jointer::test {

enum class FaultKind : std::uint8_t {
  died,                  // the process is killed
  hung,                  // the work of the call never ends
  out_of_memory,         // the call fails for lack of memory
  driver_out_of_memory,  // the same, but outside of the caching allocator
  device_assert,         // a kernel of the call fails; later calls report it
  link_down,             // all collectives from this call on fail
};
inline constexpr std::array kFaultKinds{FaultKind::died,          FaultKind::hung,
                                        FaultKind::out_of_memory, FaultKind::driver_out_of_memory,
                                        FaultKind::device_assert, FaultKind::link_down};
std::string_view to_string(FaultKind kind);

// The stages of a run, by their names in the status file, and those of a recorded step.
inline constexpr std::array<std::string_view, 8> kFaultStages{
    "inputs", "warm up", "verify", "measure", "profile", "record", "replay", "finish"};

struct Fault {
  FaultKind kind = FaultKind::died;
  std::string stage;
  int call = 1;  // counted from 1
};

// Counts the calls of each stage. `stage` returns the name of the current one.
class Faults {
 public:
  Faults() = default;
  Faults(Fault fault, std::function<std::string()> stage)
      : fault_(std::move(fault)), stage_(std::move(stage)) {}

  // The fault, if it happens in this call. `part`: "record" or "replay" during those, else empty.
  std::optional<FaultKind> at_call(std::string_view part);

 private:
  std::optional<Fault> fault_;
  std::function<std::string()> stage_;
  int calls_ = 0;
};

}  // namespace jointer::test
