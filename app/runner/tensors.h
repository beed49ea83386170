#pragma once

// Tensors from outside: made up from a seed, or read from a safetensors file.

#include <ATen/core/Tensor.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "app/runner/program.h"
#include "core/base/bytes.h"

namespace jointer::runner {

// The tensors of a safetensors file, on the host.
using NamedTensors = std::map<std::string, at::Tensor>;
Result<NamedTensors> read_safetensors(const std::string& path);

struct InputOptions {
  at::Device device = at::kCPU;  // takes the place of the graph's main device
  std::uint64_t seed = 0;
  int rank = 0;
  // By placeholder; null: all are made up.
  const NamedTensors* given = nullptr;
};

struct Inputs {
  std::vector<c10::IValue> values;     // by Program::inputs
  std::vector<c10::IValue> constants;  // by Program::constants_of_graph
  std::vector<std::string> notes;
};

// What a program is fed with. Memory of inputs that go at last use does not count: each step gets a
// copy of its own. How values are made up is written at the top of tensors.cpp. Error
// (input): a tensor that is given does not fit its placeholder, or is missing while others are
// there.
Result<Inputs> make_inputs(const Graph& graph, const Program& program, const InputOptions& options);

// Fills in the values of constants that the capture has.
Result<void> make_constants(const Graph& graph, const Program& program, const InputOptions& options,
                            Inputs& inputs);

}  // namespace jointer::runner
