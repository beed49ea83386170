#pragma once

// The environment of this process: variables, folders, the program's path, the processor.

#include <string>
#include <string_view>

namespace jointer {

// Empty if the variable is not set.
std::string environment_variable(const char* name);

// Folder for user data: $XDG_DATA_HOME/jointer, or ~/.local/share/jointer if the variable is not
// set. A relative path counts as not set, as the XDG specification requires.
std::string data_folder();

// Folder for state that is kept between runs: $XDG_STATE_HOME/jointer, or ~/.local/state/jointer if
// the variable is not set to an absolute path.
std::string state_folder();

// Folder for data that can be computed again: $XDG_CACHE_HOME/jointer, or ~/.cache/jointer if the
// variable is not set to an absolute path.
std::string cache_folder();

// Path of the running program; empty if the system does not report it.
std::string this_program();
// Path that `name` would have in the folder of the running program; the file need not exist. Empty
// if this_program() is empty.
std::string sibling_program(std::string_view name);

// Name of the processor as reported by Linux, such as "AMD EPYC 7763 64-Core Processor"; empty if
// Linux reports none.
std::string processor_name();

// The number of processor cores on which the calling thread may run, as set by `taskset` or a job
// scheduler; at least 1.
int usable_cores();

}  // namespace jointer
