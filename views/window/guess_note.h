#pragma once

#include <QToolButton>
#include <optional>

#include "core/schedule/placement_guess.h"
#include "core/schedule/size_guess.h"
#include "views/session/document/document.h"
#include "views/session/work/task.h"

namespace jointer::views {

// A note next to the numbers that says how much the step time depends on guesses about process
// groups that the capture does not describe: where their ranks are, and how many there are. Only
// guesses that change the step time by more than 1% are noted. If both do, the text is about the
// one that changes it more, and the tooltip about both. Clicking the note requests the settings.
// The note is computed on a worker thread.
class GuessNote : public QToolButton {
  Q_OBJECT
 public:
  // `document` must outlive this object.
  explicit GuessNote(Document& document, QWidget* parent = nullptr);

  // Shortens the text, for narrow windows.
  void set_brief(bool brief);

 signals:
  void appeared(bool is_shown);

 private:
  struct Guesses {
    PlacementGuess placement;
    SizeGuess sizes;

    [[nodiscard]] bool matter() const { return placement.matters() || sizes.matters(); }
  };

  void compute();
  void show_guesses();
  [[nodiscard]] static QString placement_text(const PlacementGuess& guess, bool is_brief);
  [[nodiscard]] static QString size_text(const SizeGuess& guess, bool is_brief);

  Document& document_;
  std::optional<Guesses> guesses_;  // while the note is shown
  bool is_brief_ = false;
  Task<Guesses> computing_;
};

}  // namespace jointer::views
