#include "core/capture/aoti_package.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/bytes.h"
#include "core/capture/compile_artifacts.h"
#include "core/capture/package_manifest.h"
#include "core/capture/tied_kernels.h"
#include "core/graph/canonical.h"
#include "core/graph/literal.h"
#include "tests/support/cpp_wrappers.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/zip_bytes.h"

namespace jointer::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

using Files = std::vector<std::pair<std::string, std::string>>;

const std::string kModelFolder = "package/data/aotinductor/model/";

// A wrapper with a kernel in C++, a product and a collective.
std::string wrapper_text() {
  return cpp_wrapper(
      allocated("buf0") +
          "    // [Provenance debug handles] cpp_fused_add_0:1\n"
          "    cpp_fused_add_0((const float*)(arg0_1.data_ptr()), (float*)(buf0.data_ptr()));\n" +
          allocated("buf1") +
          "    // Topologically Sorted Source Nodes: [y, mm], Original ATen: [aten.add, aten.mm]\n"
          "    // [Provenance debug handles] aoti_torch_cpu_mm_out:2\n"
          "    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_cpu_mm_out(buf1, buf0, buf0));\n"
          "    buf0.reset();\n"
          "    output_handles[0] = buf1.release();\n",
      kCppDeclaration);
}

Files model_files() {
  return {{kModelFolder + "abc.wrapper.cpp", wrapper_text()},
          {kModelFolder + "def.kernel.cpp", std::string(kCppKernel)},
          {kModelFolder + "abc.wrapper.so",
           "\x7f"
           "ELF"},
          {"package/archive_format", "pt2"}};
}

std::vector<CompiledProgram> programs_of(const Files& files, const std::string& path = "a.pt2") {
  const auto archive = ZipArchive::of(zip_bytes(files), path);
  if (!archive) ADD_FAILURE() << archive.error().message;
  auto programs = read_aoti_package(*archive, path);
  if (!programs) ADD_FAILURE() << programs.error().message;
  return programs ? *std::move(programs) : std::vector<CompiledProgram>();
}

std::string refusal_of(const Files& files) {
  const auto archive = ZipArchive::of(zip_bytes(files), "a.pt2");
  if (!archive) return archive.error().message;
  const auto programs = read_aoti_package(*archive, "a.pt2");
  return programs ? "" : programs.error().message;
}

Graph captured_graph() {
  return parse_literal(
             "x: f32[4,4] = input\n"
             "y: f32[4,4] = aten.add.Tensor(x, x)\n"
             "mm: f32[4,4] = aten.mm(y, y)\n"
             "return [mm]\n")
      .value();
}

TEST(AotiPackage, KernelsComeFromTheWrapperAndTheKernelFile) {
  const auto programs = programs_of(model_files());
  ASSERT_EQ(programs.size(), 1U);
  const CompiledProgram& program = programs.front();
  EXPECT_EQ(program.name, "model");
  EXPECT_EQ(program.file, "a.pt2");
  EXPECT_THAT(program.unread, IsEmpty());
  ASSERT_EQ(program.kernels.size(), 2U);
  EXPECT_EQ(program.kernels[0].name, "cpp_fused_add_0");
  EXPECT_EQ(program.kernels[1].name, "extern_kernels.mm");
  ASSERT_EQ(program.sources.size(), 1U);
  EXPECT_THAT(program.sources[0].text, HasSubstr("auto tmp0 = in_ptr0"));
}

TEST(AotiPackage, ACallOfAnOperatorHasTheNodeNamedAfterIt) {
  const CompiledProgram program = programs_of(model_files()).front();
  EXPECT_THAT(program.kernels[0].nodes, IsEmpty());
  EXPECT_THAT(program.kernels[1].nodes, ElementsAre("mm"));
  EXPECT_EQ(program.kernels[1].nodes_from, NodesFrom::comments);
  const Graph tied = captured_graph();
  const TiedKernels ties = tie_kernels(program, tied, kForwardPart);
  EXPECT_THAT(ties.untied, ElementsAre(0U));
  ASSERT_EQ(ties.nodes[1].size(), 1U);
  EXPECT_EQ(tied.name(ties.nodes[1].front()), "mm");
}

TEST(AotiPackage, KernelInformationGivesTheNodes) {
  Files files = model_files();
  files.emplace_back(kModelFolder + "kernel_information.json",
                     R"({"cpp_fused_add_0:1": {"stack_traces": ["model.py:3"],
                         "post_grad_nodes": ["y", "mm"], "pre_grad_nodes": ["add"]},
                         "aoti_torch_cpu_mm_out:2": {"post_grad_nodes": ["y", "mm"]}})");
  const CompiledProgram program = programs_of(files).front();
  EXPECT_THAT(program.kernels[0].nodes, ElementsAre("y"));
  EXPECT_THAT(program.kernels[0].original_nodes, ElementsAre("add"));
  EXPECT_EQ(program.kernels[0].nodes_from, NodesFrom::provenance);
  EXPECT_EQ(program.kernels[0].stack, "model.py:3");
  EXPECT_THAT(program.kernels[1].nodes, ElementsAre("mm"));
  EXPECT_EQ(tie_kernels(program, captured_graph(), kForwardPart).tied_calls, 2U);
}

TEST(AotiPackage, OperatorsThatTheProxyExecutorCallsAreInAFile) {
  Files files = model_files();
  files[0].second = cpp_wrapper(
      "    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_proxy_executor_call_function(proxy_executor, 0, "
      "0, std::array<int64_t, 0>{}.data(), 1, std::array<AtenTensorHandle, 1>{arg0_1}.data()));\n");
  files.emplace_back(kModelFolder + "abc.wrapper.json",
                     R"({"nodes": [{"name": "buf0", "node": {"target": "mylib::scale_"}}]})");
  EXPECT_EQ(programs_of(files).front().kernels.front().name, "torch.ops.mylib.scale_.default");
}

TEST(AotiPackage, ACallInPlaceRunsTheOperatorWithoutTheEnd) {
  Files files = model_files();
  files[0].second = cpp_wrapper(
      "    // Topologically Sorted Source Nodes: [y, all_reduce_1], Original ATen: [aten.add]\n"
      "    AtenTensorHandle buf2_handle;\n"
      "    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_cpu__c10d_functional_all_reduce_(arg0_1, "
      "\"sum\", "
      "\"tp\", &buf2_handle));\n"
      "    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_delete_tensor_object(buf2_handle));\n");
  const CompiledProgram program = programs_of(files).front();
  EXPECT_EQ(program.kernels.front().name, "torch.ops._c10d_functional.all_reduce_.default");
  EXPECT_EQ(program.kernels.front().kind, CompiledKind::collective);
  EXPECT_THAT(program.kernels.front().nodes, ElementsAre("all_reduce_1"));
  EXPECT_TRUE(program.targets.empty());  // the graph calls all_reduce
}

TEST(AotiPackage, EveryModelIsAProgram) {
  Files files = model_files();
  files.emplace_back("package/data/aotinductor/other/ghi.wrapper.cpp",
                     cpp_wrapper("    output_handles[0] = arg0_1.release();\n"));
  const auto programs = programs_of(files);
  ASSERT_EQ(programs.size(), 2U);
  EXPECT_EQ(programs[1].name, "other");
  EXPECT_THAT(programs[1].sources, IsEmpty());
}

TEST(AotiPackage, TheManifestTiesKernelsToTheCapturedGraph) {
  const TemporaryFolder folder;
  Files files = model_files();
  // The compiled graph calls `mm` what the captured graph calls `y`.
  files.emplace_back(kModelFolder + "kernel_information.json",
                     R"({"cpp_fused_add_0:1": {"post_grad_nodes": ["mm"]}})");
  const std::string manifest = fmt::format(
      R"({{"format": "jointer-compiled", "version": 1, "graph": "llama", "phase": "forward",
          "hash": "{}", "torch": "2.15.0+cpu", "origins": {{"mm": ["y"]}}}})",
      graph_hash(captured_graph(), kForwardPart));
  ASSERT_TRUE(write_bytes(folder / "p.json", manifest));
  const CompiledProgram program = programs_of(files, folder / "p.pt2").front();
  EXPECT_EQ(program.name, "llama, forward");
  EXPECT_EQ(program.half, CaptureKind::forward);
  EXPECT_EQ(program.torch_version, "2.15.0+cpu");
  EXPECT_TRUE(program.is_retraced);
  const Graph tied = captured_graph();
  const TiedKernels ties = tie_kernels(program, tied, kForwardPart);
  ASSERT_EQ(ties.nodes[0].size(), 1U);
  EXPECT_EQ(tied.name(ties.nodes[0].front()), "y");
  ASSERT_EQ(ties.nodes[1].size(), 1U);
  EXPECT_EQ(tied.name(ties.nodes[1].front()), "mm");
}

TEST(AotiPackage, TheCacheIsSearchedByHash) {
  const TemporaryFolder folder;
  const auto add = [&](const std::string& name, const std::string& hash, const char* more) {
    ASSERT_TRUE(write_bytes(folder / (name + ".pt2"), "package"));
    ASSERT_TRUE(write_bytes(
        folder / (name + ".json"),
        fmt::format(R"({{"format": "jointer-compiled", "hash": "{}"{}}})", hash, more)));
  };
  add("other", "h1", "");
  add("region1", "h2", R"(, "region": 1, "of": "joint")");
  add("region0", "h2", R"(, "region": 0, "of": "joint")");
  EXPECT_EQ(cached_packages(folder.path().string(), "h2").size(), 2U);
  add("whole", "h2", R"(, "phase": "joint")");
  EXPECT_THAT(cached_packages(folder.path().string(), "h2"), ElementsAre(folder / "whole.pt2"));
  EXPECT_THAT(cached_packages(folder.path().string(), "h3"), IsEmpty());
  EXPECT_THAT(cached_packages(folder / "missing", "h2"), IsEmpty());
}

TEST(AotiPackage, WithoutAWrapperTheMessageSaysHowToKeepIt) {
  EXPECT_THAT(refusal_of({{kModelFolder + "abc.wrapper.so", "code"}}),
              testing::AllOf(HasSubstr("has package/data/aotinductor/model/abc.wrapper.so but not"),
                             HasSubstr("aot_inductor.package = True")));
  EXPECT_THAT(refusal_of({{"package/models/model.json", "{}"}}),
              HasSubstr("without compiled code of AOTInductor"));
}

TEST(AotiPackage, DamagedFilesAreRefused) {
  Files files = model_files();
  files.emplace_back(kModelFolder + "kernel_information.json", "{");
  EXPECT_THAT(refusal_of(files), HasSubstr("kernel_information.json"));
  files = model_files();
  files[0].second.resize(files[0].second.size() - 120);
  EXPECT_THAT(refusal_of(files), HasSubstr("abc.wrapper.cpp: line"));
}

TEST(AotiPackage, ArtifactsInAFolderIncludePackages) {
  const TemporaryFolder folder;
  ASSERT_TRUE(write_bytes(folder / "checkpoint.pt", zip_bytes({{"archive/data.pkl", ""}})));
  ASSERT_TRUE(write_bytes(folder / "model.pt2", zip_bytes(model_files(), ZipForm::deflated)));
  const std::string whole = zip_bytes(model_files());
  ASSERT_TRUE(write_bytes(folder / "part.pt2", whole.substr(0, whole.size() / 2)));
  const auto artifacts = read_compile_artifacts(folder.path().string());
  ASSERT_TRUE(artifacts) << artifacts.error().message;
  EXPECT_EQ(artifacts->programs.size(), 1U);
  EXPECT_EQ(artifacts->ignored, 1U);
  ASSERT_EQ(artifacts->problems.size(), 1U);
  EXPECT_THAT(artifacts->problems.front(), HasSubstr("part.pt2"));
  const auto named = read_compile_artifacts(folder / "checkpoint.pt");
  ASSERT_FALSE(named);
  EXPECT_THAT(named.error().message, HasSubstr("without compiled code of AOTInductor"));
}

}  // namespace
}  // namespace jointer::test
