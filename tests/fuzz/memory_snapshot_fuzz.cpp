// CUDA memory snapshots: pickles with malicious content.

#include "core/capture/memory_snapshot.h"

#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace jointer;
  const PaddedBytes bytes(fuzz::as_text(data, size));
  const auto snapshot = read_memory_snapshot("input", bytes);
  if (!snapshot) {
    fuzz::require(snapshot.error().message.starts_with("input: "), "an error without a place",
                  snapshot.error().message);
    return 0;
  }
  const auto in_order = [](const std::vector<MeasuredBytes>& curve) {
    for (std::size_t i = 0; i < curve.size(); ++i)
      if (curve[i].ns < (i == 0 ? 0 : curve[i - 1].ns)) return false;
    return !curve.empty();
  };
  fuzz::require(in_order(snapshot->measurement.memory_over_time) && in_order(snapshot->reserved),
                "a curve that goes back in time");
  return 0;
}
