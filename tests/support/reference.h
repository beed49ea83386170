#pragma once

// torch 2.11's own numbers for the shared captures (JOINTER_SHARED/reference).

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace jointer::test {

// The captures with numbers per node, such as "llama3_8b_tp2_fsdp2.joint".
std::vector<std::string> referenced_graphs();

nlohmann::json load_reference(const std::string& graph);
// Reads any JSON file, zstd-compressed or plain.
nlohmann::json load_json(const std::string& path);

std::string capture_path(const std::string& graph);

}  // namespace jointer::test
