#include "plugins/hosted/analysis_json.h"

namespace jointer {
namespace {

constexpr auto kMaxDevice = static_cast<std::int64_t>(DeviceType::other);

}  // namespace

OrderedJson to_json(const AnalysisOptions& o) {
  OrderedJson json{{"estimator", o.estimator.name},
                   {"device", o.estimator.device},
                   {"gpus_per_node", o.estimator.gpus_per_node},
                   {"costs", o.estimator.costs},
                   {"torch_memory", o.memory.rules == MemoryRules::torch},
                   {"adamw", o.memory.optimizer == OptimizerState::adamw},
                   {"gloo", o.memory.collectives == CollectiveLibrary::gloo},
                   {"one_communication_stream", o.simulation.one_communication_stream}};
  if (o.memory.runs_on) json["runs_on"] = static_cast<std::int64_t>(*o.memory.runs_on);
  return json;
}

Result<AnalysisOptions> read_analysis_options(const OrderedJson& json) {
  AnalysisOptions o;
  if (!json.is_object()) return input_error("the options of the analysis are not an object");
  const AnalysisOptions usual;
  try {
    o.estimator.name = json.value("estimator", usual.estimator.name);
    o.estimator.device = json.value("device", usual.estimator.device);
    o.estimator.gpus_per_node = json.value("gpus_per_node", usual.estimator.gpus_per_node);
    o.estimator.costs = json.value("costs", usual.estimator.costs);
    if (json.value("torch_memory", false)) o.memory.rules = MemoryRules::torch;
    if (json.value("adamw", false)) o.memory.optimizer = OptimizerState::adamw;
    if (json.value("gloo", false)) o.memory.collectives = CollectiveLibrary::gloo;
    o.simulation.one_communication_stream = json.value("one_communication_stream", false);
    const auto device = json.value("runs_on", std::int64_t{-1});
    if (device > kMaxDevice) return input_error("`runs_on` is not a device type");
    if (device >= 0) o.memory.runs_on = static_cast<DeviceType>(device);
  } catch (const OrderedJson::exception& error) {
    return input_error("an option of the analysis is invalid: {}", error.what());
  }
  return o;
}

}  // namespace jointer
