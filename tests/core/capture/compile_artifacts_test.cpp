#include "core/capture/compile_artifacts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "core/base/bytes.h"
#include "core/capture/compiled_memory.h"
#include "core/capture/output_code.h"
#include "core/capture/tied_kernels.h"
#include "core/open/open.h"
#include "tests/support/file_content.h"
#include "tests/support/paths.h"
#include "tests/support/temporary_folder.h"

namespace jointer::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

std::string artifact(const std::string& name) {
  return source_path("tests/core/capture/artifacts/" + name);
}

CompileArtifacts read_artifacts(const std::string& path) {
  auto artifacts = read_compile_artifacts(path);
  if (!artifacts) ADD_FAILURE() << artifacts.error().message;
  return artifacts ? *std::move(artifacts) : CompileArtifacts();
}

CompiledProgram only_program(const std::string& path) {
  CompileArtifacts artifacts = read_artifacts(path);
  EXPECT_EQ(artifacts.programs.size(), 1U);
  EXPECT_THAT(artifacts.problems, IsEmpty());
  return artifacts.programs.empty() ? CompiledProgram() : std::move(artifacts.programs.front());
}

CompiledProgram parsed(const std::string& wrapper) {
  auto program = read_output_code("wrapper.py", wrapper);
  if (!program) ADD_FAILURE() << program.error().message;
  return program ? *std::move(program) : CompiledProgram();
}

std::vector<std::string> kernel_names(const CompiledProgram& program) {
  std::vector<std::string> names;
  for (const CompiledKernel& kernel : program.kernels) names.push_back(kernel.name);
  return names;
}

std::vector<std::string> kernel_kinds(const CompiledProgram& program) {
  std::vector<std::string> kinds;
  for (const CompiledKernel& kernel : program.kernels) kinds.emplace_back(to_string(kernel.kind));
  return kinds;
}

std::int64_t bytes_used(const CompiledKernel& kernel) {
  std::int64_t bytes = 0;
  for (const CompiledUse& use : kernel.uses)
    bytes += use.bytes.value_or(0) * ((use.is_read ? 1 : 0) + (use.is_written ? 1 : 0));
  return bytes;
}

std::string event_list(const CompiledProgram& program) {
  std::string text;
  for (const CompiledEvent& event : program.events) {
    constexpr std::array kSigns{'+', '-', '=', '!'};
    text += fmt::format("{}{} ", kSigns[static_cast<std::size_t>(event.kind)], event.name);
  }
  return text;
}

TEST(CompileArtifacts, KernelsOfAGpuAreInCallOrder) {
  const CompiledProgram program = only_program(artifact("triton_2_15.log"));
  EXPECT_EQ(program.name, "0/0");
  EXPECT_EQ(program.torch_version, "2.15.0+cu132");
  EXPECT_EQ(program.device(), "cuda");
  EXPECT_THAT(program.unread, IsEmpty());
  EXPECT_THAT(
      kernel_names(program),
      ElementsAre("torch.ops._c10d_functional.all_gather_into_tensor.default",
                  "torch.ops._c10d_functional.wait_tensor.default",
                  "triton_per_fused_add_mean_mul_pow_rsqrt_0", "extern_kernels.mm",
                  "triton_poi_fused_silu_1", "extern_kernels.addmm",
                  "triton_per_fused__softmax_prepare_softmax_online_2", "triton_for_fused_3",
                  "triton_red_fused_mul_sum_4", "triton_per_fused_mul_sum_5"));
  EXPECT_THAT(kernel_kinds(program),
              ElementsAre("collective", "wait", "reduction", "extern", "pointwise", "extern",
                          "reduction", "foreach", "reduction", "reduction"));
}

TEST(CompileArtifacts, BytesOfKernelsAreThoseOfInductor) {
  const CompiledProgram program = only_program(artifact("triton_2_15.log"));
  std::vector<std::int64_t> bytes;
  for (const CompiledKernel& kernel : program.kernels) bytes.push_back(bytes_used(kernel));
  // As Inductor's scheduler counts them, except for the wait, which moves nothing.
  EXPECT_THAT(bytes,
              ElementsAre(768, 0, 524800, 1835008, 2097152, 2097152, 524288, 640, 266240, 4608));
}

TEST(CompileArtifacts, NodesComeFromProvenance) {
  const CompiledProgram program = only_program(artifact("triton_2_15.log"));
  ASSERT_EQ(program.kernels.size(), 10U);
  EXPECT_THAT(program.kernels[2].nodes,
              UnorderedElementsAre("pow_1", "mean", "add", "rsqrt", "mul", "mul_1"));
  EXPECT_EQ(program.kernels[2].nodes_from, NodesFrom::provenance);
  EXPECT_THAT(program.kernels[3].nodes, ElementsAre("mm"));
  // The mapping names the wait.
  EXPECT_THAT(program.kernels[0].nodes, ElementsAre("all_gather_into_tensor"));
  EXPECT_EQ(program.kernels[0].nodes_from, NodesFrom::comments);
  EXPECT_THAT(program.kernels[1].nodes, ElementsAre("wait_tensor"));
}

TEST(CompileArtifacts, WithoutProvenanceCommentsGiveTheNodes) {
  std::string log = content(artifact("triton_2_15.log"));
  log.resize(log.find("inductor_provenance_tracking_node_mappings"));
  log.resize(log.rfind('\n') + 1);
  const CompileArtifacts artifacts = read_trace_artifacts("log", log);
  ASSERT_EQ(artifacts.programs.size(), 1U);
  const CompiledProgram& program = artifacts.programs.front();
  ASSERT_EQ(program.kernels.size(), 10U);
  EXPECT_THAT(program.kernels[2].nodes,
              UnorderedElementsAre("pow_1", "mean", "add", "rsqrt", "mul", "mul_1"));
  EXPECT_EQ(program.kernels[2].nodes_from, NodesFrom::comments);
  EXPECT_THAT(program.kernels[0].nodes, ElementsAre("all_gather_into_tensor"));
  EXPECT_THAT(program.kernels[5].nodes, ElementsAre("addmm_default"));
  EXPECT_EQ(program.kernels[5].nodes_from, NodesFrom::order);
}

TEST(CompileArtifacts, SourcesAreKept) {
  const CompiledProgram program = only_program(artifact("triton_2_15.log"));
  ASSERT_EQ(program.sources.size(), 6U);
  const KernelSource& source = program.sources.front();
  EXPECT_EQ(source.language, "triton");
  EXPECT_EQ(source.heuristic, "persistent_reduction");
  EXPECT_THAT(source.text, HasSubstr("def triton_per_fused_add_mean_mul_pow_rsqrt_0(in_ptr0"));
  EXPECT_THAT(source.text, testing::Not(HasSubstr("'''")));
  EXPECT_THAT(source.parameters,
              ElementsAre("in_ptr0", "in_ptr1", "out_ptr1", "xnumel", "r0_numel", "XBLOCK"));
}

TEST(CompileArtifacts, ThePeakIsCountedFromTheWrapper) {
  const CompiledProgram program = only_program(artifact("triton_2_15.log"));
  const CompiledMemory memory = compiled_memory(program);
  EXPECT_EQ(memory.input_bytes, 256 + 262144 + 524288 + 524288 + 128 + 192);
  EXPECT_EQ(memory.unknown_blocks, 0U);
  // Inputs without the shard, the norm's result, and that of the first product.
  EXPECT_EQ(memory.peak_bytes, memory.input_bytes - 256 + 262144 + 1048576);
  EXPECT_EQ(memory.peak_kernel, 3U);
}

TEST(CompileArtifacts, ForwardAndBackwardOfTheCpuAreTwoPrograms) {
  const CompileArtifacts artifacts = read_artifacts(artifact("cpu_2_15.log"));
  ASSERT_EQ(artifacts.programs.size(), 2U);
  const CompiledProgram &forward = artifacts.programs[0], &backward = artifacts.programs[1];
  EXPECT_EQ(forward.name, "0/0, forward");
  EXPECT_EQ(backward.name, "0/0, backward");
  EXPECT_THAT(kernel_names(forward), ElementsAre("cpp_fused_native_layer_norm_0",
                                                 "extern_kernels.mm", "cpp_fused_gelu_sum_1"));
  EXPECT_THAT(kernel_kinds(forward), ElementsAre("reduction", "extern", "reduction"));
  EXPECT_THAT(forward.kernels[1].nodes, ElementsAre("mm"));
  EXPECT_EQ(forward.kernels[0].nodes_from, NodesFrom::nothing);
  EXPECT_EQ(compiled_memory(forward).peak_bytes, 8704 + 128 + 128 + 8192 + 4096 + 128);
  EXPECT_THAT(kernel_names(backward),
              ElementsAre("cpp_fused_add_expand_gelu_backward_unsqueeze_0", "extern_kernels.mm",
                          "extern_kernels.addmm",
                          "cpp_fused_native_layer_norm_native_layer_norm_backward_1"));
}

TEST(CompileArtifacts, KernelsAreTiedToTheGraphByName) {
  const CompileArtifacts artifacts = read_artifacts(artifact("cpu_2_15.log"));
  OpenRequest request;
  request.path = artifact("cpu_2_15.log");
  request.index = 0;  // aot_forward_graph
  const auto graph = open_graph(request);
  ASSERT_TRUE(graph) << graph.error().message;
  EXPECT_EQ(best_program(artifacts.programs, *graph, kForwardPart), 0U);
  const TiedKernels ties = tie_kernels(artifacts.programs[0], *graph, kForwardPart);
  ASSERT_EQ(ties.nodes.size(), 3U);
  ASSERT_EQ(ties.nodes[1].size(), 1U);
  EXPECT_EQ(graph->name(ties.nodes[1].front()), "mm");
  EXPECT_THAT(ties.untied, ElementsAre(0U, 2U));
  EXPECT_EQ(ties.tied_calls, 1U);
  EXPECT_THAT(ties.without_kernel, testing::Not(IsEmpty()));

  request.index = 1;  // aot_backward_graph
  const auto backward = open_graph(request);
  ASSERT_TRUE(backward) << backward.error().message;
  EXPECT_EQ(best_program(artifacts.programs, *backward, kForwardPart), 1U);
}

TEST(CompileArtifacts, OfTorch211) {
  JOINTER_NEEDS_SHARED();
  const CompileArtifacts artifacts = read_artifacts(shared_directory() + "/captures/torch_trace");
  ASSERT_EQ(artifacts.programs.size(), 4U);  // two ranks, forward and backward
  EXPECT_THAT(artifacts.problems, IsEmpty());
  for (const CompiledProgram& program : artifacts.programs) {
    EXPECT_THAT(program.unread, IsEmpty()) << program.name;
    EXPECT_FALSE(program.post_grad_graph.empty());
    EXPECT_FALSE(program.schedule.empty());
    std::vector<std::string> scheduled;  // collectives and waits
    for (const CompiledKernel& kernel : program.kernels) {
      const bool is_collective = kernel.kind == CompiledKind::collective;
      if (is_collective) {
        EXPECT_EQ(kernel.nodes.size(), 1U) << kernel.call;
      }
      if (is_collective || kernel.kind == CompiledKind::wait) scheduled.push_back(kernel.name);
    }
    EXPECT_EQ(scheduled, program.schedule) << program.name;
    const CompiledMemory memory = compiled_memory(program);
    EXPECT_EQ(memory.unknown_blocks, 0U) << program.name;
    EXPECT_GT(memory.peak_bytes, memory.input_bytes);
  }
}

constexpr std::string_view kStart =
    "# AOT ID: ['0_inference']\n"
    "async_compile = AsyncCompile()\n"
    "\n"
    "# Topologically Sorted Source Nodes: [y], Original ATen: [aten.add]\n"
    "# Source node to ATen node mapping:\n"
    "#   y => add\n"
    "# Graph fragment:\n"
    "#   %x : Tensor \"f32[4]\" = PlaceHolder[target=x]\n"
    "#   %add : [num_users=1] = call_function[target=torch.ops.aten.add.Tensor](args = (%x, 1))\n"
    "#   return %add\n"
    "triton_poi_fused_add_0 = async_compile.triton('triton_poi_fused_add_0', '''\n"
    "@triton_heuristics.pointwise(size_hints={'x': 4})\n"
    "@triton.jit\n"
    "def triton_poi_fused_add_0(in_ptr0, out_ptr0, xnumel, XBLOCK : tl.constexpr):\n"
    "    pass  # def call(args): \"an unbalanced ( in a string\n"
    "''', device_str='cuda')\n"
    "\n";

std::string wrapper(std::string_view call, std::string_view others = {},
                    std::string_view arguments =
                        "x = rand_strided((4, 4), (4, 1), "
                        "device='cuda:0', dtype=torch.float32)") {
  std::string text = fmt::format("{}{}def call(args):\n", kStart, others);
  const auto add = [&](std::string_view lines) {
    while (!lines.empty()) {
      const auto end = std::min(lines.find('\n'), lines.size());
      text += fmt::format("    {}\n", lines.substr(0, end));
      lines.remove_prefix(std::min(end + 1, lines.size()));
    }
  };
  add(call);
  text += "\ndef get_args():\n";
  add(arguments);
  text += "    return [x]\n";
  return text;
}

TEST(OutputCode, ReuseAndViewsKeepABlock) {
  const CompiledProgram program =
      parsed(wrapper("x, = args\n"
                     "args.clear()\n"
                     "buf0 = empty_strided_cuda((4, 4), (4, 1), torch.float32)\n"
                     "triton_poi_fused_add_0.run(x, buf0, 16, stream=stream0)\n"
                     "buf1 = reinterpret_tensor(buf0, (16, ), (1, ), 0); del buf0  # reuse\n"
                     "buf2 = reinterpret_tensor(buf1, (8, ), (1, ), 8)  # alias\n"
                     "del buf1\n"
                     "extern_kernels.mm(reinterpret_tensor(buf2, (2, 4), (4, 1), 0), x, out=buf2)\n"
                     "del buf2\n"
                     "return (x, )\n"));
  EXPECT_EQ(event_list(program),
            "+buf0 !triton_poi_fused_add_0 =buf1 =buf2 !extern_kernels.mm -buf2 ");
  ASSERT_EQ(program.kernels.size(), 2U);
  EXPECT_EQ(program.half, CaptureKind::forward);
  EXPECT_EQ(program.kernels[1].line, 26U);
  EXPECT_EQ(bytes_used(program.kernels[1]), 8 * 4 + 16 * 4 + 8 * 4);
  ASSERT_EQ(program.blocks.size(), 2U);
  EXPECT_TRUE(program.blocks[0].is_input && program.blocks[0].is_output);
  EXPECT_EQ(compiled_memory(program).peak_bytes, 128);
  EXPECT_THAT(program.sources[0].nodes, ElementsAre("add"));
  EXPECT_THAT(program.sources[0].source_nodes, ElementsAre("y"));
}

// One of several kernels is chosen when the program runs (torch._inductor.config.triton's
// multi_kernel).
TEST(OutputCode, AChoiceOfKernelsIsTheFirstOne) {
  const std::string call =
      "x, = args\n"
      "buf0 = empty_strided_cuda((4, 4), (4, 1), torch.float32)\n"
      "multi_kernel_0.run(x, buf0, 16, stream=stream0)\n"
      "return (buf0, )\n";
  for (const char* choice : {"multi_kernel('multi_kernel_0', [\n    triton_poi_fused_add_0,\n], ",
                             "size_hint_multi_kernel('multi_kernel_0', {\n"
                             "    (64, 64): triton_poi_fused_add_0,\n}, "}) {
    const CompiledProgram program = parsed(
        wrapper(call, fmt::format("arg_index = {{\n    0: [slice(0, 3, None)],\n}}\n"
                                  "multi_kernel_0 = async_compile.{}arg_index=arg_index)\n\n",
                                  choice)));
    ASSERT_EQ(program.kernels.size(), 1U);
    const CompiledKernel& kernel = program.kernels[0];
    EXPECT_EQ(kernel.name, "multi_kernel_0");
    EXPECT_EQ(kernel.kind, CompiledKind::pointwise);
    EXPECT_EQ(kernel.source, 0U);
    ASSERT_EQ(kernel.uses.size(), 2U);
    EXPECT_TRUE(kernel.uses[0].is_read && !kernel.uses[0].is_written);
    EXPECT_TRUE(kernel.uses[1].is_written && !kernel.uses[1].is_read);
  }
}

TEST(OutputCode, ResultsOfOperatorsAreAllocatedByTheirCall) {
  const CompiledProgram program = parsed(
      wrapper("x, = args\n"
              "buf0 = torch.ops.aten.topk.default(x, 2)\n"
              "buf1 = buf0[0]\n"
              "assert_size_stride(buf1, (4, 2), (2, 1), 'torch.ops.aten.topk.default')\n"
              "buf2 = buf0[1]\n"
              "assert_tensor_metadata(buf2, (4, 2), (2, 1), torch.int64, 'torch.ops.aten.topk')\n"
              "del buf0\n"
              "return (buf1, buf2, )\n"));
  EXPECT_EQ(event_list(program), "+buf1 +buf2 !torch.ops.aten.topk.default ");
  const CompiledMemory memory = compiled_memory(program);
  EXPECT_EQ(memory.peak_bytes, 64 + 8 * 4 + 8 * 8);
  EXPECT_EQ(memory.assumed_blocks, 1U);  // buf1 has the input's data type
}

TEST(OutputCode, ViewsByOperatorsHoldTheBlock) {
  const CompiledProgram program =
      parsed(wrapper("x, = args\n"
                     "buf0 = empty_strided_cuda((4, 4), (4, 1), torch.float32)\n"
                     "extern_kernels.mm(x, x, out=buf0)\n"
                     "buf1 = torch.ops.aten.view.default(buf0, [16])\n"
                     "del buf0\n"
                     "buf2 = buf1\n"
                     "del buf1\n"
                     "del buf2\n"
                     "return (x, )\n"));
  EXPECT_EQ(event_list(program),
            "+buf0 !extern_kernels.mm !torch.ops.aten.view.default =buf1 =buf2 -buf2 ");
  EXPECT_THAT(kernel_kinds(program), ElementsAre("extern", "view"));
  EXPECT_EQ(bytes_used(program.kernels[1]), 0);
}

TEST(OutputCode, PartitionsAreFollowed) {
  const CompiledProgram program =
      parsed(wrapper("x, = args\n"
                     "partition0_args = [x]\n"
                     "del x\n"
                     "(buf0,) = self.partitions[0](partition0_args)\n"
                     "del partition0_args\n"
                     "extern_kernels.mm(buf0, buf0, out=buf0)\n"
                     "return (buf0, )\n",
                     "def partition_0(args):\n"
                     "    x, = args\n"
                     "    args.clear()\n"
                     "    buf0 = empty_strided_cuda((4, 4), (4, 1), torch.float32)\n"
                     "    triton_poi_fused_add_0.run(x, buf0, 16, stream=stream0)\n"
                     "    del x\n"
                     "    return (buf0, )\n"
                     "\n"));
  EXPECT_EQ(event_list(program), "+buf0 !triton_poi_fused_add_0 -x !extern_kernels.mm ");
  EXPECT_EQ(program.blocks.size(), 2U);
}

TEST(OutputCode, SymbolsHaveTheValuesOfTheExample) {
  const std::string text = wrapper(
      "s0, x = args\n"
      "s1 = s0\n"
      "buf0 = empty_strided_cuda((s1, 2*s1), (2*s1, 1), torch.float16)\n"
      "buf1 = empty_strided_cuda((u0, ), (1, ), torch.float16)\n"
      "return (buf0, )\n",
      {},
      "s0 = 3\n"
      "x = rand_strided((3, 4), (4, 1), device='cuda:0', dtype=torch.float32)");
  const CompiledProgram program = parsed(text);
  const CompiledMemory memory = compiled_memory(program);
  EXPECT_EQ(memory.peak_bytes, 48 + 36);
  EXPECT_EQ(memory.unknown_blocks, 1U);  // u0 has no value
}

TEST(OutputCode, UnknownStatementsAreListed) {
  const CompiledProgram program = parsed(wrapper("x, = args\nsurprise(x)\nreturn (x, )\n"));
  ASSERT_EQ(program.unread.size(), 1U);
  EXPECT_THAT(program.unread.front(), HasSubstr("surprise(x)"));
}

TEST(OutputCode, DamagedTextIsRefused) {
  const auto cut_off = read_output_code("wrapper.py", std::string(kStart));
  ASSERT_FALSE(cut_off);
  EXPECT_EQ(cut_off.error().message,
            "wrapper.py: the wrapper has no function `call`; is the text cut off?");
  const auto endless = read_output_code(
      "wrapper.py", wrapper("x, = args\nagain(x)\n", "def again(args):\n    again(args)\n\n"));
  ASSERT_FALSE(endless);
  EXPECT_THAT(endless.error().message, HasSubstr("too deeply"));
}

// One entry of a log: its JSON, and its payload with a tab before each line.
std::string log_entry(std::string_view json, std::string_view payload) {
  std::string text = fmt::format(
      "V1128 20:22:58.719000 1000 torch/_inductor/graph.py:1] {{{}, \"frame_id\": 0, "
      "\"frame_compile_id\": 0, \"attempt\": 0, \"has_payload\": \"00\"}}\n",
      json);
  while (!payload.empty()) {
    const auto end = std::min(payload.find('\n'), payload.size());
    text += fmt::format("\t{}\n", payload.substr(0, end));
    payload.remove_prefix(std::min(end + 1, payload.size()));
  }
  return text;
}

TEST(CompileArtifacts, TheGraphOfUnreadableCodeIsNotThatOfTheNextCode) {
  const auto code = [](std::string_view text) {
    return log_entry(R"("inductor_output_code": {"filename": "/tmp/output_code.py"})", text);
  };
  const std::string graph = log_entry(
      R"("artifact": {"name": "inductor_post_grad_graph", "encoding": "string"})", "class f:\n");
  const std::string whole = wrapper("x, = args\nreturn (x, )\n");
  const CompileArtifacts paired = read_trace_artifacts("log", graph + code(whole));
  ASSERT_EQ(paired.programs.size(), 1U);
  EXPECT_EQ(paired.programs.front().post_grad_graph, "class f:\n");
  const CompileArtifacts damaged = read_trace_artifacts("log", graph + code(kStart) + code(whole));
  EXPECT_EQ(damaged.problems.size(), 1U);
  ASSERT_EQ(damaged.programs.size(), 1U);
  EXPECT_EQ(damaged.programs.front().post_grad_graph, "");
}

TEST(CompileArtifacts, FoldersWithoutArtifactsAreRefused) {
  const TemporaryFolder folder;
  ASSERT_TRUE(write_bytes(folder / "notes.txt", "nothing"));
  const auto none = read_compile_artifacts(folder.path().string());
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message, HasSubstr("TORCH_TRACE=FOLDER"));
  const auto named = read_compile_artifacts(folder / "notes.txt");
  ASSERT_FALSE(named);
  EXPECT_THAT(named.error().message, HasSubstr("neither a TORCH_TRACE log, nor a wrapper"));
  ASSERT_TRUE(write_bytes(folder / "a.py", wrapper("x, = args\nreturn (x, )\n")));
  EXPECT_EQ(read_artifacts(folder.path().string()).programs.size(), 1U);
}

}  // namespace
}  // namespace jointer::test
