#include "views/compare/compared_files.h"

#include <algorithm>
#include <utility>

#include "core/open/open.h"
#include "views/session/work/task.h"

namespace jointer::views {
namespace {

Result<SnapshotPtr> read(OpenRequest request, const AnalysisOptions& options) {
  std::size_t graphs = 1;
  request.choose = [&](std::span<const GraphEntry> entries) {
    graphs = entries.size();
    return std::optional<std::size_t>();
  };
  Result<Graph> graph = open_graph(request);
  if (!graph && graphs > 1)
    return fail(Error::Kind::usage,
                "{} contains {} graphs; open the graph to compare in a tab, then choose it here",
                request.path, graphs);
  if (!graph) return tl::unexpected(graph.error());
  return make_snapshot(std::move(*graph), options);
}

}  // namespace

void ComparedFiles::find(const ComparedFile& file, const AnalysisOptions& options, Use use) {
  if (Known* found = known(file)) {
    if (found->snapshot) return use(found->snapshot);
    found->waiting.push_back(std::move(use));
    return;
  }
  known_.push_back({.file = file, .snapshot = nullptr, .waiting = {std::move(use)}});
  const auto work = [request = *file, options] { return read(request, options); };
  run_in_background(this, work,
                    [this, file, generation = generation_](const Result<SnapshotPtr>& made) {
                      if (generation == generation_) finish(file, made);
                    });
}

void ComparedFiles::forget() {
  ++generation_;
  known_.clear();
}

ComparedFiles::Known* ComparedFiles::known(const ComparedFile& file) {
  const auto found = std::ranges::find(known_, file, &Known::file);
  return found == known_.end() ? nullptr : &*found;
}

// A file that could not be read is forgotten, so that the next `find` reads it again: the user may
// have fixed it.
void ComparedFiles::finish(const ComparedFile& file, const Result<SnapshotPtr>& made) {
  Known* found = known(file);
  const std::vector<Use> waiting = std::exchange(found->waiting, {});
  if (made)
    found->snapshot = *made;
  else
    std::erase_if(known_, [&](const Known& each) { return each.file == file; });
  for (const Use& use : waiting) use(made);
}

}  // namespace jointer::views
