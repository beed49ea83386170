// Packages of AOTInductor, and wrappers in C++.

#include "core/capture/aoti_package.h"

#include "core/capture/compiled_memory.h"
#include "core/capture/cpp_wrapper.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace jointer;
  const std::string_view text = fuzz::as_text(data, size);
  if (text.starts_with(kZipMagic)) {
    const auto archive = ZipArchive::of(std::string(text), "input");
    if (!archive) return 0;
    const auto programs = read_aoti_package(*archive, "input");
    if (!programs) return 0;
    for (const CompiledProgram& program : *programs) compiled_memory(program);
    return 0;
  }
  const auto program = read_cpp_wrapper(
      "input", {.text = std::string(text), .kernels = std::string(text), .targets = {"a::b"}});
  if (program) compiled_memory(*program);
  return 0;
}
