#pragma once

// Runs a program through LibTorch's dispatcher, operator by operator.

#include <ATen/core/Generator.h>
#include <c10/core/Device.h>

#include <vector>

#include "app/runner/program/device_progress.h"
#include "app/runner/program/program.h"
#include "core/base/result.h"
#include "core/bench/status_file.h"

namespace jointer::runner {

// Called for every instruction of a step. With a follower, values are not moved into calls, so that
// a call's allocations and the releases after it remain separate.
class Follower {
 public:
  virtual ~Follower() = default;

  virtual void before(std::size_t /*instruction*/) {}
  virtual void called(std::size_t instruction) = 0;   // the results of the instruction exist
  virtual void freed(std::size_t /*instruction*/) {}  // values without a later use are released
};

// The error of a step, and the node at which it occurred.
struct StepError {
  NodeId node;
  bool out_of_memory = false;
  bool in_collective = false;
  bool of_device = false;          // reported by the device, perhaps for an earlier node
  bool refuses_recording = false;  // the call is not allowed during capture
  std::string text;                // one line
};

class Interpreter {
 public:
  // `program` must outlive the interpreter. The position of every instruction, and -1 at the end of
  // a step, is written to `status`, which may be null.
  Interpreter(const Program& program, StatusWriter* status);

  // Sets an input or a constant of the graph for all following steps. An input that is released at
  // its last use enters each step at its placeholder.
  void set(const ProgramInput& input, c10::IValue value);
  // If true, inputs that are released at their last use are copied for each step, so that their
  // memory is really freed, as in training, at the cost of a copy. In that case, the originals are
  // on the host.
  void copy_released_inputs(bool on);
  // Sets marks in `progress` after every wait, every few instructions, and at the end of each of
  // the following steps; null disables this. Steps that are captured must not be marked.
  void mark_progress(DeviceProgress* progress) { progress_ = progress; }
  // The random generators among the inputs.
  [[nodiscard]] std::vector<at::Generator> generators() const;
  [[nodiscard]] const c10::IValue& get(SlotId slot) const { return slots_[slot]; }

  // Runs one step. Outputs of the previous step become invalid.
  tl::expected<void, StepError> step(Follower* follower = nullptr);

  // The outputs in the graph's order; for a pair, those of its joint graph. Undefined tensors for
  // outputs that are not tensors. Valid until the next step.
  [[nodiscard]] std::vector<at::Tensor> outputs() const;
  // Releases everything that a step created.
  void clear();

 private:
  template <bool followed>
  void run(Follower* follower);
  template <bool followed>
  void push(const Operand& operand);
  template <bool followed>
  c10::IValue list(const Operand& operand);
  template <bool followed>
  c10::IValue value(const Operand& operand);
  void store_results(const Instruction& instruction);
  void call_with_state(const Instruction& instruction);
  void feed(SlotId slot);

  const Program& program_;
  StatusWriter* status_;
  DeviceProgress* progress_ = nullptr;
  std::vector<c10::IValue> slots_;
  std::vector<bool> lasting_;            // by slot: true for constants and inputs not in released_
  std::vector<c10::IValue> released_;    // by slot: inputs that are released at their last use
  at::Device released_from_ = at::kCPU;  // where those inputs are if they are not copied
  bool copies_released_ = false;
  std::vector<std::int64_t> symbols_;
  torch::jit::Stack stack_;
  std::size_t at_ = 0;  // the instruction that is running
};

}  // namespace jointer::runner
