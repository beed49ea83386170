#include "plugins/hosted/message.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "plugins/hosted/analysis_json.h"
#include "plugins/hosted/declaration.h"

namespace jointer::test {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

PassInfo everything() {
  using Type = Parameter::Type;
  PassInfo info;
  info.name = "mine";
  info.summary = "It \"does\" things.";
  info.stage = PassStage::clean_up;
  info.is_idempotent = true;
  info.saves_memory = true;
  info.parameters = {
      {.name = "a", .type = Type::boolean, .default_value = true},
      {.name = "b",
       .type = Type::integer,
       .default_value = 3,
       .min = 1,
       .max = 9,
       .doc = "how many"},
      {.name = "c", .type = Type::number, .default_value = std::numeric_limits<double>::infinity()},
      {.name = "d", .type = Type::bytes, .default_value = std::int64_t{1} << 40},
      {.name = "e", .type = Type::text, .default_value = "x", .choices = {"x", "y"}},
      {.name = "f",
       .type = Type::list,
       .default_value = PassValue::List{"p", PassValue::List{1, 2.5}}},
      {.name = "g", .type = Type::text},
      {.name = "h", .type = Type::number, .default_value = 2.0, .may_be_none = true},
      {.name = "i",
       .type = Type::list,
       .default_value = PassValue::List{"p"},
       .is_of_texts = true}};
  return info;
}

TEST(MessageTest, RoundTrips) {
  const std::vector<HostMessage> messages{
      HostReady{.host = "Python"},
      HostProgress{0.25},
      HostDecision{{.pass = {}, .node = "mm", .action = "moved", .reason = "Why not."}},
      HostTable{{.title = "t",
                 .columns = {{"a", PassTable::Unit::nanoseconds}, {"b", PassTable::Unit::number}},
                 .rows = {{.node = "mm", .cells = {std::int64_t{3}, 0.5}}}}},
      HostDeclared{.spec = "a.py:f", .passes = {everything()}, .error = {}},
      HostDeclared{.spec = "b", .passes = {}, .error = "there is none"},
      HostDone{},
      HostFailed{.kind = HostFailed::Kind::memory, .text = "full"}};
  for (const HostMessage& message : messages) {
    const std::string line = write_host_message(message);
    const auto again = parse_host_message(line);
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(again->index(), message.index());
    EXPECT_EQ(write_host_message(*again), line);
  }
}

TEST(MessageTest, DeclarationsRoundTrip) {
  const PassInfo info = everything();
  const auto again = read_pass_info(to_json(info));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->stage, PassStage::clean_up);
  EXPECT_EQ(again->parameters.size(), info.parameters.size());
  for (std::size_t i = 0; i < info.parameters.size(); ++i) {
    EXPECT_EQ(again->parameters[i].type, info.parameters[i].type);
    EXPECT_EQ(again->parameters[i].default_value, info.parameters[i].default_value);
    EXPECT_EQ(range_text(again->parameters[i]), range_text(info.parameters[i]));
    EXPECT_EQ(again->parameters[i].may_be_none, info.parameters[i].may_be_none);
    EXPECT_EQ(again->parameters[i].is_of_texts, info.parameters[i].is_of_texts);
  }
  EXPECT_TRUE(again->saves_memory);
  EXPECT_TRUE(Arguments::check(again->parameters, {{"h", PassValue()}}))
      << "none is allowed although it is not the default";
}

// Versions before these flags neither write them nor expect them.
TEST(MessageTest, FlagsThatAreNotSetAreOmitted) {
  PassInfo info;
  info.name = "plain";
  info.parameters = {{.name = "a", .default_value = "x"}};
  const std::string text = to_json(info).dump();
  for (const char* const flag : {"saves_memory", "may_be_none", "is_of_texts"})
    EXPECT_THAT(text, testing::Not(HasSubstr(flag)));
  const auto again = read_pass_info(to_json(info));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_FALSE(again->saves_memory);
  EXPECT_FALSE(again->parameters[0].may_be_none);
  EXPECT_FALSE(again->parameters[0].is_of_texts);
}

TEST(MessageTest, OptionsOfAnAnalysisRoundTrip) {
  AnalysisOptions options;
  options.estimator = {.name = "torch-2.11", .device = "a100", .gpus_per_node = 4, .costs = "/x"};
  options.memory.rules = MemoryRules::torch;
  options.memory.optimizer = OptimizerState::adamw;
  options.memory.runs_on = DeviceType::cpu;
  options.memory.collectives = CollectiveLibrary::gloo;
  options.memory.rounds_sizes = false;
  options.simulation.one_communication_stream = true;
  options.execution = Execution::inductor;
  const OrderedJson json = to_json(options);
  const auto again = read_analysis_options(json);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(to_json(*again), json);
  EXPECT_EQ(again->memory, options.memory);
  EXPECT_EQ(again->execution, Execution::inductor);
  EXPECT_NE(to_json(AnalysisOptions()), json);
  EXPECT_FALSE(read_analysis_options(OrderedJson{{"device", 3}}));
  EXPECT_FALSE(read_analysis_options(OrderedJson{{"runs_on", 77}}));
  EXPECT_FALSE(read_analysis_options(OrderedJson{{"execution", "soon"}}));
  // A version before these members does not write them.
  const auto older = read_analysis_options(OrderedJson::object());
  ASSERT_TRUE(older) << older.error().message;
  EXPECT_TRUE(older->memory.rounds_sizes);
  EXPECT_EQ(older->execution, Execution::eager);
}

TEST(MessageTest, InvalidMessagesAreRefused) {
  for (const char* line :
       {R"({"event":"table","title":"t","columns":[],"rows":[{"node":"a","cells":[1]}]})",
        R"({"event":"table","title":"t"})", "", "hello", "[]", "{}", R"({"event":"nonsense"})",
        R"({"event":"progress","done":"half"})", R"({"event":"progress","done":"inf"})",
        R"({"event":"failed","kind":"soup","text":"x"})", R"({"event":"ready","host":"x"})",
        R"({"event":"declared","spec":"x","passes":[{"name":3}]})", R"({"event":"done")",
        R"({"event":"declared","spec":"x","passes":[{"name":"p","parameters":[{"name":"a",)"
        R"("type":"integer","default":9223372036854775808}]}]})"}) {
    const auto message = parse_host_message(line);
    ASSERT_FALSE(message) << line;
    EXPECT_EQ(message.error().kind, Error::Kind::run);
    EXPECT_THAT(message.error().message, HasSubstr("invalid message"));
    EXPECT_EQ(message.error().message.find('\n'), std::string::npos);
  }
}

TEST(MessageTest, ALongInvalidLineIsCutBetweenCharacters) {
  std::string shown = "x";
  for (int i = 1; i < 80; ++i) shown += "\u00e9";
  EXPECT_THAT(parse_host_message(shown).error().message, EndsWith(": \"" + shown + "\""));
  EXPECT_THAT(parse_host_message(shown + "\u00e9").error().message,
              EndsWith(": \"" + shown + "\"..."));
}

TEST(MessageTest, AnotherVersionIsNamed) {
  const auto message = parse_host_message(R"({"event":"ready","protocol":2,"host":"later"})");
  ASSERT_FALSE(message);
  EXPECT_THAT(message.error().message, HasSubstr("a different version"));
}

TEST(MessageTest, TextsAreOneLine) {
  const auto message =
      parse_host_message("{\"event\":\"failed\",\"kind\":\"pass\",\"text\":\"a\\nb\\u001b[1m\"}");
  ASSERT_TRUE(message);
  EXPECT_EQ(std::get<HostFailed>(*message).text, "a b [1m");
}

}  // namespace
}  // namespace jointer::test
