# Files of a target are compiled in batches, which parse headers and instantiate templates once per batch. A
# build from nothing takes less than half the time.
#
# Names in anonymous namespaces must therefore differ between files that are close together in a list of
# sources. Changing a file compiles its batch, a few seconds; -DJOINTER_BATCHES=OFF compiles each file by
# itself, as scripts/tidy needs.
option(JOINTER_BATCHES "Compile files in batches" ON)

# jointer_batches(TARGET...) compiles the files of these targets in batches.
function(jointer_batches)
  if(NOT JOINTER_BATCHES)
    return()
  endif()
  set_target_properties(${ARGN} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    foreach(target ${ARGN})
      # GCC takes the files that a batch includes for headers, and warns of their anonymous namespaces.
      target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
    endforeach()
  endif()
endfunction()
