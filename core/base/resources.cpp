#include "core/base/resources.h"

#include <filesystem>

#include "core/base/environment.h"

namespace jointer {

std::string find_resource(std::string_view name) {
  namespace fs = std::filesystem;
  std::error_code status;
  const fs::path self = this_program();
  for (const fs::path& folder :
       {self.parent_path() / "../share/jointer", fs::path(JOINTER_RESOURCE_DIR)})
    if (const fs::path path = folder / name; fs::exists(path, status))
      return path.lexically_normal().string();
  return {};
}

}  // namespace jointer
