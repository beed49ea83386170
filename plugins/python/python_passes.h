#pragma once

// Adds Python passes to a registry. A Python pass is any function
// `(gm, example_inputs, **kw) -> gm` on a torch.fx.GraphModule; `python -m jointer host` runs it in
// a separate process.

#include <span>
#include <string>

#include "core/pass/registry.h"
#include "plugins/hosted/hosted_pass.h"

namespace jointer {

// Adds the passes of each spec: `module:function`, `path/file.py:function`, or just `path/file.py`
// for all functions declared with `@jointer.graph_pass`. A prefix `name=` renames the pass.
// Parameters are read from the functions' signatures, so this function imports all modules once, in
// a host. It must not be called merely because a file was opened. Error (usage, run): the host
// fails, a spec does not name a pass, `name=` precedes several passes, or a name is already in use;
// the passes of preceding specs may then be in the registry.
Result<void> add_python_passes(PassRegistry& registry, std::span<const std::string> specs,
                               const HostOptions& options = {});

// The path of the file in a spec without `name=`; empty if the spec names a module.
std::string python_file(const std::string& spec);
// The spec with the path of its file made absolute, so that it is valid in any working directory.
std::string absolute_spec(const std::string& spec);

// A pass with a known declaration, `info`. It runs the function `info.name` of `spec`. No process
// is started until the pass runs.
Pass python_pass(PassInfo info, const std::string& spec, const HostOptions& options = {});

// Runs passes that exist only in Python: functions in the package `jointer` or in any other
// importable module.
PythonRunner python_runner(const HostOptions& options = {});

}  // namespace jointer
