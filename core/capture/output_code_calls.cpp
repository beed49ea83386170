// Follows the statements of a wrapper's `call`. Terms: a *buffer* is a variable of the wrapper that
// holds a tensor; a *block* is the memory behind buffers.
//
// Steps
//   1. `get_args` (2.15) or `benchmark_compiled_module` gives the shapes and data types of the
//      inputs, and values for symbols.
//   2. The statements of `call` are read in order. `empty_strided_cuda(...)` allocates a block;
//      `reinterpret_tensor` and `buf1 = buf0` give a block another name; `del` removes a name, and
//      removing the last name releases the block. Calls of kernels become kernels.
//   3. A result that its call allocates gets its shape from the assertion that follows.
//
// Deviation: `buf1 = buf0[1]`, which takes an element of a call's result, allocates a block; the
// allocation is put before that call.

#include "core/capture/output_code_calls.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "core/base/characters.h"
#include "core/base/checked.h"
#include "core/base/is_one_of.h"
#include "core/base/number_text.h"
#include "core/base/trimmed.h"
#include "core/base/utf8.h"
#include "core/capture/fx_lines.h"
#include "core/graph/expression.h"
#include "core/ops/operator_table.h"

namespace jointer::wrapper {
namespace {

constexpr int kMaxCallDepth = 16;
constexpr int kMaxNesting = 16;  // of views and lists in arguments

// Calls that neither compute nor hold memory.
constexpr std::array<std::string_view, 13> kSkippedCalls{"assert_alignment",
                                                         "get_raw_stream",
                                                         "start_graph",
                                                         "end_graph",
                                                         "run_intermediate_hooks",
                                                         "torch.cuda.set_device",
                                                         "torch.cuda.synchronize",
                                                         "torch.xpu.set_device",
                                                         "torch.xpu.synchronize",
                                                         "check_memory_lifecycle",
                                                         "args.clear",
                                                         "torch.cuda._DeviceGuard",
                                                         "torch.Event"};

// A variable of the wrapper.
struct Variable {
  std::optional<std::size_t> block;   // none for numbers, and for tuples
  std::optional<std::size_t> kernel;  // of a tuple: the kernel that returns it
  std::optional<std::int64_t> count;  // distinct elements of the tensor
  std::optional<DType> dtype;
};

std::optional<DType> dtype_in(std::string_view text) {
  constexpr std::string_view kTorch = "torch.";
  if (!text.starts_with(kTorch)) return std::nullopt;
  text.remove_prefix(kTorch.size());
  return parse_dtype(text);
}

class BodyReader {
 public:
  BodyReader(const Parts& parts, CompiledProgram& program) : parts_(parts), program_(program) {}

  void read_inputs() {
    for (const std::string_view name : {"get_args", "benchmark_compiled_module"})
      if (const auto it = parts_.functions.find(name); it != parts_.functions.end())
        return read_arguments(it->second.body);
  }

  Result<void> read(std::string_view file, const Function& function, int depth) {
    if (depth > kMaxCallDepth)
      return input_error(
          "{}: line {}: functions call each other too deeply: more than {} levels; is this a "
          "wrapper that Inductor wrote?",
          file, function.first_number, kMaxCallDepth);
    fx::LineReader reader(function.body, function.first_number);
    fx::Line line;
    while (reader.next(line)) {
      if (line.is_comment()) {
        comment_.add(line.text);
        continue;
      }
      number_ = line.number;
      original_ = {};
      if (const std::size_t at = line.number - function.first_number;
          at < function.origins.size()) {
        number_ = function.origins[at].number;
        original_ = function.origins[at].text;
      }
      for (const std::string_view each : split_list(without_comment(line.text), ';')) {
        if (fx::starts_with_word(each, "return")) {
          if (depth == 0) read_outputs(inside(each.substr(6)));
          return {};
        }
        JOINTER_CHECK(statement(file, each, depth));
      }
    }
    return {};
  }

 private:
  // --- Numbers ---

  [[nodiscard]] std::optional<std::int64_t> value_of(std::string_view text) const {
    text = trimmed(text);
    if (const auto number = number_of<std::int64_t>(text)) return number;
    const auto expression = Expression::parse(text);
    if (!expression) return std::nullopt;
    const auto value =
        expression->evaluate([&](std::string_view symbol) -> std::optional<std::int64_t> {
          const auto it = symbols_.find(symbol);
          return it == symbols_.end() ? std::nullopt : std::optional(it->second);
        });
    return value ? std::optional(*value) : std::nullopt;
  }

  // The number of elements from the first to the last one that sizes and strides reach.
  [[nodiscard]] std::optional<std::int64_t> span_of(std::string_view size,
                                                    std::string_view stride) const {
    const auto sizes = split_list(inside(size)), strides = split_list(inside(stride));
    if (sizes.size() != strides.size()) return std::nullopt;
    std::int64_t span = 1;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const auto extent = value_of(sizes[i]), step = value_of(strides[i]);
      if (!extent || !step || *extent < 0 || *step < 0) return std::nullopt;
      if (*extent == 0) return 0;
      span = saturating_add(span, saturating_mul(*extent - 1, *step));
    }
    return span;
  }
  // The number of distinct elements, which is less in a tensor with gaps.
  [[nodiscard]] std::optional<std::int64_t> count_of(std::string_view size,
                                                     std::string_view stride) const {
    const auto span = span_of(size, stride);
    std::int64_t product = 1;
    for (const std::string_view each : split_list(inside(size)))
      product = saturating_mul(product, value_of(each).value_or(0));
    return span ? std::optional(std::min(*span, product)) : std::nullopt;
  }

  // --- Variables ---

  Variable* variable(std::string_view name) {
    const auto it = variables_.find(name);
    return it == variables_.end() ? nullptr : &it->second;
  }

  std::size_t add_block(std::string_view name) {
    program_.blocks.push_back({.name = std::string(name)});
    names_.push_back(0);
    return program_.blocks.size() - 1;
  }

  // Binds a name to a variable; the name's previous variable is released.
  void bind(std::string_view name, const Variable& to) {
    if (to.block) ++names_[*to.block];
    release(name);
    variables_.insert_or_assign(std::string(name), to);
  }

  void release(std::string_view name) {
    const auto it = variables_.find(name);
    if (it == variables_.end()) return;
    if (const auto block = it->second.block; block && --names_[*block] == 0)
      program_.events.push_back(
          {.kind = CompiledEvent::Kind::release, .index = *block, .name = std::string(name)});
    variables_.erase(it);
  }

  // Adds a block for `name`, allocated before `kernel` runs or, without a kernel, now.
  std::size_t allocate(std::string_view name, std::optional<std::size_t> kernel) {
    const std::size_t block = add_block(name);
    program_.blocks[block].made_by = kernel;
    auto where = program_.events.end();
    if (kernel)
      while (where != program_.events.begin()) {
        --where;
        if (where->kind == CompiledEvent::Kind::run && where->index == *kernel) break;
      }
    program_.events.insert(where, CompiledEvent{.kind = CompiledEvent::Kind::allocate,
                                                .index = block,
                                                .name = std::string(name)});
    return block;
  }

  // Records the shape of a variable, as an assertion or `rand_strided` gives it.
  void set_shape(std::string_view name, std::string_view size, std::string_view stride,
                 std::optional<DType> dtype) {
    Variable* const found = variable(name);
    if (found == nullptr || !found->block) return;
    BufferBlock& block = program_.blocks[*found->block];
    const bool owns = block.name == name;
    found->count = count_of(size, stride);
    if (owns) block.count = span_of(size, stride);
    if (dtype) found->dtype = dtype;
    if (owns && dtype) {
      block.dtype = dtype;
      block.is_dtype_assumed = false;
    }
    // The use by the kernel that made the buffer was recorded before its shape was known.
    if (block.made_by)
      for (CompiledUse& use : program_.kernels[*block.made_by].uses)
        if (use.name == name) use.bytes = bytes_of(*found);
  }

  [[nodiscard]] static std::optional<std::int64_t> bytes_of(const Variable& of) {
    if (!of.count || !of.dtype) return std::nullopt;
    return saturating_mul(*of.count, item_size(*of.dtype));
  }

  // --- Inputs and outputs ---

  // `NAME = rand_strided(SIZE, STRIDE, device='cuda:0', dtype=torch.float32)` or `NAME = 16`.
  void read_arguments(std::string_view body) {
    fx::LineReader reader(body);
    for (fx::Line line; reader.next(line);) {
      const std::string_view text = without_comment(line.text);
      const std::size_t equals = text.find(" = ");
      if (equals == std::string_view::npos) continue;
      const std::string_view name = text.substr(0, equals),
                             value = trimmed(text.substr(equals + 3));
      CallText call;
      if (const auto number = number_of<std::int64_t>(value)) {
        symbols_.insert_or_assign(std::string(name), *number);
      } else if (split_call(value, call) && call.callee == "rand_strided") {
        given_.insert_or_assign(std::string(name), call.arguments);
      }
    }
  }

  void add_input(std::string_view name) {
    if (variables_.find(name) != variables_.end()) return;
    Variable input;
    if (const auto given = given_.find(name); given != given_.end()) {
      const auto arguments = split_list(given->second);
      std::optional<DType> dtype;
      std::string_view device;
      for (std::string_view each : arguments) {
        constexpr std::string_view kDType = "dtype=", kDevice = "device='";
        if (each.starts_with(kDType)) dtype = dtype_in(each.substr(kDType.size()));
        if (each.starts_with(kDevice)) device = each.substr(kDevice.size());
      }
      input.block = add_block(name);
      BufferBlock& block = program_.blocks[*input.block];
      block.is_input = true;
      block.device = device.substr(0, device.find_first_of(":'"));
      bind(name, input);
      if (arguments.size() > 1) set_shape(name, arguments[0], arguments[1], dtype);
      return;
    }
    bind(name, input);  // a number, or a tensor whose shape an assertion gives
    unknown_inputs_.insert_or_assign(std::string(name), true);
  }

  // `partition0_args = [x, buf0]` keeps tensors for a function that is called later.
  void hold(std::string_view list, std::string_view names) {
    std::vector<Variable> held;
    for (const std::string_view name : split_list(names)) {
      Variable found;
      if (resolve(name, found)) ++names_[*found.block];
      held.push_back(found);
    }
    held_.insert_or_assign(std::string(list), std::move(held));
  }

  // `x, buf0 = args`: the arguments of `call` are the inputs; those of other functions were held.
  void unpack(std::string_view to) {
    const auto names = split_list(inside(to));
    const std::vector<Variable> given = std::exchange(arguments_, {});
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (i >= given.size() || !given[i].block) {
        add_input(names[i]);
        continue;
      }
      bind(names[i], given[i]);
      --names_[*given[i].block];
    }
  }

  // An assertion about an input that `get_args` does not describe shows that it is a tensor.
  void make_tensor_input(std::string_view name) {
    const auto it = unknown_inputs_.find(name);
    if (it == unknown_inputs_.end()) return;
    unknown_inputs_.erase(it);
    Variable input;
    input.block = add_block(name);
    program_.blocks[*input.block].is_input = true;
    bind(name, input);
  }

  void read_outputs(std::string_view list) {
    for (const std::string_view each : split_list(list)) {
      Variable found;
      if (resolve(each, found) && found.block) program_.blocks[*found.block].is_output = true;
    }
  }

  // --- Statements ---

  Result<void> statement(std::string_view file, std::string_view text, int depth) {
    if (fx::starts_with_word(text, "del")) {
      for (const std::string_view name : split_list(text.substr(3))) release(name);
      return {};
    }
    if (fx::starts_with_word(text, "with") || fx::starts_with_word(text, "pass") ||
        fx::starts_with_word(text, "import") || fx::starts_with_word(text, "from") ||
        fx::starts_with_word(text, "global") || fx::starts_with_word(text, "assert"))
      return {};
    CallText call;
    if (split_call(text, call)) return call_statement(file, text, {}, call, depth);
    const std::size_t equals = text.find(" = ");
    if (equals == std::string_view::npos) {
      unread(text);
      return {};
    }
    return assignment(file, text, trimmed(text.substr(0, equals)), trimmed(text.substr(equals + 3)),
                      depth);
  }

  Result<void> assignment(std::string_view file, std::string_view text, std::string_view to,
                          std::string_view value, int depth) {
    if (value == "args") {
      unpack(to);
      return {};
    }
    if (value.starts_with('[') && to.ends_with("_args")) {
      hold(to, inside(value));
      return {};
    }
    constexpr std::string_view kPartitions = "self.partitions[";
    if (value.starts_with(kPartitions)) {
      value.remove_prefix(kPartitions.size());
      return follow(file, fmt::format("partition_{}", value.substr(0, value.find(']'))),
                    inside(value.substr(std::min(value.find('('), value.size()))), depth);
    }
    CallText call;
    const bool is_call = split_call(value, call);
    if (is_call && is_allocation(call.callee)) {
      allocation(to, call);
      return {};
    }
    if (is_call && call.callee.starts_with("copy_")) return {};  // copy_if_misaligned(primals_1)
    Variable found;
    if (resolve(value, found)) {
      if (found.block)
        program_.events.push_back(
            {.kind = CompiledEvent::Kind::reuse, .index = *found.block, .name = std::string(to)});
      bind(to, found);
      comment_ = {};
      return {};
    }
    if (element(to, value)) return {};
    if (is_call) return call_statement(file, text, to, call, depth);
    if (const auto number = value_of(value)) {
      symbols_.insert_or_assign(std::string(to), *number);
      return {};
    }
    // `stream0 = ...` and sizes that are known only at run time hold no memory.
    if (!to.starts_with("stream") && !to.starts_with("raw_stream") && !is_identifier(to))
      unread(text);
    return {};
  }

  static bool is_allocation(std::string_view callee) {
    return callee.starts_with("empty_strided") || callee == "tracked_empty_strided" ||
           callee == "torch.empty_strided";
  }

  // Reads `buf0 = empty_strided_cuda((4, 4), (4, 1), torch.float32)`.
  void allocation(std::string_view name, const CallText& call) {
    comment_ = {};
    const auto arguments = split_list(call.arguments);
    Variable made;
    made.block = allocate(name, std::nullopt);
    BufferBlock& block = program_.blocks[*made.block];
    constexpr std::string_view kPrefix = "empty_strided_", kDevice = "device='", kDType = "dtype=";
    if (call.callee.starts_with(kPrefix)) {
      const std::string_view device = call.callee.substr(kPrefix.size());
      block.device = device == "p2p" ? "cuda" : device.substr(0, device.find('_'));
    }
    for (std::string_view each : arguments) {
      if (each.starts_with(kDevice)) {
        each.remove_prefix(kDevice.size());
        block.device = each.substr(0, each.find_first_of(":'"));
      }
      if (each.starts_with(kDType)) each.remove_prefix(kDType.size());
      if (const auto dtype = dtype_in(each)) block.dtype = dtype;
    }
    if (arguments.size() > 1) {
      block.count = span_of(arguments[0], arguments[1]);
      made.count = count_of(arguments[0], arguments[1]);
    }
    made.dtype = block.dtype;
    bind(name, made);
  }

  // Finds the tensor that an expression denotes: a name or a view, but not a call of a kernel.
  bool resolve(std::string_view text, Variable& found, int nesting = 0) {
    if (nesting > kMaxNesting) return false;
    if (const Variable* known = variable(text)) {
      if (!known->block) return false;
      found = *known;
      return true;
    }
    CallText call;
    if (!split_call(text, call)) return false;
    const auto arguments = split_list(call.arguments);
    if (arguments.empty()) return false;
    if (call.callee == "reinterpret_tensor") {
      if (!resolve(arguments[0], found, nesting + 1)) return false;
      if (arguments.size() > 2) found.count = count_of(arguments[1], arguments[2]);
      return true;
    }
    if (call.callee == "aten.view.dtype" && arguments.size() > 1) {
      if (!resolve(arguments[0], found, nesting + 1)) return false;
      const auto before = bytes_of(found);
      found.dtype = dtype_in(arguments[1]);
      if (found.dtype && before)
        found.count = *before / std::max<std::int64_t>(1, item_size(*found.dtype));
      return true;
    }
    return false;
  }

  // `buf1 = buf0[1]`: an element of the result of a kernel that returns several tensors.
  bool element(std::string_view to, std::string_view value) {
    const std::size_t bracket = value.find('[');
    if (bracket == std::string_view::npos) return false;
    const std::string_view name = value.substr(0, bracket);
    const Variable* const tuple = variable(name);
    if (tuple == nullptr || !is_digits(inside(value.substr(bracket)))) return false;
    if (!tuple->kernel) return false;
    const std::size_t kernel = *tuple->kernel;
    // The block that was added for the result as a whole does not exist.
    if (tuple->block) drop_result(*tuple->block, kernel);
    variables_.insert_or_assign(std::string(name), Variable{.kernel = kernel});
    result_of(to, kernel);
    return true;
  }

  void drop_result(std::size_t block, std::size_t kernel) {
    auto& events = program_.events;
    const auto made = std::find_if(events.rbegin(), events.rend(), [&](const CompiledEvent& event) {
      return event.kind == CompiledEvent::Kind::allocate && event.index == block;
    });
    if (made != events.rend()) events.erase(std::next(made).base());
    std::erase_if(program_.kernels[kernel].uses,
                  [&](const CompiledUse& use) { return use.block == block; });
    program_.blocks[block].count = 0;
    program_.blocks[block].is_dtype_assumed = false;
    names_[block] = 0;
  }

  // Binds `to` to a block that the kernel allocates.
  void result_of(std::string_view to, std::size_t kernel) {
    Variable made;
    made.block = allocate(to, kernel);
    made.kernel = kernel;
    BufferBlock& block = program_.blocks[*made.block];
    for (const CompiledUse& use : program_.kernels[kernel].uses)
      if (use.is_read) {
        const BufferBlock& first = program_.blocks[use.block];
        block.device = first.device;
        block.dtype = first.dtype;
        block.is_dtype_assumed = true;
        break;
      }
    made.dtype = block.dtype;
    bind(to, made);
    program_.kernels[kernel].uses.push_back(
        {.name = std::string(to), .block = *made.block, .is_written = true});
  }

  // Follows a function that gets the list `given` as its arguments.
  Result<void> follow(std::string_view file, const std::string& name, std::string_view given,
                      int depth) {
    const auto it = parts_.functions.find(name);
    if (it == parts_.functions.end())
      return input_error("{}: line {}: the function `{}` is missing; is the text cut off?", file,
                         number_, name);
    const auto list = held_.find(given);
    if (list != held_.end()) {
      arguments_ = std::move(list->second);
      held_.erase(list);
    }
    return read(file, it->second, depth + 1);
  }

  Result<void> call_statement(std::string_view file, std::string_view text, std::string_view to,
                              const CallText& call, int depth) {
    const std::string_view callee = call.callee;
    if (is_one_of(callee, kSkippedCalls)) return {};
    const auto arguments = split_list(call.arguments);
    if (callee.starts_with("assert_")) {
      assertion(callee, arguments);
      return {};
    }
    const auto dot = callee.rfind(".run");
    const std::string_view kernel =
        dot != std::string_view::npos && dot + 4 == callee.size() ? callee.substr(0, dot) : callee;
    const auto source = parts_.source_of.find(kernel);
    if (source == parts_.source_of.end() && kernel == callee) {
      // The callee is a partition or a subgraph. `call` is not followed: it would call itself.
      if (parts_.functions.find(callee) != parts_.functions.end() && callee != "call")
        return follow(file, std::string(callee), trimmed(call.arguments), depth);
      if (!is_outside_kernel(callee)) {
        if (to.empty()) unread(text);
        return {};
      }
    }
    std::optional<std::size_t> index;
    if (source != parts_.source_of.end()) index = source->second;
    add_kernel(text, to, kernel, index, arguments);
    return {};
  }

  static bool is_outside_kernel(std::string_view callee) {
    for (const std::string_view start : {"extern_kernels.", "torch.ops.", "aten.", "inductor_ops.",
                                         "_quantized.", "torch.", "prims."})
      if (callee.starts_with(start)) return true;
    return callee.ends_with(".copy_");
  }

  void assertion(std::string_view callee, const std::vector<std::string_view>& arguments) {
    if (arguments.size() < 3) return;
    if (callee == "assert_size_stride_grouped") {
      const auto names = split_list(inside(arguments[0])), sizes = split_list(inside(arguments[1])),
                 strides = split_list(inside(arguments[2]));
      for (std::size_t i = 0; i < names.size() && i < sizes.size() && i < strides.size(); ++i)
        assert_shape(names[i], sizes[i], strides[i], std::nullopt);
    } else if (callee == "assert_size_stride" || callee == "assert_tensor_metadata") {
      assert_shape(arguments[0], arguments[1], arguments[2],
                   arguments.size() > 3 ? dtype_in(arguments[3]) : std::nullopt);
    }
  }

  void assert_shape(std::string_view name, std::string_view size, std::string_view stride,
                    std::optional<DType> dtype) {
    make_tensor_input(name);
    set_shape(name, size, stride, dtype);
  }

  // --- Kernels ---

  static CompiledKind outside_kind(std::string_view callee) {
    if (callee.find("wait_tensor") != std::string_view::npos) return CompiledKind::wait;
    for (const std::string_view space : {"_c10d_functional.", "c10d.", "_dtensor.", "symm_mem."})
      if (callee.find(space) != std::string_view::npos) return CompiledKind::collective;
    return returns_view(callee) ? CompiledKind::view : CompiledKind::external;
  }

  // True if the operator's result is a view of its first argument. `reshape` counts too: Inductor
  // calls it on contiguous tensors.
  static bool returns_view(std::string_view callee) {
    constexpr std::string_view kOps = "torch.ops.";
    if (!callee.starts_with(kOps)) return false;
    callee.remove_prefix(kOps.size());
    return callee == "aten.reshape.default" || callee == "aten._unsafe_view.default" ||
           describe_operator(callee).is_view;
  }

  // Binds the result of a view to the block of its first argument. False if that block is unknown.
  bool bind_view(std::string_view to, std::string_view argument) {
    Variable found;
    if (!is_identifier(to) || !resolve(argument, found) || !found.block) return false;
    program_.events.push_back(
        {.kind = CompiledEvent::Kind::reuse, .index = *found.block, .name = std::string(to)});
    bind(to, found);
    return true;
  }

  void add_kernel(std::string_view text, std::string_view to, std::string_view name,
                  std::optional<std::size_t> source,
                  const std::vector<std::string_view>& arguments) {
    CompiledKernel kernel;
    kernel.name = name;
    kernel.source = source;
    kernel.kind = source ? program_.sources[*source].kind : outside_kind(name);
    kernel.call = original_.empty() ? text : original_;
    kernel.line = number_;
    kernel.handle = std::move(comment_.handle);
    kernel.source_nodes = std::move(comment_.source_nodes);
    kernel.operators = std::move(comment_.operators);
    comment_ = {};
    if (name.ends_with(".copy_")) add_use(kernel, name.substr(0, name.size() - 6), false, true);
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      std::string_view argument = arguments[i];
      bool reads = kernel.kind != CompiledKind::wait && kernel.kind != CompiledKind::view;
      bool writes = false;
      if (constexpr std::string_view kOut = "out="; argument.starts_with(kOut)) {
        argument.remove_prefix(kOut.size());
        reads = false;
        writes = true;
      } else if (source) {
        const auto& parameters = program_.sources[*source].parameters;
        std::string_view parameter;
        if (i < parameters.size()) parameter = parameters[i];
        writes = parameter.find("out") != std::string_view::npos;
        reads = !writes || parameter.starts_with("in_out");
      }
      add_use(kernel, argument, reads, writes);
    }
    const bool is_view = kernel.kind == CompiledKind::view;
    const std::size_t index = program_.kernels.size();
    program_.kernels.push_back(std::move(kernel));
    program_.events.push_back(
        {.kind = CompiledEvent::Kind::run, .index = index, .name = program_.kernels.back().name});
    if (to.empty() || (is_view && !arguments.empty() && bind_view(to, arguments.front()))) return;
    if (is_identifier(to)) return result_of(to, index);
    for (const std::string_view each : split_list(inside(to)))
      if (is_identifier(each)) result_of(each, index);
  }

  // Adds an argument that is a tensor, or a list of tensors.
  void add_use(CompiledKernel& kernel, std::string_view argument, bool reads, bool writes,
               int nesting = 0) {
    if (nesting > kMaxNesting) return;
    if (argument.starts_with('[') || argument.starts_with('(')) {
      for (const std::string_view each : split_list(inside(argument)))
        add_use(kernel, each, reads, writes, nesting + 1);
      return;
    }
    Variable found;
    if (!resolve(argument, found) || !found.block) return;
    const std::size_t open = argument.find('(');
    std::string_view name = argument;
    if (open != std::string_view::npos)  // the innermost buffer of a view
      name = program_.blocks[*found.block].name;
    kernel.uses.push_back({.name = std::string(name),
                           .block = *found.block,
                           .bytes = bytes_of(found),
                           .is_read = reads,
                           .is_written = writes});
  }

  void unread(std::string_view text) {
    constexpr std::size_t kMaxKept = 100, kMaxLength = 120;
    if (program_.unread.size() < kMaxKept)
      program_.unread.push_back(
          fmt::format("line {}: {}", number_,
                      first_characters(original_.empty() ? text : original_, kMaxLength)));
  }

  const Parts& parts_;
  CompiledProgram& program_;
  std::map<std::string, Variable, std::less<>> variables_;
  std::map<std::string, std::int64_t, std::less<>> symbols_;
  std::map<std::string, std::string_view, std::less<>> given_;  // arguments of rand_strided
  std::map<std::string, bool, std::less<>> unknown_inputs_;
  std::map<std::string, std::vector<Variable>, std::less<>> held_;  // lists of arguments, by name
  std::vector<Variable> arguments_;                                 // of the function being entered
  std::vector<std::size_t> names_;  // by block: number of its names and of its places in lists
  KernelComment comment_;
  std::size_t number_ = 0;
  std::string_view original_;  // the statement in C++ that the line stands for, if any
};

}  // namespace

Result<void> follow_calls(std::string_view name, const Parts& parts, CompiledProgram& program) {
  const auto call = parts.functions.find("call");
  if (call == parts.functions.end())
    return input_error("{}: the wrapper has no function `call`; is the text cut off?", name);
  BodyReader reader(parts, program);
  reader.read_inputs();
  return reader.read(name, call->second, 0);
}

}  // namespace jointer::wrapper
