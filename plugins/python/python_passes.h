#pragma once

// Passes in Python: any `(gm, example_inputs, **kw) -> gm` on a torch.fx.GraphModule, run by
// `python -m jointer host` in a process of its own.

#include <span>
#include <string>

#include "core/pass/registry.h"
#include "plugins/hosted/hosted_pass.h"

namespace jointer {

// Adds what each spec names: `module:function`, `path/file.py:function`, or `path/file.py` alone
// (all that it declares with `@jointer.graph_pass`); `name=` before it gives another name. Their
// parameters come from their signatures, so this runs their modules, once for all, in a host:
// nothing calls it for a file that was merely opened. Error (usage, run): the first spec that
// names no pass, and why; what came before it is in the registry.
Result<void> add_python_passes(PassRegistry& registry, std::span<const std::string> specs,
                               const HostOptions& options = {});

// The spec with the whole path of its file, so that it says the same in any folder.
std::string absolute_spec(const std::string& spec);

// A pass whose parameters are known without asking: `info` as it stands, run from `spec`, which is
// `module:function`. Nothing is started before it runs.
Pass python_pass(PassInfo info, const std::string& spec, const HostOptions& options = {});

// Runs functions of the package, and of whatever else can be imported, for passes that are only to
// be had in Python.
PythonRunner python_runner(const HostOptions& options = {});

}  // namespace jointer
