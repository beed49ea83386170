#pragma once

#include <c10/util/Exception.h>

#include <string>
#include <string_view>

namespace jointer::runner {

// The first line of torch's message. It says what is wrong; details follow it.
inline std::string first_line(std::string_view text) {
  return std::string(text.substr(0, text.find('\n')));
}

inline std::string summary(const c10::Error& error) {
  return first_line(std::string_view(error.what_without_backtrace()));
}

}  // namespace jointer::runner
