#include "core/open/open_ranks.h"

#include <algorithm>
#include <array>
#include <filesystem>

#include "core/bench/request.h"

namespace jointer {
namespace {

// The number of ranks to look for as long as no capture records the world size. A larger recorded
// size counts as this one.
constexpr int kMaxRanks = 1 << 16;

bool is_pattern(const std::string& path) {
  return path_of_rank(path, 0) != path;
}

bool is_pattern(const RankFiles& files) {
  return is_pattern(files.path) || is_pattern(files.backward);
}

// True if a file that is named after the rank exists. If the other file of the rank is missing,
// opening the rank reports that.
bool exists(const RankFiles& files, int rank) {
  std::error_code status;
  return std::ranges::any_of(
      std::array{&files.path, &files.backward}, [&](const std::string* path) {
        return is_pattern(*path) && std::filesystem::exists(path_of_rank(*path, rank), status);
      });
}

Result<RankProgram> open_rank(const RankFiles& files, std::optional<int> named) {
  RankProgram program;
  OpenRequest request;
  request.path = program.path = named ? path_of_rank(files.path, *named) : files.path;
  request.backward = named ? path_of_rank(files.backward, *named) : files.backward;
  request.index = files.index;
  request.assumptions = files.assumptions;
  JOINTER_TRY(program.graph, open_graph(request));
  const auto said = program.graph.part(PartId(std::size_t{0})).rank;
  if (!said && !named && !files.rank)
    return fail(Error::Kind::usage,
                "{}: the capture does not record its rank; put the rank into the file names, and "
                "give them as a pattern such as step.{{rank}}.json",
                program.path);
  if (said && named && *said != *named)
    return fail(Error::Kind::usage,
                "{}: the capture records rank {}, but its file name says rank {}; rename the file",
                program.path, *said, *named);
  program.rank = named.value_or(files.rank.value_or(static_cast<int>(said.value_or(0))));
  return program;
}

Result<void> open_pattern(const RankFiles& files, std::vector<RankProgram>& programs) {
  int rank_count = kMaxRanks;
  const std::size_t before = programs.size();
  for (int rank = 0; rank < rank_count; ++rank) {
    if (!exists(files, rank)) continue;
    JOINTER_TRY(RankProgram program, open_rank(files, rank));
    if (const auto world = program.graph.part(PartId(std::size_t{0})).world_size)
      rank_count = static_cast<int>(std::clamp<std::int64_t>(*world, 1, kMaxRanks));
    programs.push_back(std::move(program));
  }
  if (programs.size() == before)
    return input_error("{}: no such file for any rank",
                       is_pattern(files.path) ? files.path : files.backward);
  return {};
}

}  // namespace

Result<std::vector<RankProgram>> open_ranks(const std::vector<RankFiles>& files) {
  std::vector<RankProgram> programs;
  for (const RankFiles& each : files) {
    if (is_pattern(each)) {
      JOINTER_CHECK(open_pattern(each, programs));
    } else {
      JOINTER_TRY(programs.emplace_back(), open_rank(each, std::nullopt));
    }
  }
  return programs;
}

std::vector<RankGraph> rank_graphs(const std::vector<RankProgram>& programs) {
  std::vector<RankGraph> graphs;
  for (const RankProgram& program : programs) graphs.push_back({program.rank, &program.graph});
  return graphs;
}

}  // namespace jointer
