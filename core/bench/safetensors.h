#pragma once

// Reads the index of a safetensors file: the names, types and offsets of its tensors. The format: 8
// bytes with the length of the header (little-endian), the header, which is a JSON object that maps
// each name to {dtype, shape, data_offsets}, then the tensors' bytes. Source:
// https://huggingface.co/docs/safetensors.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/graph/dtype.h"

namespace jointer {

struct SafetensorsEntry {
  std::string name;
  DType dtype = DType::float32;
  std::vector<std::int64_t> shape;
  std::int64_t offset = 0;  // from the start of the file
  std::int64_t bytes = 0;
};

// The entries in file order. Each lies inside the file and has the size of its shape and dtype.
// Error (input): the bytes are not a safetensors file.
Result<std::vector<SafetensorsEntry>> read_safetensors_index(std::string_view name,
                                                             std::string_view bytes);

}  // namespace jointer
