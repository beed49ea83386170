#include "views/tables/column.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace jointer::views {
namespace {

TEST(Column, WritesThreeSignificantDigits) {
  EXPECT_EQ(number_text({.unit = Unit::bytes}, 46'492'811'264), "43.3 GiB");
  EXPECT_EQ(number_text({.unit = Unit::time}, 411'534), "412 us");
  EXPECT_EQ(number_text({.unit = Unit::count}, 10'944), "10,944");
  EXPECT_EQ(number_text({.unit = Unit::flops}, 0), "0");
  EXPECT_EQ(number_text({.unit = Unit::share, .whole = 200}, 25), "12.5%");
  EXPECT_EQ(number_text({.unit = Unit::share, .whole = 0}, 25), "0%");
  EXPECT_EQ(number_text({.unit = Unit::time}, std::nullopt), "");
}

// But those for spreadsheets are ASCII.
TEST(Column, NegativeNumbersHaveAMinusSign) {
  struct Case {
    Unit unit;
    const char *shown, *exact, *raw;
  };
  for (const Case& c : {Case{Unit::count, "\u22121,500", "\u22121,500", "-1500"},
                        Case{Unit::bytes, "\u22121.46 KiB", "\u22121,500 bytes", "-1500"},
                        Case{Unit::time, "\u22121.50 us", "\u22120.001500 ms", "-0.001500"},
                        Case{Unit::thousandths, "\u22121.50", "\u22121.500", "-1.500"},
                        Case{Unit::fraction, "\u22120.150%", "\u22120.1500%", "-0.001500"},
                        Case{Unit::change, "\u22120.150%", "\u22120.1500%", "-0.001500"}}) {
    const Column column{.unit = c.unit};
    EXPECT_EQ(number_text(column, -1500), c.shown);
    EXPECT_EQ(exact_text(column, -1500), c.exact);
    EXPECT_EQ(raw_text(column, -1500), c.raw);
  }
}

TEST(Column, ShowsTheExactNumber) {
  EXPECT_EQ(exact_text({.unit = Unit::bytes}, 1'073'741'825), "1,073,741,825 bytes");
  EXPECT_EQ(exact_text({.unit = Unit::bytes}, 1), "1 byte");
  EXPECT_EQ(exact_text({.unit = Unit::time}, 412'034), "0.412034 ms");
  EXPECT_EQ(exact_text({.unit = Unit::share, .whole = 2'000'000}, 500'000),
            "0.500000 ms of 2.000000 ms");
}

TEST(Column, WritesRawNumbersForSpreadsheets) {
  EXPECT_EQ(raw_text({.unit = Unit::bytes}, 1'048'577), "1048577");
  EXPECT_EQ(raw_text({.unit = Unit::time}, 1'500), "0.001500");
  EXPECT_EQ(raw_title({.title = "time", .unit = Unit::time}), "time ms");
  EXPECT_EQ(raw_title({.title = "bytes", .unit = Unit::bytes}), "bytes");
  EXPECT_EQ(raw_title({.title = "output", .unit = Unit::bytes}), "output bytes");
}

TEST(NaturalOrder, CountsDigitsAsNumbers) {
  EXPECT_TRUE(natural_less("layers.2", "layers.10"));
  EXPECT_FALSE(natural_less("layers.10", "layers.2"));
  EXPECT_TRUE(natural_less("layers", "layers.0"));
  EXPECT_TRUE(natural_less("mm", "MM_1"));
  EXPECT_FALSE(natural_less("a7", "a007"));
  EXPECT_FALSE(natural_less("a007", "a7"));
}

// Sorting requires a strict weak order.
RC_GTEST_PROP(NaturalOrderProperties, IsAStrictWeakOrder, ()) {
  const auto text = [] {
    const auto letters =
        *rc::gen::container<std::vector<char>>(rc::gen::elementOf(std::string("aB.01209_")));
    return QString::fromStdString({letters.begin(), letters.end()});
  };
  const QString a = text(), b = text(), c = text();
  RC_ASSERT(!natural_less(a, a));
  RC_ASSERT(!(natural_less(a, b) && natural_less(b, a)));
  if (natural_less(a, b) && natural_less(b, c)) RC_ASSERT(natural_less(a, c));
  const auto equal = [](const QString& x, const QString& y) {
    return !natural_less(x, y) && !natural_less(y, x);
  };
  if (equal(a, b) && equal(b, c)) RC_ASSERT(equal(a, c));
}

}  // namespace
}  // namespace jointer::views
