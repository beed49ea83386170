#pragma once

// Passes that run in their own process: Python passes, and those of C++ plugins. However such a
// pass fails, this process receives the reason and keeps the original graph.
//
// The graph is passed as a native capture in a temporary folder, in both directions.

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/json_text.h"
#include "core/pass/pass.h"
#include "core/process/python.h"
#include "plugins/hosted/host_limits.h"

namespace jointer {

struct HostOptions {
  HostLimits limits;
  // Gets the output of passes and libraries, by line. Called on the thread that runs the pass.
  std::function<void(std::string_view pass, std::string_view line)> log;
};

struct HostedPass {
  PassInfo info;
  std::function<Result<ProgramCommand>()> program;  // called when the pass runs
  // Members of the request that identify the pass: its spec, or its library and function.
  std::vector<std::pair<std::string, std::string>> request;
};

Pass make_hosted_pass(HostedPass hosted, HostOptions options);

// Runs the pass with `arguments` ({name: value}) and returns its graph. Error (usage, run,
// cancelled), in one sentence to follow the pass's name.
Result<Graph> run_hosted(const HostedPass& hosted, const HostOptions& options, const Graph& graph,
                         const OrderedJson& arguments, PassContext& context);

}  // namespace jointer
