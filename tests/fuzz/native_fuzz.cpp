// Native captures: plain bytes, or compressed ones.

#include "core/base/bytes.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace jointer;
  const auto bytes = unpack(fuzz::as_text(data, size), "input");
  if (!bytes) return 0;
  is_native_capture(bytes->view());
  if (const auto graph = read_native("input", *bytes)) fuzz::exercise(*graph);
  return 0;
}
