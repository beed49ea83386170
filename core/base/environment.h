#pragma once

// What is around this process.

#include <string>
#include <string_view>

namespace jointer {

// Empty if it is not set.
std::string environment_variable(const char* name);

// Where a person's data of this program is kept: $XDG_DATA_HOME/jointer, else
// ~/.local/share/jointer. As the specification wants it, a path that is not absolute counts as
// none.
std::string data_folder();

// Where what a running program leaves for its next start is kept: $XDG_STATE_HOME/jointer, else
// ~/.local/state/jointer.
std::string state_folder();

// The file of the program that runs; empty if the system does not say.
std::string this_program();
// `name` in the same folder, whether there is such a file or not; empty as above.
std::string beside_this_program(std::string_view name);

// "AMD EPYC 7763 64-Core Processor", as Linux tells it; empty where it does not.
std::string processor_name();

}  // namespace jointer
