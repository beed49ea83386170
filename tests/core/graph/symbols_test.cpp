#include "core/graph/symbols.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "core/graph/graph.h"

namespace jointer {
namespace {

using testing::HasSubstr;

struct Resolved {
  std::int64_t value;
  SymbolSource source;
  friend bool operator==(const Resolved&, const Resolved&) = default;
};

std::map<std::string, Resolved> resolve(const SymbolTable& table, std::string_view assumed = "") {
  const SymbolTable* const tables[] = {&table};
  const auto values = SymbolValues::resolve(tables, *Assumptions::parse(assumed));
  if (!values) throw std::runtime_error(values.error().message);
  std::map<std::string, Resolved> found;
  for (const SymbolValue& v : values->all()) found[v.name] = {v.value, v.source};
  return found;
}

TEST(Symbols, SourcesHaveAnOrderOfPrecedence) {
  const SymbolTable table{
      .variables = {{.name = "hinted", .hint = 8},
                    {.name = "noted", .hint = 8},
                    {.name = "told", .hint = 8},
                    {.name = "free"},
                    {.name = "same"}},
      .replacements = {{"same", "2*hinted"}},
      .assumed = {{"noted", 5}, {"told", 5}},
  };
  const auto found = resolve(table, "told=3");
  EXPECT_EQ(found.at("told"), (Resolved{3, SymbolSource::given}));
  EXPECT_EQ(found.at("noted"), (Resolved{5, SymbolSource::capture}));
  EXPECT_EQ(found.at("hinted"), (Resolved{8, SymbolSource::hint}));
  EXPECT_EQ(found.at("same"), (Resolved{16, SymbolSource::replacement}));
  EXPECT_EQ(found.at("free"), (Resolved{64, SymbolSource::fallback}));
  // A plain number applies if nothing else is known.
  const auto plain = resolve(table, "7");
  EXPECT_EQ(plain.at("free"), (Resolved{7, SymbolSource::given}));
  EXPECT_EQ(plain.at("hinted"), (Resolved{8, SymbolSource::hint}));
  EXPECT_EQ(plain.at("noted"), (Resolved{5, SymbolSource::capture}));
}

TEST(Symbols, TokensOfExpertsAreBalanced) {
  // Four experts share 3072 tokens; u4 belongs to a layer without assertions.
  const SymbolTable table{
      .variables = {{.name = "u0"}, {.name = "u1"}, {.name = "u2"}, {.name = "u3"}, {.name = "u4"}},
      .asserts = {"u0 >= 0", "Eq(u0 + u1 + u2 + u3, 3072)"}};
  const auto found = resolve(table);
  for (const char* name : {"u0", "u1", "u2", "u3"})
    EXPECT_EQ(found.at(name), (Resolved{768, SymbolSource::balanced})) << name;
  EXPECT_EQ(found.at("u4"), (Resolved{768, SymbolSource::fallback}));
}

TEST(Symbols, StayWithinTheirBounds) {
  const SymbolTable table{.variables = {{.name = "u0", .min = 100}, {.name = "u1", .max = 10}}};
  EXPECT_EQ(resolve(table).at("u0").value, 100);
  EXPECT_EQ(resolve(table).at("u1").value, 10);
}

TEST(Symbols, ViolationsAreReported) {
  const SymbolTable table{.variables = {{.name = "u0"}, {.name = "u1"}},
                          .asserts = {"u0 <= 5", "u1 >= 0", "not an expression ("}};
  const SymbolTable* const tables[] = {&table};
  const auto values = SymbolValues::resolve(tables, {});
  ASSERT_TRUE(values.has_value());
  EXPECT_THAT(values->violated(), testing::ElementsAre("u0 <= 5"));
}

TEST(Symbols, UnknownAssumptionsAreErrors) {
  const auto error = [](const SymbolTable& table) {
    const SymbolTable* const tables[] = {&table};
    return SymbolValues::resolve(tables, *Assumptions::parse("u9=1")).error().message;
  };
  EXPECT_EQ(error({.variables = {{.name = "u0"}, {.name = "s1"}}}),
            "cannot assume a value for u9: the graph has no such symbol; its symbols are u0, s1");
  EXPECT_EQ(error({}), "cannot assume a value for u9: the graph has no symbols");
}

TEST(Symbols, ReplacementsMayReplaceEachOther) {
  SymbolTable table{.variables = {{.name = "s0", .hint = 1}}};
  // a30 = 2^30 by doubling thirty times: exponential if each were resolved again.
  for (int i = 1; i <= 30; ++i)
    table.replacements.emplace_back(fmt::format("a{}", i),
                                    i == 1 ? "s0 + s0" : fmt::format("a{0} + a{0}", i - 1));
  EXPECT_EQ(resolve(table).at("a30").value, 1 << 30);
}

TEST(Symbols, CyclesAreNotReplaced) {
  const SymbolTable table{.replacements = {{"a", "b"}, {"b", "a + 1"}}};
  const SymbolTable* const tables[] = {&table};
  const auto values = SymbolValues::resolve(tables, {});
  ASSERT_FALSE(values.has_value());
  EXPECT_THAT(values.error().message, HasSubstr("form a cycle"));
  // A value from the user breaks the cycle.
  EXPECT_TRUE(SymbolValues::resolve(tables, *Assumptions::parse("a=1")).has_value());
}

TEST(Assumptions, AreNamesAndNumbers) {
  const auto parsed = Assumptions::parse("u0=64,32,u1=0");
  ASSERT_TRUE(parsed.has_value());
  EXPECT_EQ(parsed->fallback, 32);
  EXPECT_EQ(parsed->named.at("u0"), 64);
  EXPECT_EQ(parsed->named.at("u1"), 0);
  EXPECT_TRUE(Assumptions::parse("")->empty());
  for (const char* text : {"u0", "u0=", "=3", "u0=-1", "u0=3x", "u0=1.5", ",", "u0=1,,u1=2"})
    EXPECT_FALSE(Assumptions::parse(text).has_value()) << text;
}

// An edit adds sizes, seldom expressions: known expressions keep their values.
TEST(Symbols, LaterSizesUseAssumedValues) {
  Graph graph;
  const PartId part = graph.add_part({.kind = CaptureKind::subgraph, .name = "g"});
  const auto add = [&](std::string_view text) {
    const Dim size{.value = 0, .expression = graph.intern_expression(part, text, "null").value()};
    return graph.add_tensor({.dtype = DType::float32,
                             .device = graph.intern_device("cpu"),
                             .storage = graph.add_storage(part, size)},
                            std::span(&size, 1), {}, Dim{});
  };
  const auto size = [&](TensorId id) { return graph.shape(graph.tensor(id)).front().value; };
  const auto bytes = [&](TensorId id) {
    return graph.storage(graph.tensor(id).storage).bytes.value;
  };
  const TensorId first = add("u0");
  ASSERT_TRUE(graph.finish());
  EXPECT_EQ(size(first), 64);
  ASSERT_TRUE(graph.assume(*Assumptions::parse("u0=32")));
  EXPECT_EQ(size(first), 32);

  const TensorId same = add("u0");
  ASSERT_TRUE(graph.finish());
  EXPECT_EQ(size(same), 32);
  EXPECT_EQ(bytes(same), 32);

  const TensorId other = add("2*u0 + u1");
  ASSERT_TRUE(graph.finish());
  EXPECT_EQ(size(other), 128) << "nothing is known about u1";
  EXPECT_EQ(size(first), 32);
  ASSERT_TRUE(graph.assume(*Assumptions::parse("u0=32,u1=1")));
  EXPECT_EQ(size(other), 65);
  EXPECT_EQ(bytes(other), 65);
}

}  // namespace
}  // namespace jointer
