#pragma once

// Errors are values. A function that can fail returns Result<T>; nothing in `core` throws across a
// public interface. A message is one line that says what is wrong, where (file, node, argument,
// byte offset), and what to do about it.

#include <fmt/core.h>

#include <cstdint>
#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace jointer {

struct Error {
  enum class Kind : std::uint8_t {
    usage,      // the request names something that does not exist or does not fit
    input,      // a file or stream is unreadable or invalid
    run,        // a child process, a write or another operation at run time failed
    cancelled,  // the user cancelled the work
  };
  Kind kind;
  std::string message;
};

template <class T>
using Result = tl::expected<T, Error>;

template <class... Args>
[[nodiscard]] tl::unexpected<Error> fail(Error::Kind kind, fmt::format_string<Args...> format,
                                         Args&&... args) {
  return tl::unexpected<Error>({kind, fmt::format(format, std::forward<Args>(args)...)});
}

template <class... Args>
[[nodiscard]] tl::unexpected<Error> input_error(fmt::format_string<Args...> format,
                                                Args&&... args) {
  return fail(Error::Kind::input, format, std::forward<Args>(args)...);
}

}  // namespace jointer

#define JOINTER_CONCAT_INNER(a, b) a##b
#define JOINTER_CONCAT(a, b) JOINTER_CONCAT_INNER(a, b)

// JOINTER_TRY(auto graph, read(path)) declares `graph`, or returns the error to the caller.
#define JOINTER_TRY(declaration, expression)                           \
  auto JOINTER_CONCAT(jointer_result_, __LINE__) = (expression);       \
  if (!JOINTER_CONCAT(jointer_result_, __LINE__))                      \
    return tl::unexpected<::jointer::Error>(                           \
        std::move(JOINTER_CONCAT(jointer_result_, __LINE__)).error()); \
  declaration = *std::move(JOINTER_CONCAT(jointer_result_, __LINE__))

// The same for a Result<void>.
#define JOINTER_CHECK(expression)                        \
  if (auto jointer_check = (expression); !jointer_check) \
  return tl::unexpected<::jointer::Error>(std::move(jointer_check).error())
