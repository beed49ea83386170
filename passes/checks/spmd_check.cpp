// spmd_check: checks that every rank runs the same program. Passes that reorder collectives rely on
// this: ranks that start collectives in different orders can hang or compute wrong results.
//
// Two ranks run the same program if their calls, in program order, have the same operators and
// return tensors with the same dtype, sizes, strides, offset, storage size and device type. Names
// and arguments are not compared, because arguments may contain the rank.
//
// `captures` are the captures of other ranks; in a path, `{rank}` stands for each rank's number. A
// capture of the checked rank is skipped; if there are only such captures, the pass fails. If
// `captures` is empty, the pass only reports sizes that depend on data, which may differ between
// ranks when the graph runs; it always reports these.
//
// Cost: linear in the number of calls in all captures.
// Source: torch/_inductor/fx_passes/spmd_check.py of torch 2.15, in which every rank sends a hash,
// and the hashed data if hashes differ. Deviations: captures replace messages, so a rank without a
// capture is not compared; at most 10 differences are listed for the first rank that differs, and
// other ranks that differ are only counted. `jointer spmd` checks more, namely that collectives
// match across ranks.

#include <algorithm>
#include <map>
#include <utility>

#include "core/base/counted.h"
#include "core/graph/size_text.h"
#include "core/open/open_ranks.h"
#include "passes/checks/checks.h"
#include "passes/support/parameters.h"

namespace jointer {
namespace {

constexpr std::size_t kShown = 10;

// The parts of a call to compare between ranks.
struct Call {
  NodeId node;
  std::string target, value;
};

std::string text_of(const Graph& graph, std::span<const Dim> dims) {
  std::string text = "[";
  for (const Dim& dim : dims) {
    if (text.size() > 1) text += ",";
    text += size_text(graph, dim);
  }
  return text + "]";
}

std::string text_of(const Graph& graph, const Tensor& t) {
  static constexpr std::array<std::string_view, 4> kDevices{"cpu", "cuda", "meta", "other"};
  std::string text = fmt::format("{}{} {}", to_string(t.dtype), text_of(graph, graph.shape(t)),
                                 kDevices[static_cast<std::size_t>(graph.device_type(t))]);
  if (t.has(Tensor::has_stride)) text += " strides " + text_of(graph, graph.stride(t));
  if (graph.offset(t).value != 0) text += " from " + size_text(graph, graph.offset(t));
  if (t.storage)
    text +=
        fmt::format(" in {} B", size_text(graph, graph.storage(graph.captured_storage(t)).bytes));
  return text;
}

std::string text_of(const Graph& graph, const Value& value) {
  switch (value.kind) {
    case Value::Kind::tensor:
      return text_of(graph, graph.tensor(value.tensor()));
    case Value::Kind::symbol:
      return std::string(graph.expression_text(value.expression()));
    case Value::Kind::list:
    case Value::Kind::dict: {
      std::string text = "(";
      for (const Value& child : graph.children(value)) {
        if (text.size() > 1) text += ", ";
        text += text_of(graph, child);
      }
      return text + ")";
    }
    case Value::Kind::none:
      return "nothing";
    default:
      return std::string(graph.text(value.text()));
  }
}

std::vector<Call> calls_of(const Graph& graph) {
  std::vector<Call> calls;
  for (const NodeId id : graph.order()) {
    const Node& n = graph.node(id);
    if (n.kind != NodeKind::call) continue;
    calls.push_back({id, std::string(graph.target(n)), text_of(graph, n.value)});
  }
  return calls;
}

// The operators that `a` calls more often than `b`, each with the difference: "aten.add.Tensor
// (2)".
std::string only_in(const std::vector<Call>& a, const std::vector<Call>& b) {
  std::map<std::string, std::int64_t> more;
  for (const Call& call : a) ++more[call.target];
  for (const Call& call : b) --more[call.target];
  std::vector<std::pair<std::int64_t, std::string>> by_count;
  for (const auto& [target, count] : more)
    if (count > 0) by_count.emplace_back(-count, target);
  std::ranges::sort(by_count);
  std::string text;
  for (std::size_t i = 0; i < std::min(by_count.size(), kShown); ++i)
    text +=
        fmt::format("{}{} ({})", text.empty() ? "" : ", ", by_count[i].second, -by_count[i].first);
  return text;
}

struct Rank {
  std::int64_t rank = 0;
  std::vector<Call> calls;
};

// The indices at which the calls of the two ranks differ.
std::vector<std::size_t> differences(const Rank& a, const Rank& b) {
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < std::min(a.calls.size(), b.calls.size()); ++i)
    if (a.calls[i].target != b.calls[i].target || a.calls[i].value != b.calls[i].value)
      places.push_back(i);
  return places;
}

void say_differences(const Graph& graph, const Rank& a, const Rank& b,
                     const std::vector<std::size_t>& places, PassContext& context) {
  for (std::size_t i = 0; i < std::min(places.size(), kShown); ++i) {
    const Call &mine = a.calls[places[i]], &other = b.calls[places[i]];
    context.decide(
        graph, mine.node, "differs",
        fmt::format("Call {}: rank {} runs {}, which returns {}; rank {} runs {}, which "
                    "returns {}.",
                    places[i], a.rank, mine.target, mine.value, b.rank, other.target, other.value));
  }
  for (const auto& [more, less] : {std::pair{&a, &b}, std::pair{&b, &a}})
    if (const std::string text = only_in(more->calls, less->calls); !text.empty())
      context.decide("differs", fmt::format("Rank {} has additional calls: {}.", more->rank, text));
}

// Reports sizes that depend on data and so are known only at run time.
void say_data_dependent(const Graph& graph, PassContext& context) {
  for (const NodeId id : graph.order()) {
    const Node& n = graph.node(id);
    if (n.kind == NodeKind::call && graph.op(n).has(OperatorTag::data_dependent) &&
        n.value.kind == Value::Kind::symbol)
      context.decide(graph, id, "unknown", "the size depends on this rank's data");
  }
}

Result<void> run_spmd_check(Graph& graph, const Arguments& arguments, PassContext& context) {
  const Rank mine{graph.part(PartId(std::size_t{0})).rank.value_or(0), calls_of(graph)};
  say_data_dependent(graph, context);
  std::vector<RankFiles> files;
  for (std::string& path : arguments.texts("captures"))
    files.push_back({.path = std::move(path), .backward = {}, .index = {}, .assumptions = {}});
  if (files.empty()) {
    context.decide("kept", "Not compared with other ranks: `captures` is empty.");
    return {};
  }
  JOINTER_TRY(const std::vector<RankProgram> programs, open_ranks(files));
  std::size_t compared = 0, others = 0;
  std::string first;
  for (std::size_t i = 0; i < programs.size(); ++i) {
    JOINTER_CHECK(context.report(static_cast<double>(i) / static_cast<double>(programs.size())));
    if (programs[i].rank == mine.rank) continue;
    const Rank other{programs[i].rank, calls_of(programs[i].graph)};
    ++compared;
    const auto places = differences(mine, other);
    if (places.empty() && mine.calls.size() == other.calls.size()) continue;
    if (!first.empty()) {
      ++others;
      continue;
    }
    first = fmt::format("rank {} runs {} and rank {} runs {}", mine.rank,
                        counted(mine.calls.size(), "call"), other.rank, other.calls.size());
    if (!places.empty())
      first += fmt::format(", of which {}", counted(places.size(), "differs", "differ"));
    say_differences(graph, mine, other, places, context);
  }
  if (compared == 0)
    return fail(Error::Kind::usage,
                "`captures` contains no other rank: all captures are of rank {}, {}; add captures "
                "of other ranks",
                mine.rank,
                graph.part(PartId(std::size_t{0})).rank
                    ? "like this graph"
                    : "and this graph, which does not record its rank, counts as rank 0");
  if (first.empty()) {
    context.decide("checked", fmt::format("{} the same on {}.",
                                          counted(mine.calls.size(), "call is", "calls are"),
                                          counted(compared, "other rank")));
    return {};
  }
  if (others > 0)
    first += fmt::format("; {}", counted(others, "more rank differs", "more ranks differ"));
  if (arguments.text("mismatch") == "error")
    return fail(
        Error::Kind::usage,
        "ranks run different programs: {}; capture all ranks with the same model and settings, or "
        "set mismatch=warn",
        first);
  context.decide("differs", fmt::format("Ranks run different programs: {}.", first));
  return {};
}

}  // namespace

Pass spmd_check_pass() {
  return {
      .info = {.name = "spmd_check",
               .summary =
                   "Checks that the captures of other ranks have the same calls as this graph.",
               .source = "torch/_inductor/fx_passes/spmd_check.py",
               .stage = PassStage::check,
               .parameters =
                   {texts("captures",
                          "Captures of other ranks; {rank} stands for each rank's "
                          "number."),
                    choice("mismatch", {"warn", "error"}, "warn",
                           "Action if ranks differ: warn and continue, or stop with an error.")},
               .is_idempotent = true},
      .run = run_spmd_check};
}

}  // namespace jointer
