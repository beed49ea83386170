#pragma once

// The entries of a TORCH_TRACE log: the JSON and the payload of each, and what their JSON says.
// torch_trace.h describes the format.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace jointer {

struct TraceEntry {
  std::string_view json;           // points into the log
  std::string_view payload;        // the lines up to the next entry, each indented by a tab
  std::size_t payload_number = 0;  // line of the log at which the payload starts, from 1
};

// Calls `visit` with each entry, in log order. Cost: linear in the size of the log.
void for_each_trace_entry(std::string_view bytes,
                          const std::function<void(const TraceEntry& entry)>& visit);

// True if the line is the first one of an entry.
bool starts_trace_entry(std::string_view line);

// Returns the name of an entry: the first key, in alphabetical order, that is not one of those that
// many entries have (`rank`, `stack`, ...) or, for an artifact, its `name`. Empty if there is none.
std::string trace_entry_name(const nlohmann::json& json);

// Returns the integer member `key`, if there is one.
std::optional<std::int64_t> trace_entry_number(const nlohmann::json& json, const char* key);

// Returns the compilation that an entry belongs to: "rank 0, 0/0"; empty if it names none.
std::string trace_entry_compile(const nlohmann::json& json);

}  // namespace jointer
