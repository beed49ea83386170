#include "views/pipeline/code_questions.h"

#include <QDateTime>
#include <QDialog>
#include <QDialogButtonBox>
#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QLocale>
#include <QPushButton>
#include <QVBoxLayout>
#include <algorithm>

namespace jointer::views {
namespace {

constexpr int kHashLetters = 16, kSpecLetters = 44;

}  // namespace

QString code_text(const ForeignCode& code) {
  QStringList lines;
  lines << (code.kind == ForeignCode::Kind::plugin
                ? CodeQuestions::tr("C++ plugin %1").arg(QDir::toNativeSeparators(code.source))
                : CodeQuestions::tr("Python pass %1").arg(QDir::toNativeSeparators(code.source)));
  if (!code.passes.isEmpty())
    lines << CodeQuestions::tr("passes: %1").arg(code.passes.join(QStringLiteral(", ")));
  if (code.file.isEmpty()) {
    lines << CodeQuestions::tr("installed Python module; permission lasts until Jointer closes");
    return lines.join(u'\n');
  }
  const QFileInfo file(code.file);
  lines << CodeQuestions::tr("file: %1").arg(QDir::toNativeSeparators(code.file));
  lines << (file.exists() ? CodeQuestions::tr("last modified %1, SHA-256 %2...")
                                .arg(QLocale().toString(file.lastModified(), QLocale::ShortFormat),
                                     code.hash.left(kHashLetters))
                          : CodeQuestions::tr("file not found"));
  return lines.join(u'\n');
}

CodeQuestions::CodeQuestions(PassService& service, QWidget* window)
    : QObject(window), service_(service), window_(window) {}

void CodeQuestions::ask(const QList<ForeignCode>& code, const std::function<void()>& then) {
  show_question(code, then);
}

QMessageBox* CodeQuestions::show_question(const QList<ForeignCode>& code,
                                          const std::function<void()>& then) {
  QStringList all;
  for (const ForeignCode& each : code) all << code_text(each);
  const bool any_file =
      std::ranges::any_of(code, [](const ForeignCode& each) { return !each.file.isEmpty(); });
  auto* box =
      new QMessageBox(QMessageBox::Question, tr("Run Third-Party Code?"),
                      tr("This code is not part of Jointer."), QMessageBox::NoButton, window_);
  box->setObjectName(QStringLiteral("code_question"));
  box->setAttribute(Qt::WA_DeleteOnClose);
  box->setTextFormat(Qt::PlainText);
  QString text = all.join(QStringLiteral("\n\n")) + QStringLiteral("\n\n") +
                 tr("It runs in a separate process on a copy of the graph, with all of your "
                    "permissions on this machine.");
  if (any_file)
    text +=
        u' ' + tr("Passes from a file then run without further questions until the file changes.");
  box->setInformativeText(text);
  QPushButton* run = box->addButton(tr("Allow and Run"), QMessageBox::AcceptRole);
  QPushButton* cancel = box->addButton(QMessageBox::Cancel);
  box->setDefaultButton(cancel);
  box->setEscapeButton(cancel);
  connect(run, &QPushButton::clicked, this, [this, code, then] {
    for (const ForeignCode& each : code) service_.allow(each);
    then();
  });
  box->open();
  return box;
}

void CodeQuestions::load(const ForeignCode& code) {
  const bool runs_code = code.kind == ForeignCode::Kind::python;
  if (!runs_code || service_.is_allowed(code)) return service_.add(code);
  if (to_load_.contains(code)) return;
  to_load_ << code;
  const QMessageBox* box = show_question({code}, [this, code] { service_.add(code); });
  connect(box, &QDialog::finished, this, [this, code] { to_load_.removeOne(code); });
}

void CodeQuestions::choose_plugin() {
  const QString folder = QFileDialog::getExistingDirectory(
      window_, tr("Add Plugin (Folder with plugin.json)"), last_folder_);
  if (folder.isEmpty()) return;
  last_folder_ = folder;
  if (const auto code = service_.code_at(kPluginSource + folder)) load(*code);
}

void CodeQuestions::load_python(const QString& spec) {
  if (const auto code = service_.code_at(kPythonSource + spec)) load(*code);
}

void CodeQuestions::choose_python() {
  auto* dialog = new QDialog(window_);
  dialog->setObjectName(QStringLiteral("python_pass"));
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->setWindowTitle(tr("Add Python Pass"));
  auto* column = new QVBoxLayout(dialog);
  auto* text = new QLabel(
      tr("Enter file.py (for all passes that it declares), file.py:function or module:function."),
      dialog);
  text->setTextFormat(Qt::PlainText);
  column->addWidget(text);
  auto* row = new QHBoxLayout;
  auto* edit = new QLineEdit(dialog);
  edit->setAccessibleName(tr("Python pass"));
  edit->setPlaceholderText(QStringLiteral("my_passes.py"));
  edit->setMinimumWidth(edit->fontMetrics().averageCharWidth() * kSpecLetters);
  row->addWidget(edit, 1);
  auto* browse = new QPushButton(tr("Choose File..."), dialog);
  browse->setAutoDefault(false);
  row->addWidget(browse);
  column->addLayout(row);
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Cancel, dialog);
  QPushButton* add = buttons->addButton(tr("Add..."), QDialogButtonBox::AcceptRole);
  add->setEnabled(false);
  column->addWidget(buttons);
  connect(edit, &QLineEdit::textChanged, add,
          [add](const QString& typed) { add->setEnabled(!typed.trimmed().isEmpty()); });
  connect(browse, &QPushButton::clicked, this, [this, dialog, edit] {
    const QString path =
        QFileDialog::getOpenFileName(dialog, tr("Choose Python File with Passes"), last_folder_,
                                     tr("Python (*.py);;All files (*)"));
    if (path.isEmpty()) return;
    last_folder_ = QFileInfo(path).absolutePath();
    edit->setText(path);
  });
  connect(buttons, &QDialogButtonBox::accepted, dialog, &QDialog::accept);
  connect(buttons, &QDialogButtonBox::rejected, dialog, &QDialog::reject);
  connect(dialog, &QDialog::accepted, this, [this, edit] {
    // Files are stored with absolute paths.
    const QString spec = edit->text().trimmed();
    const qsizetype colon = spec.lastIndexOf(u':');
    const QString module = colon < 0 ? spec : spec.left(colon);
    load_python(module.endsWith(QStringLiteral(".py"))
                    ? QFileInfo(module).absoluteFilePath() + spec.mid(module.size())
                    : spec);
  });
  dialog->open();
}

}  // namespace jointer::views
