// Reads a wrapper in two steps: its parts (output_code_sources.cpp), then the statements of `call`
// (output_code_calls.cpp).

#include "core/capture/output_code.h"

#include <algorithm>
#include <map>

#include "core/base/checked.h"
#include "core/base/take_part.h"
#include "core/capture/output_code_calls.h"
#include "core/capture/output_code_parts.h"

namespace jointer {
namespace {

constexpr std::string_view kAotId = "# AOT ID: [";

// The first lines name the graph: `# AOT ID: ['0_forward']`.
std::optional<CaptureKind> half_of(std::string_view text) {
  const std::size_t at = text.find(kAotId);
  if (at == std::string_view::npos) return std::nullopt;
  text.remove_prefix(at);
  const std::string_view id = take_part(text, '\n');
  if (id.find("_forward'") != std::string_view::npos) return CaptureKind::forward;
  if (id.find("_inference'") != std::string_view::npos) return CaptureKind::forward;
  if (id.find("_backward'") != std::string_view::npos) return CaptureKind::backward;
  return std::nullopt;
}

}  // namespace

std::string_view to_string(CompiledKind kind) {
  switch (kind) {
    case CompiledKind::pointwise:
      return "pointwise";
    case CompiledKind::reduction:
      return "reduction";
    case CompiledKind::mix_order_reduction:
      return "mix_order_reduction";
    case CompiledKind::matrix_template:
      return "template";
    case CompiledKind::foreach:
      return "foreach";
    case CompiledKind::collective:
      return "collective";
    case CompiledKind::wait:
      return "wait";
    case CompiledKind::view:
      return "view";
    case CompiledKind::external:
      break;
  }
  return "extern";
}

std::string_view to_string(NodesFrom from) {
  switch (from) {
    case NodesFrom::provenance:
      return "provenance";
    case NodesFrom::comments:
      return "comments";
    case NodesFrom::order:
      return "order";
    case NodesFrom::nothing:
      break;
  }
  return "nothing";
}

std::optional<std::int64_t> BufferBlock::bytes() const {
  if (count == 0) return 0;
  if (!count || !dtype) return std::nullopt;
  return saturating_mul(*count, item_size(*dtype));
}

std::vector<const CompiledUse*> distinct_uses(const CompiledKernel& kernel,
                                              bool CompiledUse::*is_used) {
  std::vector<const CompiledUse*> uses;
  for (const CompiledUse& use : kernel.uses) {
    const bool is_repeated = std::any_of(uses.begin(), uses.end(), [&](const CompiledUse* before) {
      return before->block == use.block && before->name == use.name;
    });
    if (use.*is_used && !is_repeated) uses.push_back(&use);
  }
  return uses;
}

std::string CompiledProgram::device() const {
  std::map<std::string, std::size_t> counts;
  for (const BufferBlock& block : blocks)
    if (!block.device.empty()) ++counts[block.device];
  std::string main;
  for (const auto& [device, number] : counts)
    if (main.empty() || number > counts[main]) main = device;
  return main;
}

bool is_output_code(std::string_view text) {
  return text.find("async_compile = AsyncCompile()") != std::string_view::npos &&
         text.find("def call(") != std::string_view::npos;
}

Result<CompiledProgram> read_output_code(std::string_view name, std::string text) {
  CompiledProgram program;
  program.text = std::move(text);
  wrapper::Parts parts = wrapper::parts_of(program.text);
  program.half = half_of(program.text);
  program.sources = std::move(parts.sources);
  JOINTER_CHECK(wrapper::follow_calls(name, parts, program));
  return program;
}

}  // namespace jointer
