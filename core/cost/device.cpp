#include "core/cost/device.h"

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

#include "core/base/bytes.h"
#include "core/base/checked.h"
#include "core/base/counted.h"
#include "core/base/number_text.h"
#include "embedded/jointer_devices.h"

namespace jointer {
namespace {

using Json = nlohmann::json;

struct BuiltIn {
  std::string_view id, json;
};

std::vector<BuiltIn> built_in() {
  return {{"a100", embedded::a100()}, {"h100", embedded::h100()},     {"h200", embedded::h200()},
          {"b200", embedded::b200()}, {"mi300x", embedded::mi300x()}, {"cpu", embedded::cpu()}};
}

struct Missing {
  std::string what;
};

const Json& member(const Json& object, const char* key) {
  const auto it = object.find(key);
  if (it == object.end()) throw Missing{fmt::format("`{}` is missing", key)};
  return *it;
}

double positive(const Json& object, const char* key) {
  const Json& value = member(object, key);
  if (!value.is_number() || !(value.get<double>() >= 0) || value.get<double>() > 1e18)
    throw Missing{fmt::format("`{}` must be a number of at least 0", key)};
  return value.get<double>();
}

// A divisor: zero, or nearly zero, would make times infinite.
double above_zero(const Json& object, const char* key) {
  const double value = positive(object, key);
  if (value < 1e-9) throw Missing{fmt::format("`{}` must be above 0", key)};
  return value;
}

std::string text(const Json& object, const char* key) {
  const Json& value = member(object, key);
  if (!value.is_string()) throw Missing{fmt::format("`{}` must be a string", key)};
  return value.get<std::string>();
}

NcclGpu nccl_gpu(const std::string& name) {
  if (name == "volta") return NcclGpu::volta;
  if (name == "ampere") return NcclGpu::ampere;
  if (name == "hopper") return NcclGpu::hopper;
  if (name == "blackwell") return NcclGpu::blackwell;
  throw Missing{fmt::format("`torch_nccl` is `{}`, not volta, ampere, hopper or blackwell", name)};
}

DeviceDescription parse(const Json& json) {
  if (!json.is_object()) throw Missing{"it is not a JSON object"};
  if (member(json, "version") != 1) throw Missing{"its version is not 1"};
  DeviceDescription d;
  d.id = text(json, "id");
  d.name = text(json, "name");
  d.vendor = text(json, "vendor");
  d.architecture = text(json, "architecture");
  d.memory_bytes = saturating_whole(positive(json, "memory_bytes"));
  d.memory_gbps = above_zero(json, "memory_gbps");
  const Json& peaks = member(json, "peak_tflops");
  if (!peaks.is_object() || peaks.empty())
    throw Missing{"`peak_tflops` must be an object with at least one entry"};
  for (const auto& [name, value] : peaks.items())
    d.peak_tflops.emplace_back(name, above_zero(peaks, name.c_str()));
  d.matmul_units = saturating_whole(std::max(1.0, positive(json, "matmul_units")));
  const Json& efficiency = member(json, "efficiency");
  d.efficiency = {.matmul = above_zero(efficiency, "matmul"),
                  .attention_forward = above_zero(efficiency, "attention_forward"),
                  .attention_backward = above_zero(efficiency, "attention_backward"),
                  .memory = above_zero(efficiency, "memory")};
  d.kernel_us = positive(json, "kernel_us");
  d.host_gbps = above_zero(json, "host_gbps");
  const Json& host = member(json, "host");
  d.host = {.operator_us = positive(host, "operator_us"),
            .launch_us = positive(host, "launch_us"),
            .collective_us = positive(host, "collective_us")};
  const Json& links = member(json, "links");
  d.links = {.intra_gbps = above_zero(links, "intra_gbps"),
             .intra_efficiency = above_zero(links, "intra_efficiency"),
             .inter_gbps = above_zero(links, "inter_gbps"),
             .inter_efficiency = above_zero(links, "inter_efficiency"),
             .base_us = positive(links, "base_us"),
             .intra_step_us = positive(links, "intra_step_us"),
             .inter_step_us = positive(links, "inter_step_us")};
  d.torch_nccl = nccl_gpu(text(json, "torch_nccl"));
  if (const auto sources = json.find("sources"); sources != json.end() && sources->is_array())
    for (const Json& source : *sources)
      if (source.is_string()) d.sources.push_back(source.get<std::string>());
  return d;
}

Result<DeviceDescription> parse_text(std::string_view name, std::string_view json) {
  try {
    return parse(Json::parse(json));
  } catch (const Missing& missing) {
    return input_error("{}: not a device description: {}", name, missing.what);
  } catch (const Json::exception& error) {
    return input_error("{}: not a device description: {}", name, error.what());
  }
}

// `cpu{cores=4}`: the share of the generic CPU that 4 cores have, of its arithmetic and of its memory
// bandwidth, which ranks on the other cores use too.
Result<DeviceDescription> load_cores(std::string_view text) {
  constexpr std::string_view kBegin = "cpu{cores=", kEnd = "}";
  constexpr int kMax = 65536;
  int cores = 0;
  if (text.starts_with(kBegin) && text.ends_with(kEnd))
    cores = number_of<int>(text.substr(kBegin.size(), text.size() - kBegin.size() - kEnd.size()))
                .value_or(0);
  if (cores < 1 || cores > kMax)
    return fail(Error::Kind::usage,
                "there is no device `{}`: write cpu{{cores=N}}, with 1 to {} cores", text, kMax);
  JOINTER_TRY(DeviceDescription d, parse_text("cpu", embedded::cpu()));
  const double share = cores / Json::parse(embedded::cpu())["cores"].get<double>();
  for (auto& [type, tflops] : d.peak_tflops) tflops *= share;
  d.memory_gbps *= share;
  d.host_gbps *= share;
  d.name = fmt::format("{}, {}", d.name.substr(0, d.name.find(',')), counted(cores, "core"));
  return d;
}

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

}  // namespace

std::vector<std::string_view> device_ids() {
  std::vector<std::string_view> ids;
  for (const BuiltIn& device : built_in()) ids.push_back(device.id);
  return ids;
}

std::string_view device_id_in(std::string_view name) {
  const std::string text = lower(name);
  const auto is_letter_or_digit = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c));
  };
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
  const std::string id = lower(id_or_path);
  for (const BuiltIn& device : built_in())
    if (device.id == id) return parse_text(device.id, device.json);
  if (id.starts_with("cpu{")) return load_cores(id);
  if (id_or_path.find('/') == std::string_view::npos && !id.ends_with(".json"))
    return fail(Error::Kind::usage, "there is no device `{}`: name one of {}, or a JSON file",
                id_or_path, fmt::join(device_ids(), ", "));
  JOINTER_TRY(const PaddedBytes bytes, read_bytes(std::string(id_or_path)));
  return parse_text(id_or_path, bytes.view());
}

double DeviceDescription::peak_flops(DType type) const {
  const std::string_view type_name = to_string(type);
  // The type itself, its family (float8_e4m3fn is float8), then wider types.
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
