#pragma once

#include <string_view>

namespace jointer {

// The part of a kernel's demangled name that fits in a row of a timeline: without the return type
// `void`, namespaces and parameters, but with template arguments, which distinguish the kernels of
// a library. "void at::native::elementwise_kernel<4, Add>(int)" becomes
// "elementwise_kernel<4, Add>".
// A name that has no such part is returned unchanged. The result refers to `name`.
std::string_view short_kernel_name(std::string_view name);

}  // namespace jointer
