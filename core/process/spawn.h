#pragma once

// Starting a process; what Child is built on.

#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "core/process/file_descriptor.h"

namespace jointer {

struct SpawnRequest {
  const std::vector<std::string>& command;
  const std::vector<std::pair<std::string, std::string>>& environment;  // added
  const std::string& directory;
  bool has_input = false;
};

struct Spawned {
  pid_t pid = -1;
  FileDescriptor input;           // to write; none without has_input
  FileDescriptor output, errors;  // to read; none of the three blocks
};

// The process leads a group of its own and is killed with the thread that started it. It has no
// other open file of this process, no blocked signal, and signals do what they usually do. Error
// (run): which program cannot be started, and why.
Result<Spawned> spawn(const SpawnRequest& request);

// Where the program `name` is: itself if it has a slash, else the first on PATH that can be run.
// Empty if there is none.
std::string find_program(const std::string& name);

// Whether `path` is a file that this process may run.
bool can_run(const std::string& path);

// Kills the processes whose environment has the variable `name` with this value: those that left
// their parent's group and session.
void kill_marked(const std::string& name, const std::string& value);

}  // namespace jointer
