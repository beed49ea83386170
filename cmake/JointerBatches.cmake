# The files of a target are compiled in batches: each batch parses headers and instantiates templates only once. A
# build from scratch takes less than half the time.
#
# Names in anonymous namespaces must therefore differ between files that are close together in a list of
# sources. A change to a file recompiles its batch, which takes a few seconds. -DJOINTER_BATCHES=OFF compiles each
# file separately, as scripts/tidy requires.
#
# CMake's own UNITY_BUILD is not used: it writes absolute paths into its files, so that ccache shares no objects
# between clones. These batches include files by their paths in the project.
option(JOINTER_BATCHES "Compile files in batches" ON)
set(JOINTER_BATCH_SIZE 8)

# jointer_batches(TARGET...) compiles the files of these targets in batches, except for generated files and
# files whose COMPILE_DEFINITIONS are already set.
function(jointer_batches)
  if(NOT JOINTER_BATCHES)
    return()
  endif()
  foreach(target ${ARGN})
    get_target_property(sources ${target} SOURCES)
    list(FILTER sources INCLUDE REGEX "^[^$<>]+\\.cpp$")
    set(batch)
    set(number 0)
    foreach(source ${sources})
      get_source_file_property(definitions ${source} COMPILE_DEFINITIONS)
      get_source_file_property(generated ${source} GENERATED)
      if(NOT definitions AND NOT generated)
        list(APPEND batch ${source})
      endif()
      list(LENGTH batch size)
      if(size EQUAL JOINTER_BATCH_SIZE)
        jointer_add_batch(${target} ${number} ${batch})
        set(batch)
        math(EXPR number "${number} + 1")
      endif()
    endforeach()
    if(batch)
      jointer_add_batch(${target} ${number} ${batch})
    endif()
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      # GCC treats the files that a batch includes as headers, and warns about their anonymous namespaces.
      target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
    endif()
  endforeach()
endfunction()

# jointer_add_batch(TARGET NUMBER FILE...) compiles the files as one batch.
function(jointer_add_batch target number)
  set(content)
  foreach(source ${ARGN})
    file(RELATIVE_PATH path ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR}/${source})
    string(APPEND content "#include \"${path}\"\n")
  endforeach()
  set(file ${CMAKE_CURRENT_BINARY_DIR}/batches/${target}_${number}.cpp)
  file(CONFIGURE OUTPUT ${file} CONTENT "${content}" @ONLY)
  set_source_files_properties(${ARGN} PROPERTIES HEADER_FILE_ONLY ON)
  set_source_files_properties(${file} PROPERTIES SKIP_AUTOMOC ON)
  target_sources(${target} PRIVATE ${file})
endfunction()
