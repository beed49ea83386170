#pragma once

// Wrappers in C++ as AOTInductor writes them, without what the reader skips.

#include <fmt/core.h>

#include <string>
#include <string_view>

namespace jointer::test {

// The check of an input of shape (4, 4) and data type float32.
inline std::string input_check(std::string_view name, int device = 0) {
  std::string text = fmt::format(
      "AOTI_NOINLINE static void check_{0}(\n"
      "    AtenTensorHandle* input_handles\n"
      ") {{\n"
      "    int32_t {0}_expected_dtype = aoti_torch_dtype_float32();\n"
      "    if ({0}_expected_dtype != {0}_dtype) {{\n"
      "        ss << \"input_handles[0]: unmatched dtype, \"\n"
      "    }}\n",
      name);
  for (const std::string_view what : {"size", "stride"})
    for (const int i : {0, 1})
      text += fmt::format("    if ({} != {}_{}[{}]) {{\n    }}\n",
                          what == "stride" && i == 1 ? 1 : 4, name, what, i);
  return text + fmt::format("    int32_t {}_expected_device_type = {};\n}}\n\n", name, device);
}

// A wrapper with these definitions before `run_impl`, and these statements in it.
inline std::string cpp_wrapper(std::string_view statements, std::string_view definitions = {},
                               int device = 0) {
  return fmt::format(
      "#include <torch/csrc/inductor/aoti_include/cpu.h>\n"
      "extern \"C\" {{\n"
      "AOTIRuntimeError AOTInductorModelRun() {{ model->run_impl(a, b); }}\n"
      "}} // extern \"C\"\n"
      "{}{}"
      "void AOTInductorModel::_const_run_impl(\n"
      "    DeviceStreamType stream\n"
      ") {{}}\n"
      "\n"
      "void AOTInductorModel::run_impl(\n"
      "    AtenTensorHandle*\n"
      "        input_handles, // array of input AtenTensorHandle; handles (\n"
      "    DeviceStreamType stream\n"
      ") {{\n"
      "    __check_inputs_outputs(input_handles, output_handles);\n"
      "    auto inputs = steal_from_raw_handles_to_raii_handles(input_handles, 1);\n"
      "    auto arg0_1 = std::move(inputs[0]);\n"
      "    inputs.clear();\n"
      "    [[maybe_unused]] auto& kernels = "
      "static_cast<AOTInductorModelKernels&>(*this->kernels_.get());\n"
      "{}"
      "}} // AOTInductorModel::run_impl\n"
      "}} // namespace torch::aot_inductor\n",
      definitions, input_check("arg0_1", device), statements);
}

// `auto NAME`, of shape (4, 4) and data type float32.
inline std::string allocated(std::string_view name, std::string_view device = "cpu") {
  return fmt::format(
      "    static constexpr int64_t int_array_{0}[] = {{4L, 4L}};\n"
      "    static constexpr int64_t int_array_{0}s[] = {{4L, 1L}};\n"
      "    AtenTensorHandle {0}_handle;\n"
      "    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_empty_strided(2, int_array_{0}, int_array_{0}s, "
      "cached_torch_dtype_float32, cached_torch_device_type_{1}, this->device_idx_, "
      "&{0}_handle));\n"
      "    RAIIAtenTensorHandle {0}({0}_handle);\n",
      name, device);
}

constexpr std::string_view kCppKernel =
    "#include <torch/csrc/inductor/cpp_prefix.h>\n"
    "extern \"C\"  void  cpp_fused_add_0(const float* in_ptr0,\n"
    "                       float* out_ptr0)\n"
    "{\n"
    "    { // a brace in a comment: {\n"
    "        auto tmp0 = in_ptr0[static_cast<int64_t>(0L)];\n"
    "        out_ptr0[static_cast<int64_t>(0L)] = tmp0;\n"
    "    }\n"
    "}\n";

constexpr std::string_view kCppDeclaration =
    "extern \"C\"  void  cpp_fused_add_0(const float* in_ptr0,\n"
    "                       float* out_ptr0);\n";

constexpr std::string_view kTritonLauncher =
    "template <typename in_ptr0_type_, typename out_ptr0_type_, typename kernels_type_>\n"
    "static __attribute__((noinline)) void call_triton_poi_fused_add_0(\n"
    "    const in_ptr0_type_& in_ptr0,\n"
    "    const out_ptr0_type_& out_ptr0,\n"
    "    int64_t xnumel,\n"
    "    int32_t device_idx_,\n"
    "    cudaStream_t stream_,\n"
    "    kernels_type_& kernels_,\n"
    "    const std::optional<std::string>& cubin_dir_ = std::nullopt\n"
    "){\n"
    "    /*\n"
    "    async_compile.triton('triton_poi_fused_add_0', '''\n"
    "    @triton_heuristics.pointwise(size_hints={'x': 16})\n"
    "    @triton.jit\n"
    "    def triton_poi_fused_add_0(in_ptr0, out_ptr0, xnumel, XBLOCK : tl.constexpr):\n"
    "        xmask = xindex < xnumel\n"
    "    ''', device_str='cuda')\n"
    "    */\n"
    "    uint32_t grid_0 = 1;\n"
    "    launchKernel(kernels_.triton_poi_fused_add_0, grid_0, 1, 1, 4, 0, kernel_args_, "
    "stream_);\n"
    "}\n\n";

}  // namespace jointer::test
