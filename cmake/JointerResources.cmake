# Embeds data files in a program, so that it runs without being installed. The assembler includes the files
# byte for byte, so a large table takes no compile time.

# jointer_embed(target NAMESPACE ns FILES symbol=path ...) declares a function
# `std::string_view ns::symbol()` for each file, in "embedded/<target>.h".
function(jointer_embed target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "NAMESPACE" "FILES")
  set(header ${PROJECT_BINARY_DIR}/embedded/${target}.h)
  set(source ${PROJECT_BINARY_DIR}/embedded/${target}.cpp)
  set(declarations "")
  set(definitions "")
  set(inputs "")
  foreach(entry IN LISTS arg_FILES)
    string(REGEX MATCH "^([^=]+)=(.+)$" _ "${entry}")
    set(symbol ${CMAKE_MATCH_1})
    get_filename_component(path ${CMAKE_MATCH_2} ABSOLUTE)
    list(APPEND inputs ${path})
    string(APPEND declarations "std::string_view ${symbol}();\n")
    set(label "jointer_embedded_${target}_${symbol}")
    string(APPEND definitions
      "asm(\".section .rodata\\n\"\n"
      "    \".global ${label}_begin\\n.global ${label}_end\\n\"\n"
      "    \"${label}_begin:\\n.incbin \\\"${path}\\\"\\n${label}_end:\\n.byte 0\\n\"\n"
      "    \".previous\\n\");\n"
      "extern \"C\" const char ${label}_begin[], ${label}_end[];\n"
      "std::string_view ${arg_NAMESPACE}::${symbol}() {\n"
      "  return {${label}_begin, static_cast<std::size_t>(${label}_end - ${label}_begin)};\n}\n")
  endforeach()
  file(CONFIGURE OUTPUT ${header} @ONLY CONTENT
    "// Made by cmake/JointerResources.cmake.\n#pragma once\n#include <string_view>\nnamespace ${arg_NAMESPACE} {\n${declarations}}  // namespace ${arg_NAMESPACE}\n")
  file(CONFIGURE OUTPUT ${source} @ONLY CONTENT
    "// Made by cmake/JointerResources.cmake.\n#include \"embedded/${target}.h\"\n#include <cstddef>\n${definitions}")
  add_library(${target} STATIC ${source} ${header})
  target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}>)
  target_compile_features(${target} PUBLIC cxx_std_20)
  set_source_files_properties(${source} PROPERTIES OBJECT_DEPENDS "${inputs}")
endfunction()
