#include "views/exposed/exposed_details.h"

#include "core/schedule/exposure_reason.h"
#include "views/session/edit/metrics.h"
#include "views/session/text/node_text.h"
#include "views/session/text/number_text.h"
#include "views/theme/spacing.h"
#include "views/widgets/controls.h"
#include "views/widgets/flow_layout.h"

namespace jointer::views {
namespace {

constexpr int kLines = 2;  // reserved for the sentence, so that rows do not move
const QString kNode = QStringLiteral("node:");

}  // namespace

ExposedDetails::ExposedDetails(const ExposedModel& model, QWidget* parent)
    : QWidget(parent), model_(model) {
  QVBoxLayout* rows = make_column(this, {kNarrowMargin, 0, kNarrowMargin, 0}, kNarrowMargin);
  why_ = add_control(*rows, new QLabel(this), "why", {}, tr("Why the collective is exposed"));
  why_->setWordWrap(true);
  why_->setTextFormat(Qt::RichText);
  why_->setTextInteractionFlags(Qt::TextBrowserInteraction);
  why_->setAlignment(Qt::AlignLeft | Qt::AlignTop);
  why_->setMinimumHeight(kLines * fontMetrics().lineSpacing());
  connect(why_, &QLabel::linkActivated, this, [this](const QString& link) {
    emit node_chosen(NodeId(link.mid(kNode.size()).toULongLong()));
  });
  auto* buttons = new FlowLayout(nullptr, kNarrowMargin, kNarrowMargin);
  const auto add = [&](const QString& name, const QString& key, auto signal) {
    auto* button = new QPushButton(this);
    button->setObjectName(name);
    button->setProperty("key", key);
    connect(button, &QPushButton::clicked, this, signal);
    buttons->addWidget(button);
    return button;
  };
  best_ = add(QStringLiteral("apply_best"), tr("Enter"), &ExposedDetails::best_wanted);
  layers_ =
      add(QStringLiteral("apply_layers"), tr("Shift+Enter"), &ExposedDetails::all_layers_wanted);
  rows->addLayout(buttons);
  show_row(-1);
}

QString ExposedDetails::why(int row) const {
  const Graph& graph = model_.snapshot()->graph;
  const auto link = [&](NodeId node) {
    return QStringLiteral("<a href=\"%1%2\">%3</a>")
        .arg(kNode)
        .arg(node.value())
        .arg(to_qstring(graph.name(node)).toHtmlEscaped())
        .toStdString();
  };
  const CollectiveTiming& c = model_.collective(row);
  const QString name = to_qstring(link(c.start));
  if (!c.is_exposed()) return tr("%1 is hidden.").arg(name);
  const Simulation& simulation = model_.snapshot()->analysis.simulation;
  return tr("%1: %2.").arg(name, to_qstring(exposure_text(graph, simulation, c, link)));
}

// Sets the button's text, such as "Move to Best Position: −1.42 ms, peak +12.0 MiB", and its
// tooltip. Disables the button if there is no such move.
void ExposedDetails::show_fix(QPushButton& button, const QString& verb, int row,
                              std::optional<FixKind> kind) {
  const CollectiveFixesPtr fixes = row < 0 ? nullptr : model_.fixes(row);
  const bool gains = fixes && kind && fixes->of(*kind).edit;
  QString text = verb;
  if (row >= 0 && !fixes) text = tr("%1: …").arg(verb);
  if (gains)
    text = tr("%1: %2, peak %3")
               .arg(verb, time_difference_text(fixes->gained_ns(*kind), 0),
                    bytes_difference_text(0, fixes->peak_change(*kind)));
  button.setText(text);
  button.setEnabled(gains);
  const QString why_not =
      fixes ? to_qstring(fixes->of(kind.value_or(FixKind::with_chains)).why_not) : QString();
  const QString about = gains ? to_qstring(fixes->of(*kind).edit->title) : why_not;
  const QString key = tr("Key: %1").arg(button.property("key").toString());
  button.setToolTip(about.isEmpty() ? key : about + u'\n' + key);
}

void ExposedDetails::show_row(int row) {
  why_->setText(
      row < 0
          ? tr("Select a collective to see why it is exposed and how much time moving it saves.")
          : why(row));
  const CollectiveFixesPtr fixes = row < 0 ? nullptr : model_.fixes(row);
  show_fix(*best_, tr("Move to Best Position"), row, fixes ? fixes->best() : std::nullopt);
  const bool repeats = fixes && fixes->of(FixKind::all_layers).edit;
  const std::size_t layers = repeats ? fixes->of(FixKind::all_layers).layers : 0;
  show_fix(*layers_,
           layers == 2 ? tr("In Both Identical Layers")
           : repeats   ? tr("In All %1 Identical Layers").arg(layers)
                       : tr("In All Identical Layers"),
           row, FixKind::all_layers);
}

}  // namespace jointer::views
