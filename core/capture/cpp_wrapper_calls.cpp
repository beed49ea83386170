// Puts the statements of a wrapper in C++ into the form of a wrapper in Python. Source:
// torch._inductor.codegen.cpp_wrapper_cpu and cpp_wrapper_gpu, torch 2.11 to 2.15.
//
// Terms: a *handle* is a variable that a call fills; `RAIIAtenTensorHandle buf0(buf0_handle)` makes
// it the tensor `buf0`. A *shim* is a C function of torch that calls an operator.
//
// C++                                                         Python
//   aoti_torch_empty_strided(1, a, b, dtype, device, 0, &h)   buf0 = empty_strided_cpu(a, b, dtype)
//   auto buf1 = std::move(buf0)                               buf1 = buf0; del buf0
//   auto buf1 = reinterpret_tensor_wrapper(buf0, 1, a, b, 0L) buf1 = reinterpret_tensor(buf0, a, b)
//   buf0.reset()                                              del buf0
//   aoti_torch_cpu_mm_out(buf0, x, y)                         extern_kernels.mm(x, y, out=buf0)
//   aoti_torch_cpu_topk(x, ..., &h0, &h1)                     (buf0, buf1) = torch.ops.aten.topk...
//   aoti_torch_proxy_executor_call_function(...)              buf0 = torch.ops.NAME(x)
//   cpp_fused_add_0((const float*)(x.data_ptr()), ...)        cpp_fused_add_0(x, ...)
//   call_triton_poi_fused_add_0(x, buf0, 16L, ...)            triton_poi_fused_add_0(x, buf0, ...)
//   assert_size_stride(buf0, {2L}, {1L}, ..., dtype, ...)     assert_tensor_metadata(buf0, ...)
//   output_handles[0] = buf0.release()                        return (buf0, )
//
// Arrays of sizes, and handles that only give a tensor another name, are replaced by what they
// stand for. Branches and loops are read as if each ran once; their heads are listed as not
// understood, except `else` and the condition under which the inputs are checked.

#include "core/capture/cpp_wrapper_calls.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>

#include "core/base/characters.h"
#include "core/base/is_one_of.h"
#include "core/base/number_text.h"
#include "core/base/trimmed.h"

namespace jointer::cpp {
namespace {

constexpr int kMaxDepth = 16;  // of calls in arguments

// Functions that return their argument.
constexpr std::array<std::string_view, 7> kSame{"wrap_with_raii_handle_if_needed",
                                                "RAIIAtenTensorHandle",
                                                "ConstantHandle",
                                                "std::move",
                                                "borrow_arrayref_tensor_as_tensor",
                                                "convert_arrayref_tensor_to_tensor",
                                                "copy_arrayref_tensor_to_tensor"};
// Calls that neither compute nor hold memory.
constexpr std::array<std::string_view, 10> kIgnored{"inputs.clear",
                                                    "assert_alignment",
                                                    "__check_inputs_outputs",
                                                    "aoti_torch_delete_tensor_object",
                                                    "aoti_torch_grad_mode_set_enabled",
                                                    "aoti_torch_get_dtype",
                                                    "aoti_torch_get_device_type",
                                                    "aoti_torch_check_inf_and_nan",
                                                    "aoti_torch_print_tensor_handle",
                                                    "aoti_torch_warn"};
// Declarations and statements that affect neither memory nor kernels.
constexpr std::array<std::string_view, 23> kDeclarations{"[[maybe_unused]]",
                                                         "AtenTensorHandle",
                                                         "int32_t",
                                                         "int64_t",
                                                         "uint32_t",
                                                         "int",
                                                         "float",
                                                         "double",
                                                         "bool",
                                                         "const",
                                                         "static",
                                                         "alignas",
                                                         "break",
                                                         "return",
                                                         "CUdeviceptr",
                                                         "hipDeviceptr_t",
                                                         "cudaStream_t",
                                                         "AOTICudaStreamGuard",
                                                         "RAIIAtenRecordFunctionHandle",
                                                         "KernelContextGuard",
                                                         "std::array",
                                                         "std::optional",
                                                         "std::vector"};

bool begins_with(std::string_view text, std::string_view word) {
  return text.starts_with(word) &&
         (text.size() == word.size() || !is_name_character(text[word.size()]) ||
          !is_name_character(word.back()));
}

// The name after the last `mark`.
std::string_view behind(std::string_view text, std::string_view mark) {
  const std::size_t at = text.rfind(mark);
  if (at == std::string_view::npos) return {};
  text.remove_prefix(at + mark.size());
  std::size_t end = 0;
  while (end < text.size() && is_name_character(text[end])) ++end;
  return text.substr(0, end);
}

// The text on one line, with the suffix `L` of numbers removed.
std::string plain(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool ends_number = i + 1 == text.size() || !is_name_character(text[i + 1]);
    if (text[i] == 'L' && i > 0 && is_digit(text[i - 1]) && ends_number) continue;
    result += static_cast<unsigned char>(text[i]) < ' ' ? ' ' : text[i];
  }
  return result;
}

// Returns "torch.ops.aten.sort.stable" for "aten::sort.stable".
std::string operator_name(std::string_view target) {
  const std::size_t colons = target.find("::");
  if (colons == std::string_view::npos) return "torch.ops." + std::string(target);
  const std::string_view name = target.substr(colons + 2);
  return fmt::format("torch.ops.{}.{}{}", target.substr(0, colons), name,
                     name.find('.') == std::string_view::npos ? ".default" : "");
}

// The operator that a shim calls: "extern_kernels.mm" for `aoti_torch_cpu_mm_out`.
std::string shim_operator(std::string_view shim) {
  constexpr std::string_view kStart = "aoti_torch_", kOut = "_out";
  shim.remove_prefix(kStart.size());
  for (const std::string_view device : {"cpu_", "cuda_", "xpu_", "mps_"})
    if (shim.starts_with(device)) {
      shim.remove_prefix(device.size());
      break;
    }
  for (const std::string_view space : {"_c10d_functional", "mkldnn", "mkl", "onednn", "quantized"})
    if (shim.starts_with(space) && shim.substr(space.size()).starts_with('_'))
      return fmt::format("torch.ops.{}.{}.default", space, shim.substr(space.size() + 1));
  if (shim.ends_with(kOut)) {
    shim.remove_suffix(kOut.size());
    return "extern_kernels." + std::string(shim);
  }
  return fmt::format("torch.ops.aten.{}.default", shim);
}

class Rewriter {
 public:
  Rewriter(const std::vector<std::string>& targets, const wrapper::Parts& parts)
      : targets_(targets), parts_(parts) {}

  PythonBody run(const std::vector<Statement>& statements) {
    for (const Statement& each : statements) find_names(each.text);
    for (const Statement& each : statements) {
      current_ = {.text = each.text, .number = each.number};
      statement(each.text);
    }
    std::string list;
    for (const std::string& name : outputs_) list += name + ", ";
    add(fmt::format("return ({})", list));
    return std::move(body_);
  }

 private:
  void add(std::string_view line) {
    body_.text += line;
    body_.text += '\n';
    body_.origins.push_back(current_);
  }

  // Has the current statement listed as not understood, with its text in C++.
  void unknown() { add("unknown()"); }

  // The first pass: finds the names of the tensors that handles become, and the operators that
  // compute results.
  void find_names(std::string_view text) {
    if (begins_with(text, "AtenTensorHandle")) {
      handles_.emplace(last_name(text));
    } else if (begins_with(text, "RAIIAtenTensorHandle")) {
      const std::size_t open = text.find('(');
      const auto close =
          open == std::string_view::npos ? std::nullopt : closing_bracket(text, open);
      if (close)
        names_.emplace(trimmed(text.substr(open + 1, *close - open - 1)),
                       last_name(trimmed(text.substr(0, open))));
    } else if (begins_with(text, "assert_size_stride")) {
      const auto call = call_in(text);
      const auto arguments =
          call ? split_arguments(call->arguments) : std::vector<std::string_view>();
      if (arguments.size() < 4 || arguments[3].size() < 2) return;
      const std::string_view op = arguments[3].substr(1, arguments[3].size() - 2);
      if (op.starts_with("torch.ops.")) made_by_.emplace(arguments[0], op);
    }
  }

  // The name of the tensor that a handle becomes.
  [[nodiscard]] std::string tensor_of(std::string_view handle) const {
    if (const auto it = names_.find(handle); it != names_.end()) return std::string(it->second);
    constexpr std::string_view kHandle = "_handle";
    if (handle.ends_with(kHandle)) handle.remove_suffix(kHandle.size());
    return std::string(handle);
  }

  // --- Expressions ---

  // An argument in the form of Python; "None" if it has neither tensors nor numbers.
  [[nodiscard]] std::string expression(std::string_view text, int depth = 0) const {
    text = trimmed(text);
    if (depth > kMaxDepth || text.empty()) return "None";
    // (const float*)(buf0.data_ptr())
    if (text.starts_with('(')) {
      const auto close = closing_bracket(text, 0);
      if (!close) return "None";
      const std::string_view rest = trimmed(text.substr(*close + 1));
      return expression(rest.empty() ? text.substr(1, *close - 1) : rest, depth + 1);
    }
    if (text.starts_with("std::array<AtenTensorHandle")) {
      const std::size_t open = text.find('{');
      const auto close =
          open == std::string_view::npos ? std::nullopt : closing_bracket(text, open);
      if (!close) return "None";
      std::string list;
      for (const std::string_view each : split_arguments(text.substr(open + 1, *close - open - 1)))
        list += expression(each, depth + 1) + ", ";
      return fmt::format("[{}]", list);
    }
    if (is_identifier(text)) {
      if (const auto it = same_.find(text); it != same_.end()) return it->second;
      if (const auto it = arrays_.find(text); it != arrays_.end()) return it->second;
      return text == "nullptr" ? "None" : std::string(text);
    }
    if (const auto call = call_in(text)) return call_expression(*call, depth);
    const std::string number = plain(text);
    const bool is_number = std::ranges::all_of(
        number, [](char c) { return is_dotted_name_character(c) || c == '-' || c == '+'; });
    return is_number ? number : "None";
  }

  [[nodiscard]] std::string call_expression(const Call& call, int depth) const {
    if (is_one_of(call.callee, kSame) || call.callee.starts_with("static_cast<"))
      return expression(call.arguments, depth + 1);
    for (const std::string_view member : {".data_ptr", ".get", ".release"})
      if (call.callee.ends_with(member))
        return expression(call.callee.substr(0, call.callee.size() - member.size()), depth + 1);
    const auto arguments = split_arguments(call.arguments);
    if (call.callee == "reinterpret_tensor_wrapper" && arguments.size() > 4)
      return fmt::format("reinterpret_tensor({}, {}, {}, {})", expression(arguments[0], depth + 1),
                         array(arguments[2]), array(arguments[3]), expression(arguments[4]));
    return "None";
  }

  // The tuple for a list of sizes or for the name of one.
  [[nodiscard]] std::string array(std::string_view text) const {
    if (text.starts_with('{')) return python_tuple(text);
    const auto it = arrays_.find(text);
    return it == arrays_.end() ? "None" : it->second;
  }

  // --- Statements ---

  void statement(std::string_view text) {
    if (text.starts_with("//")) return comment(trimmed(text.substr(2)));
    if (text.find("int_array_") != std::string_view::npos && declares_array(text)) return;
    if (begins_with(text, "RAIIAtenTensorHandle")) return tensor(text);
    if (begins_with(text, "if") || begins_with(text, "else")) {
      if (text.find("_check_aoti_runtime_check_inputs_env") == std::string_view::npos &&
          text != "else")
        unknown();
      return;
    }
    const auto call = call_in(text);
    const std::size_t equals = call ? std::string_view::npos : text.find(" = ");
    if (call && call->rest.empty()) return call_statement(*call, text);
    if (equals != std::string_view::npos)
      return assignment(trimmed(text.substr(0, equals)), trimmed(text.substr(equals + 3)), text);
    if (!is_declaration(text)) unknown();
  }

  static bool is_declaration(std::string_view text) {
    return std::ranges::any_of(kDeclarations,
                               [&](std::string_view word) { return begins_with(text, word); });
  }

  void comment(std::string_view text) {
    if (text.find("Source Nodes: [") != std::string_view::npos ||
        text.starts_with("[Provenance debug handles]"))
      add(fmt::format("# {}", text));
  }

  // Reads `static constexpr int64_t int_array_0[] = {2L, 3L}` or
  // `const int64_t *int_array_1=nullptr`. Returns false for any other statement.
  bool declares_array(std::string_view text) {
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos) return false;
    std::string_view name = trimmed(text.substr(0, equals));
    const std::string_view value = trimmed(text.substr(equals + 1));
    if (name.ends_with("[]")) name.remove_suffix(2);
    name = last_name(trimmed(name));
    if (!name.starts_with("int_array_")) return false;
    arrays_.insert_or_assign(std::string(name),
                             value == "nullptr" ? std::string("()") : python_tuple(value));
    return true;
  }

  // `RAIIAtenTensorHandle buf0(buf0_handle)`: adds a line only if the handle is another name of a
  // tensor; for other handles, the call that filled them has the name.
  void tensor(std::string_view text) {
    const std::size_t open = text.find('(');
    const auto close = open == std::string_view::npos ? std::nullopt : closing_bracket(text, open);
    if (!close) return;
    const std::string_view name = last_name(trimmed(text.substr(0, open)));
    const auto same = same_.find(trimmed(text.substr(open + 1, *close - open - 1)));
    if (same != same_.end()) add(fmt::format("{} = {}", name, same->second));
  }

  void assignment(std::string_view to, std::string_view value, std::string_view text) {
    if (to.starts_with("output_handles[")) {
      const std::string name = expression(value);
      if (is_identifier(name) && name != "None") outputs_.push_back(name);
      return;
    }
    const std::string_view name = last_name(to);
    const auto call = call_in(value);
    if (call && call->callee == "std::move") {
      const std::string_view from = trimmed(call->arguments);
      if (from.starts_with("inputs[")) return add(fmt::format("{}, = args", name));
      if (is_identifier(from)) return add(fmt::format("{0} = {1}; del {1}", name, from));
    }
    // [[maybe_unused]] auto& weight = constants_->at(0)
    if (call && call->callee == "constants_->at") return add(fmt::format("{}, = args", name));
    if (call && is_one_of(call->callee, kSame))
      return add(fmt::format("{} = {}", name, expression(value)));
    if (const std::string number = plain(value); number_of<std::int64_t>(number))
      return add(fmt::format("{} = {}", name, number));
    if (begins_with(to, "auto") || is_declaration(text)) return;
    if (!is_identifier(to) && to.find_first_of(".[") == std::string_view::npos) unknown();
  }

  void call_statement(Call call, std::string_view text) {
    if (call.callee == "AOTI_TORCH_ERROR_CODE_CHECK") {
      const auto checked = call_in(call.arguments);
      if (!checked) return unknown();
      call = *checked;
    }
    const std::string_view callee = call.callee;
    constexpr std::string_view kReset = ".reset";
    if (callee.ends_with(kReset))
      return add(fmt::format("del {}", callee.substr(0, callee.size() - kReset.size())));
    if (is_one_of(callee, kIgnored) || is_one_of(callee, kSame) || is_declaration(text)) return;
    const auto arguments = split_arguments(call.arguments);
    if (callee == "assert_size_stride") return assertion(arguments);
    if (callee.starts_with("aoti_torch_")) return shim(callee, arguments);
    kernel(callee, arguments);
  }

  void assertion(const std::vector<std::string_view>& arguments) {
    if (arguments.size() < 3) return;
    const std::string shape = fmt::format("{}, {}, {}", expression(arguments[0]),
                                          array(arguments[1]), array(arguments[2]));
    const std::string_view dtype =
        arguments.size() > 4 ? dtype_name(arguments[4]) : std::string_view();
    if (dtype.empty())
      add(fmt::format("assert_size_stride({})", shape));
    else
      add(fmt::format("assert_tensor_metadata({}, torch.{})", shape, dtype));
  }

  // Adds a call of one of Inductor's kernels.
  void kernel(std::string_view callee, const std::vector<std::string_view>& arguments) {
    constexpr std::string_view kMember = "kernels.", kCall = "call_";
    if (callee.starts_with(kMember)) callee.remove_prefix(kMember.size());
    if (callee.starts_with(kCall)) callee.remove_prefix(kCall.size());
    if (parts_.source_of.find(callee) == parts_.source_of.end()) return unknown();
    std::string list;
    for (const std::string_view each : arguments) list += expression(each) + ", ";
    add(fmt::format("{}({})", callee, list));
  }

  // --- Calls of torch ---

  // The handle that `&buf0_handle` points to, if the argument is one.
  [[nodiscard]] std::string_view handle_in(std::string_view argument) const {
    if (!argument.starts_with('&')) return {};
    argument.remove_prefix(1);
    return handles_.find(argument) != handles_.end() ? argument : std::string_view();
  }

  void shim(std::string_view callee, const std::vector<std::string_view>& arguments) {
    if (arguments.empty()) return;
    if (callee.starts_with("aoti_torch_empty_strided")) return allocation(arguments);
    if (callee == "aoti_torch_new_uninitialized_tensor") {
      prepared_.insert(tensor_of(handle_in(arguments[0])));
      return;
    }
    if (callee == "aoti_torch_proxy_executor_call_function") return proxy_call(arguments);
    if (callee.starts_with("aoti_torch_item_")) return;  // reads a number
    if (callee == "aoti_torch_copy_")
      return arguments.size() < 2 ? void()
                                  : add(fmt::format("{}.copy_({})", expression(arguments[0]),
                                                    expression(arguments[1])));
    if (renames(callee, arguments)) return;
    std::vector<std::string> results;
    std::string list;
    std::size_t first = 0;
    const bool has_out = callee.ends_with("_out");
    if (has_out) first = 1;
    for (std::size_t i = first; i < arguments.size(); ++i) {
      if (const std::string_view handle = handle_in(arguments[i]); !handle.empty()) {
        // The handle of a result that is deleted at once has no tensor.
        if (names_.find(handle) != names_.end()) results.push_back(tensor_of(handle));
      } else if (arguments[i].starts_with("&output_handles[")) {
        results.push_back(fmt::format("output_{}", outputs_.size()));
        outputs_.push_back(results.back());
      } else {
        list += expression(arguments[i]) + ", ";
      }
    }
    if (has_out) list += fmt::format("out={}, ", expression(arguments[0]));
    std::string op = shim_operator(callee);
    if (!results.empty())
      if (const auto it = made_by_.find(results.front()); it != made_by_.end()) op = it->second;
    result_of(results, fmt::format("{}({})", op, list));
  }

  void result_of(const std::vector<std::string>& results, const std::string& call) {
    if (results.empty()) return add(call);
    if (results.size() == 1) return add(fmt::format("{} = {}", results.front(), call));
    std::string list;
    for (const std::string& each : results) list += each + ", ";
    add(fmt::format("({}) = {}", list, call));
  }

  void allocation(const std::vector<std::string_view>& arguments) {
    if (arguments.size() < 7) return;
    const std::string_view handle = handle_in(arguments[6]);
    if (handle.empty()) return;
    add(fmt::format("{} = empty_strided_{}({}, {}, torch.{})", tensor_of(handle),
                    behind(arguments[4], "device_type_"), array(arguments[1]), array(arguments[2]),
                    dtype_name(arguments[3])));
  }

  // Reads a call that gives another handle to a tensor, perhaps with a different shape or data
  // type. Returns false for other calls.
  bool renames(std::string_view callee, const std::vector<std::string_view>& arguments) {
    const std::string_view handle = handle_in(arguments.back());
    if (handle.empty()) return false;
    const std::string from = expression(arguments[0]);
    std::string to;
    if (callee == "aoti_torch_new_tensor_handle" || callee == "aoti_torch_assign_tensors_out")
      to = from;
    else if (callee.ends_with("_view_dtype") && arguments.size() == 3)
      to = fmt::format("aten.view.dtype({}, torch.{})", from, dtype_name(arguments[1]));
    else if (callee == "aoti_torch_as_strided" && arguments.size() == 4)
      to = fmt::format("reinterpret_tensor({}, {}, {}, 0)", tensor_of(from), array(arguments[1]),
                       array(arguments[2]));
    else if (callee == "aoti_torch__reinterpret_tensor" && arguments.size() == 6)
      to = fmt::format("reinterpret_tensor({}, {}, {}, {})", from, array(arguments[2]),
                       array(arguments[3]), expression(arguments[4]));
    else if (callee == "aoti_torch__alloc_from_pool" && arguments.size() == 7)
      to = fmt::format("reinterpret_tensor(aten.view.dtype({}, torch.{}), {}, {}, 0)", from,
                       dtype_name(arguments[2]), array(arguments[4]), array(arguments[5]));
    else
      return false;
    same_.insert_or_assign(std::string(handle), std::move(to));
    return true;
  }

  // (proxy_executor, NUMBER, ..., std::array<AtenTensorHandle, 2>{x, buf0}.data()): tensors that
  // the wrapper has prepared for this call are results.
  void proxy_call(const std::vector<std::string_view>& arguments) {
    if (arguments.size() < 6) return;
    const auto number = number_of<std::size_t>(arguments[1]);
    const std::string_view tensors = arguments[5];
    const std::size_t open = tensors.find('{');
    const auto close =
        open == std::string_view::npos ? std::nullopt : closing_bracket(tensors, open);
    std::vector<std::string> results;
    std::string list;
    if (close)
      for (const std::string_view each :
           split_arguments(tensors.substr(open + 1, *close - open - 1))) {
        if (prepared_.find(each) != prepared_.end())
          results.emplace_back(each);
        else
          list += expression(each) + ", ";
      }
    for (const std::string& each : results) prepared_.erase(each);
    const bool is_known = number && *number < targets_.size() && !targets_[*number].empty();
    std::string op = is_known ? operator_name(targets_[*number]) : "torch.ops.unknown";
    if (!is_known && !results.empty())
      if (const auto it = made_by_.find(results.front()); it != made_by_.end()) op = it->second;
    result_of(results, fmt::format("{}({})", op, list));
  }

  const std::vector<std::string>& targets_;
  const wrapper::Parts& parts_;
  PythonBody body_;
  wrapper::Origin current_;
  std::set<std::string, std::less<>> handles_;
  std::map<std::string, std::string, std::less<>> names_;    // by handle: the tensor's name
  std::map<std::string, std::string, std::less<>> made_by_;  // by tensor: the operator
  std::map<std::string, std::string, std::less<>> arrays_;   // by name: a tuple
  std::map<std::string, std::string, std::less<>> same_;     // by handle: what it stands for
  std::set<std::string, std::less<>> prepared_;              // tensors for the next proxy call
  std::vector<std::string> outputs_;
};

}  // namespace

PythonBody python_body(const std::vector<Statement>& statements,
                       const std::vector<std::string>& targets, const wrapper::Parts& parts) {
  return Rewriter(targets, parts).run(statements);
}

std::string python_tuple(std::string_view list) {
  list = trimmed(list);
  if (list.size() < 2) return "()";
  std::string tuple = "(";
  for (const std::string_view each : split_arguments(list.substr(1, list.size() - 2)))
    tuple += plain(each) + ", ";
  return tuple + ")";
}

std::string_view dtype_name(std::string_view text) {
  return behind(text, "torch_dtype_");
}

}  // namespace jointer::cpp
