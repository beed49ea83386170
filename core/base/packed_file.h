#pragma once

// The first bytes of compressed files, and a handle that closes its file.

#include <cstdio>
#include <memory>
#include <string_view>

namespace jointer {

inline constexpr std::string_view kZstdMagic = "\x28\xb5\x2f\xfd";
inline constexpr std::string_view kGzipMagic = "\x1f\x8b";

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

}  // namespace jointer
