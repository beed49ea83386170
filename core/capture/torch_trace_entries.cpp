#include "core/capture/torch_trace_entries.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "core/base/characters.h"

namespace jointer {
namespace {

// Returns the position at which the JSON begins in `V1121 02:41:50.572 17297
// torch/_dynamo/utils.py:2126] {`, or npos.
std::size_t header_end(std::string_view line) {
  constexpr std::string_view kShape = "L0000 00:00:00";
  if (line.size() < kShape.size()) return std::string_view::npos;
  for (std::size_t i = 0; i < kShape.size(); ++i) {
    const bool fits = kShape[i] == '0'   ? is_digit(line[i])
                      : kShape[i] == 'L' ? line[i] >= 'A' && line[i] <= 'Z'
                                         : line[i] == kShape[i];
    if (!fits) return std::string_view::npos;
  }
  const auto close = line.find("] ");
  return close == std::string_view::npos ? close : close + 2;
}

}  // namespace

void for_each_trace_entry(std::string_view bytes,
                          const std::function<void(const TraceEntry& entry)>& visit) {
  TraceEntry entry;
  std::size_t number = 0;
  std::size_t payload_begin = 0;
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t end = std::min(bytes.find('\n', at), bytes.size());
    const std::string_view line = bytes.substr(at, end - at);
    ++number;
    const std::size_t json = line.starts_with('\t') ? std::string_view::npos : header_end(line);
    if (json != std::string_view::npos) {
      entry.payload = bytes.substr(payload_begin, at - payload_begin);
      if (!entry.json.empty()) visit(entry);
      entry = {.json = line.substr(json), .payload = {}, .payload_number = number + 1};
      payload_begin = std::min(end + 1, bytes.size());
    }
    at = end + 1;
  }
  entry.payload = bytes.substr(std::min(payload_begin, bytes.size()));
  if (!entry.json.empty()) visit(entry);
}

bool starts_trace_entry(std::string_view line) {
  return header_end(line) != std::string_view::npos;
}

std::string trace_entry_name(const nlohmann::json& json) {
  static constexpr std::array<std::string_view, 9> kCommon{
      "rank",        "frame_id",   "frame_compile_id",     "attempt",
      "has_payload", "compile_id", "compiled_autograd_id", "stack",
      "pathname"};
  if (const auto artifact = json.find("artifact"); artifact != json.end()) {
    const auto name = artifact->is_object() ? artifact->find("name") : artifact->end();
    return artifact->is_object() && name != artifact->end() && name->is_string()
               ? name->get<std::string>()
               : std::string();
  }
  for (const auto& [key, value] : json.items())
    if (std::find(kCommon.begin(), kCommon.end(), key) == kCommon.end()) return key;
  return {};
}

std::optional<std::int64_t> trace_entry_number(const nlohmann::json& json, const char* key) {
  const auto it = json.find(key);
  return it != json.end() && it->is_number_integer() ? std::optional(it->get<std::int64_t>())
                                                     : std::nullopt;
}

std::string trace_entry_compile(const nlohmann::json& json) {
  std::string text;
  if (const auto rank = trace_entry_number(json, "rank")) text = fmt::format("rank {}", *rank);
  const auto add = [&](std::string_view part) {
    if (!text.empty()) text += ", ";
    text += part;
  };
  if (const auto autograd = trace_entry_number(json, "compiled_autograd_id"))
    add(fmt::format("compiled autograd {}", *autograd));
  const auto frame = trace_entry_number(json, "frame_id"),
             compile = trace_entry_number(json, "frame_compile_id");
  if (frame && compile) {
    const auto attempt = trace_entry_number(json, "attempt").value_or(0);
    add(attempt > 0 ? fmt::format("{}/{}_{}", *frame, *compile, attempt)
                    : fmt::format("{}/{}", *frame, *compile));
  }
  return text;
}

}  // namespace jointer
