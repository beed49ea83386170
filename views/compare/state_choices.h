#pragma once

#include <QString>
#include <cstdint>
#include <vector>

#include "views/compare/compared_files.h"
#include "views/session/edit/edit_history.h"

namespace jointer::views {

class Document;
class OpenDocuments;

// A state that can be chosen for a comparison.
struct StateChoice {
  enum class Kind : std::uint8_t {
    opened,
    now,     // the current state, which changes with the graph
    before,  // the input of the pass that produced the document's graph
    named,
    entry,
    file,  // a file that is not open
  };
  QString name;
  Kind kind = Kind::opened;
  EditHistory history;
  Document* other = nullptr;  // null: the pane's document
  ComparedFile file = {};     // for the kinds `before` and `file`
};

// True if both refer to the same state, even if the documents have changed in between.
bool is_same_state(const StateChoice& a, const StateChoice& b);

// True if the states belong to the same document, or are the same file. The input of the pass that
// produced a document's graph belongs to the document.
bool is_same_document(const StateChoice& a, const StateChoice& b);

// The states of the document: as opened, now, `before` if it is known, named states and history
// entries. They are followed by the states of other open documents, whose names begin with the
// title of their document, and by the files.
std::vector<StateChoice> state_choices(const Document& document, const ComparedFile& before,
                                       const OpenDocuments& open,
                                       const std::vector<ComparedFile>& files);

}  // namespace jointer::views
