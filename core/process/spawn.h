#pragma once

// Starts a process with pipes as its standard streams. Child is based on this.

#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "core/process/file_descriptor.h"

namespace jointer {

struct SpawnRequest {
  const std::vector<std::string>& command;
  // Variables added to the environment that the child inherits from this process.
  const std::vector<std::pair<std::string, std::string>>& environment;
  const std::string& directory;  // working directory; empty: same as this process
  bool has_input = false;
};

struct Spawned {
  pid_t pid = -1;
  FileDescriptor input;           // write end; empty if !has_input
  FileDescriptor output, errors;  // read ends; all three are non-blocking
};

// Starts a process in a new process group. The kernel kills it when the thread that started it
// exits. It inherits no other open files, blocked signals or signal handlers. Error (run): the
// program cannot be started; the message names it and says why.
Result<Spawned> spawn(const SpawnRequest& request);

// Makes the kernel keep the exit statuses of this process's children until they are waited for. A
// process can inherit an ignored SIGCHLD, and code in it can ignore SIGCHLD or set SA_NOCLDWAIT:
// the kernel then discards the statuses, and waitpid fails. `spawn` calls this.
void keep_exit_statuses();

// The path of the program `name`: `name` itself if it contains a slash, else that of the first
// executable on PATH with this name. Empty if there is none.
std::string find_program(const std::string& name);

// True if `path` is a file that this process may execute.
bool can_run(const std::string& path);

// Kills every other process whose environment sets the variable `name` to this value, including
// processes that left the group and the session of their parent.
void kill_marked(const std::string& name, const std::string& value);

}  // namespace jointer
