#include "core/bench/history.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "core/base/bytes.h"
#include "core/base/environment.h"
#include "core/base/file_start.h"
#include "core/base/number_text.h"
#include "core/base/take_part.h"

namespace jointer {
namespace {

namespace fs = std::filesystem;

// An unused path next to `path`, for a damaged file.
std::string free_path(const std::string& path) {
  std::string candidate = path + ".damaged";
  std::error_code error;
  for (int number = 2; fs::exists(candidate, error); ++number)
    candidate = fmt::format("{}.damaged.{}", path, number);
  return candidate;
}

bool has_profile(const BenchmarkResult& result) {
  return std::ranges::any_of(result.ranks, [](const RankResult& rank) {
    return rank.measured && (!rank.measured->nodes.empty() || !rank.measured->blocks.empty() ||
                             !rank.measured->memory_profile.empty());
  });
}

// True if the results in the file are of a newer version. A file has results of one version, since
// `save` writes all of them.
bool is_newer(const std::string& path) {
  constexpr std::size_t kHead = 64;
  constexpr std::string_view kBegin = "{\"version\":";  // see write_result
  const auto head = read_start(path, kHead);
  if (!head || !head->starts_with(kBegin)) return false;
  std::string_view rest = std::string_view(*head).substr(kBegin.size());
  return number_of<std::int64_t>(take_part(rest, ',')).value_or(0) > kBenchmarkVersion;
}

}  // namespace

std::vector<std::string> result_lines(std::span<const BenchmarkResult> results,
                                      std::size_t max_profile_bytes) {
  // The newest results keep their profiles while there is room.
  std::vector<std::string> lines(results.size());
  std::size_t left = max_profile_bytes;
  for (std::size_t i = results.size(); i-- > 0;) {
    lines[i] = write_result(results[i], /*with_profile=*/true);
    if (has_profile(results[i]) && lines[i].size() > left)
      lines[i] = write_result(results[i], /*with_profile=*/false);
    else if (has_profile(results[i]))
      left -= lines[i].size();
  }
  return lines;
}

std::string BenchmarkHistory::default_folder() {
  return data_folder() + "/benchmarks";
}

std::string BenchmarkHistory::path_of(const std::string& graph_hash) const {
  return folder_ + '/' + graph_hash + ".jsonl";
}

BenchmarkHistory::Loaded BenchmarkHistory::load(const std::string& graph_hash) const {
  Loaded loaded;
  const std::string path = path_of(graph_hash);
  std::error_code error;
  if (!fs::exists(path, error)) return loaded;
  if (is_newer(path)) {
    loaded.note = fmt::format(
        "{} contains results of a newer version of Jointer, which this version cannot read; new "
        "results are not saved",
        path);
    return loaded;
  }
  const auto bytes = read_bytes(path);
  std::size_t bad = 0;
  if (bytes) {
    std::string_view rest = bytes->view();
    while (!rest.empty()) {
      const std::string_view line = take_part(rest, '\n');
      if (line.empty()) continue;
      if (auto result = parse_result(line))
        loaded.results.push_back(*std::move(result));
      else
        ++bad;
    }
    if (bad == 0) return loaded;
  }
  const std::string kept = free_path(path);
  fs::rename(path, kept, error);
  const std::string what = bytes ? fmt::format("{} of {} earlier results could not be read", bad,
                                               bad + loaded.results.size())
                                 : bytes.error().message;
  loaded.note = error ? what : fmt::format("{}; the file is now {}", what, kept);
  return loaded;
}

Result<void> BenchmarkHistory::save(const std::string& graph_hash,
                                    std::span<const BenchmarkResult> results) const {
  const std::string path = path_of(graph_hash);
  std::error_code error;
  if (is_newer(path))
    return fail(
        Error::Kind::run,
        "{} contains results of a newer version of Jointer; rename the file to save new ones",
        path);
  if (results.empty()) {
    fs::remove(path, error);
    if (error) return fail(Error::Kind::run, "cannot remove {}: {}", path, error.message());
    return {};
  }
  JOINTER_CHECK(make_folder(folder_));
  if (results.size() > kMaxResults) results = results.last(kMaxResults);
  std::string text;
  for (const std::string& line : result_lines(results, kMaxProfileBytes)) text += line + '\n';
  return write_bytes(path, text);
}

}  // namespace jointer
