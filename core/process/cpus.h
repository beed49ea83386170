#pragma once

// The CPUs of this machine, by their numbers in Linux, and those that a process may use.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace jointer {

using Cpus = std::vector<int>;  // ascending, without duplicates

// Reads and writes a list as Linux writes it: "0-47,96-143". Reading returns std::nullopt if the
// text is empty or not such a list, or has a number above 8191.
std::optional<Cpus> parse_cpus(std::string_view text);
std::string to_text(const Cpus& cpus);

// All CPUs that are online, according to the files in `root`/sys; empty if they are unknown.
Cpus online_cpus(const std::string& root = "/");

// The CPUs on which the calling thread may run; empty if they are unknown.
Cpus allowed_cpus();

// Allows all threads of this process, and those that they start later, to run only on `cpus`.
// Returns false if the system refuses; some threads may then be restricted.
bool restrict_threads(const Cpus& cpus);

}  // namespace jointer
