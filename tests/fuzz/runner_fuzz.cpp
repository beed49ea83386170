// Output of a rank's process, and the results that a workspace keeps: any bytes give an event or
// none, a result or an error. All of them can be written and read again.

#include "core/bench/event.h"
#include "core/bench/result.h"
#include "tests/fuzz/fuzz.h"

using namespace jointer;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fuzz::as_text(data, size);
  if (const auto event = parse_event(text)) {
    const std::string line = write_event(*event);
    const auto again = parse_event(line);
    fuzz::require(again && write_event(*again) == line, "an event reads as another", line);
  }
  if (const auto result = parse_result(text)) {
    const std::string written = write_result(*result, true);
    const auto again = parse_result(written);
    fuzz::require(again && write_result(*again, true) == written, "a result reads as another",
                  written);
    results_markdown({*result});
    results_csv({*result});
  }
  return 0;
}
