#include "tests/support/reference.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/base/bytes.h"
#include "tests/support/must.h"
#include "tests/support/paths.h"

namespace jointer::test {

std::vector<std::string> referenced_graphs() {
  static const std::string kSuffix = ".nodes.json.zst";
  std::vector<std::string> names;
  if (shared_directory().empty()) return names;
  for (const auto& entry : std::filesystem::directory_iterator(shared_directory() + "/reference")) {
    const std::string file = entry.path().filename().string();
    if (file.ends_with(kSuffix)) names.push_back(file.substr(0, file.size() - kSuffix.size()));
  }
  std::sort(names.begin(), names.end());
  return names;
}

nlohmann::json load_json(const std::string& path) {
  return nlohmann::json::parse(must(read_bytes(path)).view());
}

nlohmann::json load_reference(const std::string& graph) {
  return load_json(shared_directory() + "/reference/" + graph + ".nodes.json.zst");
}

std::string capture_path(const std::string& graph) {
  return shared_directory() + "/captures/" + graph + ".json.zst";
}

}  // namespace jointer::test
