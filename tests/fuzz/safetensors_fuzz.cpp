#include "core/bench/safetensors.h"

#include <cstdint>
#include <cstdlib>

// For any bytes, every entry that is read lies inside the file.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto entries = jointer::read_safetensors_index("fuzz", bytes);
  if (!entries) return 0;
  for (const jointer::SafetensorsEntry& entry : *entries)
    if (entry.offset < 8 || entry.bytes < 0 ||
        entry.offset + entry.bytes > static_cast<std::int64_t>(size))
      std::abort();
  return 0;
}
