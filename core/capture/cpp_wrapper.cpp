// Reads a wrapper in C++ in three steps: the sources of the kernels, the shapes of inputs (which
// the wrapper checks) and of constants (which it states), and the statements of `run_impl`. All of
// them are put into the form of a wrapper in Python (cpp_wrapper_calls.h), whose reader then
// follows the calls.

#include "core/capture/cpp_wrapper.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "core/base/characters.h"
#include "core/base/number_text.h"
#include "core/base/take_part.h"
#include "core/base/trimmed.h"
#include "core/capture/cpp_text.h"
#include "core/capture/cpp_wrapper_calls.h"
#include "core/capture/output_code_calls.h"
#include "core/capture/output_code_parts.h"

namespace jointer {
namespace {

constexpr std::string_view kRunFunction = "::run_impl(";

// The names of a function's parameters: "in_ptr0" for `const float* in_ptr0`.
std::vector<std::string> parameter_names(std::string_view list) {
  std::vector<std::string> names;
  for (const std::string_view each : cpp::split_arguments(list))
    names.emplace_back(cpp::last_name(each));
  return names;
}

// A kernel without source text: Inductor's names begin with the language and the kind.
KernelSource undefined_source(const std::string& name) {
  KernelSource source{.name = name};
  source.language = name.substr(0, name.find('_'));
  if (source.language == "cuda" || source.language == "rocm" || name.starts_with("triton_tem"))
    source.kind = CompiledKind::matrix_template;
  else if (name.starts_with("triton_red") || name.starts_with("triton_per"))
    source.kind = CompiledKind::reduction;
  else if (name.starts_with("triton_for"))
    source.kind = CompiledKind::foreach;
  else if (source.language == "triton" && !name.starts_with("triton_poi"))
    source.kind = CompiledKind::external;  // a kernel that the user wrote
  return source;
}

// The position of the next character that is not blank.
std::size_t after_blanks(std::string_view text, std::size_t at) {
  while (at < text.size() && static_cast<unsigned char>(text[at]) <= ' ') ++at;
  return at;
}

// Finds the sources of kernels.
class CppSources {
 public:
  // Definitions and declarations with C linkage:
  // `extern "C" void cpp_fused_add_0(const float* in_ptr0)`.
  void add_cpp(std::string_view text) {
    constexpr std::string_view kExtern = "extern \"C\"";
    for (std::size_t at = text.find(kExtern), next = 0; at != std::string_view::npos;
         at = text.find(kExtern, next)) {
      next = at + 1;
      const std::size_t open = text.find_first_of("({;\n", at);
      if (open == std::string_view::npos || text[open] != '(') continue;
      const auto close = cpp::closing_bracket(text, open);
      if (!close) return;
      next = *close;
      const std::string name(cpp::last_name(text.substr(0, open)));
      const std::size_t behind = after_blanks(text, *close + 1);
      std::string_view definition;
      if (behind < text.size() && text[behind] == '{') {
        const auto end = cpp::closing_bracket(text, behind);
        if (!end) return;
        next = *end;
        definition = text.substr(at, *end + 1 - at);
      }
      if (is_identifier(name))
        add(name,
            definition.empty() ? "" : fmt::format("async_compile.cpp('''\n{}\n''')", definition),
            parameter_names(text.substr(open + 1, *close - open - 1)));
    }
  }

  // Functions that launch a Triton kernel: `void call_NAME(const in_ptr0_type_& in_ptr0, ...) {`,
  // with the kernel's source in a comment.
  void add_triton(std::string_view text) {
    constexpr std::string_view kLauncher = "void call_";
    for (std::size_t at = text.find(kLauncher), next = 0; at != std::string_view::npos;
         at = text.find(kLauncher, next)) {
      const std::size_t open = text.find('(', at);
      if (open == std::string_view::npos) return;
      const std::string_view name =
          text.substr(at + kLauncher.size(), open - at - kLauncher.size());
      const auto close = cpp::closing_bracket(text, open);
      if (!close) return;
      next = *close;
      const std::size_t brace = after_blanks(text, *close + 1);
      if (!is_identifier(name) || !text.substr(std::min(brace, text.size())).starts_with('{'))
        continue;
      const std::string_view body = text.substr(after_blanks(text, brace + 1));
      std::string_view source;
      if (body.starts_with("/*")) source = body.substr(2, body.find("*/") - 2);
      next += source.size();
      add(std::string(name), without_indent(source),
          parameter_names(text.substr(open + 1, *close - open - 1)));
    }
  }

  wrapper::Parts take() { return std::move(parts_); }

 private:
  // Removes the indent of the first line from all lines.
  static std::string without_indent(std::string_view text) {
    while (text.starts_with('\n')) text.remove_prefix(1);
    const std::size_t indent = std::min(text.find_first_not_of(' '), text.size());
    std::string result;
    while (!text.empty()) {
      std::string_view line = take_part(text, '\n');
      line.remove_prefix(std::min(line.find_first_not_of(' '), std::min(indent, line.size())));
      result += line;
      result += '\n';
    }
    return result;
  }

  // `definition`: what a wrapper in Python assigns to the name; empty for a declaration.
  void add(const std::string& name, std::string_view definition,
           std::vector<std::string> parameters) {
    const auto known = parts_.source_of.find(name);
    if (known != parts_.source_of.end() && definition.empty()) return;
    wrapper::Parts read = wrapper::parts_of(fmt::format("{} = {}\n", name, trimmed(definition)));
    KernelSource source =
        read.sources.empty() ? undefined_source(name) : std::move(read.sources.front());
    source.parameters = std::move(parameters);
    if (known != parts_.source_of.end()) {
      parts_.sources[known->second] = std::move(source);
      return;
    }
    parts_.source_of.emplace(name, parts_.sources.size());
    parts_.sources.push_back(std::move(source));
  }

  wrapper::Parts parts_;
};

// The tensors that a wrapper gets. Its checks compare each size and stride that is known:
//   int32_t arg0_1_expected_dtype = aoti_torch_dtype_float32();
//   if (1024 != arg0_1_size[0]) {
//   if (256 != arg0_1_stride[0]) {
//   int32_t arg0_1_expected_device_type = 0;
// and its constructor describes the constants:
//   constants_info_[0].name = "weight";
//   constants_info_[0].dtype = static_cast<int32_t>(cached_torch_dtype_float32);
//   constants_info_[0].shape = {64, 64};
//   constants_info_[0].stride = {64, 1};
class CppInputs {
 public:
  void read(std::string_view text) {
    while (!text.empty()) line(trimmed(take_part(text, '\n')));
  }

  // The inputs and constants as the body of a Python function `get_args`.
  [[nodiscard]] std::string python_lines() const {
    std::string lines;
    for (const auto& [name, input] : inputs_) lines += python_line(name, input);
    for (auto [index, constant] : constants_) {
      constant.device = device_of_constants_;
      if (!constant.name.empty()) lines += python_line(constant.name, constant);
    }
    return lines;
  }

 private:
  struct Input {
    std::string name, dtype, device = "cpu";
    std::map<std::size_t, std::string> sizes, strides;  // those that are known, by dimension
    std::size_t dimensions = 0;
    std::string size, stride;  // of a constant: whole lists
  };

  static std::string list_of(const std::map<std::size_t, std::string>& known,
                             std::size_t dimensions) {
    std::string list = "(";
    for (std::size_t i = 0; i < dimensions; ++i) {
      const auto it = known.find(i);
      list += it == known.end() ? std::string("unknown") : it->second;
      list += ", ";
    }
    return list + ")";
  }

  static std::string python_line(std::string_view name, const Input& input) {
    if (input.dtype.empty()) return {};
    return fmt::format(
        "{} = rand_strided({}, {}, device='{}', dtype=torch.{})\n", name,
        input.size.empty() ? list_of(input.sizes, input.dimensions) : input.size,
        input.stride.empty() ? list_of(input.strides, input.dimensions) : input.stride,
        input.device, input.dtype);
  }

  // The identifier between `mark`, with which the text must start, and `suffix`; nullopt if either
  // is missing or the text between them is not an identifier.
  static std::optional<std::string_view> name_in(std::string_view text, std::string_view mark,
                                                 std::string_view suffix) {
    if (!text.starts_with(mark)) return std::nullopt;
    text.remove_prefix(mark.size());
    const std::size_t end = text.find(suffix);
    if (end == std::string_view::npos || !is_identifier(text.substr(0, end))) return std::nullopt;
    return text.substr(0, end);
  }

  void line(std::string_view text) {
    if (text.starts_with("constants_info_[")) return constant(text);
    if (text.starts_with("CACHE_TORCH_DEVICE(cuda)")) device_of_constants_ = "cuda";
    if (text.starts_with("int32_t ")) {
      const std::string_view value = trimmed(text.substr(std::min(text.find('='), text.size())));
      if (const auto name = name_in(text, "int32_t ", "_expected_dtype = "))
        input(*name).dtype = cpp::dtype_name(value);
      else if (const auto on = name_in(text, "int32_t ", "_expected_device_type = "))
        input(*on).device = value.starts_with("= 0") ? "cpu" : "cuda";
      return;
    }
    if (text.starts_with("if (")) dimension(text.substr(4));
  }

  // Reads a check of a dimension, `1024 != arg0_1_size[0]) {`, or a limit,
  // `arg0_1_size[0] > 1024) {`.
  void dimension(std::string_view text) {
    for (const std::string_view what : {"_size[", "_stride["}) {
      const std::size_t at = text.find(what);
      if (at == std::string_view::npos) continue;
      const std::string_view name = cpp::last_name(text.substr(0, at));
      std::string_view rest = text.substr(at + what.size());
      const auto index = number_of<std::size_t>(take_part(rest, ']'));
      constexpr std::size_t kMaxDimensions = 64;
      if (!index || *index >= kMaxDimensions || !is_identifier(name)) return;
      Input& of = input(name);
      of.dimensions = std::max(of.dimensions, *index + 1);
      std::string_view number = trimmed(text.substr(0, std::min(text.find("!="), at)));
      if (number.ends_with('L')) number.remove_suffix(1);
      if (text.find("!=") < at && is_digits(number))
        (what == "_size[" ? of.sizes : of.strides).insert_or_assign(*index, std::string(number));
      return;
    }
  }

  void constant(std::string_view text) {
    take_part(text, '[');
    const auto index = number_of<std::size_t>(take_part(text, ']'));
    const std::size_t equals = text.find('=');
    if (!index || !text.starts_with('.') || equals == std::string_view::npos) return;
    const std::string_view field = trimmed(text.substr(1, equals - 1));
    std::string_view value = trimmed(text.substr(equals + 1));
    if (value.ends_with(';')) value.remove_suffix(1);
    Input& of = constants_[*index];
    if (field == "name" && value.size() > 2) of.name = value.substr(1, value.size() - 2);
    if (field == "dtype") of.dtype = cpp::dtype_name(value);
    if (field == "shape") of.size = cpp::python_tuple(value);
    if (field == "stride") of.stride = cpp::python_tuple(value);
  }

  Input& input(std::string_view name) {
    return inputs_.try_emplace(std::string(name)).first->second;
  }

  std::map<std::string, Input, std::less<>> inputs_;
  std::map<std::size_t, Input> constants_;
  std::string device_of_constants_ = "cpu";
};

}  // namespace

Result<CompiledProgram> read_cpp_wrapper(std::string_view name, CppWrapper given) {
  CompiledProgram program;
  program.text = std::move(given.text);
  const std::string_view text = program.text;
  const std::size_t at = text.find(kRunFunction);
  const std::size_t parameters = at + kRunFunction.size() - 1;
  const auto last =
      at == std::string_view::npos ? std::nullopt : cpp::closing_bracket(text, parameters);
  const std::size_t open = last ? text.find('{', *last) : std::string_view::npos;
  if (open == std::string_view::npos)
    return input_error("{}: the wrapper has no function `run_impl`; is the text cut off?", name);
  const auto close = cpp::closing_bracket(text, open);
  if (!close)
    return input_error("{}: line {}: the function `run_impl` does not end; is the text cut off?",
                       name, cpp::line_at(text, at));

  CppSources sources;
  sources.add_cpp(given.kernels);
  sources.add_cpp(text.substr(0, at));
  sources.add_cpp(text.substr(*close));
  sources.add_triton(text.substr(0, at));
  wrapper::Parts parts = sources.take();
  CppInputs inputs;
  inputs.read(text.substr(0, at));
  const std::string arguments = inputs.python_lines();
  const auto statements =
      cpp::statements_of(text.substr(open + 1, *close - open - 1), cpp::line_at(text, open));
  cpp::PythonBody body = cpp::python_body(statements, given.targets, parts);
  parts.functions.insert_or_assign("get_args", wrapper::Function{.body = arguments});
  parts.functions.insert_or_assign(
      "call", wrapper::Function{.body = body.text, .origins = std::move(body.origins)});
  program.sources = parts.sources;
  JOINTER_CHECK(wrapper::follow_calls(name, parts, program));
  return program;
}

}  // namespace jointer
