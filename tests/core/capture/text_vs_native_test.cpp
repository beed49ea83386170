// Compares a graph's text with its native capture: what the text contains must be read alike, what
// it lacks must be derived alike, and every remaining difference must follow from what a text
// cannot represent.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <set>

#include "core/open/open.h"
#include "core/schedule/memory_timeline.h"
#include "tests/support/compare.h"
#include "tests/support/paths.h"

namespace jointer::test {
namespace {

std::vector<std::string> shared_texts() {
  std::vector<std::string> paths;
  if (shared_directory().empty()) return paths;
  for (const auto& entry :
       std::filesystem::directory_iterator(shared_directory() + "/captures/text"))
    if (entry.path().string().find(".txt") != std::string::npos) paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  return paths;
}

// Kinds of differences that follow from what a text cannot represent:
//  - unknown element: an element of a tuple that nothing reads, so that no statement gives its
//    type;
//  - unknown value: the same for a whole tuple;
//  - unknown offset, offset: the offset of a view is not printed. It is derived from the
//    arguments, which fails for symbolic ones.
const std::set<std::string> kExplained{"unknown element", "unknown value", "unknown offset"};

class SharedText : public testing::TestWithParam<std::string> {};

TEST_P(SharedText, MatchesItsNativeCapture) {
  std::string name = GetParam().substr(GetParam().rfind('/') + 1);
  name.resize(name.find(".txt"));
  const auto text = open_graph({.path = GetParam()});
  ASSERT_TRUE(text.has_value()) << text.error().message;
  const auto native = open_graph({.path = shared_directory() + "/captures/" + name + ".json.zst"});
  ASSERT_TRUE(native.has_value()) << native.error().message;

  const auto differences = compare_graphs(*native, *text);
  for (const auto& [kind, count] : count_kinds(differences))
    std::cout << name << ": " << count << " x " << kind << '\n';
  for (const Difference& d : differences)
    if (!kExplained.contains(d.kind)) ADD_FAILURE() << d.kind << ": " << d.detail;

  // With the same values of symbols, the memory timelines are equal at every point. They differ
  // only by elements of tuples that nothing reads, which the text does not know and which live for
  // one call.
  const bool has_symbols = !native->symbols().empty();
  if (has_symbols) return;
  const MemoryTimeline expected(*native), derived(*text);
  EXPECT_EQ(derived.peak_bytes(), expected.peak_bytes());
  ASSERT_EQ(derived.profile().size(), expected.profile().size());
  std::size_t unequal = 0;
  for (std::size_t i = 0; i < expected.profile().size(); ++i)
    unequal += derived.profile()[i] == expected.profile()[i] ? 0 : 1;
  std::cout << name << ": " << unequal << " of " << expected.profile().size()
            << " points of the memory timeline differ\n";
}

INSTANTIATE_TEST_SUITE_P(Shared, SharedText, testing::ValuesIn(shared_texts()),
                         parameter_name<testing::TestParamInfo<std::string>>);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(SharedText);

}  // namespace
}  // namespace jointer::test
