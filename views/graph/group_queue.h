#pragma once

#include <QObject>
#include <QString>
#include <QThreadPool>
#include <QTimer>
#include <functional>
#include <set>
#include <span>
#include <vector>

#include "views/graph/group_layout.h"

namespace jointer::views {

// Lays out the nodes of groups on worker threads and caches the results.
class GroupQueue : public QObject {
  Q_OBJECT
 public:
  // Lays out groups, one result each. Runs on worker threads, and may throw.
  using LayOut = std::function<std::vector<GroupLayout>(std::span<const GroupGraphs> groups)>;
  static std::vector<GroupLayout> lay_out_with_dot(std::span<const GroupGraphs> groups);

  explicit GroupQueue(LayOut lay_out = lay_out_with_dot);
  ~GroupQueue() override;

  // The cached layout of a group. If there is none, requests it and returns null.
  [[nodiscard]] GroupLayoutPtr find_or_request(GroupGraphs graphs);
  // Starts laying out the requested groups.
  void start();
  // Lays out these groups on the calling thread with Jointer's own layout, unless they are cached.
  void lay_out_now(std::vector<GroupGraphs> graphs);
  // Number of requested groups whose layouts have neither finished nor failed.
  [[nodiscard]] std::size_t pending() const { return pending_.size(); }

 signals:
  // Groups were laid out. There is only one signal for groups that finish at about the same time.
  void laid_out();
  // Groups could not be laid out; `why` is one sentence. The next request tries again.
  void failed(const QString& why);

 private:
  void add_layouts(const std::vector<GroupGraphs>& graphs, std::vector<GroupLayout> layouts);

  LayOut lay_out_;
  GroupLayouts groups_;
  QThreadPool pool_;
  std::vector<GroupGraphs> wanted_;  // not yet passed to the pool
  std::set<GroupGraphs> pending_;
  QTimer laid_out_soon_;
};

}  // namespace jointer::views
