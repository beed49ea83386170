#pragma once

// Creates input tensors, either generated from a seed or read from a safetensors file.

#include <ATen/core/Tensor.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "app/runner/program/program.h"
#include "core/base/result.h"

namespace jointer::runner {

// The tensors of a safetensors file by name, on the host. Error (input): the file cannot be read or
// is not a valid safetensors file.
using NamedTensors = std::map<std::string, at::Tensor>;
Result<NamedTensors> read_safetensors(const std::string& path);

struct InputOptions {
  at::Device device = at::kCPU;  // replaces the graph's main device
  std::uint64_t seed = 0;
  int rank = 0;
  // Values from a file, by placeholder name; null if all inputs are generated.
  const NamedTensors* given = nullptr;
  // Called before and after each input and constant. May throw c10::Error, for example if memory
  // runs out.
  std::function<void(NodeId)> before_each = [](NodeId) {};
  std::function<void()> after_each = [] {};
};

struct Inputs {
  std::vector<c10::IValue> values;     // by Program::inputs
  std::vector<c10::IValue> constants;  // by Program::constants_of_graph
  std::vector<std::string> notes;
};

// The reason why an input or a constant could not be created.
struct InputError {
  NodeId node;
  bool out_of_memory = false, of_device = false;
  std::string text;  // one line
};
template <class T>
using InputOr = tl::expected<T, InputError>;

// Creates a program's inputs. The memory of inputs that are released at their last use does not
// count, since steps that measure memory copy these inputs (Interpreter::copy_released_inputs).
// tensors.cpp describes how values are generated. Error: for example, a given tensor does not fit
// its placeholder, is missing while others are given, or memory runs out.
InputOr<Inputs> make_inputs(const Graph& graph, const Program& program,
                            const InputOptions& options);

// Adds the graph's constants to `inputs`, with the values that the capture contains. The values of
// any other constant are generated, and a note says so. Error: a constant cannot be created.
InputOr<void> make_constants(const Graph& graph, const Program& program,
                             const InputOptions& options, Inputs& inputs);

}  // namespace jointer::runner
