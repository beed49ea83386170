#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "views/find/search_query.h"

namespace jointer::views {

// Of ASCII letters; others stay as they are.
std::string lower_case(std::string_view text);

// Many short texts, asked all at once. They lie one after another in lower case with a line end
// after each, so that a search runs over one long text and not over thousands.
class SearchTexts {
 public:
  using Flags = std::vector<char>;  // by text

  void add(std::string_view more);
  [[nodiscard]] std::size_t size() const { return first_.empty() ? 0 : first_.size() - 1; }
  [[nodiscard]] std::string_view operator[](std::size_t i) const {
    return std::string_view(text_).substr(first_[i], first_[i + 1] - first_[i] - 1);
  }

  // Which have one of the term's texts, or match its pattern.
  [[nodiscard]] Flags containing(const SearchTerm& term) const;
  // The same for dotted names: a text that is a whole part of any of them (`mm` of aten.mm.default)
  // matches those alone.
  [[nodiscard]] Flags with_part(const SearchTerm& term) const;

 private:
  void mark_matches(const QRegularExpression& pattern, Flags& flags) const;
  [[nodiscard]] bool matches(const QRegularExpression& pattern, std::size_t i) const;
  // The text that a place in text_ belongs to.
  [[nodiscard]] std::size_t index_at(std::size_t offset) const;

  std::string text_;
  std::vector<std::uint32_t> first_;  // where each begins; one more than texts
};

}  // namespace jointer::views
