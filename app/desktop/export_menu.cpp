#include "app/desktop/export_menu.h"

#include <QCoreApplication>
#include <QDir>
#include <QFileDialog>
#include <QImageWriter>
#include <array>
#include <span>

#include "core/base/bytes.h"
#include "core/report/export.h"
#include "views/session/snapshot/measured_timeline.h"
#include "views/session/work/task.h"
#include "views/widgets/controls.h"

namespace jointer::desktop {

using namespace views;

struct ExportFormat {
  const char* title;
  const char* format;
  const char* suffix;
  std::string (*write)(const Graph& graph, const Analysis& analysis);
};

namespace {

constexpr std::array kFormats{
    ExportFormat{QT_TRANSLATE_NOOP("MainWindow", "Perfetto Trace..."), "perfetto", ".perfetto.json",
                 export_perfetto},
    ExportFormat{QT_TRANSLATE_NOOP("MainWindow", "Node Table (CSV)..."), "csv", ".csv", export_csv},
    ExportFormat{QT_TRANSLATE_NOOP("MainWindow", "Report (Markdown)..."), "markdown", ".md",
                 export_markdown},
    ExportFormat{QT_TRANSLATE_NOOP("MainWindow", "FX Text (print_readable)..."), "fx-text", ".txt",
                 export_fx_text},
    ExportFormat{QT_TRANSLATE_NOOP("MainWindow", "Graphviz (DOT)..."), "dot", ".dot", export_dot},
};

}  // namespace

ExportMenu::ExportMenu(const MenuContext& context, QMenu* menu, QObject* parent)
    : QObject(parent), context_(context) {
  const auto add = context_.adder(menu, this);
  for (const ExportFormat& format : kFormats)
    add(QCoreApplication::translate("MainWindow", format.title), {}, Needs::document,
        [this, &format] { export_as(format); });
  menu->addSeparator();
  add(tr("Window Screenshot (PNG)..."), {}, Needs::nothing, &ExportMenu::save_picture);
}

void ExportMenu::export_as(const ExportFormat& format) {
  const QString suffix = QString::fromLatin1(format.suffix);
  const DocumentTab* tab = context_.documents.tab();
  const QString path = QFileDialog::getSaveFileName(
      &context_.window, tr("Export"),
      QDir(context_.folder.path).filePath(tab->document()->title() + suffix),
      QStringLiteral("*%1").arg(suffix));
  if (path.isEmpty()) return;
  context_.folder.remember(path);
  context_.status.say(tr("Writing %1...").arg(QFileInfo(path).fileName()));
  // A Perfetto trace also contains the measurement that the timeline shows, if there is one.
  const MeasuredTimeline* shown = tab->document()->measured();
  const MeasurementPtr measured = std::string_view(format.format) == "perfetto" && shown != nullptr
                                      ? shown->shared_measurement()
                                      : nullptr;
  // Exporting a large graph takes a while. The snapshot is immutable, so another thread
  // can use it.
  const auto write = [path, snapshot = tab->document()->shared_snapshot(), measured,
                      to_text = format.write] {
    return write_bytes(path.toStdString(),
                       measured ? export_perfetto(snapshot->graph, snapshot->analysis,
                                                  std::span(measured.get(), 1))
                                : to_text(snapshot->graph, snapshot->analysis));
  };
  run_in_background(this, write, [this, path](const Result<void>& written) {
    if (written) return context_.status.say(tr("Wrote %1.").arg(QDir::toNativeSeparators(path)));
    show_warning(tr("Export"), QString::fromStdString(written.error().message), &context_.window);
  });
}

void ExportMenu::save_picture() {
  // Taken before the dialog opens, so that the dialog is not in the picture.
  const QPixmap picture = context_.window.grab();
  const QString path = QFileDialog::getSaveFileName(
      &context_.window, tr("Save Screenshot"),
      QDir(context_.folder.path).filePath(QStringLiteral("jointer.png")), QStringLiteral("*.png"));
  if (path.isEmpty()) return;
  QImageWriter writer(path, "png");  // the path may lack a suffix
  if (!writer.write(picture.toImage()))
    return context_.status.warn(tr("Could not save the screenshot to %1: %2")
                                    .arg(QDir::toNativeSeparators(path), writer.errorString()));
  context_.status.say(tr("Wrote %1.").arg(QDir::toNativeSeparators(path)));
}

}  // namespace jointer::desktop
