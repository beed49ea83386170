#pragma once

#include <stdexcept>
#include <utility>

#include "core/base/result.h"

namespace jointer::test {

// The value of a result that must not be an error.
template <class T>
T must(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message);
  return *std::move(result);
}

}  // namespace jointer::test
