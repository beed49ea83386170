#include "views/session/document/open_documents.h"

namespace jointer::views {

void OpenDocuments::add(Document& document) {
  all_.push_back(&document);
  emit changed();
}

void OpenDocuments::remove(Document& document) {
  std::erase(all_, &document);
  emit changed();
}

}  // namespace jointer::views
