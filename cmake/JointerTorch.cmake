# Finds LibTorch in an installed torch wheel and defines imported targets:
#   jointer_torch_cpu    libtorch_cpu and libc10, for the runner
#   jointer_torch_cuda   also libtorch_cuda, libc10_cuda and the wheel's NCCL, if a CUDA toolkit
#                        with the wheel's major version is found
# Sets JOINTER_TORCH_FOUND, JOINTER_TORCH_CUDA_FOUND, JOINTER_TORCH_PYTHON (the Python with torch), and
# JOINTER_TORCH_CUDA_MISSING (the reason why jointer_torch_cuda is not defined).
#
# find_package(Torch) is not used: it requires libtorch_cuda, changes global CUDA flags, and fails with
# C++20 on machines without a GPU. The wheel is found without importing torch.

# The minor versions of torch 2 that the runner can be built against. scripts/setup.sh lists those that are tested.
set(JOINTER_TORCH_OLDEST 11)
set(JOINTER_TORCH_NEWEST 15)

set(JOINTER_PYTHON "" CACHE FILEPATH
  "Python with torch 2.${JOINTER_TORCH_OLDEST} to 2.${JOINTER_TORCH_NEWEST}; if empty, CMake looks for one")
set(JOINTER_TORCH_FOUND OFF)
set(JOINTER_TORCH_CUDA_FOUND OFF)

# Candidates: only JOINTER_PYTHON if it is set; otherwise the Python that the environment variable of this name gives,
# the active Python, and the environments that ./run and ./test create in the user's cache, newest first.
set(cache_home "$ENV{XDG_CACHE_HOME}")
if(NOT cache_home)
  set(cache_home "$ENV{HOME}/.cache")
endif()
if(JOINTER_PYTHON)
  set(pythons ${JOINTER_PYTHON})
else()
  file(GLOB environments LIST_DIRECTORIES true ${cache_home}/jointer/torch-2.*)
  list(SORT environments COMPARE NATURAL ORDER DESCENDING)
  list(TRANSFORM environments APPEND /bin/python)
  set(pythons "$ENV{JOINTER_PYTHON}" python3 ${environments})
endif()
foreach(python IN LISTS pythons)
  if(NOT python)
    continue()
  endif()
  execute_process(
    COMMAND ${python} -c
      "import importlib.metadata as m, importlib.util as u, sys; print(sys.executable); print(u.find_spec('torch').submodule_search_locations[0]); print(m.version('torch'))"
    OUTPUT_VARIABLE answer ERROR_QUIET RESULT_VARIABLE status OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(status EQUAL 0)
    string(REPLACE "\n" ";" answer "${answer}")
    list(GET answer 0 JOINTER_TORCH_PYTHON)
    list(GET answer 1 torch_dir)
    list(GET answer 2 torch_version)
    if(torch_version MATCHES "^2\\.([0-9]+)\\." AND CMAKE_MATCH_1 GREATER_EQUAL JOINTER_TORCH_OLDEST
       AND CMAKE_MATCH_1 LESS_EQUAL JOINTER_TORCH_NEWEST)
      set(JOINTER_TORCH_FOUND ON)
      break()
    endif()
    set(refused "torch ${torch_version} in ${JOINTER_TORCH_PYTHON} is not between 2.${JOINTER_TORCH_OLDEST} and 2.${JOINTER_TORCH_NEWEST}")
    if(JOINTER_PYTHON)
      message(FATAL_ERROR "${refused}; set JOINTER_PYTHON to another Python, or JOINTER_RUNNER to OFF")
    endif()
    message(STATUS "${refused}: skipped")
  endif()
endforeach()
if(NOT JOINTER_TORCH_FOUND)
  set(JOINTER_TORCH_PYTHON "")
  return()
endif()
message(STATUS "torch ${torch_version} in ${JOINTER_TORCH_PYTHON}")

# jointer_torch_library(name file) imports a shared library of the wheel.
function(jointer_torch_library name file)
  add_library(${name} SHARED IMPORTED GLOBAL)
  set_target_properties(${name} PROPERTIES IMPORTED_LOCATION ${file})
endfunction()
jointer_torch_library(jointer_torch_c10 ${torch_dir}/lib/libc10.so)
jointer_torch_library(jointer_torch_cpu_library ${torch_dir}/lib/libtorch_cpu.so)

add_library(jointer_torch_cpu INTERFACE)
# SYSTEM suppresses warnings in torch's headers.
target_include_directories(jointer_torch_cpu SYSTEM INTERFACE
  ${torch_dir}/include ${torch_dir}/include/torch/csrc/api/include)
# The wheel has its own version of fmt's headers, without the library. They precede the system's headers.
target_compile_definitions(jointer_torch_cpu INTERFACE
  USE_DISTRIBUTED USE_C10D_GLOO FMT_HEADER_ONLY=1)
target_compile_options(jointer_torch_cpu INTERFACE -Wno-interference-size)
target_link_libraries(jointer_torch_cpu INTERFACE jointer_torch_cpu_library jointer_torch_c10)
target_link_options(jointer_torch_cpu INTERFACE -Wl,-rpath,${torch_dir}/lib)

if(EXISTS ${torch_dir}/lib/libtorch_cuda.so)
  file(STRINGS ${torch_dir}/version.py cuda_line REGEX "^cuda")
  string(REGEX MATCH "'([0-9]+)\\.[0-9]+'" _ "${cuda_line}")
  set(torch_cuda_major ${CMAKE_MATCH_1})
  find_package(CUDAToolkit QUIET)
  file(GLOB nccl_library ${torch_dir}/../nvidia/nccl/lib/libnccl.so.2)
  # A toolkit with a different major version does not match the wheel's libraries.
  if(CUDAToolkit_FOUND AND CUDAToolkit_VERSION_MAJOR EQUAL torch_cuda_major AND nccl_library)
    set(JOINTER_TORCH_CUDA_FOUND ON)
    jointer_torch_library(jointer_torch_c10_cuda ${torch_dir}/lib/libc10_cuda.so)
    jointer_torch_library(jointer_torch_cuda_library ${torch_dir}/lib/libtorch_cuda.so)
    jointer_torch_library(jointer_torch_nccl ${nccl_library})
    add_library(jointer_torch_cuda INTERFACE)
    # The wheel's NCCL, so that a process never loads two.
    target_include_directories(jointer_torch_cuda SYSTEM INTERFACE
      ${torch_dir}/../nvidia/nccl/include)
    target_compile_definitions(jointer_torch_cuda INTERFACE USE_CUDA USE_C10D_NCCL)
    # No symbol of these libraries is referenced: their operators register themselves on loading.
    target_link_libraries(jointer_torch_cuda INTERFACE jointer_torch_cpu -Wl,--no-as-needed
      jointer_torch_cuda_library jointer_torch_c10_cuda -Wl,--as-needed jointer_torch_nccl
      CUDA::cudart)
    file(GLOB nvidia_libraries ${torch_dir}/../nvidia/*/lib)
    list(JOIN nvidia_libraries ":" nvidia_path)
    target_link_options(jointer_torch_cuda INTERFACE -Wl,-rpath,${nvidia_path}
      -Wl,-rpath-link,${nvidia_path})
  elseif(NOT CUDAToolkit_FOUND)
    set(JOINTER_TORCH_CUDA_MISSING "no CUDA toolkit found")
  elseif(NOT CUDAToolkit_VERSION_MAJOR EQUAL torch_cuda_major)
    set(JOINTER_TORCH_CUDA_MISSING
      "the CUDA toolkit is ${CUDAToolkit_VERSION}, but torch ${torch_version} is built with CUDA ${torch_cuda_major}")
  else()
    set(JOINTER_TORCH_CUDA_MISSING "the wheel's NCCL was not found")
  endif()
else()
  set(JOINTER_TORCH_CUDA_MISSING "torch ${torch_version} is built without CUDA")
endif()
