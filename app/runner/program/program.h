#pragma once

// A graph that is ready to run: which operators are called in which order, with which values, and
// when values are released. Everything that is the same in every step is decided in advance, so
// steps do no extra work.

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/ivalue.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/graph/graph.h"

namespace jointer::runner {

// The location of a value while the program runs. A node that returns several values has one slot
// for each, and a getitem is another name for one of these.
using SlotId = std::uint32_t;
inline constexpr SlotId kNoSlot = ~SlotId{0};

// One argument of a call.
struct Operand {
  enum class Kind : std::uint8_t {
    constant,    // `index` into Program::constants
    slot,        // `index`: a slot
    last,        // `index`: a slot without a later use, so that its value may be moved
    as_tensor,   // a number in a slot, for a parameter that is a tensor
    expression,  // `index` into Program::expressions: a symbolic size
    list,        // `count` operands, starting at `index`
  };
  enum class Element : std::uint8_t { none, tensor, optional_tensor, integer, real, boolean, any };

  Kind kind = Kind::constant;
  Element element = Element::none;  // of a list
  std::uint32_t index = 0;
  std::uint32_t count = 0;
};

// A function on plain values that is not a torch operator, such as Python's `_operator.add`. It
// pops its arguments off the stack and pushes its results. Throws c10::Error.
using Builtin = void (*)(torch::jit::Stack& stack);

// A compiled function. It pops its inputs off the stack and pushes its outputs.
using Compiled = std::function<void(torch::jit::Stack& stack)>;

// A compiled part of the program.
struct CompiledCode {
  std::string label;
  std::vector<NodeId> nodes;  // the nodes that it replaces, in program order
  Compiled run;
};

struct Instruction {
  enum class Kind : std::uint8_t {
    call,         // `op`
    builtin,      // `builtin`
    name,         // runs nothing: a getitem
    random_call,  // `op`, drawing from `state`
    compiled,     // `compiled`: index into Program::compiled
    feed,         // puts an input that is released at last use into its slot
  };
  Kind kind = Kind::call;
  bool starts_collective = false, starts_transfer = false, waits = false;
  bool unpacks = false;  // its result is a list, with one slot per element
  NodeId node;
  std::uint32_t position = 0;  // in the program order of the graph
  std::uint32_t first_operand = 0, operand_count = 0;
  std::uint32_t first_result = 0, result_count = 0;  // consecutive slots
  std::uint32_t first_freed = 0, freed_count = 0;    // in Program::freed
  SlotId symbol = kNoSlot;  // in Program::symbol_values: the symbol that the result binds
  const c10::OperatorHandle* op = nullptr;
  Builtin builtin = nullptr;
  std::uint32_t compiled = 0;
  SlotId state = kNoSlot;    // of a random call: a generator, or its state as a tensor
  bool saves_state = false;  // it returns the state from before the call, and then its result
};

// An input that must be set before a step.
struct ProgramInput {
  NodeId node;
  SlotId slot = kNoSlot;
  bool released = false;  // at last use: a backward's saved values and tangents
};

struct ProgramOutput {
  NodeId node;  // null for an output that is None
  SlotId slot = kNoSlot;
  std::string name;  // the target, such as a gradient's parameter; without one, the node's name
};

// A symbolic size, computed from symbols when it is used.
struct SymbolicOperand {
  Expression expression;
  std::vector<std::uint32_t> symbols;  // in Program::symbol_values, by the expression's symbols
};

struct Program {
  std::vector<Instruction> instructions;
  std::vector<Operand> operands;
  std::vector<c10::IValue> constants;
  std::vector<SlotId> freed;
  std::vector<SymbolicOperand> expressions;
  std::unordered_map<std::string, std::uint32_t> symbols;  // name -> index in symbol_values
  std::vector<std::int64_t> symbol_values;                 // at the start of a step
  std::deque<c10::OperatorHandle> handles;                 // instructions point to its elements
  std::vector<CompiledCode> compiled;
  std::uint32_t slot_count = 0;
  std::vector<ProgramInput> inputs;              // placeholders that are fed, in program order
  std::vector<ProgramInput> constants_of_graph;  // get_attr nodes
  // As the joint graph returns them. For a pair: the forward's outputs without saved values, then
  // the backward's outputs.
  std::vector<ProgramOutput> outputs;
  // Differences from the captured graph: "aten.histc.default runs on the CPU as a histogram of the
  // values converted to float64".
  std::vector<std::string> notes;
};

}  // namespace jointer::runner
