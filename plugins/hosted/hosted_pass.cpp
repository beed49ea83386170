// Sends a graph to a host, which runs a pass on the graph, and reads the result. The request
// (docs/plugins.md):
// {"request":"run","pass": name,"arguments":{name: value},"graph": path,"result": path,
// "peak_limit": bytes,"analysis":{...},"costs":{"NODE": nanoseconds}}, and the members of
// HostedPass::request. `peak_limit` is omitted if there is no limit.

#include "plugins/hosted/hosted_pass.h"

#include "core/base/bytes.h"
#include "core/capture/native_reader.h"
#include "core/capture/native_writer.h"
#include "core/edit/edit.h"
#include "core/process/temporary_folder.h"
#include "plugins/hosted/adopt_result.h"
#include "plugins/hosted/analysis_json.h"
#include "plugins/hosted/declaration.h"
#include "plugins/hosted/host_process.h"

namespace jointer {
namespace {

OrderedJson arguments_json(const PassInfo& info, const Arguments& arguments) {
  OrderedJson json = OrderedJson::object();
  for (const Parameter& each : info.parameters)
    json[each.name] = to_json(arguments.value(each.name));
  return json;
}

// The estimated time of each call, so that hosted passes use the same estimates as built-in passes.
Result<OrderedJson> costs_json(const Graph& graph, const AnalysisOptions& analysis) {
  JOINTER_TRY(const auto estimator, estimator_for(graph, analysis));
  const std::vector<NodeCost> costs = estimate_all(graph, *estimator);
  OrderedJson::object_t json;
  json.reserve(graph.order().size());
  for (const NodeId id : graph.order())
    if (graph.node(id).kind == NodeKind::call)
      json.emplace_back(edit_name(graph, id), costs[id.index()].ns);
  return OrderedJson(std::move(json));
}

class Run {
 public:
  Run(const HostedPass& hosted, const HostOptions& options, PassContext& context)
      : hosted_(hosted), options_(options), context_(context) {}

  Result<Graph> run(const Graph& graph, const OrderedJson& arguments) {
    JOINTER_TRY(const TemporaryFolder folder, TemporaryFolder::make("jointer-pass."));
    const std::string given = folder.path("graph.json"), back = folder.path("result.json");
    JOINTER_CHECK(write_bytes(given, write_native(graph)));
    HostQuestion question;
    JOINTER_TRY(question.program, hosted_.program());
    question.limits = options_.limits;
    for (const auto& [key, value] : hosted_.request) question.request[key] = value;
    question.request["request"] = "run";
    question.request["pass"] = hosted_.info.name;
    question.request["arguments"] = arguments;
    question.request["graph"] = given;
    question.request["result"] = back;
    question.request["analysis"] = to_json(context_.analysis());
    if (context_.peak_limit()) question.request["peak_limit"] = *context_.peak_limit();
    JOINTER_TRY(question.request["costs"], costs_json(graph, context_.analysis()));
    if (options_.log)
      question.log = [this](std::string_view line) { options_.log(hosted_.info.name, line); };
    question.tell = [this, &graph](const HostMessage& message) { handle_message(graph, message); };
    question.is_cancelled = [this] { return !context_.report(done_).has_value(); };
    JOINTER_CHECK(ask_host(question));
    return read_result(back);
  }

 private:
  void handle_message(const Graph& graph, const HostMessage& message) {
    if (const auto* progress = std::get_if<HostProgress>(&message)) done_ = progress->done;
    if (const auto* reported = std::get_if<HostTable>(&message))
      context_.add_table(reported->table);
    if (const auto* decided = std::get_if<HostDecision>(&message)) {
      const Decision& d = decided->decision;
      // If the pass created the node, the original graph lacks it, so the reason contains its name.
      if (const NodeId node = d.node.empty() ? NodeId() : graph.find(d.node))
        context_.decide(graph, node, d.action, d.reason);
      else
        context_.decide(d.action, d.node.empty() ? d.reason : d.node + ": " + d.reason);
    }
  }

  static Result<Graph> read_result(const std::string& path) {
    auto bytes = read_bytes(path);
    if (!bytes) return fail(Error::Kind::run, "returned no graph");
    auto result = read_native("the returned graph", *bytes);
    if (!result) return fail(Error::Kind::run, "{}", result.error().message);
    return result;
  }

  const HostedPass& hosted_;
  const HostOptions& options_;
  PassContext& context_;
  double done_ = 0;
};

}  // namespace

Result<Graph> run_hosted(const HostedPass& hosted, const HostOptions& options, const Graph& graph,
                         const OrderedJson& arguments, PassContext& context) {
  return Run(hosted, options, context).run(graph, arguments);
}

Pass make_hosted_pass(HostedPass hosted, HostOptions options) {
  PassInfo info = hosted.info;
  const auto run = [hosted = std::move(hosted), options = std::move(options)](
                       Graph& graph, const Arguments& arguments,
                       PassContext& context) -> Result<void> {
    JOINTER_TRY(Graph result, run_hosted(hosted, options, graph,
                                         arguments_json(hosted.info, arguments), context));
    JOINTER_TRY(const Graph given, read_native("the graph", PaddedBytes(write_native(graph))));
    return adopt_result(graph, given, std::move(result), context);
  };
  return {.info = std::move(info), .run = run};
}

}  // namespace jointer
