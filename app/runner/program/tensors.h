#pragma once

// Makes input tensors: generated from a seed, or read from a safetensors file.

#include <ATen/core/Tensor.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "app/runner/program/program.h"
#include "core/base/bytes.h"

namespace jointer::runner {

// The tensors of a safetensors file, on the host.
using NamedTensors = std::map<std::string, at::Tensor>;
Result<NamedTensors> read_safetensors(const std::string& path);

struct InputOptions {
  at::Device device = at::kCPU;  // replaces the graph's main device
  std::uint64_t seed = 0;
  int rank = 0;
  // By placeholder; null: all are generated.
  const NamedTensors* given = nullptr;
};

struct Inputs {
  std::vector<c10::IValue> values;     // by Program::inputs
  std::vector<c10::IValue> constants;  // by Program::constants_of_graph
  std::vector<std::string> notes;
};

// Makes a program's inputs. Memory of inputs that are released at last use does not count, since
// each step has its own copy. How values are generated is described at the top of tensors.cpp.
// Error (input): a given tensor does not fit its placeholder, or is missing while others are given.
Result<Inputs> make_inputs(const Graph& graph, const Program& program, const InputOptions& options);

// Fills in the values of constants that the capture contains.
Result<void> make_constants(const Graph& graph, const Program& program, const InputOptions& options,
                            Inputs& inputs);

}  // namespace jointer::runner
