#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "views/session/search/search_query.h"

namespace jointer::views {

// Searches many short texts at once. They are stored in lower case, separated by newlines, so that
// a search scans one long text instead of thousands of short ones.
class SearchTexts {
 public:
  using Flags = std::vector<char>;  // by text

  void add(std::string_view more);
  [[nodiscard]] std::size_t size() const { return first_.empty() ? 0 : first_.size() - 1; }
  [[nodiscard]] std::string_view operator[](std::size_t i) const {
    return std::string_view(text_).substr(first_[i], first_[i + 1] - first_[i] - 1);
  }

  // Marks texts that contain one of the term's texts or match its pattern.
  [[nodiscard]] Flags containing(const SearchTerm& term) const;
  // Like `containing`, but for dotted names: if any of them has one of the term's texts as a whole
  // part (`mm` in aten.mm.default), only such names match this text.
  [[nodiscard]] Flags with_part(const SearchTerm& term) const;

 private:
  void mark_matches(const QRegularExpression& pattern, Flags& flags) const;
  [[nodiscard]] bool matches(const QRegularExpression& pattern, std::size_t i) const;
  // Index of the text at an offset in text_.
  [[nodiscard]] std::size_t index_at(std::size_t offset) const;

  std::string text_;
  std::vector<std::uint32_t> first_;  // start offset of each text, and the end of the last one
};

}  // namespace jointer::views
