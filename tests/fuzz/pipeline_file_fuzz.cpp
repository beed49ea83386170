// Pipelines as text and as JSON: a pipeline that was read is written, and reads back with the same
// steps.

#include "core/pass/pipeline_file.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace jointer;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto file = read_pipeline_file(text, "fuzz");
  if (!file) {
    fuzz::require(!file.error().message.empty(), "an error without a message", "");
    return 0;
  }
  const std::string json = write_pipeline_json(*file);
  const auto again = read_pipeline_file(json, "json");
  fuzz::require(again && again->steps == file->steps, "JSON does not read back", json);
  const std::string lines = write_pipeline_text({.name = {}, .summary = {}, .steps = file->steps});
  const auto from_lines = read_pipeline_file(lines, "text");
  fuzz::require(from_lines && from_lines->steps == file->steps, "text does not read back", lines);
  const auto from_pipeline = parse_pipeline(to_text(file->steps));
  fuzz::require(from_pipeline && *from_pipeline == file->steps, "a pipeline does not read back",
                to_text(file->steps));
  return 0;
}
