#include "passes/compile/pipeline_backend.h"

namespace jointer {
namespace {

std::optional<Backend> backend_of_pass(const std::string& name) {
  if (name == "regional_inductor") return Backend::regional;
  if (name == "full_inductor_compilation") return Backend::inductor;
  return std::nullopt;
}

std::string marked_by(const PipelineStep& step) {
  std::string marked;
  for (const auto& [name, value] : step.given) {
    const auto* list = value.as<PassValue::List>();
    if (name != "mark" || list == nullptr) continue;
    for (const PassValue& each : *list)
      if (const auto* text = each.as<std::string>()) marked += (marked.empty() ? "" : ";") + *text;
  }
  return marked;
}

}  // namespace

Result<std::optional<PipelineBackend>> backend_of(const Pipeline& pipeline) {
  std::optional<PipelineBackend> found;
  std::string by;
  for (const PipelineStep& step : pipeline) {
    if (!step.is_enabled) continue;
    if (step.pass == "cudagraph") {
      if (!found) found.emplace();
      found->is_recorded = true;
    }
    const auto backend = backend_of_pass(step.pass);
    if (!backend) continue;
    if (!by.empty() && found->backend != *backend)
      return fail(Error::Kind::usage,
                  "{} and {} select different backends of the runner, which can use only one; "
                  "choose with --backend {} or --backend {}",
                  by, step.pass, to_string(found->backend), to_string(*backend));
    if (!found) found.emplace();
    found->backend = *backend;
    if (const std::string marked = marked_by(step); !marked.empty())
      found->marked += (found->marked.empty() ? "" : ";") + marked;
    by = step.pass;
  }
  return found;
}

}  // namespace jointer
