#include "plugins/hosted/analysis_json.h"

#include <array>

#include "core/base/json_fields.h"

namespace jointer {
namespace {

constexpr auto kMaxDevice = static_cast<std::int64_t>(DeviceType::other);

// Reads and writes a field with two possible values as a boolean, which is true for `chosen`.
template <auto chosen, auto other, class Struct>
constexpr auto flag(std::string_view key, decltype(chosen) Struct::*member) {
  using Value = decltype(chosen);
  return json_converted(
      key, member, +[](Value value) { return value == chosen; },
      +[](bool is_chosen) { return is_chosen ? chosen : other; });
}

constexpr auto kEstimator =
    std::tuple(json_field("estimator", &EstimatorRequest::name),
               json_field("device", &EstimatorRequest::device),
               json_field("gpus_per_node", &EstimatorRequest::gpus_per_node),
               json_field("costs", &EstimatorRequest::costs));
constexpr auto kMemory = std::tuple(
    flag<MemoryRules::torch, MemoryRules::runtime>("torch_memory", &MemoryOptions::rules),
    flag<OptimizerState::adamw, OptimizerState::none>("adamw", &MemoryOptions::optimizer),
    flag<CollectiveLibrary::gloo, CollectiveLibrary::none>("gloo", &MemoryOptions::collectives),
    json_field("rounds_sizes", &MemoryOptions::rounds_sizes));
constexpr auto kSimulation = std::tuple(
    json_field("one_communication_stream", &SimulationOptions::one_communication_stream));
constexpr std::array kExecutions{Execution::eager, Execution::regional, Execution::inductor,
                                 Execution::cudagraph};
constexpr auto kOptions =
    std::tuple(json_choice("execution", &AnalysisOptions::execution, kExecutions, &to_string));

}  // namespace

OrderedJson to_json(const AnalysisOptions& o) {
  OrderedJson json;
  write_fields(json, o.estimator, kEstimator);
  write_fields(json, o.memory, kMemory);
  write_fields(json, o.simulation, kSimulation);
  write_fields(json, o, kOptions);
  if (o.memory.runs_on) add_member(json, "runs_on", static_cast<std::int64_t>(*o.memory.runs_on));
  return json;
}

Result<AnalysisOptions> read_analysis_options(const OrderedJson& json) {
  AnalysisOptions o;
  JsonMembers members(json, "the options of the analysis");
  read_fields(members, o.estimator, kEstimator);
  read_fields(members, o.memory, kMemory);
  read_fields(members, o.simulation, kSimulation);
  read_fields(members, o, kOptions);
  std::int64_t device = -1;
  members.read("runs_on", device);
  if (device > kMaxDevice) members.expect("runs_on", "a device type");
  if (device >= 0) o.memory.runs_on = static_cast<DeviceType>(device);
  if (!members.problem().empty()) return input_error("{}", members.problem());
  return o;
}

}  // namespace jointer
