#include "core/cost/estimator.h"

#include <algorithm>
#include <array>
#include <limits>

#include "core/base/bytes.h"
#include "core/base/checked.h"
#include "core/base/json_fields.h"
#include "core/base/number_text.h"
#include "core/base/take_part.h"
#include "core/cost/gpu_properties.h"
#include "core/cost/kernel_estimator.h"
#include "core/cost/measured.h"
#include "core/cost/profile_estimator.h"
#include "core/cost/roofline.h"
#include "core/cost/simple.h"
#include "core/cost/torch_estimator.h"

namespace jointer {
namespace {

// Parses the constants of `simple{coll_us=20,mem_gbs=2000}`.
Result<SimpleCosts> parse_simple(std::string_view text) {
  SimpleCosts costs;
  const std::array<std::pair<std::string_view, double*>, 4> constants{{
      {"coll_us", &costs.coll_us},
      {"coll_gbs", &costs.coll_gbs},
      {"tflops", &costs.tflops},
      {"mem_gbs", &costs.mem_gbs},
  }};
  if (text.empty()) return costs;
  if (text.back() != '}')
    return fail(Error::Kind::usage,
                "estimator `simple{}`: expected `}}` at the end, as in simple{{coll_us=20}}", text);
  text = text.substr(1, text.size() - 2);
  while (!text.empty()) {
    const std::string_view item = take_part(text, ',');
    const auto equals = item.find('=');
    bool found = false;
    for (const auto& [name, value] : constants) {
      if (equals == std::string_view::npos || item.substr(0, equals) != name) continue;
      const auto number = number_of<double>(item.substr(equals + 1));
      found = number && (*number > 0 || (name == "coll_us" && *number >= 0));
      if (found) *value = *number;
    }
    if (!found)
      return fail(Error::Kind::usage,
                  "estimator `simple`: `{}` is not a constant; expected NAME=NUMBER, where NAME is "
                  "coll_us, coll_gbs, tflops or mem_gbs, and NUMBER is positive (coll_us may be 0)",
                  item);
  }
  return costs;
}

// Returns the value of the only constant, as in `measured{device="NVIDIA H200"}`; empty for
// `measured` and `measured{}`, and if the text is malformed.
std::string text_constant(std::string_view text, std::string_view name) {
  const std::string start = fmt::format("{{{}=", name);
  if (!text.starts_with(start) || !text.ends_with('}')) return {};
  const std::string_view value = text.substr(start.size(), text.size() - start.size() - 1);
  std::string quoted;
  if (const auto json = parse_tree(value); json && read_json(*json, quoted) == nullptr)
    return quoted;
  // Quotes are optional for a value without special characters.
  return std::string(value.find_first_of("\"{},= ") == std::string_view::npos ? value
                                                                              : std::string_view());
}

Result<std::string> parse_measured(std::string_view text) {
  if (text.empty() || text == "{}") return std::string();
  std::string device = text_constant(text, "device");
  if (device.empty())
    return fail(Error::Kind::usage,
                "estimator `measured{}`: expected measured or measured{{device=\"NAME\"}}, such as "
                "measured{{device=\"NVIDIA H200\"}}",
                text);
  return device;
}

Result<std::unique_ptr<Estimator>> make_profile(const EstimatorRequest& request,
                                                DeviceDescription device) {
  constexpr std::size_t kName = std::string_view("profile").size();
  const std::string trace = text_constant(std::string_view(request.name).substr(kName), "trace");
  if (trace.empty())
    return fail(
        Error::Kind::usage,
        "estimator `{}`: expected profile{{trace=\"FILE\"}}, where FILE is a profiler trace",
        request.name);
  JOINTER_TRY(const PaddedBytes bytes, read_bytes(trace));
  JOINTER_TRY(ProfileData profile, ProfileData::read(trace, bytes));
  return std::make_unique<ProfileEstimator>(
      std::move(profile), trace,
      std::make_unique<TorchEstimator>(TorchFormulas::v2_15, std::move(device),
                                       request.gpus_per_node));
}

// The id of the default device of a type.
std::string_view default_device(DeviceType type) {
  return type == DeviceType::cpu ? "cpu" : "h100";
}

// The rates of a CPU's kernels were measured on it (core/cost/cpu_probe.h), so they replace the
// generic efficiencies of the roofline. Elsewhere, the roofline's device has no such rates, so that
// compiled kernels (core/compiled/kernel_times.h) and calls in eager mode follow the same rules.
std::unique_ptr<Estimator> make_roofline(DeviceDescription device, std::int64_t gpus_per_node) {
  if (device.id == "cpu" && device.kernels)
    return std::make_unique<KernelEstimator>(std::move(device), gpus_per_node);
  device.kernels.reset();
  return std::make_unique<RooflineEstimator>(std::move(device), gpus_per_node);
}

Result<std::unique_ptr<Estimator>> make_kernels(DeviceDescription device,
                                                std::int64_t gpus_per_node) {
  if (!device.kernels)
    return fail(
        Error::Kind::usage,
        "estimator `kernels`: the description of {} has no rates of kernels; {}", device.name,
        device.id == "cpu" ? "`jointer calibrate --probe` measures those of this machine, for "
                             "--device cpu"
                           : "use `roofline`, or another device");
  return std::make_unique<KernelEstimator>(std::move(device), gpus_per_node);
}

// If no device is named, loads the costs of the most recently measured device of this type, or of
// any type if none is given.
Result<DeviceCosts> load_costs(const CostDatabase& database, const std::string& device,
                               std::optional<DeviceType> type) {
  if (!device.empty()) return database.load(device);
  JOINTER_TRY(const std::vector<MeasuredDevice> measured, database.devices());
  for (const MeasuredDevice& candidate : measured)
    if (!type || parse_device_type(candidate.type) == *type) return database.load(candidate.name);
  std::string names;
  for (const MeasuredDevice& other : measured)
    names += (names.empty() ? " (measured devices: " : ", ") + other.name;
  if (!names.empty()) names += ')';
  return fail(Error::Kind::usage,
              "{}: nothing has been measured{} yet{}; run the graph with `jointer bench "
              "--calibrate`, or read a profiler trace with `jointer calibrate`",
              database.path(),
              !type                       ? ""
              : *type == DeviceType::cpu  ? " on a CPU"
              : *type == DeviceType::cuda ? " on a GPU"
                                          : " on such a device",
              names);
}

Result<std::unique_ptr<Estimator>> make_measured(const EstimatorRequest& request,
                                                 std::optional<DeviceType> type) {
  constexpr std::size_t kName = std::string_view("measured").size();
  JOINTER_TRY(const std::string name, parse_measured(std::string_view(request.name).substr(kName)));
  JOINTER_TRY(
      const CostDatabase database,
      CostDatabase::open(request.costs.empty() ? CostDatabase::default_path() : request.costs));
  JOINTER_TRY(DeviceCosts costs, load_costs(database, name, type));
  std::string_view id = request.device;
  if (id.empty()) id = device_id_in(costs.device.name);
  if (id.empty() && is_gpu_text(costs.device.gpu)) id = costs.device.gpu;
  if (id.empty()) id = default_device(parse_device_type(costs.device.type));
  JOINTER_TRY(DeviceDescription device, load_device(id));
  return std::make_unique<MeasuredEstimator>(
      std::move(costs), make_roofline(std::move(device), request.gpus_per_node),
      request.gpus_per_node);
}

}  // namespace

std::string_view to_string(NodeCost::Limit limit) {
  static constexpr std::array<std::string_view, 8> kNames{
      "none", "compute", "memory", "launch", "host link", "network", "latency", "given"};
  return kNames[static_cast<std::size_t>(limit)];
}

NodeCost TransferCosts::of(std::int64_t bytes) const {
  constexpr double kMax = 9e18;
  const double ns = std::min(static_cast<double>(bytes) * ns_per_byte, kMax);
  return {.lane = NodeCost::Lane::transfer,
          .limit = NodeCost::Limit::transfer,
          .ns = std::max<std::int64_t>(saturating_round(ns), min_ns),
          .host_ns = host_ns};
}

TransferCosts Estimator::transfer_costs() const {
  constexpr double kNsPerUs = 1e3;
  return {.ns_per_byte = 1 / device().host_gbps,
          .min_ns = saturating_round(device().kernel_us * kNsPerUs)};
}

Result<std::unique_ptr<Estimator>> make_estimator(const EstimatorRequest& request,
                                                  std::optional<DeviceType> runs_on) {
  if (request.gpus_per_node < 1)
    return fail(Error::Kind::usage, "the number of GPUs per node must be at least 1, not {}",
                request.gpus_per_node);
  const std::string_view name = request.name;
  if (name == "measured" || name.starts_with("measured{")) return make_measured(request, runs_on);
  JOINTER_TRY(
      DeviceDescription device,
      load_device(request.device.empty() ? default_device(runs_on.value_or(DeviceType::cuda))
                                         : request.device));
  if (name == "roofline") return make_roofline(std::move(device), request.gpus_per_node);
  if (name == "kernels") return make_kernels(std::move(device), request.gpus_per_node);
  device.kernels.reset();
  if (name == "torch-2.11" || name == "torch-2.15")
    return std::make_unique<TorchEstimator>(
        name == "torch-2.11" ? TorchFormulas::v2_11 : TorchFormulas::v2_15, std::move(device),
        request.gpus_per_node);
  if (name == "profile" || name.starts_with("profile{"))
    return make_profile(request, std::move(device));
  if (name == "simple" || name.starts_with("simple{")) {
    JOINTER_TRY(const SimpleCosts costs, parse_simple(name.substr(6)));
    return std::make_unique<SimpleEstimator>(costs, std::move(device));
  }
  return fail(Error::Kind::usage,
              "there is no estimator `{}`; use roofline, kernels, simple, torch-2.11, torch-2.15, "
              "profile{{trace=\"FILE\"}} or measured",
              name);
}

std::vector<NodeCost> estimate_all(const Graph& graph, const Estimator& estimator) {
  // Limits the times of a very slow device, so that sums over the graph fit in 64 bits.
  const auto nodes = static_cast<std::int64_t>(graph.node_count());
  const std::int64_t max_ns = std::numeric_limits<std::int64_t>::max() / (4 * (nodes + 1));
  std::vector<NodeCost> costs(graph.node_count());
  for (const NodeId id : graph.order()) {
    NodeCost& cost = costs[id.index()] = estimator.estimate(graph, id);
    cost.ns = std::min(cost.ns, max_ns);
    cost.host_ns = std::min(cost.host_ns, max_ns);
  }
  return costs;
}

}  // namespace jointer
