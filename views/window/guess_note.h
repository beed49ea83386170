#pragma once

#include <QToolButton>
#include <optional>

#include "core/schedule/placement_guess.h"
#include "views/session/document/document.h"
#include "views/session/work/task.h"

namespace jointer::views {

// A note next to the numbers that says how much the step time depends on a guess about the ranks of
// process groups that the capture does not describe. Hidden if the guess changes the step time by
// at most 1%. Clicking the note requests the settings. The note is computed on a worker thread.
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
  void compute();
  void show_guess();

  Document& document_;
  std::optional<PlacementGuess> guess_;  // while the note is shown
  bool is_brief_ = false;
  Task<PlacementGuess> computing_;
};

}  // namespace jointer::views
