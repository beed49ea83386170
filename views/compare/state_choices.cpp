#include "views/compare/state_choices.h"

#include <QFileInfo>
#include <map>

#include "views/session/document/document.h"
#include "views/session/document/open_documents.h"
#include "views/session/edit/editing.h"
#include "views/session/translation/tr.h"

namespace jointer::views {
namespace {

using Kind = StateChoice::Kind;

// Adds the states of a document. Their names begin with `prefix`.
void add_states(const Document& document, const ComparedFile& before, const QString& prefix,
                Document* other, std::vector<StateChoice>& choices) {
  const Editing& editing = document.editing();
  const auto add = [&](const QString& name, Kind kind, EditHistory history) {
    choices.push_back({prefix + name, kind, std::move(history), other, {}});
  };
  add(tr("as opened"), Kind::opened, {});
  add(tr("now"), Kind::now, editing.edit_history());
  if (before) choices.push_back({tr("before the pass"), Kind::before, {}, nullptr, before});
  for (const NamedState& state : editing.named())
    add(tr("state “%1”").arg(state.name), Kind::named, state.history);
  for (int place = 1; place <= editing.entry_count(); ++place)
    add(tr("after %1: %2").arg(place).arg(editing.entry(place - 1).title), Kind::entry,
        editing.history_at(place));
}

}  // namespace

bool is_same_state(const StateChoice& a, const StateChoice& b) {
  if (a.other != b.other || a.kind != b.kind || a.file != b.file) return false;
  return a.kind == Kind::now || (a.name == b.name && a.history == b.history);
}

bool is_same_document(const StateChoice& a, const StateChoice& b) {
  if (a.kind == Kind::file || b.kind == Kind::file) return a.file == b.file;
  return a.other == b.other;
}

std::vector<StateChoice> state_choices(const Document& document, const ComparedFile& before,
                                       const OpenDocuments& open,
                                       const std::vector<ComparedFile>& files) {
  std::vector<StateChoice> choices;
  add_states(document, before, {}, nullptr, choices);
  std::map<QString, int> uses;  // number of uses of each title
  for (Document* other : open.all()) {
    const QString title = other->title();
    const int use = ++uses[title];
    if (other == &document) continue;
    const QString name =
        use == 1 ? title : QStringLiteral("%1 (%2)").arg(title, QString::number(use));
    add_states(*other, nullptr, name + QStringLiteral(": "), other, choices);
  }
  for (const ComparedFile& file : files) {
    const QString name = QFileInfo(QString::fromStdString(file->path)).fileName();
    choices.push_back({tr("file “%1”").arg(name), Kind::file, {}, nullptr, file});
  }
  return choices;
}

}  // namespace jointer::views
