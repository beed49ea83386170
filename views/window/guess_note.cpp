#include "views/window/guess_note.h"

#include <utility>

#include "views/session/text/number_text.h"
#include "views/theme/theme.h"

namespace jointer::views {

GuessNote::GuessNote(Document& document, QWidget* parent)
    : QToolButton(parent), document_(document) {
  setObjectName(QStringLiteral("guess"));
  setAutoRaise(true);
  hide();
  connect(&document_, &Document::changed, this, &GuessNote::compute);
  compute();
}

void GuessNote::compute() {
  const SnapshotPtr snapshot = document_.shared_snapshot();
  const auto guess = [snapshot] { return guess_placement(snapshot->graph, snapshot->analysis); };
  computing_.start(guess, [this](const Result<PlacementGuess>& found) {
    const bool is_shown = found && found->matters();
    guess_ = is_shown ? std::optional(*found) : std::nullopt;
    show_guess();
    setVisible(is_shown);
    emit appeared(is_shown);
  });
}

void GuessNote::set_brief(bool brief) {
  if (std::exchange(is_brief_, brief) != brief) show_guess();
}

void GuessNote::show_guess() {
  if (!guess_) return;
  setStyleSheet(QStringLiteral("color: ") + Theme::of(palette()).warning.name());
  const QString groups = guess_->groups.size() == 1
                             ? tr("ranks of 1 group guessed")
                             : tr("ranks of %1 groups guessed").arg(guess_->groups.size());
  const QString whole = tr("%1: step %2 if spread").arg(groups, time_text(guess_->spread_ns));
  setText(is_brief_ ? tr("guess: %1 if spread").arg(time_text(guess_->spread_ns)) : whole);
  setToolTip(whole + u'\n' +
             tr("The capture does not record the ranks of some process groups. Estimates assume "
                "that the ranks of a group are consecutive. If they are spread across nodes, they "
                "communicate over the network. Click to set the distance between them."));
}

}  // namespace jointer::views
