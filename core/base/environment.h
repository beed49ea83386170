#pragma once

// The environment of this process: variables, folders, its program, the processor.

#include <string>
#include <string_view>

namespace jointer {

// Empty if the variable is not set.
std::string environment_variable(const char* name);

// Folder of the user's data: $XDG_DATA_HOME/jointer, else ~/.local/share/jointer. A relative path
// in the variable is ignored, as the XDG specification requires.
std::string data_folder();

// Folder for state that is kept between runs: $XDG_STATE_HOME/jointer, else
// ~/.local/state/jointer.
std::string state_folder();

// Path of the running program; empty if the system does not provide it.
std::string this_program();
// Path of `name` in the folder of the running program, existing or not; empty if this_program() is.
std::string sibling_program(std::string_view name);

// Name of the processor as Linux reports it, such as "AMD EPYC 7763 64-Core Processor"; empty if it
// reports none.
std::string processor_name();

}  // namespace jointer
