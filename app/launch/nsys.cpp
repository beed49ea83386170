#include "app/launch/nsys.h"

#include <fmt/core.h>

#include <filesystem>
#include <string>
#include <vector>

#include "app/launch/fit.h"
#include "app/launch/memory_need.h"
#include "core/bench/nsys.h"

namespace jointer {
namespace {

namespace fs = std::filesystem;

std::string report_path(const BenchmarkRequest& request, int rank) {
  return nsys_report(request.nsys, std::to_string(rank)) + std::string(kNsysSuffix);
}

}  // namespace

Result<void> check_nsys(const BenchmarkRequest& request, const Machine& machine) {
  if (request.nsys.empty()) return {};
  if (device_of_run(request, machine) == DeviceType::cpu)
    return fail(Error::Kind::usage,
                "option --nsys: the ranks run on the CPU, but Nsight Systems records what GPUs do; "
                "use --on cuda on a machine with a GPU for each rank, or --profile instead");
  return {};
}

Result<void> prepare_reports(const BenchmarkRequest& request) {
  std::error_code status;
  fs::create_directories(request.nsys, status);
  for (const int rank : rank_numbers(request))
    if (!status) fs::remove(report_path(request, rank), status);
  if (status)
    return fail(Error::Kind::run, "cannot write reports to {}: {}; choose another folder",
                request.nsys, status.message());
  return {};
}

void note_reports(BenchmarkResult& result) {
  if (result.request.nsys.empty() || result.ranks.empty()) return;
  std::vector<std::string> notes;
  bool has_reports = false;
  for (const RankResult& rank : result.ranks) {
    std::error_code status;
    if (fs::exists(report_path(result.request, rank.rank), status))
      has_reports = true;
    else if (rank.status == RankResult::Status::done)
      notes.push_back(fmt::format("Nsight Systems wrote no report for rank {}", rank.rank));
  }
  if (has_reports)
    notes.push_back(fmt::format(
        "the measured steps ran under Nsight Systems, which slows them down; the report of rank N "
        "is {}{}",
        nsys_report(result.request.nsys, "N"), kNsysSuffix));
  std::vector<std::string>& all = result.ranks.front().notes;
  all.insert(all.end(), notes.begin(), notes.end());
}

}  // namespace jointer
