// Finds the kernels and the functions in a wrapper's text. Strings between triple quotes are
// skipped as a whole, since they contain programs in other languages.

#include <algorithm>

#include "core/base/characters.h"
#include "core/base/take_part.h"
#include "core/base/trimmed.h"
#include "core/capture/bracketed_text.h"
#include "core/capture/cpp_text.h"
#include "core/capture/output_code_parts.h"

namespace jointer::wrapper {
namespace {

constexpr std::string_view kTriple = "'''", kTripleDouble = R"(""")";
constexpr std::string_view kCompile = "async_compile.";

// The position after the string in Python that starts at `at`, or `at` if none starts there.
std::size_t after_literal(std::string_view text, std::size_t at) {
  if (text[at] != '\'' && text[at] != '"') return at;
  for (const std::string_view quote : {kTriple, kTripleDouble})
    if (text.substr(at).starts_with(quote)) {
      const std::size_t end = text.find(quote, at + quote.size());
      return end == std::string_view::npos ? text.size() : end + quote.size();
    }
  return after_string(text, at);
}

std::vector<std::string> names_in(std::string_view list) {
  std::vector<std::string> names;
  for (const std::string_view name : split_list(list))
    if (!name.empty()) names.emplace_back(name);
  return names;
}

// The text between `begin` and the next `]`.
std::string_view listed_after(std::string_view line, std::string_view begin) {
  const std::size_t at = line.find(begin);
  if (at == std::string_view::npos) return {};
  line.remove_prefix(at + begin.size());
  return line.substr(0, line.find(']'));
}

// The names of the parameters in `def NAME(in_ptr0, xnumel, XBLOCK : tl.constexpr):`.
std::vector<std::string> triton_parameters(std::string_view text) {
  std::vector<std::string> parameters;
  std::size_t at = text.find("@triton.jit");
  at = at == std::string_view::npos ? text.find("def ") : text.find("def ", at);
  if (at == std::string_view::npos) return parameters;
  CallText call;
  if (!split_call(text.substr(at + 4), call)) return parameters;
  for (std::string_view parameter : split_list(call.arguments))
    parameters.emplace_back(trimmed(take_part(parameter, ':')));
  return parameters;
}

// The names of the parameters in `void kernel(const float* in_ptr0, ...)`.
std::vector<std::string> cpp_parameters(std::string_view text) {
  std::vector<std::string> parameters;
  const std::size_t at = text.find("kernel(");
  if (at == std::string_view::npos) return parameters;
  const auto call = cpp::call_in(text.substr(at));
  if (!call) return parameters;
  for (const std::string_view parameter : cpp::split_arguments(call->arguments))
    parameters.emplace_back(cpp::last_name(parameter));
  return parameters;
}

// The decorator's name: `persistent_reduction` in `@triton_heuristics.persistent_reduction(`.
std::string heuristic_of(std::string_view text) {
  constexpr std::string_view kDecorator = "@triton_heuristics.";
  const std::size_t at = text.find(kDecorator);
  if (at == std::string_view::npos) return {};
  text.remove_prefix(at + kDecorator.size());
  return std::string(text.substr(0, text.find('(')));
}

CompiledKind triton_kind(std::string_view text, std::string_view heuristic) {
  if (heuristic == "foreach" || text.find("'combo_grid_meta'") != std::string_view::npos)
    return CompiledKind::foreach;
  if (text.find("'MixOrderReductionGrid'") != std::string_view::npos)
    return CompiledKind::mix_order_reduction;
  if (heuristic == "template") return CompiledKind::matrix_template;
  if (heuristic == "pointwise") return CompiledKind::pointwise;
  // Scans loop over a dimension as reductions do.
  if (heuristic.find("reduction") != std::string_view::npos || heuristic == "split_scan")
    return CompiledKind::reduction;
  return CompiledKind::external;  // a kernel that the user wrote
}

// Kernels in C++ do not state their kind.
CompiledKind cpp_kind(std::string_view text) {
  if (text.find("micro_gemm") != std::string_view::npos) return CompiledKind::matrix_template;
  return text.find("tmp_acc") != std::string_view::npos ||
                 text.find("_acc_") != std::string_view::npos
             ? CompiledKind::reduction
             : CompiledKind::pointwise;
}

// Reads `NAME = async_compile.LANGUAGE(..., '''TEXT''', ...)`; false for any other statement.
bool read_source(std::string_view statement, KernelSource& source) {
  const std::size_t equals = statement.find('=');
  if (equals == std::string_view::npos) return false;
  const std::string_view name = trimmed(statement.substr(0, equals));
  std::string_view value = trimmed(statement.substr(equals + 1));
  if (!is_identifier(name) || !value.starts_with(kCompile)) return false;
  value.remove_prefix(kCompile.size());
  source.name = name;
  source.language = value.substr(0, value.find('('));
  const std::size_t begin = value.find(kTriple);
  if (begin == std::string_view::npos) return false;
  const std::size_t end = value.find(kTriple, begin + kTriple.size());
  std::string_view text = value.substr(begin + kTriple.size());
  if (end != std::string_view::npos) text = text.substr(0, end - begin - kTriple.size());
  if (text.starts_with('\n')) text.remove_prefix(1);
  source.text = text;
  if (source.language == "triton") {
    source.heuristic = heuristic_of(text);
    source.kind = triton_kind(text, source.heuristic);
    source.parameters = triton_parameters(text);
  } else if (source.language.starts_with("cpp")) {
    source.kind = cpp_kind(text);
    source.parameters = cpp_parameters(text);
  } else {
    source.kind = CompiledKind::matrix_template;  // cuda, cutedsl: templates of matrix products
  }
  return true;
}

// Walks over the statements of a text. Text in triple quotes is a part of its statement.
class PartsReader {
 public:
  explicit PartsReader(std::string_view text) : text_(text) {}

  Parts read() {
    while (at_ < text_.size()) line();
    close();
    return std::move(parts_);
  }

 private:
  void line() {
    const std::size_t begin = at_;
    const std::size_t number = ++number_;
    skip_statement();
    const std::string_view statement = text_.substr(begin, at_ - begin);
    const std::string_view shown = trimmed(statement);
    const std::size_t indent = statement.size() - trimmed_start(statement).size();
    if (shown.empty()) return;
    if (shown.starts_with('#')) {
      if (indent == 0) comment_.add(shown);
      return;
    }
    if (is_open_ && indent <= indent_) close();
    if (shown.starts_with("def ")) {
      open(shown, indent);
      return;
    }
    if (is_open_ && body_begin_ == std::string_view::npos) {
      body_begin_ = begin;
      body_number_ = number;
    }
    if (is_open_) body_end_ = at_;
    if (indent == 0) definition(shown);
  }

  static std::string_view trimmed_start(std::string_view text) {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
    return text;
  }

  void definition(std::string_view statement) {
    KernelSource source;
    if (read_source(statement, source)) {
      source.nodes = std::move(comment_.nodes);
      source.source_nodes = std::move(comment_.source_nodes);
      source.operators = std::move(comment_.operators);
      parts_.source_of.emplace(source.name, parts_.sources.size());
      parts_.sources.push_back(std::move(source));
    } else {
      choice(statement);
    }
    comment_ = {};
  }

  // `NAME = async_compile.multi_kernel('NAME', [KERNEL, ...], ...)`, or with a dict of kernels: one
  // of them is chosen when the program runs. Their first arguments are the same, so the first
  // kernel describes the calls of NAME.
  void choice(std::string_view statement) {
    const std::size_t equals = statement.find('=');
    CallText call;
    if (equals == std::string_view::npos || !split_call(statement.substr(equals + 1), call) ||
        !call.callee.starts_with(kCompile) || !call.callee.ends_with("multi_kernel"))
      return;
    const auto arguments = split_list(call.arguments);
    std::string_view rest = arguments.size() < 2 ? std::string_view() : arguments[1];
    while (!rest.empty()) {
      std::size_t end = 0;
      while (end < rest.size() && is_name_character(rest[end])) ++end;
      if (const auto known = parts_.source_of.find(rest.substr(0, end));
          known != parts_.source_of.end()) {
        parts_.source_of.emplace(trimmed(statement.substr(0, equals)), known->second);
        return;
      }
      rest.remove_prefix(std::max(end, std::size_t{1}));
    }
  }

  void open(std::string_view statement, std::size_t indent) {
    if (is_open_) return;  // a function inside another one
    statement.remove_prefix(4);
    name_ = statement.substr(0, statement.find('('));
    indent_ = indent;
    is_open_ = true;
    body_begin_ = std::string_view::npos;
  }

  void close() {
    if (is_open_ && body_begin_ != std::string_view::npos)
      parts_.functions.insert_or_assign(
          std::string(name_), Function{.body = text_.substr(body_begin_, body_end_ - body_begin_),
                                       .first_number = body_number_});
    is_open_ = false;
  }

  // Moves past the line break that ends the statement; counts the further lines.
  void skip_statement() {
    int depth = 0;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (const std::size_t after = after_literal(text_, at_); after != at_) {
        number_ +=
            static_cast<std::size_t>(std::ranges::count(text_.substr(at_, after - at_), '\n'));
        at_ = after;
        continue;
      }
      if (c == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size());
        continue;
      }
      ++at_;
      if (opens_bracket(c)) ++depth;
      if (closes_bracket(c)) --depth;
      if (c == '\n') {
        if (depth <= 0) return;
        ++number_;
      }
    }
  }

  std::string_view text_;
  std::size_t at_ = 0, number_ = 0;
  Parts parts_;
  KernelComment comment_;
  bool is_open_ = false;
  std::string_view name_;
  std::size_t indent_ = 0, body_begin_ = std::string_view::npos, body_end_ = 0, body_number_ = 1;
};

}  // namespace

Parts parts_of(std::string_view text) {
  return PartsReader(text).read();
}

void KernelComment::add(std::string_view line) {
  while (line.starts_with('#')) line.remove_prefix(1);
  line = trimmed(line);
  constexpr std::string_view kHandles = "[Provenance debug handles] ";
  if (line.starts_with(kHandles)) {
    line.remove_prefix(kHandles.size());
    handle = trimmed(take_part(line, ','));
    return;
  }
  if (line.find("Source Nodes: [") != std::string_view::npos) {
    *this = {};
    source_nodes = names_in(listed_after(line, "Source Nodes: ["));
    operators = names_in(listed_after(line, "Original ATen: ["));
    return;
  }
  // A node of the graph:
  // `%mul : Tensor "f32[4]"[num_users=1] = call_function[target=...](args = (%x,), kwargs = {})`.
  if (!line.starts_with('%') || line.find("= call_function[") == std::string_view::npos) return;
  line.remove_prefix(1);
  std::size_t end = 0;
  while (end < line.size() && is_name_character(line[end])) ++end;
  nodes.emplace_back(line.substr(0, end));
}

std::vector<std::string_view> split_list(std::string_view text, char separator) {
  return split_outside_brackets(text, separator, after_literal);
}

std::string_view without_comment(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    if (const std::size_t after = after_literal(text, at); after != at) {
      at = after;
    } else if (text[at] == '#' && text.find('\n', at) == std::string_view::npos) {
      return trimmed(text.substr(0, at));
    } else {
      ++at;
    }
  }
  return trimmed(text);
}

std::string_view inside(std::string_view text) {
  text = trimmed(text);
  if (text.size() < 2 || (text.front() != '(' && text.front() != '[')) return text;
  return trimmed(text.substr(1, text.size() - 2));
}

bool split_call(std::string_view text, CallText& call) {
  text = trimmed(text);
  std::size_t open = 0;
  while (open < text.size() && is_dotted_name_character(text[open])) ++open;
  if (open == 0 || open == text.size() || text[open] != '(') return false;
  const auto close = find_closing_bracket(text, open, after_literal);
  if (!close) return false;
  call = {.callee = text.substr(0, open),
          .arguments = text.substr(open + 1, *close - open - 1),
          .rest = text.substr(*close + 1)};
  return true;
}

}  // namespace jointer::wrapper
