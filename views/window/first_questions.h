#pragma once

#include <cstdint>

#include "views/widgets/notice_bar.h"

namespace jointer::views {

// A bar for new users with three questions about the graph. A click on a question shows the answer.
class FirstQuestions : public NoticeBar {
  Q_OBJECT
 public:
  enum class Question : std::uint8_t { peak, communication, what_if };

  explicit FirstQuestions(QWidget* parent = nullptr);

 signals:
  void asked(jointer::views::FirstQuestions::Question question);
  // The user asked not to see the bar again.
  void dismissed();
};

}  // namespace jointer::views
