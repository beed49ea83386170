#pragma once

#include <QMenu>
#include <QObject>
#include <functional>

#include "core/policy/export.h"
#include "views/session/sac/sac_session.h"

namespace jointer::views {

// Exports policies to the clipboard or a file, and imports them. If a format cannot express the
// plan, a dialog says so before anything is copied or saved, and offers formats that come closer,
// if there are any.
class PolicyExchange : public QObject {
  Q_OBJECT
 public:
  // `window` owns this object and the menu, and is the parent of dialogs.
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
  // An export. If it is an operator set that does not reproduce the plan, `selectors` is an export
  // that comes closer to the plan, if there is one.
  struct Exported {
    PolicyExport made;
    std::optional<PolicyExport> selectors;
  };
  // `instead` exports the plan in another format.
  void export_then(PolicyFormat format, std::function<void(const PolicyExport&)> use,
                   std::function<void(PolicyFormat)> instead);
  static Result<Exported> make_export(const SacState& state, const Snapshot& opened,
                                      PolicyFormat format);
  void ask(PolicyFormat format, const Exported& exported,
           const std::function<void(const PolicyExport&)>& use,
           const std::function<void(PolicyFormat)>& instead);
  void choose_export_file(PolicyFormat format);
  void choose_import();

  SacSession& session_;
  QWidget* window_;
  QMenu* menu_;
};

}  // namespace jointer::views
