#include "app/runner/program/interpreter.h"

#include <ATen/Context.h>
#include <ATen/core/Generator.h>
#include <c10/core/InferenceMode.h>

#include <new>
#include <utility>

#include "app/runner/program/arguments.h"
#include "app/runner/support/recording_error.h"
#include "app/runner/support/torch_error.h"

namespace jointer::runner {
namespace {

using c10::IValue;

// The number of instructions after which the progress of the device is marked.
constexpr std::size_t kInstructionsPerMark = 32;

template <class T, class Convert>
c10::List<T> typed_list(std::vector<IValue>& values, Convert convert) {
  c10::List<T> list;
  list.reserve(values.size());
  for (IValue& value : values) list.push_back(convert(value));
  return list;
}

std::int64_t to_integer(const IValue& value) {
  return value.isBool() ? static_cast<std::int64_t>(value.toBool()) : value.toInt();
}

}  // namespace

Interpreter::Interpreter(const Program& program, StatusWriter* status)
    : program_(program),
      status_(status),
      slots_(program.slot_count),
      lasting_(program.slot_count, false),
      released_(program.slot_count) {
  stack_.reserve(64);
}

void Interpreter::set(const ProgramInput& input, IValue value) {
  if (input.released) {
    released_[input.slot] = std::move(value);
    return;
  }
  slots_[input.slot] = std::move(value);
  lasting_[input.slot] = true;
}

void Interpreter::copy_released_inputs(bool on) {
  if (on == copies_released_) return;
  copies_released_ = on;
  for (IValue& value : released_) {
    if (!value.isTensor() || !value.toTensor().defined()) continue;
    const at::Tensor& tensor = value.toTensor();
    if (on) released_from_ = tensor.device();
    value = tensor.to(on ? at::Device(at::kCPU) : released_from_);
  }
}

std::vector<at::Generator> Interpreter::generators() const {
  std::vector<at::Generator> found;
  for (const IValue& value : slots_)
    if (value.isGenerator()) found.push_back(value.toGenerator());
  return found;
}

void Interpreter::clear() {
  for (std::size_t slot = 0; slot < slots_.size(); ++slot)
    if (!lasting_[slot]) slots_[slot] = IValue();
}

std::vector<at::Tensor> Interpreter::outputs() const {
  std::vector<at::Tensor> tensors;
  for (const ProgramOutput& output : program_.outputs) {
    const IValue value = output.slot == kNoSlot ? IValue() : slots_[output.slot];
    tensors.push_back(value.isTensor() ? value.toTensor() : at::Tensor());
  }
  return tensors;
}

tl::expected<void, StepError> Interpreter::step(Follower* follower) {
  struct Cause {
    bool out_of_memory = false, of_device = false, of_group = false, refuses_recording = false;
  };
  const auto failed = [&](const std::string& text, const Cause& cause) {
    stack_.clear();
    clear();
    const Instruction& instruction = program_.instructions[at_];
    const bool in_collective = cause.of_group || instruction.starts_collective || instruction.waits;
    return tl::unexpected<StepError>(
        {.node = instruction.node,
         .out_of_memory = cause.out_of_memory,
         .in_collective = in_collective,
         .of_device = cause.of_device,
         .refuses_recording = cause.refuses_recording,
         .text = in_collective ? in_one_line(text) : first_line(text)});
  };
  try {
    const c10::InferenceMode no_autograd;
    clear();
    symbols_ = program_.symbol_values;
    if (follower != nullptr)
      run<true>(follower);
    else
      run<false>(nullptr);
    return {};
  } catch (const c10::OutOfMemoryError& error) {
    return failed(without_advice(error.what_without_backtrace()), {.out_of_memory = true});
  } catch (const c10::AcceleratorError& error) {
    const bool no_memory = is_out_of_memory(error);
    return failed(error.what_without_backtrace(), {.out_of_memory = no_memory,
                                                   .of_device = !no_memory,
                                                   .refuses_recording = refuses_recording(error)});
  } catch (const c10::DistError& error) {
    const bool no_memory = is_out_of_memory(error);
    return failed(error.what_without_backtrace(),
                  {.out_of_memory = no_memory,
                   .of_device = !no_memory && is_cuda_failure(error),
                   .of_group = true,
                   .refuses_recording = refuses_recording(error)});
  } catch (const c10::Error& error) {
    return failed(error.what_without_backtrace(), {.refuses_recording = refuses_recording(error)});
  } catch (const std::bad_alloc&) {
    return failed("out of memory", {.out_of_memory = true});
  } catch (const std::exception& error) {
    return failed(error.what(), {});
  }
}

template <bool followed>
void Interpreter::run(Follower* follower) {
  const std::size_t count = program_.instructions.size();
  for (at_ = 0; at_ < count; ++at_) {
    const Instruction& instruction = program_.instructions[at_];
    if (status_ != nullptr) status_->set_position(instruction.position);
    if constexpr (followed) follower->before(at_);
    if (instruction.kind != Instruction::Kind::name) {
      const Operand* operand = &program_.operands[instruction.first_operand];
      for (std::uint32_t i = 0; i < instruction.operand_count; ++i) push<followed>(operand[i]);
      switch (instruction.kind) {
        case Instruction::Kind::call:
          instruction.op->callBoxed(&stack_);
          break;
        case Instruction::Kind::builtin:
          instruction.builtin(stack_);
          break;
        case Instruction::Kind::random_call:
          call_with_state(instruction);
          break;
        case Instruction::Kind::compiled:
          program_.compiled[instruction.compiled].run(stack_);
          break;
        case Instruction::Kind::feed:
          feed(instruction.first_result);
          break;
        case Instruction::Kind::name:
          break;
      }
      store_results(instruction);
    }
    if constexpr (followed) follower->called(at_);
    const SlotId* freed = program_.freed.data() + instruction.first_freed;
    for (std::uint32_t i = 0; i < instruction.freed_count; ++i) slots_[freed[i]] = IValue();
    if constexpr (followed) follower->freed(at_);
    if (progress_ != nullptr &&
        (instruction.waits || at_ % kInstructionsPerMark == kInstructionsPerMark - 1 ||
         at_ + 1 == count))
      progress_->mark(at_);
  }
  at_ = 0;
  if (status_ != nullptr) status_->set_position(-1);
}

template <bool followed>
void Interpreter::push(const Operand& operand) {
  if (operand.kind == Operand::Kind::constant)
    stack_.push_back(program_.constants[operand.index]);
  else if (operand.kind == Operand::Kind::slot)
    stack_.push_back(slots_[operand.index]);
  else
    stack_.push_back(value<followed>(operand));
}

template <bool followed>
IValue Interpreter::value(const Operand& operand) {
  switch (operand.kind) {
    case Operand::Kind::constant:
      return program_.constants[operand.index];
    case Operand::Kind::slot:
      return slots_[operand.index];
    case Operand::Kind::last:
      if constexpr (followed)
        return slots_[operand.index];
      else
        return std::move(slots_[operand.index]);
    case Operand::Kind::as_tensor:
      return IValue(wrapped_number(slots_[operand.index]));
    case Operand::Kind::expression: {
      const SymbolicOperand& symbolic = program_.expressions[operand.index];
      const auto lookup = [&](std::string_view name) -> std::optional<std::int64_t> {
        const auto& names = symbolic.expression.symbols();
        for (std::size_t i = 0; i < names.size(); ++i)
          if (names[i] == name) return symbols_[symbolic.symbols[i]];
        return std::nullopt;
      };
      const Result<std::int64_t> result = symbolic.expression.evaluate(lookup);
      TORCH_CHECK(result.has_value(), result.error().message);
      return IValue(*result);
    }
    case Operand::Kind::list:
      return list<followed>(operand);
  }
  return {};
}

template <bool followed>
IValue Interpreter::list(const Operand& operand) {
  const Operand* elements = &program_.operands[operand.index];
  if (operand.element == Operand::Element::tensor) {
    c10::List<at::Tensor> tensors;
    tensors.reserve(operand.count);
    for (std::uint32_t i = 0; i < operand.count; ++i)
      tensors.push_back(value<followed>(elements[i]).toTensor());
    return IValue(std::move(tensors));
  }
  if (operand.element == Operand::Element::integer) {
    c10::List<std::int64_t> numbers;
    numbers.reserve(operand.count);
    for (std::uint32_t i = 0; i < operand.count; ++i)
      numbers.push_back(to_integer(value<followed>(elements[i])));
    return IValue(std::move(numbers));
  }
  std::vector<IValue> values;
  values.reserve(operand.count);
  for (std::uint32_t i = 0; i < operand.count; ++i) values.push_back(value<followed>(elements[i]));
  switch (operand.element) {
    case Operand::Element::optional_tensor:
      return IValue(typed_list<std::optional<at::Tensor>>(
          values, [](IValue& v) { return std::move(v).toOptional<at::Tensor>(); }));
    case Operand::Element::real:
      return IValue(typed_list<double>(values, [](IValue& v) {
        return v.isDouble() ? v.toDouble() : static_cast<double>(to_integer(v));
      }));
    case Operand::Element::boolean:
      return IValue(typed_list<bool>(values, [](IValue& v) { return v.toBool(); }));
    default:
      return c10::ivalue::Tuple::create(std::move(values));
  }
}

void Interpreter::store_results(const Instruction& instruction) {
  if (instruction.unpacks) {
    const IValue results = std::move(stack_.back());
    stack_.pop_back();
    const c10::ArrayRef<IValue> elements = results.toListRef();
    TORCH_CHECK(elements.size() == instruction.result_count, "returned ", elements.size(),
                " values, but the capture has ", instruction.result_count);
    for (std::uint32_t i = 0; i < instruction.result_count; ++i)
      slots_[instruction.first_result + i] = elements[i];
  } else {
    for (std::uint32_t i = instruction.result_count; i > 0; --i) {
      slots_[instruction.first_result + i - 1] = std::move(stack_.back());
      stack_.pop_back();
    }
  }
  if (instruction.symbol != kNoSlot)
    symbols_[instruction.symbol] = to_integer(slots_[instruction.first_result]);
}

void Interpreter::feed(SlotId slot) {
  const IValue& input = released_[slot];
  if (copies_released_ && input.isTensor() && input.toTensor().defined())
    stack_.push_back(input.toTensor().to(released_from_, /*non_blocking=*/false, /*copy=*/true));
  else
    stack_.push_back(input);
}

// Calls the operator with the device's generator in the instruction's state, then restores the
// generator. Without such a state (run_and_save_rng_state), the generator advances.
void Interpreter::call_with_state(const Instruction& instruction) {
  at::Tensor state_before;
  at::Generator own;
  for (const IValue& argument : stack_)
    if (argument.isTensor() && argument.toTensor().defined())
      own = at::globalContext().defaultGenerator(argument.toTensor().device());
  if (!own.defined()) own = at::globalContext().defaultGenerator(at::kCPU);
  if (own.device().is_cuda() && instruction.state != kNoSlot &&
      slots_[instruction.state].isGenerator()) {
    // Exchange the state objects of the generators, which can be captured in a CUDA graph; reading
    // their contents cannot.
    const at::Generator before = own.graphsafe_get_state();
    own.graphsafe_set_state(slots_[instruction.state].toGenerator());
    instruction.op->callBoxed(&stack_);
    own.graphsafe_set_state(before);
    return;
  }
  {
    const std::scoped_lock lock(own.mutex());
    state_before = own.get_state();
    if (instruction.state != kNoSlot) {
      const IValue& state = slots_[instruction.state];
      own.set_state(state.isTensor() ? state.toTensor() : state.toGenerator().get_state());
    }
  }
  instruction.op->callBoxed(&stack_);
  if (instruction.state == kNoSlot) {
    // A later call with the saved state draws the same numbers.
    if (stack_.size() > 1) {
      std::vector<IValue> results(stack_.begin(), stack_.end());
      stack_.clear();
      stack_.emplace_back(c10::ivalue::Tuple::create(std::move(results)));
    }
    stack_.insert(stack_.begin(), IValue(state_before));
    return;
  }
  const std::scoped_lock lock(own.mutex());
  if (const IValue& state = slots_[instruction.state]; state.isGenerator())
    state.toGenerator().set_state(own.get_state());
  own.set_state(state_before);
}

}  // namespace jointer::runner
