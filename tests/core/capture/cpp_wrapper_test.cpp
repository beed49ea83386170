#include "core/capture/cpp_wrapper.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "core/capture/compiled_memory.h"
#include "core/capture/cpp_wrapper_calls.h"
#include "tests/support/cpp_wrappers.h"

namespace jointer::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

CompiledProgram read_program(std::string text, std::vector<std::string> targets = {}) {
  auto program = read_cpp_wrapper(
      "model.wrapper.cpp",
      {.text = std::move(text), .kernels = std::string(kCppKernel), .targets = std::move(targets)});
  if (!program) ADD_FAILURE() << program.error().message;
  return program ? *std::move(program) : CompiledProgram();
}

// "+buf0 !mm -buf0": allocated, run, released; `=` is reuse.
std::string event_signs(const CompiledProgram& program) {
  std::string text;
  for (const CompiledEvent& event : program.events) {
    constexpr std::array kSigns{'+', '-', '=', '!'};
    text += fmt::format("{}{} ", kSigns[static_cast<std::size_t>(event.kind)], event.name);
  }
  return text;
}

std::size_t line_number(const std::string& text, std::string_view what) {
  const std::string before = text.substr(0, text.find(what));
  return 1 + static_cast<std::size_t>(std::ranges::count(before, '\n'));
}

std::vector<std::string> called_kernels(const CompiledProgram& program) {
  std::vector<std::string> names;
  for (const CompiledKernel& kernel : program.kernels) names.push_back(kernel.name);
  return names;
}

TEST(CppWrapper, KernelsOfTheCpuReadAndWriteBuffers) {
  const CompiledProgram program = read_program(cpp_wrapper(
      allocated("buf0") +
          "    cpp_fused_add_0((const float*)(arg0_1.data_ptr()), (float*)(buf0.data_ptr()));\n"
          "    arg0_1.reset();\n"
          "    output_handles[0] = buf0.release();\n",
      kCppDeclaration));
  EXPECT_THAT(program.unread, IsEmpty());
  EXPECT_EQ(event_signs(program), "+buf0 !cpp_fused_add_0 -arg0_1 ");
  ASSERT_EQ(program.kernels.size(), 1U);
  const CompiledKernel& kernel = program.kernels.front();
  EXPECT_EQ(kernel.kind, CompiledKind::pointwise);
  EXPECT_THAT(kernel.call, HasSubstr("cpp_fused_add_0((const float*)(arg0_1.data_ptr())"));
  EXPECT_EQ(kernel.line, line_number(program.text, "cpp_fused_add_0(("));
  ASSERT_EQ(kernel.uses.size(), 2U);
  EXPECT_TRUE(kernel.uses[0].is_read && !kernel.uses[0].is_written);
  EXPECT_TRUE(kernel.uses[1].is_written && !kernel.uses[1].is_read);
  EXPECT_EQ(kernel.uses[0].bytes, 64);
  EXPECT_EQ(kernel.uses[1].bytes, 64);
  ASSERT_TRUE(kernel.source);
  const KernelSource& source = program.sources[*kernel.source];
  EXPECT_EQ(source.language, "cpp");
  EXPECT_THAT(source.parameters, ElementsAre("in_ptr0", "out_ptr0"));
  EXPECT_TRUE(source.text.starts_with("extern \"C\"")) << source.text;
  EXPECT_TRUE(source.text.ends_with("}\n")) << source.text;
  EXPECT_EQ(program.device(), "cpu");
  EXPECT_EQ(compiled_memory(program).input_bytes, 64);
  EXPECT_TRUE(program.blocks.back().is_output);
}

TEST(CppWrapper, LinesAreThoseOfTheWrapper) {
  const std::string text = cpp_wrapper("    arg0_1.reset();\n    surprise(arg0_1,\n        2);\n");
  const CompiledProgram program = read_program(text);
  ASSERT_EQ(program.unread.size(), 1U);
  EXPECT_EQ(program.unread.front(),
            fmt::format("line {}: surprise(arg0_1,\n        2)", line_number(text, "surprise")));
}

TEST(CppWrapper, ReuseAndViewsKeepABlock) {
  const CompiledProgram program = read_program(cpp_wrapper(
      allocated("buf0") +
      "    static constexpr int64_t int_array_8[] = {16L, };\n"
      "    static constexpr int64_t int_array_9[] = {1L, };\n"
      "    auto buf1 = wrap_with_raii_handle_if_needed(reinterpret_tensor_wrapper(buf0, 1, "
      "int_array_8, int_array_9, 0L)); buf0.reset();  // reuse\n"
      "    auto buf2 = std::move(buf1);  // reuse\n"
      "    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_cpu_mm_out(buf2, arg0_1, "
      "wrap_with_raii_handle_if_needed(reinterpret_tensor_wrapper(arg0_1, 1, int_array_9, "
      "int_array_9, 0L))));\n"
      "    buf2.reset();\n"));
  EXPECT_EQ(event_signs(program), "+buf0 =buf1 =buf2 !extern_kernels.mm -buf2 ");
  const CompiledKernel& kernel = program.kernels.front();
  ASSERT_EQ(kernel.uses.size(), 3U);
  EXPECT_EQ(kernel.uses[1].bytes, 4);  // a view of one element
  EXPECT_TRUE(kernel.uses[2].is_written);
}

TEST(CppWrapper, ViewsKeepTheirOffset) {
  const std::string body =
      "static constexpr int64_t int_array_8[] = {16L, };\n"
      "static constexpr int64_t int_array_9[] = {1L, };\n"
      "AtenTensorHandle view_handle;\n"
      "AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch__reinterpret_tensor(arg0_1, 1, int_array_8, "
      "int_array_9, 8L, &view_handle));\n"
      "AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_cpu_mm_out(buf0, arg0_1, "
      "RAIIAtenTensorHandle(view_handle)));\n";
  const cpp::PythonBody python = cpp::python_body(cpp::statements_of(body, 1), {}, {});
  EXPECT_THAT(python.text, HasSubstr("reinterpret_tensor(arg0_1, (16, ), (1, ), 8)"));
}

TEST(CppWrapper, HandlesThatShareATensorAreThatTensor) {
  const CompiledProgram program = read_program(cpp_wrapper(
      allocated("buf0") +
      "    // Topologically Sorted Source Nodes: [t, mm_3], Original ATen: [aten.t, aten.mm]\n"
      "    AtenTensorHandle tmp_arg0_1_17;\n"
      "    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_new_tensor_handle(arg0_1, &tmp_arg0_1_17));\n"
      "    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_cpu_mm_out(buf0, arg0_1, "
      "RAIIAtenTensorHandle(tmp_arg0_1_17)));\n"
      "    arg0_1.reset();\n"
      "    output_handles[0] = buf0.release();\n"));
  EXPECT_EQ(event_signs(program), "+buf0 !extern_kernels.mm -arg0_1 ");
  const CompiledKernel& kernel = program.kernels.front();
  EXPECT_THAT(kernel.source_nodes, ElementsAre("t", "mm_3"));
  ASSERT_EQ(kernel.uses.size(), 3U);
  EXPECT_EQ(kernel.uses[1].name, "arg0_1");
}

TEST(CppWrapper, ResultsOfOperatorsAreAllocatedByTheirCall) {
  const CompiledProgram program = read_program(cpp_wrapper(
      "    AtenTensorHandle buf1_handle;\n"
      "    AtenTensorHandle buf2_handle;\n"
      "    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_cpu_topk(arg0_1, 2L, -1L, 1, 1, &buf1_handle, "
      "&buf2_handle));\n"
      "    RAIIAtenTensorHandle buf1(buf1_handle);\n"
      "    RAIIAtenTensorHandle buf2(buf2_handle);\n"
      "    if (_check_aoti_runtime_check_inputs_env()) { assert_size_stride(buf1, {4L, 2L}, "
      "{2L, 1L}, \"torch.ops.aten.topk.default\", cached_torch_dtype_float32, "
      "\"torch.float32\"); }\n"
      "    if (_check_aoti_runtime_check_inputs_env()) { assert_size_stride(buf2, {4L, 2L}, "
      "{2L, 1L}, \"torch.ops.aten.topk.default\", cached_torch_dtype_int64, \"torch.int64\"); }\n"
      "    output_handles[0] = buf1.release();\n"
      "    output_handles[1] = buf2.release();\n"));
  EXPECT_THAT(program.unread, IsEmpty());
  EXPECT_EQ(event_signs(program), "+buf1 +buf2 !torch.ops.aten.topk.default ");
  const CompiledMemory memory = compiled_memory(program);
  EXPECT_EQ(memory.peak_bytes, 64 + 8 * 4 + 8 * 8);
  EXPECT_EQ(memory.assumed_blocks, 0U);
}

TEST(CppWrapper, CollectivesGoThroughTheProxyExecutor) {
  const CompiledProgram program = read_program(
      cpp_wrapper(
          "    AtenTensorHandle buf0_handle;  // output buffer\n"
          "    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_new_uninitialized_tensor(&buf0_handle));\n"
          "    RAIIAtenTensorHandle buf0(buf0_handle);\n"
          "    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_proxy_executor_call_function(proxy_executor, "
          "1, 1, std::array<int64_t, 1>{2}.data(), 2, std::array<AtenTensorHandle, 2>{arg0_1, "
          "buf0}.data()));\n"
          "    if (_check_aoti_runtime_check_inputs_env()) { assert_size_stride(buf0, {8L, 4L}, "
          "{4L, 1L}, \"torch.ops._c10d_functional.all_gather_into_tensor.default\", "
          "cached_torch_dtype_float32, \"torch.float32\"); }\n"
          "    AtenTensorHandle buf3_handle;\n"
          "    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_cpu__c10d_functional_wait_tensor(buf0, "
          "&buf3_handle));\n"
          "    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_delete_tensor_object(buf3_handle));\n"
          "    output_handles[0] = buf0.release();\n"),
      {"aten::sort.stable", "_c10d_functional::all_gather_into_tensor"});
  EXPECT_THAT(called_kernels(program),
              ElementsAre("torch.ops._c10d_functional.all_gather_into_tensor.default",
                          "torch.ops._c10d_functional.wait_tensor.default"));
  EXPECT_EQ(program.kernels[0].kind, CompiledKind::collective);
  EXPECT_EQ(program.kernels[1].kind, CompiledKind::wait);
  EXPECT_EQ(program.blocks.back().bytes(), 128);
  EXPECT_EQ(program.blocks.size(), 2U);
}

TEST(CppWrapper, TritonKernelsHaveTheirSourceInAComment) {
  const CompiledProgram program = read_program(cpp_wrapper(
      allocated("buf0", "cuda") +
          "    // Topologically Sorted Source Nodes: [y], Original ATen: [aten.add]\n"
          "    // [Provenance debug handles] triton_poi_fused_add_0:7\n"
          "    call_triton_poi_fused_add_0(arg0_1, buf0, 16L, this->device_idx_, stream, kernels, "
          "this->cubin_dir_);\n"
          "    output_handles[0] = buf0.release();\n",
      kTritonLauncher, 1));
  EXPECT_THAT(program.unread, IsEmpty());
  EXPECT_EQ(program.device(), "cuda");
  ASSERT_EQ(program.kernels.size(), 1U);
  const CompiledKernel& kernel = program.kernels.front();
  EXPECT_EQ(kernel.name, "triton_poi_fused_add_0");
  EXPECT_EQ(kernel.handle, "triton_poi_fused_add_0:7");
  EXPECT_THAT(kernel.source_nodes, ElementsAre("y"));
  ASSERT_EQ(kernel.uses.size(), 2U);
  EXPECT_TRUE(kernel.uses[1].is_written);
  ASSERT_TRUE(kernel.source);
  const KernelSource& source = program.sources[*kernel.source];
  EXPECT_EQ(source.language, "triton");
  EXPECT_EQ(source.heuristic, "pointwise");
  EXPECT_TRUE(source.text.starts_with("@triton_heuristics")) << source.text;
  EXPECT_THAT(source.text, HasSubstr("\n    xmask = xindex < xnumel\n"));
}

TEST(CppWrapper, BlocksThatCopyMisalignedInputsAreSkipped) {
  const CompiledProgram program = read_program(cpp_wrapper(
      "    if ((reinterpret_cast<std::uintptr_t>(arg0_1.data_ptr()) & (16 -1)) != 0) {\n"
      "        AOTI_TORCH_WARN(\"Input 0 is {misaligned\");\n"
      "        AtenTensorHandle arg0_1_aligned;\n"
      "        arg0_1 = std::move(RAIIAtenTensorHandle(arg0_1_aligned));\n"
      "    }\n"
      "    if ((long(arg0_1.data_ptr()) & (16 -1)) != 0) {\n"  // older versions
      "        arg0_1 = std::move(RAIIAtenTensorHandle(arg0_1_aligned));\n"
      "    }\n"
      "    output_handles[0] = arg0_1.release();\n"));
  EXPECT_THAT(program.unread, IsEmpty());
  EXPECT_THAT(program.kernels, IsEmpty());
  EXPECT_TRUE(program.blocks.front().is_output);
}

TEST(CppWrapper, ConstantsAreInputs) {
  const CompiledProgram program = read_program(cpp_wrapper(
      "    [[maybe_unused]] auto& weight = constants_->at(0);\n" + allocated("buf0") +
          "    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_cpu_mm_out(buf0, arg0_1, weight));\n"
          "    output_handles[0] = buf0.release();\n",
      "    constants_info_[0].name = \"weight\";\n"
      "    constants_info_[0].dtype = static_cast<int32_t>(cached_torch_dtype_bfloat16);\n"
      "    constants_info_[0].offset = 0;\n"
      "    constants_info_[0].shape = {4, 8};\n"
      "    constants_info_[0].stride = {8, 1};\n"));
  EXPECT_THAT(program.unread, IsEmpty());
  EXPECT_EQ(compiled_memory(program).input_bytes, 64 + 64);
  ASSERT_EQ(program.kernels.front().uses.size(), 3U);
  EXPECT_EQ(program.kernels.front().uses[1].bytes, 64);
}

TEST(CppWrapper, DamagedTextIsRefused) {
  const std::string whole = cpp_wrapper("    arg0_1.reset();\n");
  const auto missing = read_cpp_wrapper("w.cpp", {.text = whole.substr(0, 200)});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().message,
            "w.cpp: the wrapper has no function `run_impl`; is the text cut off?");
  const auto cut_off = read_cpp_wrapper("w.cpp", {.text = whole.substr(0, whole.size() - 90)});
  ASSERT_FALSE(cut_off);
  EXPECT_THAT(cut_off.error().message, HasSubstr("does not end"));
}

}  // namespace
}  // namespace jointer::test
