#pragma once

// Reads AOTInductor packages (.pt2) of torch 2.11 to 2.15: ZIP archives that contain machine code,
// the C++ wrapper that it was compiled from, and kernel sources. Only the text files are read;
// machine code and weights stay in the archive, and nothing is run.

#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/base/zip_archive.h"
#include "core/capture/compiled_kernels.h"

namespace jointer {

// True if the archive contains files of AOTInductor.
bool is_aoti_package(const ZipArchive& archive);

// Returns the program of each model, in the order of the archive. If `python -m jointer compile`
// wrote the package, the manifest next to it ties the programs to the captured graph. Error
// (input): the file cannot be read, is not such a package, is damaged, has no wrapper, or has more
// than 1000 models or 512 MiB of texts.
Result<std::vector<CompiledProgram>> read_aoti_package(const std::string& path);

// The same for an archive; `path` is used in messages, and to find the manifest.
Result<std::vector<CompiledProgram>> read_aoti_package(const ZipArchive& archive,
                                                       const std::string& path);

}  // namespace jointer
