#include "views/window/guess_note.h"

#include "views/session/text/number_text.h"
#include "views/theme/theme.h"

namespace jointer::views {

GuessNote::GuessNote(Document& document, QWidget* parent)
    : QToolButton(parent), document_(document) {
  setObjectName(QStringLiteral("guess"));
  setAutoRaise(true);
  setToolTip(
      tr("The capture lacks the ranks of some process groups. The estimates assume that the ranks "
         "of such a group are consecutive. If the ranks are spread across nodes, they communicate "
         "over the network. Click to set how far apart they are."));
  hide();
  connect(&document_, &Document::changed, this, &GuessNote::compute);
  compute();
}

void GuessNote::compute() {
  const SnapshotPtr snapshot = document_.shared_snapshot();
  const auto guess = [snapshot] { return guess_placement(snapshot->graph, snapshot->analysis); };
  computing_.start(guess, [this](const Result<PlacementGuess>& found) {
    const bool is_shown = found && found->matters();
    if (is_shown) show_guess(*found);
    setVisible(is_shown);
    emit appeared(is_shown);
  });
}

void GuessNote::show_guess(const PlacementGuess& guess) {
  setStyleSheet(QStringLiteral("color: ") + Theme::of(palette()).warning.name());
  const QString groups = guess.groups.size() == 1
                             ? tr("ranks of 1 group guessed")
                             : tr("ranks of %1 groups guessed").arg(guess.groups.size());
  setText(tr("%1: step %2 if spread").arg(groups, time_text(guess.spread_ns)));
}

}  // namespace jointer::views
