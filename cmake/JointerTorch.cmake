# LibTorch of an installed torch wheel, as imported targets of our own:
#   jointer_torch_cpu    libtorch_cpu and libc10; what the runner is built with
#   jointer_torch_cuda   also libtorch_cuda, libc10_cuda and the wheel's NCCL, where a CUDA toolkit
#                        of the wheel's major version is found
# Sets JOINTER_TORCH_FOUND, JOINTER_TORCH_CUDA_FOUND, JOINTER_TORCH_PYTHON (the Python that has it).
#
# find_package(Torch) is not used: it always wants libtorch_cuda, changes global CUDA flags, and
# fails with C++20 where there is no GPU. The wheel is found without importing torch.

set(JOINTER_PYTHON "" CACHE FILEPATH "Python that has torch 2.11; empty: looked for")
set(JOINTER_TORCH_FOUND OFF)
set(JOINTER_TORCH_CUDA_FOUND OFF)

# Where torch may be: the Python that is named, the active one, the environment that ./run and
# ./test make in the user's cache.
set(cache_home "$ENV{XDG_CACHE_HOME}")
if(NOT cache_home)
  set(cache_home "$ENV{HOME}/.cache")
endif()
foreach(python IN ITEMS "${JOINTER_PYTHON}" "$ENV{JOINTER_PYTHON}" python3
                        "${cache_home}/jointer/torch-2.11.0/bin/python")
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
    if(torch_version MATCHES "^2\\.11\\.")
      set(JOINTER_TORCH_FOUND ON)
      break()
    endif()
    message(STATUS "torch ${torch_version} of ${JOINTER_TORCH_PYTHON} is not 2.11: passed over")
  endif()
endforeach()
if(NOT JOINTER_TORCH_FOUND)
  return()
endif()
message(STATUS "torch ${torch_version} of ${JOINTER_TORCH_PYTHON}")

# jointer_torch_library(name file): one shared library of the wheel.
function(jointer_torch_library name file)
  add_library(${name} SHARED IMPORTED GLOBAL)
  set_target_properties(${name} PROPERTIES IMPORTED_LOCATION ${file})
endfunction()
jointer_torch_library(jointer_torch_c10 ${torch_dir}/lib/libc10.so)
jointer_torch_library(jointer_torch_cpu_library ${torch_dir}/lib/libtorch_cpu.so)

add_library(jointer_torch_cpu INTERFACE)
# SYSTEM: warnings in torch's headers are not ours.
target_include_directories(jointer_torch_cpu SYSTEM INTERFACE
  ${torch_dir}/include ${torch_dir}/include/torch/csrc/api/include)
# torch brings fmt's headers in a version of its own, before the system's: without its library.
target_compile_definitions(jointer_torch_cpu INTERFACE
  USE_DISTRIBUTED USE_C10D_GLOO FMT_HEADER_ONLY=1)
target_compile_options(jointer_torch_cpu INTERFACE -Wno-interference-size)
target_link_libraries(jointer_torch_cpu INTERFACE jointer_torch_cpu_library jointer_torch_c10)
target_link_options(jointer_torch_cpu INTERFACE -Wl,-rpath,${torch_dir}/lib)

if(EXISTS ${torch_dir}/lib/libtorch_cuda.so)
  file(STRINGS ${torch_dir}/version.py cuda_line REGEX "^cuda")
  string(REGEX MATCH "'([0-9]+)\\.[0-9]+'" _ "${cuda_line}")
  set(torch_cuda_major ${CMAKE_MATCH_1})
  find_package(CUDAToolkit ${torch_cuda_major} QUIET)
  file(GLOB nccl_library ${torch_dir}/../nvidia/nccl/lib/libnccl.so.2)
  # A toolkit of another major version does not match the wheel's libraries.
  if(CUDAToolkit_FOUND AND CUDAToolkit_VERSION_MAJOR EQUAL torch_cuda_major AND nccl_library)
    set(JOINTER_TORCH_CUDA_FOUND ON)
    jointer_torch_library(jointer_torch_c10_cuda ${torch_dir}/lib/libc10_cuda.so)
    jointer_torch_library(jointer_torch_cuda_library ${torch_dir}/lib/libtorch_cuda.so)
    jointer_torch_library(jointer_torch_nccl ${nccl_library})
    add_library(jointer_torch_cuda INTERFACE)
    # The wheel's NCCL, so that a process has one.
    target_include_directories(jointer_torch_cuda SYSTEM INTERFACE
      ${torch_dir}/../nvidia/nccl/include)
    target_compile_definitions(jointer_torch_cuda INTERFACE USE_CUDA USE_C10D_NCCL)
    # Their operators register themselves when they are loaded: nothing calls into them by name.
    target_link_libraries(jointer_torch_cuda INTERFACE jointer_torch_cpu -Wl,--no-as-needed
      jointer_torch_cuda_library jointer_torch_c10_cuda -Wl,--as-needed jointer_torch_nccl
      CUDA::cudart)
    file(GLOB nvidia_libraries ${torch_dir}/../nvidia/*/lib)
    list(JOIN nvidia_libraries ":" nvidia_path)
    target_link_options(jointer_torch_cuda INTERFACE -Wl,-rpath,${nvidia_path}
      -Wl,-rpath-link,${nvidia_path})
  endif()
endif()
