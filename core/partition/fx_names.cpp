#include "core/partition/fx_names.h"

#include <optional>

#include "core/base/number_text.h"
#include "core/graph/torch_version.h"

namespace jointer {
namespace {

// The names that torch.fx avoids (`_illegal_names` in torch/fx/graph.py), between spaces: the
// keywords and builtins of Python 3.10 to 3.14 except None, and the globals of generated code. A
// few of the exception classes are builtins only since 3.11 or 3.13.
constexpr std::string_view kIllegal =
    " ArithmeticError AssertionError AttributeError BaseException BaseExceptionGroup "
    "BlockingIOError BrokenPipeError BufferError BytesWarning ChildProcessError "
    "ConnectionAbortedError ConnectionError ConnectionRefusedError ConnectionResetError "
    "DeprecationWarning EOFError Ellipsis EncodingWarning EnvironmentError Exception "
    "ExceptionGroup False FileExistsError FileNotFoundError FloatingPointError FutureWarning "
    "GeneratorExit IOError ImportError ImportWarning IndentationError IndexError "
    "InterruptedError IsADirectoryError KeyError KeyboardInterrupt LookupError MemoryError "
    "ModuleNotFoundError NameError NoneType NotADirectoryError NotImplemented "
    "NotImplementedError OSError OverflowError PendingDeprecationWarning PermissionError "
    "ProcessLookupError PythonFinalizationError RecursionError ReferenceError ResourceWarning "
    "RuntimeError RuntimeWarning StopAsyncIteration StopIteration SyntaxError SyntaxWarning "
    "SystemError SystemExit TabError TimeoutError True TypeError UnboundLocalError "
    "UnicodeDecodeError UnicodeEncodeError UnicodeError UnicodeTranslateError UnicodeWarning "
    "UserWarning ValueError Warning ZeroDivisionError _IncompleteInputError __build_class__ "
    "__debug__ __doc__ __import__ __loader__ __name__ __package__ __spec__ abs aiter all and "
    "anext any as ascii assert async await bin bool break breakpoint bytearray bytes callable "
    "chr class classmethod compile complex continue copyright credits def del delattr device "
    "dict dir divmod elif else enumerate eval except exec exit filter finally float for format "
    "from frozenset fx_pytree getattr global globals hasattr hash help hex id if import in inf "
    "input int is isinstance issubclass iter lambda len license list locals map max memoryview "
    "min nan next nonlocal not object oct open or ord pass pow print property pytree quit raise "
    "range repr return reversed round set setattr slice sorted staticmethod str sum super torch "
    "try tuple type vars while with yield zip ";

bool is_illegal(std::string_view name) {
  return kIllegal.find(fmt::format(" {} ", name)) != std::string_view::npos;
}

struct Parts {
  std::string_view base;
  std::optional<long long> number;
};

// Splits a name: relu_12 into relu and 12. A name such as _12 has no number.
Parts split(std::string_view name) {
  const auto underscore = name.rfind('_');
  if (underscore == std::string_view::npos || underscore == 0 || underscore + 1 == name.size())
    return {name, {}};
  const auto number = number_of<long long>(name.substr(underscore + 1));
  if (!number || name[underscore + 1] == '-') return {name, {}};
  return {name.substr(0, underscore), *number};
}

bool is_between(char c, char first, char last) {
  return c >= first && c <= last;
}

std::string numbered(std::string_view base, long long number) {
  return fmt::format("{}_{}", base, number);
}

// Converts to snake_case, with one underscore for each run of characters that a name cannot
// contain, and one before a leading digit.
std::string to_name(std::string_view text) {
  std::string name;
  bool is_gap = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool is_upper = is_between(c, 'A', 'Z');
    if (is_upper && i > 0 && is_between(text[i - 1], 'a', 'z')) name += '_';
    const bool is_legal =
        is_upper || is_between(c, 'a', 'z') || is_between(c, '0', '9') || c == '_';
    if (is_legal)
      name += is_upper ? static_cast<char>(c - 'A' + 'a') : c;
    else if (!is_gap)
      name += '_';
    is_gap = !is_legal;
  }
  return !name.empty() && is_between(name.front(), '0', '9') ? "_" + name : name;
}

}  // namespace

std::string fx_call_name(std::string_view target) {
  const std::size_t dot = target.find('.');
  return to_name(dot == std::string_view::npos ? target : target.substr(dot + 1));
}

std::string fx_attribute_name(std::string_view target) {
  return to_name(target);
}

std::string FxNames::create(std::string_view candidate) {
  return take(candidate, /*avoids=*/is_illegal(candidate));
}

void FxNames::use(std::string_view name) {
  take(name, /*avoids=*/false);
}

std::string FxNames::take(std::string_view candidate, bool avoids) {
  std::string name(candidate);
  const auto [base, given] = split(candidate);
  long long number = given.value_or(0);
  if (!given || used_.find(candidate)) {
    number = last_number(goes_on_ ? base : candidate);
    if (avoids) name = numbered(base, ++number);
  }
  while (used_.find(name)) name = numbered(base, ++number);
  used_.intern(name);
  const StringId id = bases_.intern(base);
  last_numbers_.resize(bases_.size());
  last_numbers_[id.index()] = number;
  return name;
}

long long FxNames::last_number(std::string_view base) const {
  const StringId id = bases_.find(base);
  return id && id.index() < last_numbers_.size() ? last_numbers_[id.index()] : 0;
}

FxNames names_of(const Graph& graph, PartId part) {
  FxNames names(torch_version_of(graph.part(part)));
  for (const NodeId id : graph.order())
    if (graph.node(id).part == part) names.use(graph.name(id));
  return names;
}

}  // namespace jointer
