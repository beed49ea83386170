#pragma once

// Adds Python passes to a registry. A Python pass is any function
// `(gm, example_inputs, **kw) -> gm` on a torch.fx.GraphModule; `python -m jointer host` runs it in
// a separate process.

#include <span>
#include <string>

#include "core/pass/registry.h"
#include "plugins/hosted/hosted_pass.h"

namespace jointer {

// Adds the passes of each spec: `module:function`, `path/file.py:function`, or `path/file.py` alone
// (all functions declared with `@jointer.graph_pass`). A prefix `name=` renames the pass.
// Parameters come from the functions' signatures, so this function runs all modules once, in a
// host; it must not be called just because a file was opened. Error (usage, run): a spec names no
// pass; the message contains the first such spec and the reason. The passes of the specs before it
// are then in the registry.
Result<void> add_python_passes(PassRegistry& registry, std::span<const std::string> specs,
                               const HostOptions& options = {});

// The spec with the absolute path of its file, which is valid in any folder.
std::string absolute_spec(const std::string& spec);

// A pass whose declaration is known. It has `info` unchanged, and runs `spec`, a `module:function`.
// No process is started until the pass runs.
Pass python_pass(PassInfo info, const std::string& spec, const HostOptions& options = {});

// For passes that exist only in Python: runs functions of the package `jointer`, or of any other
// importable module.
PythonRunner python_runner(const HostOptions& options = {});

}  // namespace jointer
