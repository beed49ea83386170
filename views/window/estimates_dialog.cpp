#include "views/window/estimates_dialog.h"

#include <QDialogButtonBox>
#include <QLabel>
#include <QPushButton>
#include <QScrollArea>
#include <QVBoxLayout>

#include "core/graph/group_argument.h"
#include "views/session/text/node_text.h"
#include "views/session/text/number_text.h"

namespace jointer::views {
namespace {

constexpr int kMaxGpus = 1 << 16, kMaxStride = 1 << 20;
constexpr int kUnknown = 0;  // stands for an unknown stride

}  // namespace

EstimatesDialog::EstimatesDialog(Document& document, QWidget* parent)
    : QDialog(parent), document_(document) {
  setWindowTitle(tr("Estimates"));
  setObjectName(QStringLiteral("estimates_dialog"));
  auto* column = new QVBoxLayout(this);
  auto* scrolled = new QScrollArea(this);
  scrolled->setFrameShape(QFrame::NoFrame);
  scrolled->setWidgetResizable(true);
  scrolled->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  auto* content = new QWidget(scrolled);
  auto* form = new QFormLayout(content);
  add_estimator(*form);
  add_gpus(*form);
  add_groups(*form);
  scrolled->setWidget(content);
  column->addWidget(scrolled, 1);
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Apply | QDialogButtonBox::Close, this);
  column->addWidget(buttons);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  QPushButton* apply = buttons->button(QDialogButtonBox::Apply);
  apply->setDefault(true);
  connect(apply, &QPushButton::clicked, this, [this] {
    document_.analyze_with(options(), assumptions());
    accept();
  });
}

void EstimatesDialog::add_estimator(QFormLayout& form) {
  estimator_ = new QComboBox(this);
  estimator_->setObjectName(QStringLiteral("estimator"));
  estimator_->setEditable(true);
  for (const char* name : {"roofline", "kernels", "simple", "torch-2.11", "torch-2.15", "measured"})
    estimator_->addItem(QLatin1String(name));
  estimator_->setCurrentText(to_qstring(document_.wanted_options().estimator.name));
  estimator_->setToolTip(tr(
      "Accepts the same values as the command-line option --estimator, such as "
      "simple{coll_us=20,...}, profile{trace=\"trace.json\"} or measured{device=\"NVIDIA H200\"}"));
  form.addRow(tr("&Estimator:"), estimator_);
}

void EstimatesDialog::add_gpus(QFormLayout& form) {
  gpus_ = new QSpinBox(this);
  gpus_->setObjectName(QStringLiteral("gpus_per_node"));
  gpus_->setRange(1, kMaxGpus);
  gpus_->setValue(static_cast<int>(document_.wanted_options().estimator.gpus_per_node));
  gpus_->setToolTip(tr("Number of GPUs connected by fast links. Ranks fill nodes in order."));
  form.addRow(tr("&GPUs per node:"), gpus_);
}

void EstimatesDialog::add_groups(QFormLayout& form) {
  const Graph& graph = document_.graph();
  const auto& assumed = document_.wanted_assumptions().named;
  for (std::size_t i = 0; i < graph.group_count(); ++i) {
    const ProcessGroup& group = graph.group(GroupId(i));
    if (group.ranks.size() < 2 || !has_guessed_ranks(graph, group)) continue;
    if (strides_.empty()) {
      auto* text = new QLabel(
          tr("The capture has only the sizes of these process groups. How far apart are "
             "successive ranks of a group? On a mesh of 8 × 8 GPUs, for example, they are 1 "
             "apart in one dimension and 8 apart in the other. The estimators torch-2.11 and "
             "torch-2.15 use only the sizes of groups."),
          this);
      text->setWordWrap(true);
      form.addRow(text);
    }
    auto* box = new QSpinBox(this);
    box->setRange(kUnknown, kMaxStride);
    box->setSpecialValueText(tr("Unknown (assume consecutive)"));
    box->setSuffix(tr(" apart"));
    const auto known = assumed.find(stride_name(graph.text(group.name)));
    box->setValue(known == assumed.end() ? kUnknown : static_cast<int>(known->second));
    const QString name = to_qstring(graph.text(group.name));
    box->setObjectName(QStringLiteral("stride_of_") + name);
    form.addRow(
        tr("%1, %2:").arg(name, counted_text(group.ranks.size(), tr("1 rank"), tr("%1 ranks"))),
        box);
    strides_.emplace_back(graph.text(group.name), box);
  }
}

AnalysisOptions EstimatesDialog::options() const {
  AnalysisOptions options = document_.wanted_options();
  options.estimator.name = estimator_->currentText().trimmed().toStdString();
  options.estimator.gpus_per_node = gpus_->value();
  return options;
}

Assumptions EstimatesDialog::assumptions() const {
  Assumptions assumptions = without_strides(document_.wanted_assumptions());
  for (const auto& [group, box] : strides_)
    if (box->value() != kUnknown) assumptions.named.emplace(stride_name(group), box->value());
  return assumptions;
}

}  // namespace jointer::views
