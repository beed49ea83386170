#pragma once

// Reads the index of a safetensors file: the names, types and offsets of its tensors. A file
// consists of the length of the header (8 bytes, little-endian), the header, and the tensors'
// bytes. The header is a JSON object that maps each name to {dtype, shape, data_offsets}. Source:
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

// Returns the entries in the order of the header. Each lies within the file, and its size matches
// its shape and dtype. `name` names the file in messages. Error (input): the bytes are not a valid
// safetensors file.
Result<std::vector<SafetensorsEntry>> read_safetensors_index(std::string_view name,
                                                             std::string_view bytes);

}  // namespace jointer
