#pragma once

// The command that runs a rank under Nsight Systems (nsys), which records the kernels, copies and
// ranges of the measured steps. The rank marks these steps with cudaProfilerStart and
// cudaProfilerStop.

#include <string>
#include <string_view>
#include <vector>

#include "core/bench/request.h"

namespace jointer {

// The report of a rank in a folder, without its suffix: "FOLDER/rank3".
std::string nsys_report(std::string_view folder, std::string_view rank);
inline constexpr std::string_view kNsysSuffix = ".nsys-rep";

// The arguments of nsys that precede the rank's command. `rank`: its number or, if a launcher sets
// the environment variable RANK, kNsysRank.
std::vector<std::string> nsys_arguments(const BenchmarkRequest& request, std::string_view rank);
inline constexpr std::string_view kNsysRank = "%q{RANK}";

// The environment variable with the id of the process that started nsys. The ranks end when that
// process ends.
inline constexpr const char* kLauncherVariable = "JOINTER_LAUNCHER";

}  // namespace jointer
