#include "views/window/guess_note.h"

#include <QStringList>
#include <cstdlib>
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
  const auto guess = [snapshot]() -> Result<Guesses> {
    JOINTER_TRY(PlacementGuess placement, guess_placement(snapshot->graph, snapshot->analysis));
    JOINTER_TRY(SizeGuess sizes, guess_group_sizes(snapshot->graph, snapshot->analysis));
    return Guesses{std::move(placement), std::move(sizes)};
  };
  computing_.start(guess, [this](const Result<Guesses>& found) {
    const bool is_shown = found && found->matter();
    guesses_ = is_shown ? std::optional(*found) : std::nullopt;
    show_guesses();
    setVisible(is_shown);
    emit appeared(is_shown);
  });
}

void GuessNote::set_brief(bool brief) {
  if (std::exchange(is_brief_, brief) != brief) show_guesses();
}

QString GuessNote::placement_text(const PlacementGuess& guess, bool is_brief) {
  const QString step = time_text(guess.spread_ns);
  if (is_brief) return tr("guess: %1 if spread").arg(step);
  const QString groups = guess.groups.size() == 1
                             ? tr("ranks of 1 group guessed")
                             : tr("ranks of %1 groups guessed").arg(guess.groups.size());
  return tr("%1: step %2 if spread").arg(groups, step);
}

QString GuessNote::size_text(const SizeGuess& guess, bool is_brief) {
  const QString step = time_text(guess.other_ns);
  if (is_brief) return tr("guess: %1 with %2 ranks").arg(step).arg(guess.other_ranks);
  const QString groups = guess.groups.size() == 1
                             ? tr("size of 1 group guessed")
                             : tr("sizes of %1 groups guessed").arg(guess.groups.size());
  return tr("%1: step %2 with %3 ranks").arg(groups, step).arg(guess.other_ranks);
}

void GuessNote::show_guesses() {
  if (!guesses_) return;
  setStyleSheet(QStringLiteral("color: ") + Theme::of(palette()).warning.name());
  const auto& [placement, sizes] = *guesses_;
  const bool is_about_sizes = std::abs(sizes.other_ns - sizes.default_ns) >
                              std::abs(placement.spread_ns - placement.neighbors_ns);
  setText(is_about_sizes ? size_text(sizes, is_brief_) : placement_text(placement, is_brief_));
  QStringList lines;
  if (sizes.matters())
    lines << size_text(sizes, false)
          << tr("The capture does not record the sizes of some process groups. Estimates assume "
                "the world size or, if the capture does not record it, 2 ranks. Click to set the "
                "number of ranks.");
  if (placement.matters())
    lines << placement_text(placement, false)
          << tr("The capture does not record the ranks of some process groups. Estimates assume "
                "that the ranks of a group are consecutive. If they are spread across nodes, they "
                "communicate over the network. Click to set the distance between them.");
  setToolTip(lines.join(u'\n'));
}

}  // namespace jointer::views
