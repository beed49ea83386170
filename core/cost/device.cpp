#include "core/cost/device.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "core/base/bytes.h"
#include "core/base/characters.h"
#include "core/base/checked.h"
#include "core/base/counted.h"
#include "core/base/environment.h"
#include "core/base/json_fields.h"
#include "core/base/name_table.h"
#include "core/base/number_text.h"
#include "core/cost/cpu_probe.h"
#include "core/cost/gpu_properties.h"
#include "core/cost/kernel_rates_fields.h"
#include "embedded/jointer_devices.h"

namespace jointer {
namespace {

struct BuiltIn {
  std::string_view id, json;
};

constexpr std::string_view kThreads = "cpu{threads=";

std::vector<BuiltIn> built_in() {
  return {{"a100", embedded::a100()}, {"h100", embedded::h100()},     {"h200", embedded::h200()},
          {"b200", embedded::b200()}, {"mi300x", embedded::mi300x()}, {"cpu", embedded::cpu()}};
}

const OrderedJson* required(JsonMembers& members, std::string_view key) {
  const OrderedJson* json = members.find(key);
  if (json == nullptr) members.expect(key, {});
  return json;
}

std::optional<double> read_figure(JsonMembers& members, std::string_view key, double min) {
  const OrderedJson* json = required(members, key);
  if (json == nullptr) return std::nullopt;
  if (!json->is_number() || !(json->get<double>() >= 0) || json->get<double>() > 1e18)
    members.refuse(fmt::format("{} must be a number from 0 to 1e18", members.place_of(key)));
  else if (json->get<double>() < min)
    members.refuse(fmt::format("{} must be positive, at least {}", members.place_of(key), min));
  else
    return json->get<double>();
  return std::nullopt;
}

// The minimum of fields that are divisors. Values near zero would make times infinite.
constexpr double kAboveZero = 1e-9;

// A number in a device description. Numbers are required and have limits.
template <class Struct, class Value>
struct Figure {
  std::string_view key;
  Value Struct::*member;
  double min = 0;

  void read(JsonMembers& members, Struct& object) const {
    const auto value = read_figure(members, key, min);
    if (!value) return;
    if constexpr (std::is_same_v<Value, std::int64_t>)
      object.*member = saturating_whole(*value);
    else
      object.*member = *value;
  }
};
template <class Struct, class Value>
constexpr Figure<Struct, Value> figure(std::string_view key, Value Struct::*member) {
  return {.key = key, .member = member};
}
template <class Struct>
constexpr Figure<Struct, double> divisor(std::string_view key, double Struct::*member) {
  return {.key = key, .member = member, .min = kAboveZero};
}

struct Text {
  std::string_view key;
  std::string DeviceDescription::*member;

  void read(JsonMembers& members, DeviceDescription& device) const {
    const OrderedJson* json = required(members, key);
    if (json != nullptr && read_json(*json, device.*member) != nullptr)
      members.refuse(fmt::format("`{}` must be a string", key));
  }
};

template <class Struct, class Fields>
struct Within {
  std::string_view key;
  Struct DeviceDescription::*member;
  Fields fields;

  void read(JsonMembers& members, DeviceDescription& device) const {
    const OrderedJson* json = required(members, key);
    if (json == nullptr) return;
    JsonMembers inner(*json, members.place_of(key));
    read_fields(inner, device.*member, fields);
    members.check(inner);
  }
};
template <class Struct, class Fields>
Within(std::string_view, Struct DeviceDescription::*, Fields) -> Within<Struct, Fields>;

using Efficiency = DeviceDescription::Efficiency;
using Host = DeviceDescription::Host;
using Links = DeviceDescription::Links;

constexpr auto kFields =
    std::tuple(Text{"id", &DeviceDescription::id}, Text{"name", &DeviceDescription::name},
               Text{"vendor", &DeviceDescription::vendor},
               Text{"architecture", &DeviceDescription::architecture},
               figure("memory_bytes", &DeviceDescription::memory_bytes),
               divisor("memory_gbps", &DeviceDescription::memory_gbps),
               figure("matmul_units", &DeviceDescription::matmul_units),
               Within{"efficiency", &DeviceDescription::efficiency,
                      std::tuple(divisor("matmul", &Efficiency::matmul),
                                 divisor("attention_forward", &Efficiency::attention_forward),
                                 divisor("attention_backward", &Efficiency::attention_backward),
                                 divisor("memory", &Efficiency::memory))},
               figure("kernel_us", &DeviceDescription::kernel_us),
               divisor("host_gbps", &DeviceDescription::host_gbps),
               Within{"host", &DeviceDescription::host,
                      std::tuple(figure("operator_us", &Host::operator_us),
                                 figure("launch_us", &Host::launch_us),
                                 figure("collective_us", &Host::collective_us))},
               Within{"links", &DeviceDescription::links,
                      std::tuple(divisor("intra_gbps", &Links::intra_gbps),
                                 divisor("intra_efficiency", &Links::intra_efficiency),
                                 divisor("inter_gbps", &Links::inter_gbps),
                                 divisor("inter_efficiency", &Links::inter_efficiency),
                                 figure("base_us", &Links::base_us),
                                 figure("intra_step_us", &Links::intra_step_us),
                                 figure("inter_step_us", &Links::inter_step_us))});

void read_peaks(JsonMembers& members, DeviceDescription& device) {
  const OrderedJson* peaks = required(members, "peak_tflops");
  if (peaks == nullptr) return;
  if (!peaks->is_object() || peaks->empty())
    return members.refuse("`peak_tflops` must be an object with at least one entry");
  JsonMembers inner(*peaks, members.place_of("peak_tflops"));
  for (const auto& [name, value] : peaks->items())
    device.peak_tflops.emplace_back(name, read_figure(inner, name, kAboveZero).value_or(0));
  members.check(inner);
}

void read_nccl(JsonMembers& members, DeviceDescription& device) {
  constexpr NameTable<NcclGpu, 4> kKnown{{{"volta", NcclGpu::volta},
                                          {"ampere", NcclGpu::ampere},
                                          {"hopper", NcclGpu::hopper},
                                          {"blackwell", NcclGpu::blackwell}}};
  const OrderedJson* json = required(members, "torch_nccl");
  std::string name;
  if (json == nullptr) return;
  if (read_json(*json, name) != nullptr) return members.refuse("`torch_nccl` must be a string");
  if (const auto gpu = value_in(kKnown, name))
    device.torch_nccl = *gpu;
  else
    members.refuse(
        fmt::format("`torch_nccl`: expected volta, ampere, hopper or blackwell, got `{}`", name));
}

// The member `outside_bytes`, which is optional.
void read_outside(JsonMembers& members, DeviceDescription& device) {
  constexpr std::string_view kKey = "outside_bytes";
  if (members.find(kKey) == nullptr) return;
  figure(kKey, &DeviceDescription::outside_bytes).read(members, device);
  if (device.outside_bytes > 0 && device.outside_bytes >= device.memory_bytes)
    members.refuse("`outside_bytes` must be less than `memory_bytes`");
}

// The member `kernels`, which is optional.
void read_kernels(JsonMembers& members, DeviceDescription& device) {
  members.read("kernels", device.kernels);
  if (!device.kernels) return;
  if (const std::string problem = problem_of(*device.kernels); !problem.empty())
    members.refuse("`kernels`: " + problem);
}

Result<DeviceDescription> parse_text(std::string_view name, std::string_view text) {
  const auto json = parse_json(text, fmt::format("{}: not a device description", name));
  if (!json) return tl::unexpected(json.error());
  if (!json->is_object())
    return input_error("{}: not a device description: expected a JSON object", name);
  JsonMembers members(*json);
  if (const OrderedJson* version = required(members, "version"); version && *version != 1)
    members.refuse("`version` must be 1");
  DeviceDescription device;
  read_fields(members, device, kFields);
  device.matmul_units = std::max<std::int64_t>(1, device.matmul_units);
  read_outside(members, device);
  read_peaks(members, device);
  read_nccl(members, device);
  read_kernels(members, device);
  if (const OrderedJson* sources = members.find("sources"); sources && sources->is_array())
    for (const OrderedJson& source : *sources)
      if (std::string each; read_json(source, each) == nullptr) device.sources.push_back(each);
  if (!members.problem().empty())
    return input_error("{}: not a device description: {}", name, members.problem());
  return device;
}

// Returns the built-in CPU, with its peaks and bandwidths scaled to `cores` cores. Bandwidths are
// scaled because ranks on the other cores use the rest.
Result<DeviceDescription> cpu_with(int cores) {
  JOINTER_TRY(DeviceDescription device, parse_text("cpu", embedded::cpu()));
  JOINTER_TRY(const OrderedJson json, parse_json(embedded::cpu(), "cpu"));
  const double share = cores / json["cores"].get<double>();
  for (auto& [type, tflops] : device.peak_tflops) tflops *= share;
  device.memory_gbps *= share;
  device.host_gbps *= share;
  device.name = fmt::format("{}, {}", device.name.substr(0, device.name.find(',')),
                            counted(static_cast<std::size_t>(cores), "core"));
  return device;
}

// Loads the CPU of this machine for one of several ranks with `threads` threads each. It has the
// rates of the probe, if there is one.
Result<DeviceDescription> cpu_of_rank(int threads, int ranks) {
  JOINTER_TRY(DeviceDescription device, cpu_with(threads));
  JOINTER_TRY(const std::optional<CpuProbe> probe, read_cpu_probe(cpu_probe_path()));
  if (probe) return probed_cpu(*probe, std::move(device), threads, ranks);
  return device;
}

// Loads `cpu` with as many cores as this program may use.
Result<DeviceDescription> this_cpu() {
  JOINTER_TRY(DeviceDescription device, cpu_of_rank(usable_cores(), 1));
  device.name += " (this machine)";
  return device;
}

// Loads a device such as `cpu{threads=2,ranks=4}`. `given`: the text before it became lower case.
Result<DeviceDescription> load_rank(std::string_view text, std::string_view given) {
  constexpr std::string_view kRanks = ",ranks=", kEnd = "}";
  constexpr int kMax = 65536;
  int threads = 0, ranks = 0;
  if (const std::size_t at = text.find(kRanks);
      at != std::string_view::npos && text.ends_with(kEnd)) {
    threads = number_of<int>(text.substr(kThreads.size(), at - kThreads.size())).value_or(0);
    const std::size_t begin = at + kRanks.size();
    ranks = number_of<int>(text.substr(begin, text.size() - kEnd.size() - begin)).value_or(0);
  }
  if (threads < 1 || threads > kMax || ranks < 1 || ranks > kMax)
    return fail(Error::Kind::usage,
                "there is no device `{}`; write cpu{{threads=N,ranks=N}}, with 1 to {} of each",
                given, kMax);
  return cpu_of_rank(threads, ranks);
}

// Loads a device such as `cpu{cores=4}`; `given` as above.
Result<DeviceDescription> load_cores(std::string_view text, std::string_view given) {
  constexpr std::string_view kBegin = "cpu{cores=", kEnd = "}";
  constexpr int kMax = 65536;
  int cores = 0;
  if (text.starts_with(kBegin) && text.ends_with(kEnd))
    cores = number_of<int>(text.substr(kBegin.size(), text.size() - kBegin.size() - kEnd.size()))
                .value_or(0);
  if (cores < 1 || cores > kMax)
    return fail(Error::Kind::usage,
                "there is no device `{}`; write cpu{{cores=N}}, with 1 to {} cores", given, kMax);
  return cpu_with(cores);
}

}  // namespace

std::string cpu_of_rank_text(int threads, int ranks) {
  return fmt::format("{}{},ranks={}}}", kThreads, threads, ranks);
}

std::vector<std::string_view> device_ids() {
  std::vector<std::string_view> ids;
  for (const BuiltIn& device : built_in()) ids.push_back(device.id);
  return ids;
}

bool is_mig_slice(std::string_view name) {
  return name.find(" MIG ") != std::string_view::npos;
}

std::string_view device_id_in(std::string_view name) {
  if (is_mig_slice(name)) return {};
  const std::string text = lowercase(name);
  const auto is_letter_or_digit = [](char c) { return is_letter(c) || is_digit(c); };
  for (const BuiltIn& device : built_in()) {
    const std::size_t at = text.find(device.id);
    if (at == std::string::npos || device.id == "cpu") continue;
    const std::size_t end = at + device.id.size();
    if ((at == 0 || !is_letter_or_digit(text[at - 1])) &&
        (end == text.size() || !is_letter_or_digit(text[end])))
      return device.id;
  }
  return {};
}

Result<DeviceDescription> load_device(std::string_view id_or_path) {
  const std::string id = lowercase(id_or_path);
  if (id == "cpu") return this_cpu();
  for (const BuiltIn& device : built_in())
    if (device.id == id) return parse_text(device.id, device.json);
  if (id.starts_with(kThreads)) return load_rank(id, id_or_path);
  if (id.starts_with("cpu{")) return load_cores(id, id_or_path);
  if (is_gpu_text(id_or_path)) return load_gpu(id_or_path);
  if (id_or_path.find('/') == std::string_view::npos && !id.ends_with(".json"))
    return fail(Error::Kind::usage, "there is no device `{}`; use one of {}, or a JSON file",
                id_or_path, fmt::join(device_ids(), ", "));
  JOINTER_TRY(const PaddedBytes bytes, read_bytes(std::string(id_or_path)));
  return parse_text(id_or_path, bytes.view());
}

double DeviceDescription::peak_flops(DType type) const {
  const std::string_view type_name = to_string(type);
  // First the type itself, then its family (float8 for float8_e4m3fn), then wider types.
  std::vector<std::string_view> candidates{type_name};
  if (type_name.starts_with("float8")) candidates.emplace_back("float8");
  if (type_name.starts_with("float4")) candidates.insert(candidates.end(), {"float4", "float8"});
  if (type == DType::uint8) candidates.emplace_back("int8");
  if (type == DType::complex128) candidates.emplace_back("float64");
  candidates.insert(candidates.end(), {"bfloat16", "float16", "float32"});
  if (type == DType::complex64) candidates = {"float32"};
  for (const std::string_view candidate : candidates)
    for (const auto& [key, tflops] : peak_tflops)
      if (key == candidate) return tflops * 1e12;
  return peak_tflops.front().second * 1e12;
}

}  // namespace jointer
