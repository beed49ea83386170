#include "core/cost/throughput.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/base/characters.h"
#include "core/base/json_fields.h"
#include "core/cost/unknown_rates.h"
#include "core/graph/group_argument.h"

namespace jointer {
namespace {

// The members of a capture's `info` that describe the model.
struct ModelInfo {
  std::optional<double> parameters, active_parameters, embedding_parameters;
  std::optional<double> layers, heads, head_size;
  std::optional<double> seq_len, local_batch_size;
  std::optional<double> non_data_parallel_degree;
  std::optional<std::string> parallel;
};

constexpr auto kModelInfo = std::tuple(
    json_field("parameters", &ModelInfo::parameters).lenient(),
    json_field("active_parameters", &ModelInfo::active_parameters).lenient(),
    json_field("embedding_parameters", &ModelInfo::embedding_parameters).lenient(),
    json_field("layers", &ModelInfo::layers).lenient(),
    json_field("heads", &ModelInfo::heads).lenient(),
    json_field("head_size", &ModelInfo::head_size).lenient(),
    json_field("seq_len", &ModelInfo::seq_len).lenient(),
    json_field("local_batch_size", &ModelInfo::local_batch_size).lenient(),
    json_field("non_data_parallel_degree", &ModelInfo::non_data_parallel_degree).lenient(),
    json_field("parallel", &ModelInfo::parallel).lenient());

// All members are empty if the text is not an object.
ModelInfo read_model_info(std::string_view text) {
  ModelInfo info;
  const auto json = parse_tree(text);
  if (!json) return info;
  JsonMembers members(*json);
  read_fields(members, info, kModelInfo);
  return info;
}

// Returns the number if it is positive and finite.
std::optional<double> positive(std::optional<double> number) {
  return number && std::isfinite(*number) && *number > 0 ? number : std::nullopt;
}

// Returns the word at the end of a text, ignoring trailing spaces.
std::string_view last_word(std::string_view text) {
  while (text.ends_with(' ')) text.remove_suffix(1);
  std::size_t begin = text.size();
  while (begin > 0 && is_letter(text[begin - 1])) --begin;
  return text.substr(begin);
}

// Parses text such as "TP=2 x CP=2 x FSDP=4" and returns the product of TP, CP and PP.
double degree_from_text(std::string_view text) {
  const std::string lower = lowercase(text);
  const std::string_view parallel = lower;
  constexpr int kMaxDegree = 1'000'000;
  double degree = 1;
  for (std::size_t equals = parallel.find('='); equals != std::string_view::npos;
       equals = parallel.find('=', equals + 1)) {
    const std::string_view name = last_word(parallel.substr(0, equals));
    if (name != "tp" && name != "cp" && name != "pp") continue;
    const auto digits = parallel.find_first_not_of(' ', equals + 1);
    if (digits == std::string_view::npos) break;
    int value = 0;
    std::from_chars(parallel.data() + digits, parallel.data() + parallel.size(), value);
    if (value > 0 && value <= kMaxDegree) degree *= value;
  }
  return degree;
}

// Returns the product of the sizes of all groups with a description that ends in tp, cp or pp
// (mesh_tp); nullopt if the ranks of any group are guessed. Skips derived groups, which add no
// information.
std::optional<double> degree_from_groups(const Graph& graph) {
  double degree = 1;
  for (std::size_t i = 0; i < graph.group_count(); ++i) {
    const ProcessGroup& group = graph.group(GroupId(i));
    if (has_guessed_ranks(graph, group)) return std::nullopt;
    if (group.derived) continue;
    const std::string_view desc = graph.text(group.desc);
    for (const std::string_view suffix : {"tp", "cp", "pp"}) {
      const bool whole = desc == suffix || (desc.ends_with(suffix) && desc.size() > 2 &&
                                            desc[desc.size() - 3] == '_');
      if (whole && !group.ranks.empty()) degree *= static_cast<double>(group.ranks.size());
    }
  }
  return degree;
}

// The number of elements in this rank's parameters: in total, and in embeddings.
struct LocalParameters {
  double all = 0, embedding = 0;
};
LocalParameters local_parameters(const Graph& graph) {
  LocalParameters local;
  for (const NodeId id : graph.order()) {
    const Node& n = graph.node(id);
    if (n.kind != NodeKind::placeholder || n.role != Role::parameter || n.partner) continue;
    const auto elements =
        n.tensor_count > 0 ? static_cast<double>(graph.numel(graph.tensors(n).front())) : 0.0;
    local.all += elements;
    if (graph.text(n.role_target).find("embed") != std::string_view::npos)
      local.embedding += elements;
  }
  return local;
}

// The number of query heads times the head size, taken from the first attention on this rank.
std::optional<double> local_attention_width(const Graph& graph) {
  for (const NodeId id : graph.order()) {
    const Node& n = graph.node(id);
    if (n.kind != NodeKind::call ||
        graph.target(n).find("scaled_dot_product") == std::string_view::npos)
      continue;
    for (const Argument& a : graph.args(n)) {
      if (a.kind != Argument::Kind::node) continue;
      const Tensor* query = graph.single_tensor(graph.node(a.node()));
      if (query == nullptr || query->rank != 4) return std::nullopt;
      const auto shape = graph.shape(*query);
      return static_cast<double>(shape[1].value) * static_cast<double>(shape[3].value);
    }
  }
  return std::nullopt;
}

// Batch size times sequence length: the number of elements of the first two-dimensional int64
// input.
std::optional<double> token_ids(const Graph& graph) {
  for (const NodeId id : graph.order()) {
    const Node& n = graph.node(id);
    if (n.kind != NodeKind::placeholder || n.role != Role::input) continue;
    const Tensor* t = graph.single_tensor(n);
    if (t != nullptr && t->rank == 2 && t->dtype == DType::int64)
      return static_cast<double>(graph.numel(*t));
  }
  return std::nullopt;
}

// Finds the number of tokens per training step on this rank. A graph with only a part of a step has
// none, because its duration is not the step time.
void find_tokens(const Graph& graph, const ModelInfo& info, ModelFacts& facts) {
  if (part_of_step(graph)) return;
  if (const auto batch = positive(info.local_batch_size); batch && facts.sequence) {
    facts.local_tokens = *batch * *facts.sequence;
  } else if ((facts.local_tokens = token_ids(graph))) {
    facts.derived.emplace_back("local tokens: from the shape of the token ids");
  }
}

}  // namespace

std::optional<double> ModelFacts::flops_per_token() const {
  if (!parameters || !embedding_parameters || !layers || !attention_width || !sequence)
    return std::nullopt;
  return 6 * (*parameters - *embedding_parameters) + 12 * *layers * *attention_width * *sequence;
}

ModelFacts find_model_facts(const Graph& graph) {
  ModelFacts facts;
  const ModelInfo info = read_model_info(graph.part(PartId(0)).info);

  if (const auto degree = positive(info.non_data_parallel_degree))
    facts.non_data_parallel_degree = *degree;
  else if (info.parallel)
    facts.non_data_parallel_degree = degree_from_text(*info.parallel);
  else
    facts.non_data_parallel_degree = degree_from_groups(graph);

  facts.layers = positive(info.layers);
  facts.sequence = positive(info.seq_len);
  find_tokens(graph, info, facts);

  // For a mixture of experts, only the parameters that are active for a token count; the member
  // `parameters` includes all.
  facts.parameters = positive(info.active_parameters);
  if (!facts.parameters && !is_mixture_of_experts(graph))
    facts.parameters = positive(info.parameters);
  facts.embedding_parameters = positive(info.embedding_parameters);
  if (!facts.embedding_parameters && facts.parameters) {
    const LocalParameters local = local_parameters(graph);
    if (local.embedding > 0) {
      facts.embedding_parameters = local.embedding * *facts.parameters / local.all;
      facts.derived.emplace_back(
          "embedding parameters: this rank's share, scaled to the whole model");
    }
  }
  const auto heads = positive(info.heads), head_size = positive(info.head_size);
  if (heads && head_size) {
    facts.attention_width = *heads * *head_size;
  } else if (const auto local = local_attention_width(graph);
             local && facts.non_data_parallel_degree) {
    facts.attention_width = *local * *facts.non_data_parallel_degree;
    facts.derived.emplace_back("heads x head size: from the first attention's query");
  }
  return facts;
}

Throughput throughput(const ModelFacts& facts, std::int64_t graph_flops, std::int64_t step_ns,
                      const DeviceDescription& device) {
  Throughput result;
  if (step_ns <= 0) return result;
  const double seconds = static_cast<double>(step_ns) / 1e9;
  result.hardware_tflops = static_cast<double>(graph_flops) / seconds / 1e12;
  if (!facts.local_tokens || !facts.non_data_parallel_degree) return result;
  result.tokens_per_second = *facts.local_tokens / seconds / *facts.non_data_parallel_degree;
  if (const auto per_token = facts.flops_per_token()) {
    result.tflops = *result.tokens_per_second * *per_token / 1e12;
    result.mfu = *result.tflops * 1e12 / device.peak_flops(DType::bfloat16);
  }
  return result;
}

}  // namespace jointer
