#pragma once

// A pipeline as a file: text (a step a line, `#` starts a comment) or JSON
// (resources/schema/pipeline.schema.json).

#include <string>
#include <string_view>

#include "core/pass/pipeline_text.h"

namespace jointer {

struct PipelineFile {
  std::string name, summary;  // empty: it does not say
  Pipeline steps;
  std::string extra = {};  // members that this version does not know: `"key":value,...`
  friend bool operator==(const PipelineFile&, const PipelineFile&) = default;
};

// Steps as a text file has them: divided by commas or ends of lines, `#` starts a comment. Error
// (usage): the line, and as parse_pipeline; `wrong_at`: where in the text, in bytes.
Result<Pipeline> parse_step_lines(std::string_view text, std::size_t* wrong_at = nullptr);

// Whether the file at `path` is a pipeline: by its name (`.jointer-passes`), or JSON
// that begins as one.
bool is_pipeline_file(const std::string& path);

// Knows by its first character which of both it is. `path` is for messages. Error (input): where,
// and what is wrong; a newer version is refused.
Result<PipelineFile> read_pipeline_file(std::string_view text, std::string_view path);

// A step a line, with the name and the summary as comments above. Reads back with the same steps.
std::string write_pipeline_text(const PipelineFile& file);
// Reads back equal.
std::string write_pipeline_json(const PipelineFile& file);

}  // namespace jointer
