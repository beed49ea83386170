# Defines the warnings, sanitizers and include paths that all targets share, and adds libraries with them.

# Warnings are errors with the compilers that the tests use. Newer compilers have new warnings, which must not
# break the build.
set(werror OFF)
if((CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
   OR (CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 15))
  set(werror ON)
endif()
option(JOINTER_WERROR "Treat warnings as errors" ${werror})
option(JOINTER_SANITIZE "Build with AddressSanitizer and UndefinedBehaviorSanitizer" OFF)
option(JOINTER_SANITIZE_THREADS "Build sessions and their tests with ThreadSanitizer" OFF)

add_library(jointer_options INTERFACE)
target_include_directories(jointer_options INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
  $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}>
  $<INSTALL_INTERFACE:include/jointer>)
target_compile_features(jointer_options INTERFACE cxx_std_20)

# Warnings and sanitizers apply to this build, not to plugins built against it.
# Designated initializers may omit members that keep their defaults.
set(flags
  -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wnon-virtual-dtor -Wold-style-cast
  -Woverloaded-virtual -Wnull-dereference -Wimplicit-fallthrough -Wno-missing-field-initializers)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC's flow analysis reports null pointers and overlapping copies in the standard library's own code (GCC bugs
  # 105329, 105580), more often if headers are precompiled.
  list(APPEND flags -Wno-null-dereference -Wno-restrict -Wno-stringop-overflow
    -Wno-free-nonheap-object -Wduplicated-cond -Wlogical-op)
endif()
if(JOINTER_WERROR)
  list(APPEND flags -Werror)
endif()
target_compile_options(jointer_options INTERFACE "$<BUILD_INTERFACE:${flags}>")
if(JOINTER_SANITIZE)
  # -fno-sanitize-recover: a finding is a failed test, not a line in a log.
  set(flags -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
    -O1 -gline-tables-only)
  target_compile_options(jointer_options INTERFACE "$<BUILD_INTERFACE:${flags}>")
  target_link_options(jointer_options INTERFACE "$<BUILD_INTERFACE:${flags}>")
endif()
# libFuzzer needs coverage of every library.
if(JOINTER_FUZZ_COVERAGE)
  target_compile_options(jointer_options INTERFACE $<BUILD_INTERFACE:-fsanitize=fuzzer-no-link>)
  target_link_options(jointer_options INTERFACE $<BUILD_INTERFACE:-fsanitize=fuzzer-no-link>)
endif()

# jointer_sanitize_threads(target) instruments a target, and all targets that link to it, in a build for
# ThreadSanitizer. The libraries that the target links to are those of a release build, cached by ccache:
# ThreadSanitizer sees their locks, but not their memory accesses.
function(jointer_sanitize_threads target)
  if(JOINTER_SANITIZE_THREADS)
    target_compile_options(${target} PUBLIC -fsanitize=thread -g1 -Wno-tsan)
    target_link_options(${target} PUBLIC -fsanitize=thread)
  endif()
endfunction()

# jointer_library(name SOURCES ... LINK ...) adds a static library.
function(jointer_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LINK")
  add_library(${name} STATIC ${arg_SOURCES})
  target_link_libraries(${name} PUBLIC jointer_options ${arg_LINK})
endfunction()
