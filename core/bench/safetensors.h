#pragma once

// The index of a safetensors file: which tensors lie where. Source: the format's description,
// https://huggingface.co/docs/safetensors: 8 bytes with the header's length (little endian), a JSON
// object name -> {dtype, shape, data_offsets}, then the tensors' bytes.

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

// In the order of the file. Error (input): the bytes are no such file; what is beyond a doubt:
// every entry's bytes lie inside, and are as many as its shape and dtype say.
Result<std::vector<SafetensorsEntry>> read_safetensors_index(std::string_view name,
                                                             std::string_view bytes);

}  // namespace jointer
