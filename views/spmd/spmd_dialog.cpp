#include "views/spmd/spmd_dialog.h"

#include <QDialogButtonBox>
#include <QFileDialog>
#include <QFileInfo>
#include <QHeaderView>
#include <QVBoxLayout>
#include <algorithm>

#include "views/session/open/open_requests.h"
#include "views/session/text/node_text.h"
#include "views/session/text/number_text.h"
#include "views/widgets/controls.h"

namespace jointer::views {
namespace {

constexpr int kNodeRole = Qt::UserRole;

QString ranks_text(const SpmdReport& report) {
  QStringList groups;
  for (const SpmdGroup& group : report.groups)
    groups << (group.calls == 1 ? SpmdDialog::tr("%1 (1 call)").arg(to_qstring(group.label))
                                : SpmdDialog::tr("%1 (%2 calls)")
                                      .arg(to_qstring(group.label), count_text(group.calls)));
  return groups.isEmpty()
             ? SpmdDialog::tr("No process group with collectives contains two of these ranks.")
             : SpmdDialog::tr("Compared: %1.").arg(groups.join(QStringLiteral(", ")));
}

}  // namespace

Result<RankCheck> check_ranks(const std::vector<RankFiles>& files, const SnapshotPtr& own,
                              int own_rank) {
  RankCheck result;
  JOINTER_TRY(result.programs, open_ranks(files));
  result.own = own;
  result.own_rank = own_rank;
  if (own)
    std::erase_if(result.programs,
                  [&](const RankProgram& program) { return program.rank == own_rank; });
  std::vector<RankGraph> graphs;
  if (own) graphs.push_back({own_rank, &own->graph});
  for (const RankProgram& program : result.programs)
    graphs.push_back({program.rank, &program.graph});
  JOINTER_TRY(result.report, check_spmd(graphs));
  return result;
}

SpmdDialog::SpmdDialog(Document& document, QWidget* parent)
    : QDialog(parent),
      document_(&document),
      rank_(static_cast<int>(document.graph().part(PartId(std::size_t{0})).rank.value_or(0))) {
  setWindowTitle(tr("Check Against Other Ranks"));
  setObjectName(QStringLiteral("spmd"));
  setAttribute(Qt::WA_DeleteOnClose);
  resize(760, 480);
  auto* column = new QVBoxLayout(this);
  auto* about = new QLabel(
      tr("All ranks of a process group must call its collectives in the same order; otherwise the "
         "ranks can hang or compute wrong results."),
      this);
  about->setWordWrap(true);
  column->addWidget(about);

  auto* row = new QHBoxLayout;
  files_ = new QListWidget(this);
  files_->setSelectionMode(QAbstractItemView::ExtendedSelection);
  files_->setObjectName(QStringLiteral("files"));
  row->addWidget(files_, 1);
  auto* buttons = new QVBoxLayout;
  auto* add = new QPushButton(tr("&Add Captures..."), this);
  auto* remove = new QPushButton(tr("&Remove"), this);
  buttons->addWidget(add);
  buttons->addWidget(remove);
  buttons->addStretch();
  row->addLayout(buttons);
  column->addLayout(row, 1);

  with_own_ = new QCheckBox(
      tr("Use %1, as currently edited, for rank %2").arg(document.title(), QString::number(rank_)),
      this);
  with_own_->setChecked(true);
  column->addWidget(with_own_);
  answer_ = make_text_label(this);
  answer_->setObjectName(QStringLiteral("answer"));
  answer_->setTextFormat(Qt::PlainText);  // quotes names of files and nodes
  column->addWidget(answer_);
  sides_ = add_control(*column, new QTreeWidget(this), "sides");
  sides_->setHeaderLabels({tr("rank"), tr("node"), tr("position"), tr("call")});
  sides_->setRootIsDecorated(false);
  sides_->header()->setSectionResizeMode(QHeaderView::ResizeToContents);
  sides_->setMaximumHeight(fontMetrics().height() * 6);
  sides_->hide();

  auto* box = new QDialogButtonBox(QDialogButtonBox::Close, this);
  check_ = box->addButton(tr("&Check"), QDialogButtonBox::ActionRole);
  check_->setObjectName(QStringLiteral("check"));
  check_->setDefault(true);
  column->addWidget(box);

  connect(add, &QPushButton::clicked, this, &SpmdDialog::choose_files);
  connect(remove, &QPushButton::clicked, this, [this] {
    qDeleteAll(files_->selectedItems());
    refresh();
  });
  remove->setEnabled(false);
  connect(files_, &QListWidget::itemSelectionChanged, this,
          [this, remove] { remove->setEnabled(!files_->selectedItems().isEmpty()); });
  connect(with_own_, &QCheckBox::toggled, this, &SpmdDialog::refresh);
  connect(check_, &QPushButton::clicked, this, &SpmdDialog::check);
  connect(box, &QDialogButtonBox::rejected, this, &QDialog::reject);
  connect(&document, &QObject::destroyed, this, &QDialog::reject);
  connect(sides_, &QTreeWidget::itemClicked, this, [this](const QTreeWidgetItem* item) {
    const QVariant node = item->data(0, kNodeRole);
    if (node.isValid()) emit node_activated(NodeId(node.toUInt()));
  });
  refresh();
}

void SpmdDialog::add_files(const QStringList& paths) {
  for (const QString& path : paths)
    if (files_->findItems(path, Qt::MatchExactly).isEmpty()) files_->addItem(path);
  refresh();
}

void SpmdDialog::choose_files() {
  if (!document_) return;
  const QString folder = QFileInfo(to_qstring(document_->source().path)).absolutePath();
  add_files(QFileDialog::getOpenFileNames(this, tr("Add Captures of Other Ranks"), folder));
}

void SpmdDialog::refresh() {
  const int programs = files_->count() + (with_own_->isChecked() ? 1 : 0);
  check_->setEnabled(!checking_.is_running() && programs >= 2);
  const QString hint = tr("Add the captures of other ranks.");
  if (programs < 2)
    answer_->setText(hint);
  else if (answer_->text() == hint)
    answer_->clear();
}

void SpmdDialog::check() {
  if (!document_ || checking_.is_running()) return;
  std::vector<RankFiles> files;
  // The halves of a pair are recognized by their names, as when files are dropped on the window.
  QStringList paths;
  for (int i = 0; i < files_->count(); ++i) paths << files_->item(i)->text();
  for (const OpenRequest& request : requests_for(paths))
    files.push_back({.path = request.path,
                     .backward = request.backward,
                     .assumptions = document_->graph().assumptions()});
  const auto work = [files, own = with_own_->isChecked() ? document_->shared_snapshot() : nullptr,
                     rank = rank_] { return check_ranks(files, own, rank); };
  checking_.start(work, [this](const Result<RankCheck>& result) {
    refresh();
    if (result)
      show_result(*result);
    else
      show_error(to_qstring(result.error().message));
    emit checked();
  });
  refresh();
  answer_->setText(tr("Reading..."));
  sides_->hide();
}

void SpmdDialog::show_result(const RankCheck& result) {
  const SpmdReport& report = result.report;
  QString text = report.mismatch         ? to_qstring(report.mismatch->brief)
                 : report.groups.empty() ? tr("Nothing was compared.")
                                         : tr("All ranks make the same calls in the same order.");
  text[0] = text[0].toUpper();
  text += u'\n' + ranks_text(report);
  for (const std::string& note : report.notes) text += u'\n' + to_qstring(note);
  answer_->setText(text);
  sides_->clear();
  sides_->setVisible(report.mismatch.has_value());
  if (!report.mismatch) return;
  for (const SpmdSide& side : {report.mismatch->a, report.mismatch->b}) {
    const bool is_own = result.own && side.rank == result.own_rank;
    const auto program = std::ranges::find(result.programs, side.rank, &RankProgram::rank);
    const Graph& graph = is_own ? result.own->graph : program->graph;
    auto* item = new QTreeWidgetItem(
        sides_, {QString::number(side.rank),
                 side.node ? to_qstring(graph.name(side.node)) : QStringLiteral("–"),
                 side.node ? count_text(side.position) : QString(),
                 side.node ? to_qstring(side.does) : tr("no more calls")});
    if (is_own && side.node) item->setData(0, kNodeRole, side.node.value());
    item->setToolTip(1, is_own ? tr("In this window") : to_qstring(program->path));
  }
}

}  // namespace jointer::views
