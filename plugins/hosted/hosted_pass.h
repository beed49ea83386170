#pragma once

// Passes that run in a separate process: Python passes, and the passes of C++ plugins. However such
// a pass fails, this process receives the reason and still has the original graph.
//
// The graph is passed in both directions as a native capture in a temporary folder.

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
  // Receives the output of passes and libraries line by line, with the name of the pass; the name
  // is empty while Python passes are declared. Called on the thread that runs the pass.
  std::function<void(std::string_view pass, std::string_view line)> log;
};

struct HostedPass {
  PassInfo info;
  std::function<Result<ProgramCommand>()> program;  // called when the pass runs
  // The members of the request that identify the pass: its spec or library, and its function.
  std::vector<std::pair<std::string, std::string>> request;
};

Pass make_hosted_pass(HostedPass hosted, HostOptions options);

// Runs the pass with `arguments` ({name: value}) and returns the resulting graph. Error (usage,
// run, cancelled): the host or the pass fails; the message is meant to follow the name of the pass.
Result<Graph> run_hosted(const HostedPass& hosted, const HostOptions& options, const Graph& graph,
                         const OrderedJson& arguments, PassContext& context);

}  // namespace jointer
