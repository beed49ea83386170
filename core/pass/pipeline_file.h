#pragma once

// Reads and writes pipelines as files, either text (one pipeline step per line, `#` starts a
// comment) or JSON (resources/schema/pipeline.schema.json).

#include <string>
#include <string_view>

#include "core/pass/pipeline_text.h"

namespace jointer {

struct PipelineFile {
  std::string name, summary;  // empty if the file has none
  Pipeline steps;
  std::string extra = {};  // unknown members, kept verbatim: `"key":value,...`
  friend bool operator==(const PipelineFile&, const PipelineFile&) = default;
};

// Parses the pipeline steps in a text file, which are separated by commas or line breaks; `#`
// starts a comment. Error (usage): same as parse_pipeline; the message includes the line number. On
// an error, sets `*wrong_at` to its byte offset.
Result<Pipeline> parse_step_lines(std::string_view text, std::size_t* wrong_at = nullptr);

// True if the file at `path` is a pipeline, judging by its name (`.jointer-passes`) or the
// beginning of its JSON.
bool is_pipeline_file(const std::string& path);

// Reads either form; the first character that is not blank tells which. `path` is only for
// messages. Error (input): the file is damaged (the message says what is wrong and where), or its
// version is newer than this program supports.
Result<PipelineFile> read_pipeline_file(std::string_view text, std::string_view path);

// Writes one pipeline step per line, with the name and the summary in comments at the top. Reading
// the text yields the same steps.
std::string write_pipeline_text(const PipelineFile& file);
// Writes the JSON form. Reading it yields a file with the same values if all numbers are finite;
// how a number was written in a text is lost.
std::string write_pipeline_json(const PipelineFile& file);
// Writes JSON if the path ends in `.json`, else text. Error (run): the file cannot be written.
Result<void> write_pipeline_file(const std::string& path, const PipelineFile& file);

}  // namespace jointer
