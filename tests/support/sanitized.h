#pragma once

// JOINTER_IS_SANITIZED is 1 if clang compiles with AddressSanitizer, which makes measured times
// meaningless and long tests slow.

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define JOINTER_IS_SANITIZED 1
#endif
#endif
#ifndef JOINTER_IS_SANITIZED
#define JOINTER_IS_SANITIZED 0
#endif
