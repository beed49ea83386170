#include "views/session/search/search_query.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace jointer::views {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

SearchTerm term(std::string_view text) {
  const auto query = parse_search(text);
  if (!query || query->terms.size() != 1) {
    ADD_FAILURE() << text << ": " << (query ? "not one term" : query.error().message);
    return {};
  }
  return query->terms.front();
}

TEST(SearchQuery, ReadsTexts) {
  EXPECT_THAT(term("View_12").texts, ElementsAre("view_12"));
  EXPECT_THAT(term("\"two words\"").texts, ElementsAre("two words"));
  EXPECT_THAT(term("model.py:574").texts, ElementsAre("model.py:574"));
  EXPECT_THAT(term("c10d::wait").texts, ElementsAre("c10d::wait"));
  EXPECT_THAT(term("op").texts, ElementsAre("op"));
  EXPECT_THAT(term("-").texts, ElementsAre("-"));
  EXPECT_THAT(term("a/b/c").texts, ElementsAre("a/b/c"));
  EXPECT_TRUE(term("/mm_\\d+/").pattern);
}

TEST(SearchQuery, ReadsFilters) {
  EXPECT_EQ(term("op:mm").field, SearchField::op);
  EXPECT_THAT(term("op:mm,bmm").texts, ElementsAre("mm", "bmm"));
  EXPECT_TRUE(term("-op:view").is_negated);
  EXPECT_TRUE(term("op:/mm|bmm/").pattern);
  EXPECT_THAT(term("shape:8192,7168").sizes, ElementsAre(8192, 7168));
  EXPECT_THAT(term("shape:8x16").sizes, ElementsAre(8, 16));
  EXPECT_EQ(term("TAG:must_save").field, SearchField::tag);
}

TEST(SearchQuery, ReadsNumbersWithUnits) {
  using Relation = SearchTerm::Relation;
  struct Expected {
    const char* text;
    Relation relation;
    double number;
  };
  for (const auto& [text, relation, number] : std::initializer_list<Expected>{
           {"bytes>1MiB", Relation::more, 1048576},
           {"bytes>=1.5k", Relation::at_least, 1536},
           {"bytes<2MB", Relation::less, 2e6},
           {"ms>0.1", Relation::more, 1e5},
           {"ms<=20us", Relation::at_most, 2e4},
           {"exposed>0", Relation::more, 0},
           {"flops>1G", Relation::more, 1e9},
           {"users=3", Relation::equal, 3},
           {"call:12", Relation::equal, 12},
           {"step:12", Relation::equal, 12},
       }) {
    EXPECT_EQ(term(text).relation, relation) << text;
    EXPECT_DOUBLE_EQ(term(text).number, number) << text;
  }
}

TEST(SearchQuery, ReportsErrorsInOneSentence) {
  struct Expected {
    const char *text, *part;
  };
  for (const auto& [text, part] : std::initializer_list<Expected>{
           {"foo:bar", "Unknown filter `foo`"},
           {"Foo:bar", "Unknown filter `Foo`"},
           {"Op>3", "`Op` is not a numeric filter; write `Op:TEXT`."},
           {"bytes>", "Expected a number, as in bytes>1MiB"},
           {"bytes>1XB", "`XB` is not a valid unit"},
           {"op:", "needs a value"},
           {"op>3", "is not a numeric filter"},
           {"shape:8a", "Sizes must be integers"},
           {"phase:xx", "`xx` is not a phase; write phase:fw, phase:bw or phase:recomputed"},
           {"phase:fw,b1", "`b1` is not a phase"},
           {"phase:FW,Nope", "`Nope` is not a phase"},
           {"phase:/x/", "`/x/` is not a phase; write phase:fw, phase:bw or phase:recomputed"},
           {"phase:/bw/", "`/bw/` is not a phase"},
           {"/(/", "not a valid regular expression"},
       }) {
    const auto query = parse_search(text);
    ASSERT_FALSE(query) << text;
    EXPECT_THAT(query.error().message, HasSubstr(part));
    EXPECT_EQ(query.error().message.find('\n'), std::string::npos);
  }
}

RC_GTEST_PROP(SearchQueryProperties, SurvivesAnyText, (const std::string& text)) {
  const auto query = parse_search(text);
  if (!query) RC_ASSERT(!query.error().message.empty());
}

}  // namespace
}  // namespace jointer::views
