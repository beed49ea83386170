#pragma once

#include <QMenu>
#include <QObject>
#include <functional>

#include "core/policy/export.h"
#include "views/session/sac/sac_session.h"

namespace jointer::views {

// Exports policies to the clipboard or a file, in the formats of other programs, and imports them.
class PolicyExchange : public QObject {
  Q_OBJECT
 public:
  // `window` owns the menu and is the parent of dialogs.
  PolicyExchange(SacSession& session, QWidget* window);

  [[nodiscard]] QMenu* menu() const { return menu_; }

  void copy(PolicyFormat format);
  void write(PolicyFormat format, const QString& path);
  // Imports an operator set, selectors, a recipe or a log of torch's partitioner.
  void take(const QString& text);
  void read(const QString& path);

 signals:
  void message(const QString& sentence);

 private:
  void export_then(PolicyFormat format, std::function<void(const PolicyExport&)> use);
  void ask_where(PolicyFormat format);
  void ask_what();

  SacSession& session_;
  QWidget* window_;
  QMenu* menu_;
};

}  // namespace jointer::views
