#pragma once

#include <QObject>
#include <vector>

namespace jointer::views {

class Document;

// The documents that are open in the program, in the order in which they were opened.
class OpenDocuments : public QObject {
  Q_OBJECT
 public:
  using QObject::QObject;

  [[nodiscard]] const std::vector<Document*>& all() const { return all_; }
  // `document` must be removed before it is destroyed.
  void add(Document& document);
  void remove(Document& document);

 signals:
  void changed();

 private:
  std::vector<Document*> all_;
};

}  // namespace jointer::views
