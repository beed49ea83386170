#pragma once

#include <cstdint>

#include "views/widgets/notice_bar.h"

namespace jointer::views {

// A bar for new users: three questions about the graph, answered by a click.
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
