#pragma once

// A pass that runs in a process of its own: a Python pass, or one of a C++ plugin. Whatever it
// does there, this process goes on with the graph as it was, and knows why it failed.
//
// The graph goes there as a native capture in a temporary folder, and comes back as one.

#include <functional>
#include <memory>
#include <string_view>

#include "core/base/json_text.h"
#include "core/pass/pass.h"
#include "plugins/hosted/host_process.h"

namespace jointer {

struct HostOptions {
  HostLimits limits;
  // What a pass prints, by line, and the messages of libraries. Called on the thread that runs it.
  std::function<void(std::string_view pass, std::string_view line)> log;
};

struct HostedPass {
  PassInfo info;
  std::function<Result<ProgramCommand>()> program;  // asked when it runs
  OrderedJson request;  // members that tell the host which pass: its spec, its library
};

Pass make_hosted_pass(HostedPass hosted, HostOptions options);

// What the pass makes of the graph, told `arguments` ({name: value}). Error (usage, run,
// cancelled): in one sentence that goes on after the pass's name.
Result<Graph> run_hosted(const HostedPass& hosted, const HostOptions& options, const Graph& graph,
                         const OrderedJson& arguments, PassContext& context);

}  // namespace jointer
