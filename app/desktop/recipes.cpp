#include "app/desktop/recipes.h"

#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QMessageBox>

#include "core/base/bytes.h"
#include "core/edit/replay.h"
#include "views/session/edit/editing.h"
#include "views/session/translation/qstring.h"
#include "views/session/work/task.h"

namespace jointer::desktop {
namespace {

using namespace views;

const QString kRecipeSuffix = QStringLiteral(".recipe.json");

}  // namespace

void Recipes::add_actions(QMenu* menu) {
  context_.actions.add(menu, tr("Export Re&cipe..."), {}, Needs::edits, this,
                       &Recipes::export_recipe);
  context_.actions.add(menu, tr("&Apply Recipe..."), {}, Needs::document, this,
                       &Recipes::choose_recipe);
}

void Recipes::export_recipe() {
  const Document* document = context_.documents.document();
  if (document == nullptr) return;
  const QString path = QFileDialog::getSaveFileName(
      &context_.window, tr("Export Recipe"),
      QDir(context_.folder.path).filePath(document->title() + kRecipeSuffix),
      QStringLiteral("*%1").arg(kRecipeSuffix));
  if (path.isEmpty()) return;
  context_.folder.remember(path);
  const auto written = document->editing().write_recipe(path);
  if (!written) return context_.status.warn(to_qstring(written.error().message));
  context_.status.say(tr("Wrote %1.").arg(QDir::toNativeSeparators(path)));
}

void Recipes::choose_recipe() {
  const QString path =
      QFileDialog::getOpenFileName(&context_.window, tr("Apply Recipe"), context_.folder.path,
                                   tr("Recipes (*.json);;All files (*)"));
  if (path.isEmpty()) return;
  context_.folder.remember(path);
  apply(path);
}

void Recipes::apply(const QString& path) {
  if (Document* document = context_.documents.document()) apply(path, *document);
}

void Recipes::apply(const QString& path, Document& document) {
  const auto replay_it = [path, snapshot = document.shared_snapshot()]() -> Result<Replay> {
    JOINTER_TRY(const PaddedBytes bytes, read_bytes(path.toStdString()));
    JOINTER_TRY(const Recipe recipe, read_recipe(bytes.view()));
    Graph graph = snapshot->graph;
    return replay(graph, recipe, true);
  };
  run_in_background(&document, replay_it, [this, &document, path](const Result<Replay>& done) {
    const QString name = QFileInfo(path).fileName();
    QString text, details;
    if (!done) {
      text = tr("%1 was not applied: %2").arg(name, to_qstring(done.error().message));
    } else {
      document.editing().apply_all(done->done);
      text = tr("%1: applied %2 of %3 edits.")
                 .arg(name, QString::number(done->done.size()),
                      QString::number(done->done.size() + done->skipped.size()));
      if (!done->other_rank.empty()) text += tr(" Note: %1.").arg(to_qstring(done->other_rank));
      for (const SkippedEdit& skipped : done->skipped)
        details += tr("%1: %2\n").arg(to_qstring(skipped.title), to_qstring(skipped.why));
    }
    context_.status.say(text);
    if (done && details.isEmpty()) return;
    auto* box = new QMessageBox(QMessageBox::Warning, tr("Apply Recipe"), text, QMessageBox::Ok,
                                &context_.window);
    box->setInformativeText(details.section(u'\n', 0, 4));
    box->setDetailedText(details);
    box->setAttribute(Qt::WA_DeleteOnClose);
    box->open();
  });
}

}  // namespace jointer::desktop
