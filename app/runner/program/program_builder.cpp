// Turns a graph into a program: decides in advance what each step does.
//
// Terms
//   instruction   one call of the graph, or one compiled region in place of several.
//   slot          the location of a value. A node has one slot, or one for each value that it
//                 returns; a getitem is another name for a slot of its source, and a placeholder of
//                 a pair's backward is another name for the slot of the forward's value.
//   last use      the last instruction that reads a slot; the slot is emptied after it.
//
// Rules of lifetime (the same as the memory timeline's, core/schedule/lifetimes.cpp)
//   1. A value is released after its last use or, if nothing uses it, after the call that made it.
//   2. Placeholders live throughout, except the inputs that a backward receives from the forward
//      and from autograd (saved values, tangents), which are released at their last use. Constants
//      and outputs are not released.
//   3. The inputs of a collective, or of a copy to the host or back, stay until its wait, or until
//      the end if there is no wait.
//   4. Extracting one of several values uses all of them.
//
// A compiled region runs once all its inputs exist: the order is that of the graph, with each
// region as one unit, which runs as early as its first node and its dependencies allow.
//
// Cost: linear in the number of nodes and arguments; with regions, O(n log n).

#include "app/runner/program/program_builder.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <queue>
#include <unordered_map>

#include "app/runner/kernels/attention.h"
#include "app/runner/kernels/replacements.h"
#include "app/runner/program/arguments.h"
#include "app/runner/program/opaque.h"
#include "app/runner/program/scalars.h"
#include "app/runner/support/torch_error.h"
#include "app/runner/support/torch_version.h"
#include "core/base/counted.h"
#include "core/graph/users.h"

namespace jointer::runner {
namespace {

// aten.mm.default -> (aten::mm, ""). std::nullopt if the target is not an operator overload.
std::optional<c10::OperatorName> operator_name(std::string_view target) {
  const auto first = target.find('.'), last = target.rfind('.');
  if (first == std::string_view::npos || first == last) return std::nullopt;
  const std::string_view overload = target.substr(last + 1);
  return c10::OperatorName(
      fmt::format("{}::{}", target.substr(0, first), target.substr(first + 1, last - first - 1)),
      overload == "default" ? std::string() : std::string(overload));
}

// The identity function: leaves its argument on the stack as the result.
void hand_on(torch::jit::Stack& /*stack*/) {}

// Returns one element of a tuple that occupies a single slot, as the results of a random call that
// saves its state do.
void take_element(torch::jit::Stack& stack) {
  const std::int64_t index = stack.back().toInt();
  stack.pop_back();
  const std::vector<c10::IValue> elements = stack.back().toTupleRef().elements().vec();
  TORCH_CHECK_INDEX(index >= 0 && index < std::ssize(elements), "there is no element ", index);
  stack.back() = elements[static_cast<std::size_t>(index)];
}

class ProgramBuilder {
 public:
  ProgramBuilder(const Graph& graph, const BuildOptions& options)
      : graph_(graph),
        options_(options),
        slots_(graph.node_count(), kNoSlot),
        slot_counts_(graph.node_count(), 1),
        unpacked_(graph.node_count(), false),
        missing_(graph.node_count(), false),
        read_counts_(graph.node_count(), 0),
        region_of_(graph.node_count(), -1),
        converter_(graph, program_, options.device,
                   [this](NodeId n) { return slots_[n.index()]; }) {}

  Result<Program> run() {
    for (const SymbolValue& symbol : graph_.symbols()) {
      program_.symbols.emplace(symbol.name, program_.symbol_values.size());
      program_.symbol_values.push_back(symbol.value);
    }
    program_.instructions.reserve(graph_.node_count());
    for (std::size_t r = 0; r < options_.regions.size(); ++r)
      for (const NodeId node : options_.regions[r].nodes)
        region_of_[node.index()] = static_cast<std::int32_t>(r);
    count_reads();
    JOINTER_TRY(const std::vector<Unit> units, order());
    for (const Unit& unit : units) JOINTER_CHECK(add(unit));
    if (!unsupported_.empty()) return fail(Error::Kind::run, "{}", unsupported_text());
    add_outputs();
    find_last_uses();
    return std::move(program_);
  }

 private:
  // A node, or a region if `region` is not negative.
  struct Unit {
    NodeId node;
    std::int32_t region = -1;
  };

  void count_reads();
  Result<std::vector<Unit>> order() const;
  [[nodiscard]] std::string why_no_order(std::span<const Unit> units,
                                         std::span<const std::vector<std::uint32_t>> users,
                                         std::vector<std::uint32_t> missing) const;
  Result<void> add(const Unit& unit);
  void add_placeholder(NodeId id, const Node& node);
  Result<void> add_call(NodeId id, const Node& node);
  Result<void> add_operator(NodeId id, const Node& node, Instruction instruction,
                            std::string_view target, std::size_t skip,
                            std::string_view ignored_keyword);
  Result<void> add_random_call(NodeId id, const Node& node);
  Result<void> add_builtin(NodeId id, const Node& node, Builtin builtin);
  Result<void> add_getitem(NodeId id, const Node& node);
  Result<void> add_group(NodeId id, const Node& node);
  void add_region(const CompiledRegion& region);
  void give_slots(NodeId id, Instruction& instruction, std::uint32_t count);
  void push(Instruction instruction);
  std::uint32_t result_count(NodeId id, const Node& node, const c10::FunctionSchema& schema) const;
  const c10::OperatorHandle* handle(std::string_view target);
  void add_outputs();
  void find_last_uses();
  void use(const Operand& operand, std::uint32_t instruction);
  void use_slot(SlotId slot, std::uint32_t instruction);
  void move_last_uses();
  [[nodiscard]] std::string unsupported_text() const;

  const Graph& graph_;
  const BuildOptions& options_;
  Program program_;
  std::vector<SlotId> slots_;               // by node
  std::vector<std::uint32_t> slot_counts_;  // by node
  std::vector<bool> unpacked_;              // by node: true if each of its values has a slot
  std::vector<bool> missing_;               // by node: its operator does not exist in this process
  std::vector<std::uint32_t> read_counts_;  // by node: one more than the highest index read from it
  std::vector<std::int32_t> region_of_;     // by node, -1 for none
  ArgumentConverter converter_;
  std::unordered_map<std::string, const c10::OperatorHandle*> handles_;
  std::vector<std::pair<std::string, NodeId>> unsupported_;  // each operator once
  std::vector<bool> kept_;                                   // by slot
  std::vector<std::uint32_t> last_use_;                      // by slot
};

void ProgramBuilder::count_reads() {
  for (const NodeId id : graph_.order()) {
    const Node& node = graph_.node(id);
    if (node.kind != NodeKind::call || !graph_.op(node).is_getitem) continue;
    const std::span<const Argument> args = graph_.args(node);
    if (args.size() != 2 || args[0].kind != Argument::Kind::node ||
        args[1].kind != Argument::Kind::integer)
      continue;
    std::uint32_t& count = read_counts_[args[0].node().index()];
    count = static_cast<std::uint32_t>(std::max<std::int64_t>(count, args[1].integer + 1));
  }
}

// Kahn's algorithm over units. Among ready units, picks the one whose first node comes first.
Result<std::vector<ProgramBuilder::Unit>> ProgramBuilder::order() const {
  std::vector<Unit> units;
  std::vector<std::uint32_t> unit_of(graph_.node_count());
  std::vector<std::int64_t> unit_of_region(options_.regions.size(), -1);
  for (const NodeId id : graph_.order()) {
    const std::int32_t region = region_of_[id.index()];
    if (region >= 0 && unit_of_region[static_cast<std::size_t>(region)] >= 0) {
      unit_of[id.index()] =
          static_cast<std::uint32_t>(unit_of_region[static_cast<std::size_t>(region)]);
      continue;
    }
    unit_of[id.index()] = static_cast<std::uint32_t>(units.size());
    if (region >= 0)
      unit_of_region[static_cast<std::size_t>(region)] = static_cast<std::int64_t>(units.size());
    units.push_back({id, region});
  }
  if (options_.regions.empty()) return units;

  std::vector<std::vector<std::uint32_t>> users(units.size());
  std::vector<std::uint32_t> missing(units.size(), 0);
  const auto depend = [&](NodeId on, NodeId id) {
    const std::uint32_t from = unit_of[on.index()], to = unit_of[id.index()];
    if (from == to) return;
    users[from].push_back(to);
    ++missing[to];
  };
  for (const NodeId id : graph_.order()) {
    for (const NodeId input : graph_.inputs(id)) depend(input, id);
    if (graph_.node(id).partner) depend(graph_.node(id).partner, id);
  }
  std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> ready;
  for (std::uint32_t u = 0; u < units.size(); ++u)
    if (missing[u] == 0) ready.push(u);
  std::vector<Unit> ordered;
  while (!ready.empty()) {
    const std::uint32_t unit = ready.top();
    ready.pop();
    ordered.push_back(units[unit]);
    for (const std::uint32_t user : users[unit])
      if (--missing[user] == 0) ready.push(user);
  }
  if (ordered.size() != units.size())
    return fail(Error::Kind::run, "{}", why_no_order(units, users, missing));
  return ordered;
}

// `users`: by unit. `missing`: by unit, the number of inputs that cannot be computed, at least one
// of which is not 0. Names the first region and the first call that a cycle needs.
std::string ProgramBuilder::why_no_order(std::span<const Unit> units,
                                         std::span<const std::vector<std::uint32_t>> users,
                                         std::vector<std::uint32_t> missing) const {
  const auto is_stuck = [&](std::uint32_t unit) { return missing[unit] > 0; };
  for (bool is_done = false; !is_done;) {
    is_done = true;
    for (std::uint32_t u = 0; u < units.size(); ++u) {
      if (!is_stuck(u) || std::ranges::any_of(users[u], is_stuck)) continue;
      missing[u] = 0;
      is_done = false;
    }
  }
  std::vector<std::string> regions;
  std::string call;
  for (std::uint32_t u = 0; u < units.size(); ++u) {
    if (!is_stuck(u)) continue;
    if (units[u].region >= 0)
      regions.push_back(options_.regions[static_cast<std::size_t>(units[u].region)].label);
    else if (call.empty())
      call = graph_.name(units[u].node);
  }
  if (call.empty())
    return fmt::format(
        "the compiled regions {} depend on each other; mark their nodes as one region",
        fmt::join(regions, " and "));
  return fmt::format(
      "compiled {} depends on its own outputs through {}, which is not in the region; mark {} too",
      regions.empty() ? std::string("code") : regions.front(), call, call);
}

Result<void> ProgramBuilder::add(const Unit& unit) {
  if (unit.region >= 0) {
    add_region(options_.regions[static_cast<std::size_t>(unit.region)]);
    return {};
  }
  const Node& node = graph_.node(unit.node);
  switch (node.kind) {
    case NodeKind::placeholder:
      add_placeholder(unit.node, node);
      return {};
    case NodeKind::get_attr:
      slots_[unit.node.index()] = program_.slot_count;
      program_.constants_of_graph.push_back({unit.node, program_.slot_count++});
      return {};
    case NodeKind::output:
      return {};
    case NodeKind::call:
      break;
  }
  auto added = add_call(unit.node, node);
  if (!added)
    return fail(added.error().kind, "{}: {}", graph_.name(unit.node), added.error().message);
  return {};
}

void ProgramBuilder::add_placeholder(NodeId id, const Node& node) {
  if (node.partner && slots_[node.partner.index()] != kNoSlot) {
    slots_[id.index()] = slots_[node.partner.index()];
    return;
  }
  slots_[id.index()] = program_.slot_count;
  const bool released = graph_.part(node.part).kind == CaptureKind::backward &&
                        (node.role == Role::saved || node.role == Role::tangent);
  program_.inputs.push_back({id, program_.slot_count++, released});
  if (!released) return;
  Instruction instruction{.kind = Instruction::Kind::feed};
  instruction.node = id;
  instruction.first_result = slots_[id.index()];
  instruction.result_count = 1;
  push(instruction);
}

Result<void> ProgramBuilder::add_call(NodeId id, const Node& node) {
  const std::string_view target = graph_.target(node);
  if (graph_.op(node).is_getitem) return add_getitem(id, node);
  if (opaque_type(graph_, node.value) == kProcessGroup) return add_group(id, node);
  if (const Builtin builtin = find_scalar_builtin(target)) return add_builtin(id, node, builtin);
  if (target == "graphsafe_run_with_rng_state" || target == "run_with_rng_state" ||
      target == "run_and_save_rng_state")
    return add_random_call(id, node);
  return add_operator(id, node, {.kind = Instruction::Kind::call}, target, 0, {});
}

const c10::OperatorHandle* ProgramBuilder::handle(std::string_view target) {
  const auto [found, is_new] = handles_.try_emplace(std::string(target), nullptr);
  if (!is_new) return found->second;
  const bool moved = (graph_.main_device() == DeviceType::cpu) != options_.device.is_cpu();
  std::string_view used = target;
  const std::string_view by_choice =
      options_.chooses_attention ? attention_by_choice(target) : std::string_view();
  if (!by_choice.empty())
    used = by_choice;
  else if (const Replacement* replacement =
               moved ? find_replacement(target, options_.device.type()) : nullptr) {
    used = replacement->target;
    program_.notes.push_back(fmt::format("{} runs on {} as {}", target,
                                         options_.device.is_cpu() ? "the CPU" : "CUDA",
                                         replacement->what));
  }
  const auto name = operator_name(used);
  const auto schema =
      name ? c10::Dispatcher::singleton().findSchema(*name) : std::optional<c10::OperatorHandle>();
  const auto key = c10::computeDispatchKey(std::nullopt, std::nullopt, options_.device);
  if (!schema || !schema->hasComputedKernelForDispatchKey(key)) return nullptr;
  program_.handles.push_back(*schema);
  return found->second = &program_.handles.back();
}

Result<void> ProgramBuilder::add_operator(NodeId id, const Node& node, Instruction instruction,
                                          std::string_view target, std::size_t skip,
                                          std::string_view ignored_keyword) {
  const c10::OperatorHandle* op = handle(target);
  if (op == nullptr) {
    const auto same = [&](const auto& entry) { return entry.first == target; };
    if (std::ranges::none_of(unsupported_, same)) unsupported_.emplace_back(target, id);
    // Give it slots for its users anyway, so that the error lists all missing operators.
    give_slots(id, instruction, 1);
    missing_[id.index()] = true;
    return {};
  }
  const c10::FunctionSchema& schema = op->schema();
  // Match arguments by name only if this is the operator that the capture calls, not a replacement
  // or an operator passed as an argument.
  const bool is_captured =
      target == graph_.target(node) && operator_name(target) == op->operator_name();
  JOINTER_CHECK(converter_.convert(node, schema, skip, ignored_keyword,
                                   is_captured ? &graph_.op(node) : nullptr));
  instruction.op = op;
  instruction.operand_count = static_cast<std::uint32_t>(schema.arguments().size());
  instruction.first_operand =
      static_cast<std::uint32_t>(program_.operands.size()) - instruction.operand_count;
  instruction.starts_collective = graph_.is_collective_start(node);
  instruction.starts_transfer = graph_.is_transfer(node);
  instruction.waits = graph_.is_wait(node);
  instruction.unpacks =
      schema.returns().size() == 1 && schema.returns()[0].type()->kind() == c10::TypeKind::ListType;
  const std::uint32_t results = result_count(id, node, schema);
  unpacked_[id.index()] =
      instruction.saves_state || instruction.unpacks || schema.returns().size() > 1;
  give_slots(id, instruction, instruction.saves_state ? 2 : results);
  if (node.value.kind == Value::Kind::symbol) {
    const std::string_view text = graph_.expression_text(node.value.expression());
    const auto at = program_.symbols.find(std::string(text));
    if (at != program_.symbols.end()) instruction.symbol = at->second;
  }
  push(instruction);
  return {};
}

// graphsafe_run_with_rng_state(op, *args, rng_state=generator): the operator draws from the given
// generator, and the device's generator stays unchanged. With the two older operators, the state is
// a tensor.
Result<void> ProgramBuilder::add_random_call(NodeId id, const Node& node) {
  const std::span<const Argument> args = graph_.args(node);
  const std::string_view target = graph_.target(node);
  const bool by_generator = target == "graphsafe_run_with_rng_state";
  const std::size_t at = target == "run_with_rng_state" ? 1 : 0;
  if (args.size() <= at || args[at].kind != Argument::Kind::op)
    return input_error("{} does not name the operator that it runs", target);
  Instruction instruction{.kind = Instruction::Kind::random_call};
  instruction.saves_state = target == "run_and_save_rng_state";
  const Argument* state = by_generator ? graph_.member(node.kwargs, "rng_state")
                          : at == 1    ? &args[0]
                                       : nullptr;
  if (state != nullptr && state->kind == Argument::Kind::node)
    instruction.state = slots_[state->node().index()];
  else if (!instruction.saves_state)
    return input_error("{} has no argument for the state of the random generator", target);
  return add_operator(id, node, instruction, graph_.text(args[at].text()), at + 1,
                      by_generator ? "rng_state" : "");
}

Result<void> ProgramBuilder::add_builtin(NodeId id, const Node& node, Builtin builtin) {
  Instruction instruction{.kind = Instruction::Kind::builtin, .builtin = builtin};
  std::vector<Operand> operands;
  for (const Argument& argument : graph_.args(node)) {
    JOINTER_TRY(const Operand operand, converter_.convert_plain(argument));
    operands.push_back(operand);
  }
  instruction.first_operand = static_cast<std::uint32_t>(program_.operands.size());
  instruction.operand_count = static_cast<std::uint32_t>(operands.size());
  program_.operands.insert(program_.operands.end(), operands.begin(), operands.end());
  give_slots(id, instruction, 1);
  push(instruction);
  return {};
}

Result<void> ProgramBuilder::add_getitem(NodeId id, const Node& node) {
  const std::span<const Argument> args = graph_.args(node);
  if (!args.empty() && args[0].kind == Argument::Kind::node && missing_[args[0].node().index()]) {
    Instruction unused;
    give_slots(id, unused, 1);
    return {};
  }
  if (args.size() != 2 || args[0].kind != Argument::Kind::node ||
      args[1].kind != Argument::Kind::integer)
    return input_error("getitem needs a node and an integer");
  const NodeId source = args[0].node();
  if (!unpacked_[source.index()]) return add_builtin(id, node, take_element);
  const std::int64_t count = slot_counts_[source.index()];
  const std::int64_t index = args[1].integer + (args[1].integer < 0 ? count : 0);
  if (index < 0 || index >= count)
    return input_error("index {} is out of range: {} has {}", args[1].integer, graph_.name(source),
                       counted(static_cast<std::size_t>(count), "value"));
  slots_[id.index()] = slots_[source.index()] + static_cast<SlotId>(index);
  Instruction instruction{.kind = Instruction::Kind::name};
  // This only names one of the values, but counts as a use of all of them, so that none is released
  // earlier.
  instruction.first_result = slots_[source.index()];
  instruction.result_count = static_cast<std::uint32_t>(count);
  instruction.node = id;
  push(instruction);
  return {};
}

// A call that returns a process group, in graphs that one rank compiles for all ranks. Its value is
// the name by which collectives find the group; the mesh from which the group comes does not exist
// here.
Result<void> ProgramBuilder::add_group(NodeId id, const Node& node) {
  JOINTER_TRY(const c10::IValue name, group_name(graph_, node.value));
  Instruction instruction{.kind = Instruction::Kind::builtin, .builtin = hand_on};
  instruction.first_operand = static_cast<std::uint32_t>(program_.operands.size());
  instruction.operand_count = 1;
  program_.operands.push_back(converter_.add_constant(name));
  give_slots(id, instruction, 1);
  push(instruction);
  return {};
}

void ProgramBuilder::add_region(const CompiledRegion& region) {
  Instruction instruction{.kind = Instruction::Kind::compiled};
  instruction.compiled = static_cast<std::uint32_t>(program_.compiled.size());
  program_.compiled.push_back(
      {.label = region.label, .nodes = region.nodes, .run = region.function});
  instruction.node = region.nodes.back();
  instruction.first_operand = static_cast<std::uint32_t>(program_.operands.size());
  for (const NodeId input : region.inputs)
    program_.operands.push_back({.kind = Operand::Kind::slot, .index = slots_[input.index()]});
  instruction.operand_count = static_cast<std::uint32_t>(region.inputs.size());
  instruction.first_result = program_.slot_count;
  instruction.result_count = static_cast<std::uint32_t>(region.outputs.size());
  for (const NodeId output : region.outputs) {
    // The slot of an input that the region returns unchanged stays the same.
    if (slots_[output.index()] == kNoSlot) slots_[output.index()] = program_.slot_count;
    ++program_.slot_count;
  }
  push(instruction);
}

std::uint32_t ProgramBuilder::result_count(NodeId id, const Node& node,
                                           const c10::FunctionSchema& schema) const {
  if (schema.returns().size() != 1) return static_cast<std::uint32_t>(schema.returns().size());
  if (schema.returns()[0].type()->kind() != c10::TypeKind::ListType) return 1;
  if (node.value.kind == Value::Kind::list) return node.value.count;
  // The capture does not record the number of values, so only those that are read get a slot.
  return read_counts_[id.index()];
}

void ProgramBuilder::give_slots(NodeId id, Instruction& instruction, std::uint32_t count) {
  instruction.node = id;
  instruction.first_result = program_.slot_count;
  instruction.result_count = count;
  slots_[id.index()] = program_.slot_count;
  slot_counts_[id.index()] = count;
  program_.slot_count += std::max(count, 1U);
}

void ProgramBuilder::push(Instruction instruction) {
  instruction.position = static_cast<std::uint32_t>(graph_.position(instruction.node));
  program_.instructions.push_back(instruction);
}

void ProgramBuilder::add_outputs() {
  for (std::size_t p = 0; p < graph_.part_count(); ++p) {
    const Part& part = graph_.part(PartId(static_cast<std::uint32_t>(p)));
    const bool hands_on = graph_.is_pair() && part.kind == CaptureKind::forward;
    for (const OutputEntry& entry : part.outputs) {
      if (hands_on && entry.role == Role::saved) continue;
      ProgramOutput output;
      if (entry.node) {
        output.node = entry.node;
        output.slot = slots_[entry.node.index()];
        output.name = entry.target.empty() ? std::string(graph_.name(entry.node)) : entry.target;
      }
      program_.outputs.push_back(std::move(output));
    }
  }
}

void ProgramBuilder::use_slot(SlotId slot, std::uint32_t instruction) {
  last_use_[slot] = std::max(last_use_[slot], instruction);
}

void ProgramBuilder::use(const Operand& operand, std::uint32_t instruction) {
  switch (operand.kind) {
    case Operand::Kind::slot:
    case Operand::Kind::last:
    case Operand::Kind::as_tensor:
      use_slot(operand.index, instruction);
      return;
    case Operand::Kind::list:
      for (std::uint32_t i = 0; i < operand.count; ++i)
        use(program_.operands[operand.index + i], instruction);
      return;
    case Operand::Kind::constant:
    case Operand::Kind::expression:
      return;
  }
}

void ProgramBuilder::find_last_uses() {
  const auto count = static_cast<std::uint32_t>(program_.instructions.size());
  kept_.assign(program_.slot_count, false);
  last_use_.assign(program_.slot_count, 0);
  for (const ProgramInput& input : program_.inputs) kept_[input.slot] = !input.released;
  for (const ProgramInput& constant : program_.constants_of_graph) kept_[constant.slot] = true;
  for (const ProgramOutput& output : program_.outputs)
    if (output.slot != kNoSlot) kept_[output.slot] = true;

  std::vector<std::uint32_t> start_of(graph_.node_count(), count);  // instruction, by node
  std::vector<bool> waited(count, false);
  for (std::uint32_t i = 0; i < count; ++i) {
    const Instruction& instruction = program_.instructions[i];
    for (std::uint32_t r = 0; r < instruction.result_count; ++r)
      use_slot(instruction.first_result + r, i);
    for (std::uint32_t o = 0; o < instruction.operand_count; ++o)
      use(program_.operands[instruction.first_operand + o], i);
    if (instruction.state != kNoSlot) use_slot(instruction.state, i);
    if (instruction.starts_collective || instruction.starts_transfer)
      start_of[instruction.node.index()] = i;
    if (!instruction.waits) continue;
    const NodeId start = graph_.collective_of_wait(graph_.node(instruction.node));
    if (!start || start_of[start.index()] == count) continue;
    const Instruction& collective = program_.instructions[start_of[start.index()]];
    waited[start_of[start.index()]] = true;
    for (std::uint32_t o = 0; o < collective.operand_count; ++o)
      use(program_.operands[collective.first_operand + o], i);
  }
  for (std::uint32_t i = 0; i < count; ++i) {
    const Instruction& instruction = program_.instructions[i];
    if (!(instruction.starts_collective || instruction.starts_transfer) || waited[i]) continue;
    for (std::uint32_t o = 0; o < instruction.operand_count; ++o)
      use(program_.operands[instruction.first_operand + o], count - 1);
  }

  std::vector<std::vector<SlotId>> freed(count);
  for (SlotId slot = 0; slot < program_.slot_count; ++slot)
    if (!kept_[slot] && count > 0) freed[last_use_[slot]].push_back(slot);
  for (std::uint32_t i = 0; i < count; ++i) {
    program_.instructions[i].first_freed = static_cast<std::uint32_t>(program_.freed.size());
    program_.instructions[i].freed_count = static_cast<std::uint32_t>(freed[i].size());
    program_.freed.insert(program_.freed.end(), freed[i].begin(), freed[i].end());
  }
  move_last_uses();
}

// The value of an operand at its last use may be moved if it occurs only once in the call.
void ProgramBuilder::move_last_uses() {
  for (std::uint32_t i = 0; i < program_.instructions.size(); ++i) {
    const Instruction& instruction = program_.instructions[i];
    for (std::uint32_t o = 0; o < instruction.operand_count; ++o) {
      Operand& operand = program_.operands[instruction.first_operand + o];
      if (operand.kind != Operand::Kind::slot || kept_[operand.index] ||
          last_use_[operand.index] != i)
        continue;
      std::uint32_t named = 0;
      const auto count_in = [&](const Operand& other, const auto& self) -> void {
        if (other.kind == Operand::Kind::list) {
          for (std::uint32_t e = 0; e < other.count; ++e)
            self(program_.operands[other.index + e], self);
        } else if (other.kind == Operand::Kind::slot || other.kind == Operand::Kind::as_tensor) {
          named += other.index == operand.index ? 1 : 0;
        }
      };
      for (std::uint32_t p = 0; p < instruction.operand_count; ++p)
        count_in(program_.operands[instruction.first_operand + p], count_in);
      if (named == 1) operand.kind = Operand::Kind::last;
    }
  }
}

std::string ProgramBuilder::unsupported_text() const {
  std::string text;
  for (const auto& [target, node] : unsupported_)
    text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", target, graph_.name(node));
  const NodeId first = unsupported_.front().second;
  return fmt::format("{} {} in LibTorch {} without Python on {}; the backend `python` runs {}{}",
                     text, unsupported_.size() == 1 ? "does not exist" : "do not exist",
                     torch_version(), options_.device.is_cpu() ? "the CPU" : "CUDA",
                     unsupported_.size() == 1 ? "it" : "them",
                     of_another_torch(graph_.part(graph_.node(first).part).torch_version));
}

}  // namespace

Result<Program> build_program(const Graph& graph, const BuildOptions& options) {
  try {
    return ProgramBuilder(graph, options).run();
  } catch (const c10::Error& error) {
    return fail(Error::Kind::run, "{}", summary(error));
  }
}

}  // namespace jointer::runner
