#pragma once

// 1 where the address sanitizer is on: times say nothing there, and what takes long takes longer.

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define JOINTER_IS_SANITIZED 1
#endif
#endif
#ifndef JOINTER_IS_SANITIZED
#define JOINTER_IS_SANITIZED 0
#endif
