#include "views/graph/group_queue.h"

#include <algorithm>
#include <utility>

#include "views/session/translation/qstring.h"
#include "views/session/work/task.h"

namespace jointer::views {
namespace {

constexpr int kSoonMs = 15;

}  // namespace

std::vector<GroupLayout> GroupQueue::lay_out_with_dot(std::span<const GroupGraphs> groups) {
  return lay_out_groups(groups, LayoutStyle{}, DotOptions{});
}

GroupQueue::GroupQueue(LayOut lay_out) : lay_out_(std::move(lay_out)) {
  pool_.setMaxThreadCount(2);
  laid_out_soon_.setSingleShot(true);
  laid_out_soon_.setInterval(kSoonMs);
  connect(&laid_out_soon_, &QTimer::timeout, this, &GroupQueue::laid_out);
}

GroupQueue::~GroupQueue() {
  pool_.clear();
  wait_on_close(pool_);
}

GroupLayoutPtr GroupQueue::find_or_request(GroupGraphs graphs) {
  if (GroupLayoutPtr known = groups_.find(graphs)) return known;
  if (pending_.insert(graphs).second) wanted_.push_back(std::move(graphs));
  return nullptr;
}

// Starts one job per thread, each for several groups, because starting dot takes longer than most
// layouts.
void GroupQueue::start() {
  if (wanted_.empty()) return;
  std::vector<std::vector<GroupGraphs>> jobs(
      std::min<std::size_t>(static_cast<std::size_t>(pool_.maxThreadCount()), wanted_.size()));
  for (std::size_t i = 0; i < wanted_.size(); ++i)
    jobs[i % jobs.size()].push_back(std::move(wanted_[i]));
  wanted_.clear();
  for (std::vector<GroupGraphs>& job : jobs) {
    const auto work = [job, lay_out = lay_out_] { return lay_out(job); };
    const auto take = [this, job](Result<std::vector<GroupLayout>> layouts) {
      if (layouts) return add_layouts(job, *std::move(layouts));
      for (const GroupGraphs& graphs : job) pending_.erase(graphs);
      emit failed(to_qstring(layouts.error().message));
    };
    run_in_background(this, work, take, pool_);
  }
}

void GroupQueue::add_layouts(const std::vector<GroupGraphs>& graphs,
                             std::vector<GroupLayout> layouts) {
  for (std::size_t i = 0; i < graphs.size(); ++i) {
    groups_.add(graphs[i], std::make_shared<const GroupLayout>(std::move(layouts[i])));
    pending_.erase(graphs[i]);
  }
  // Layouts that finish at about the same time are shown together.
  if (pending_.empty() || !laid_out_soon_.isActive())
    laid_out_soon_.start(pending_.empty() ? 0 : kSoonMs);
}

void GroupQueue::lay_out_now(std::vector<GroupGraphs> graphs) {
  std::erase_if(graphs, [this](const GroupGraphs& one) { return groups_.find(one) != nullptr; });
  std::vector<GroupLayout> layouts = lay_out_groups(graphs, LayoutStyle{}, {.program = {}});
  for (std::size_t i = 0; i < graphs.size(); ++i)
    groups_.add(graphs[i], std::make_shared<const GroupLayout>(std::move(layouts[i])));
}

}  // namespace jointer::views
