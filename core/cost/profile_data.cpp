// Reads times from a trace and looks them up as profile_data.h describes.
//
// For a collective, the trace records the group and the number of elements. All kernels of an
// operator call have the call's id, and the sum of their durations is the time of the call.
//
// Cost: one scan of the trace. Deviation: none. If several calls have the same id, the first
// counts, as in torch.

#include "core/cost/profile_data.h"

#include <simdjson.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>

#include "core/base/characters.h"
#include "core/base/checked.h"
#include "core/base/json_problem.h"
#include "core/base/name_table.h"

namespace jointer {
namespace {

namespace json = simdjson::ondemand;

constexpr double kExtrapolation = 2.0;  // times the largest measured size
constexpr std::size_t kLargest = 5;     // messages that determine a group's bandwidth

// Returns the element type with this name in an operator record.
std::optional<DType> operator_type(std::string_view name) {
  static constexpr NameTable<DType, 19> kNames{{
      {"float", DType::float32},
      {"float32", DType::float32},
      {"double", DType::float64},
      {"float64", DType::float64},
      {"int", DType::int32},
      {"int8", DType::int8},
      {"int16", DType::int16},
      {"int32", DType::int32},
      {"long", DType::int64},
      {"long int", DType::int64},
      {"signed char", DType::int8},
      {"unsigned char", DType::uint8},
      {"bool", DType::boolean},
      {"bfloat16", DType::bfloat16},
      {"float16", DType::float16},
      {"c10::BFloat16", DType::bfloat16},
      {"c10::Half", DType::float16},
      {"c10::complex<float>", DType::complex64},
      {"c10::complex<double>", DType::complex128},
  }};
  return value_in(kNames, name);
}

constexpr NameTable<DType, 12> kNcclNames{{
    {"Float", DType::float32},
    {"BFloat16", DType::bfloat16},
    {"Half", DType::float16},
    {"Double", DType::float64},
    {"Int", DType::int32},
    {"Long", DType::int64},
    {"Short", DType::int16},
    {"Char", DType::int8},
    {"Byte", DType::uint8},
    {"Bool", DType::boolean},
    {"Float8_e4m3fn", DType::float8_e4m3fn},
    {"Float8_e5m2", DType::float8_e5m2},
}};

// Bytes per element; 1 for an unknown name.
std::int64_t element_bytes(std::string_view nccl_type) {
  if (const auto type = value_in(kNcclNames, nccl_type)) return item_size(*type);
  const auto type = parse_dtype(lowercase(nccl_type));
  return type ? item_size(*type) : 1;
}

std::string_view text(json::value value) {
  if (value.type() != json::json_type::string) return {};
  return value.get_string();
}

std::int64_t whole_number(json::value value) {
  if (value.type() != json::json_type::number) return 0;
  std::int64_t number = 0;
  if (value.get_int64().get(number) == simdjson::SUCCESS) return number;
  double real = 0;
  return value.get_double().get(real) == simdjson::SUCCESS ? saturating_round(real) : 0;
}

// Reads a list of numbers. Returns nullopt if the list contains anything else, such as the lists
// that describe a list of tensors.
std::optional<std::vector<std::int64_t>> numbers(json::array list) {
  std::vector<std::int64_t> found;
  bool is_plain = true;
  for (auto element : list) {
    json::value value = element.value();
    if (value.type() == json::json_type::number)
      found.push_back(whole_number(value));
    else
      is_plain = false;
  }
  return is_plain ? std::optional(std::move(found)) : std::nullopt;
}

// Parses "[0, 1, 2]" and returns the ranks in ascending order.
std::optional<ProfileData::Ranks> parse_ranks(std::string_view written) {
  if (!written.starts_with('[') || !written.ends_with(']')) return std::nullopt;
  ProfileData::Ranks ranks;
  std::string_view rest = written.substr(1, written.size() - 2);
  while (!rest.empty()) {
    const auto begin = rest.find_first_not_of(", ");
    if (begin == std::string_view::npos) break;
    rest.remove_prefix(begin);
    std::int64_t rank = 0;
    const auto [end, status] = std::from_chars(rest.data(), rest.data() + rest.size(), rank);
    if (status != std::errc{}) return std::nullopt;
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
    ranks.push_back(rank);
  }
  std::sort(ranks.begin(), ranks.end());
  return ranks;
}

}  // namespace

// Fills a ProfileData with the events of a trace.
class ProfileReader {
 public:
  explicit ProfileReader(ProfileData& out) : out_(out) {}

  void read(json::document& document) {
    for (auto member : document.get_object()) {
      const json::raw_json_string key = member.key();
      if (key == "traceEvents")
        for (auto event : member.value().get_array()) read_event(event.value());
      else if (key == "distributedInfo")
        read_groups(member.value());
    }
    finish();
  }

 private:
  struct Call {
    ProfileData::Operator op;
    bool has_lists = false;  // an argument is a list of tensors; the call then matches no node
  };
  struct Collective {
    std::string name, group, ranks, type;
    std::int64_t group_size = 0, elements = 0;
    double us = 0;
  };
  struct Event {
    std::string_view category, name;
    double us = 0;
    std::optional<std::int64_t> external;
    std::optional<std::string> collective;
    Collective moved;
    Call call;
  };

  void read_groups(json::value value) {
    if (value.type() != json::json_type::object) return;
    for (auto member : value.get_object()) {
      if (member.key() != "pg_config") continue;
      json::value config = member.value();
      if (config.type() == json::json_type::array)
        for (auto group : config.get_array()) read_group(group.value(), {});
      else if (config.type() == json::json_type::object)
        for (auto group : config.get_object()) {
          const std::string name(std::string_view(group.unescaped_key()));
          read_group(group.value(), name);
        }
    }
  }

  void read_group(json::value value, std::string name) {
    ProfileData::Ranks ranks;
    for (auto member : value.get_object()) {
      const json::raw_json_string key = member.key();
      json::value held = member.value();
      if (key == "pg_name" && name.empty())
        name = held.type() == json::json_type::number ? std::to_string(whole_number(held))
                                                      : std::string(text(held));
      else if (key == "ranks" && held.type() == json::json_type::array)
        ranks = numbers(held.get_array()).value_or(ProfileData::Ranks{});
    }
    std::sort(ranks.begin(), ranks.end());
    if (!ranks.empty()) groups_[name] = std::move(ranks);
  }

  void read_event(json::value value) {
    if (value.type() != json::json_type::object) return;
    Event event;
    for (auto member : value.get_object()) {
      const json::raw_json_string key = member.key();
      json::value held = member.value();
      if (key == "cat")
        event.category = text(held);
      else if (key == "name")
        event.name = text(held);
      else if (key == "dur" && held.type() == json::json_type::number)
        event.us = held.get_double();
      else if (key == "args" && held.type() == json::json_type::object)
        read_arguments(held, event);
    }
    if (event.category == "kernel") {
      if (event.external && event.us > 0) kernel_us_[*event.external] += event.us;
      if (event.collective && event.us > 0) {
        event.moved.name = *event.collective;
        event.moved.us = event.us;
        collectives_.push_back(std::move(event.moved));
      }
    } else if (event.category == "cpu_op" && event.external) {
      event.call.op.name = std::string(event.name);
      if (calls_.try_emplace(*event.external, std::move(event.call)).second)
        order_.push_back(*event.external);
    }
  }

  static void read_arguments(json::value value, Event& event) {
    for (auto member : value.get_object()) {
      const json::raw_json_string key = member.key();
      json::value held = member.value();
      if (key == "External id")
        event.external = whole_number(held);
      else if (key == "Collective name")
        event.collective = std::string(text(held));
      else if (key == "Process Group Name")
        event.moved.group = std::string(text(held));
      else if (key == "Process Group Ranks")
        event.moved.ranks = std::string(text(held));
      else if (key == "Group size")
        event.moved.group_size = whole_number(held);
      else if (key == "Out msg nelems")
        event.moved.elements = whole_number(held);
      else if (key == "dtype")
        event.moved.type = std::string(text(held));
      else if (key == "Input Dims")
        read_sizes(held, event.call, event.call.op.shapes);
      else if (key == "Input Strides")
        read_sizes(held, event.call, event.call.op.strides);
      else if (key == "Input type")
        event.call.op.type = first_type(held);
    }
  }

  // An empty entry stands for an argument that is not a tensor.
  static void read_sizes(json::value value, Call& call, ProfileData::Sizes& sizes) {
    if (value.type() != json::json_type::array) return;
    for (auto element : value.get_array()) {
      json::value held = element.value();
      if (held.type() != json::json_type::array) continue;
      auto found = numbers(held.get_array());
      if (!found)
        call.has_lists = true;
      else if (!found->empty())
        sizes.push_back(std::move(*found));
    }
  }

  static std::optional<DType> first_type(json::value value) {
    if (value.type() != json::json_type::array) return std::nullopt;
    std::optional<DType> type;
    bool is_first = true;
    for (auto element : value.get_array()) {
      if (is_first) type = operator_type(text(element.value()));
      is_first = false;
    }
    return type;
  }

  void finish() {
    for (const std::int64_t id : order_) {
      const auto us = kernel_us_.find(id);
      Call& call = calls_.at(id);
      if (us == kernel_us_.end() || us->second <= 0) continue;
      if (call.op.shapes.empty() || call.has_lists) continue;
      ProfileData::Mean& mean = out_.operators_[std::move(call.op)];
      mean.sum += us->second;
      ++mean.count;
    }
    for (const Collective& each : collectives_) {
      auto ranks = parse_ranks(each.ranks);
      if (!ranks) {
        const auto group = groups_.find(each.group);
        ranks = group == groups_.end() ? ProfileData::Ranks{} : group->second;
      }
      out_.add_collective(each.name, *ranks, each.group_size, each.elements, each.type, each.us);
    }
    out_.finish();
  }

  ProfileData& out_;
  std::map<std::string, ProfileData::Ranks> groups_;
  std::map<std::int64_t, double> kernel_us_;
  std::map<std::int64_t, Call> calls_;
  std::vector<std::int64_t> order_;
  std::vector<Collective> collectives_;
};

std::string_view nccl_type_name(DType type) {
  const std::string_view name = name_in(kNcclNames, type);
  return name.empty() ? to_string(type) : name;
}

Result<ProfileData> ProfileData::read(std::string_view name, const PaddedBytes& bytes) {
  ProfileData data;
  json::parser parser;
  try {
    simdjson::padded_string_view view(bytes.view(), bytes.size() + PaddedBytes::kPadding);
    json::document document = parser.iterate(view);
    ProfileReader(data).read(document);
  } catch (const simdjson::simdjson_error& error) {
    return input_error("{}: not a profiler trace: {}", name, json_problem(error.error()));
  }
  if (data.operators_.empty() && data.collectives_ == 0)
    return input_error(
        "{}: the trace has no kernel times with shapes; record it on a GPU with record_shapes=True",
        name);
  return data;
}

// Evenly spaced ranks form one dimension of a mesh.
std::optional<ProfileData::Mesh> ProfileData::mesh_of(const Ranks& ranks, std::int64_t size) {
  if (ranks.size() <= 1) return std::nullopt;
  const std::int64_t stride = ranks[1] - ranks[0];
  if (stride <= 0) return std::nullopt;
  for (std::size_t i = 2; i < ranks.size(); ++i)
    if (ranks[i] - ranks[i - 1] != stride) return std::nullopt;
  return Mesh{.stride = stride, .ranks = size};
}

std::string ProfileData::normalized(std::string_view call) {
  const std::string lower = lowercase(call);
  static constexpr NameTable<std::string_view, 7> kWords{{{"allgather", "all_gather"},
                                                          {"all_gather", "all_gather"},
                                                          {"reduce_scatter", "reduce_scatter"},
                                                          {"allreduce", "all_reduce"},
                                                          {"all_reduce", "all_reduce"},
                                                          {"all_to_all", "all_to_all"},
                                                          {"alltoall", "all_to_all"}}};
  for (const auto& [word, name] : kWords)
    if (lower.find(word) != std::string::npos) return std::string(name);
  return std::string(call);
}

void ProfileData::add_collective(std::string_view call, const Ranks& ranks, std::int64_t group_size,
                                 std::int64_t elements, std::string_view type, double us) {
  ++collectives_;
  const std::string name = normalized(call), kind(type);
  const auto size = ranks.empty() ? group_size : static_cast<std::int64_t>(ranks.size());
  const auto mesh = mesh_of(ranks, size);
  by_group_[{name, ranks, kind}].push_back({elements, us});
  if (mesh) {
    by_mesh_[{name, *mesh, kind}].push_back({elements, us});
    groups_of_mesh_[*mesh].insert(ranks);
  }
  if (elements <= 0) return;
  const std::int64_t bytes = saturating_mul(elements, element_bytes(type));
  const Bandwidth sample{.bytes = bytes, .gbps = static_cast<double>(bytes) / (us * 1e-6) / 1e9};
  group_bandwidths_[ranks].push_back(sample);
  if (mesh) mesh_bandwidths_[*mesh].push_back(sample);
}

void ProfileData::finish() {
  const auto sort = [](auto& samples) {
    for (auto& [key, each] : samples) std::ranges::stable_sort(each, {}, &Sample::elements);
  };
  sort(by_group_);
  sort(by_mesh_);
  for (auto& [ranks, samples] : group_bandwidths_) group_peak_[ranks] = peak(std::move(samples));
  for (auto& [mesh, samples] : mesh_bandwidths_) mesh_peak_[mesh] = peak(std::move(samples));
  group_bandwidths_.clear();
  mesh_bandwidths_.clear();
}

double ProfileData::peak(std::vector<Bandwidth> samples) {
  std::ranges::stable_sort(samples, std::greater{}, &Bandwidth::bytes);
  samples.resize(std::min(samples.size(), kLargest));
  double max_gbps = 0;
  for (const Bandwidth& each : samples) max_gbps = std::max(max_gbps, each.gbps);
  return max_gbps;
}

double ProfileData::peak_bandwidth(const Ranks& ranks) const {
  if (const auto group = group_peak_.find(ranks); group != group_peak_.end() && group->second > 0)
    return group->second;
  const auto mesh = mesh_of(ranks, static_cast<std::int64_t>(ranks.size()));
  const auto found = mesh ? mesh_peak_.find(*mesh) : mesh_peak_.end();
  return found == mesh_peak_.end() ? 0 : found->second;
}

std::optional<double> ProfileData::operator_ms(const Operator& wanted) const {
  const auto found = operators_.find(wanted);
  if (found == operators_.end()) return std::nullopt;
  return found->second.sum / static_cast<double>(found->second.count) / 1e3;
}

std::optional<double> ProfileData::collective_ms(std::string_view call, const Ranks& ranks,
                                                 std::int64_t elements,
                                                 std::string_view type) const {
  const std::string name = normalized(call), kind(type);
  const std::vector<Sample>* samples = nullptr;
  if (const auto found = by_group_.find({name, ranks, kind}); found != by_group_.end()) {
    samples = &found->second;
  } else if (const auto mesh = mesh_of(ranks, static_cast<std::int64_t>(ranks.size()))) {
    const auto groups = groups_of_mesh_.find(*mesh);
    if (groups == groups_of_mesh_.end() || groups->second.size() != 1) return std::nullopt;
    const auto alike = by_mesh_.find({name, *mesh, kind});
    if (alike != by_mesh_.end()) samples = &alike->second;
  }
  if (samples == nullptr) return std::nullopt;
  std::int64_t largest = 0;
  for (const Sample& sample : *samples) {
    if (sample.elements == elements) return sample.us / 1e3;
    largest = std::max(largest, sample.elements);
  }
  if (largest > 0 &&
      static_cast<double>(elements) > static_cast<double>(largest) * kExtrapolation) {
    const double gbps = peak_bandwidth(ranks);
    if (gbps > 0)
      return static_cast<double>(saturating_mul(elements, element_bytes(type))) / (gbps * 1e6);
  }
  return interpolated(*samples, elements);
}

std::optional<double> ProfileData::interpolated(const std::vector<Sample>& samples,
                                                std::int64_t elements) {
  if (elements <= 0) return std::nullopt;
  const Sample *lower = nullptr, *upper = nullptr;
  for (const Sample& sample : samples) {
    if (sample.elements <= 0 || sample.us <= 0) continue;
    if (sample.elements <= elements) lower = &sample;
    if (sample.elements >= elements && upper == nullptr) upper = &sample;
  }
  const auto wanted = static_cast<double>(elements);
  const auto in_proportion = [&](const Sample& sample) {
    return sample.us * wanted / static_cast<double>(sample.elements) / 1e3;
  };
  if (lower == nullptr && upper == nullptr) return std::nullopt;
  if (lower == nullptr) return in_proportion(*upper);
  if (upper == nullptr) return in_proportion(*lower);
  const double n0 = std::log(static_cast<double>(lower->elements));
  const double n1 = std::log(static_cast<double>(upper->elements));
  if (n0 == n1) return lower->us / 1e3;
  const double d0 = std::log(lower->us), d1 = std::log(upper->us);
  const double share = (std::log(wanted) - n0) / (n1 - n0);
  return std::exp(d0 + share * (d1 - d0)) / 1e3;
}

}  // namespace jointer
