#pragma once

// Starts a process with pipes for its standard streams. Child is built on this.

#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "core/process/file_descriptor.h"

namespace jointer {

struct SpawnRequest {
  const std::vector<std::string>& command;
  const std::vector<std::pair<std::string, std::string>>& environment;  // added to this process's
  const std::string& directory;
  bool has_input = false;
};

struct Spawned {
  pid_t pid = -1;
  FileDescriptor input;           // write end; closed without has_input
  FileDescriptor output, errors;  // read ends; all three are non-blocking
};

// Starts a process that leads its own process group and is killed when the thread that started it
// exits. It inherits no other open files, no blocked signals and no signal handlers. Error (run):
// the program cannot be started; the message names it and says why.
Result<Spawned> spawn(const SpawnRequest& request);

// The path of the program `name`: the name itself if it contains a slash, else the first executable
// on PATH. Empty if there is none.
std::string find_program(const std::string& name);

// Returns true if `path` is a file that this process may execute.
bool can_run(const std::string& path);

// Kills every process whose environment has the variable `name` with this value. Finds processes
// that left their parent's group and session.
void kill_marked(const std::string& name, const std::string& value);

}  // namespace jointer
