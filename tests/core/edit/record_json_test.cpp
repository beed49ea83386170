#include "core/edit/record_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/edit/from_record.h"
#include "core/edit/make_record.h"
#include "tests/support/graphs.h"
#include "tests/support/records.h"

namespace jointer::test {
namespace {

using ::testing::HasSubstr;

// Every form of an argument in docs/capture_format.md, and what a newer version may have.
constexpr std::string_view kArguments =
    R"([null,true,false,-7,9223372036854775807,18446744073709551615,0.5,-0.0,1e+300,{"f":"inf"},)"
    R"({"f":"-inf"},{"f":"nan"},"text",{"n":"a"},[1,[{"n":"a"}]],{"tuple":[{"n":"x"},2]},)"
    R"({"dict":{"key":[1],"n":{"n":"a"}}},{"slice":[0,null,2]},{"complex":[1.0,-2.0]},)"
    R"({"dtype":"bfloat16"},{"device":"cuda:0"},{"layout":"strided"},)"
    R"({"memory_format":"contiguous_format"},{"symint":"s0 + 1"},{"symfloat":"zf0"},)"
    R"({"op":"aten.mul.Tensor"},{"opaque":"ProcessGroup","repr":"0"},{"opaque":"X"},)"
    R"({"newer":{"device":"x"}}])";

constexpr std::string_view kValue =
    R"({"list":[{"t":{"shape":[2,{"sym":"s0","hint":8}],"dtype":"float32","device":"cuda:0",)"
    R"("stride":[{"sym":"s0"},1],"offset":3,"storage":{"of":"a","tensor":1,"newer":1},)"
    R"("requires_grad":true,"conj":false,"neg":false,"layout":"jagged"}},)"
    R"({"t":{"shape":[],"dtype":"int64","storage":{"bytes":{"sym":"s0","hint":null}}}},null,)"
    R"({"dict":{"k":{"symint":"s0","hint":8}}},{"symfloat":"zf0","hint":1.5},{"symint":"s1"},)"
    R"({"c":{"t":[1,2.5]}},{"opaque":"X","repr":"y"},{"newer":1,"hint":2}]})";

TEST(RecordJson, ReadsAndWritesEveryForm) {
  EXPECT_EQ(write_json(args_json(args_of(kArguments))), kArguments);
  EXPECT_EQ(args_of(kArguments), args_of(kArguments)) << "with a NaN";
  const std::string kwargs = fmt::format(R"({{"first":{},"second":1}})", kArguments);
  EXPECT_EQ(write_json(kwargs_json(must_read(read_kwargs(tree(kwargs))))), kwargs);
  EXPECT_EQ(write_json(value_json(value_of(kValue))), kValue);
}

TEST(RecordJson, KeepsEveryMemberOfANode) {
  const std::string node = fmt::format(
      R"({{"name":"b","op":"get_attr","copy":"c","inputs":{{"x":"y"}},"target":"t","args":{0},)"
      R"("kwargs":{{}},"val":{1},"like":"a","schema_alias":[[0,true]],"stack":"s",)"
      R"("module":[["layers.0","Block"],["",""]],"module_from_fwd":true,"seq_nr":7,)"
      R"("partitioner_tag":"is_backward","autograd_backward":true,"is_gradient_acc":false,)"
      R"("ac_graph_id":3,"original_aten":"aten.x","recompute":"MUST_SAVE","custom":{{"a":[1,2.5]}},)"
      R"("desc":{{"type":"X"}},"fsdp_bucket":{{"plan_fqns":["layers.0"]}}}})",
      kArguments, kValue);
  EXPECT_EQ(write_json(node_json(must_read(read_node(tree(node), "node")))), node);
}

TEST(RecordJson, SaysWhatIsWrong) {
  const auto of_args = [](std::string_view json) {
    const auto read = read_args(tree(json));
    return read ? "" : read.error().message;
  };
  EXPECT_EQ(of_args(R"([{"slice":[1,2]}])"), "`slice` has 2 elements instead of 3");
  EXPECT_EQ(of_args(R"([{"complex":[1]}])"), "`complex` has 1 element instead of 2");
  EXPECT_EQ(of_args(R"([{"f":"much"}])"), "`much` is not a float");
  EXPECT_EQ(of_args(R"([{"n":3}])"), "`n`: expected a string");
  EXPECT_EQ(of_args("[{}]"), "an empty object is not an argument");
  EXPECT_EQ(of_args(std::string(70, '[') + std::string(70, ']')),
            "nested more than 64 levels deep");
  const auto of_tensor = [](std::string_view members) {
    const auto read = read_value(tree(fmt::format(R"({{"t":{{{}}}}})", members)));
    return read ? "" : read.error().message;
  };
  EXPECT_EQ(of_tensor(R"("dtype":"float32")"), "a tensor has no shape");
  EXPECT_EQ(of_tensor(R"("shape":[1])"), "a tensor has no dtype");
  EXPECT_EQ(of_tensor(R"("shape":[1],"dtype":"f")"), "unknown dtype `f`");
  EXPECT_EQ(of_tensor(R"("shape":[1],"dtype":"int8","stride":[])"),
            "a tensor with 1 dimension has 0 strides");
  EXPECT_EQ(of_tensor(R"("shape":[1],"dtype":"int8","storage":3)"),
            "`storage`: expected {\"of\": NODE} or {\"bytes\": N}");
  EXPECT_EQ(of_tensor(R"("shape":[{"sym":"s0","max":3}],"dtype":"int8")"),
            "a symbolic size has the unknown member `max`");
  EXPECT_EQ(read_value(tree("{}")).error().message, "an empty object is not a value");
  EXPECT_EQ(read_node(tree(R"({"name":"a","op":"call"})"), "node").error().message,
            "node: `op`: unknown op `call`; expected placeholder, call_function, get_attr or "
            "output");
  EXPECT_EQ(
      read_node(tree(R"({"recompute":"ALWAYS"})"), "node").error().message,
      "node: `recompute`: unknown policy tag `ALWAYS`; expected one of MUST_SAVE, PREFER_SAVE, "
      "PREFER_RECOMPUTE, MUST_RECOMPUTE, MUST_CPU_OFFLOAD");
}

// A call that has every form is the same after a record of it was made, written, read and added.
TEST(Record, MakesAnEqualNode) {
  Graph graph = parse(R"(
    x: f32[4] = input
    a: (f32[4], f32[4]) = aten.split(x, 2)
    return [x])");
  const std::string node =
      fmt::format(R"({{"name":"b","target":"aten.relu.default","args":{},"kwargs":{{"k":1}},)"
                  R"("val":{{"list":[{{"t":{{"shape":[2,{{"sym":"s0","hint":8}}],)"
                  R"("dtype":"float32","offset":3,"storage":{{"of":"x"}}}}}},)"
                  R"({{"t":{{"shape":[4],"dtype":"int8","storage":{{"bytes":64}}}}}},)"
                  R"({{"symint":"zf0","hint":1.5}}]}},"stack":"s","module":[["m","M"]]}})",
                  kArguments);
  const auto made = node_of(graph, PartId(0), must_read(read_node(tree(node), "node")));
  ASSERT_TRUE(made) << made.error().message;
  const NodeId id = graph.add_node(*made);
  const StorageOwners owners(graph);
  NodeRecord record = record_node(graph, owners, id);
  record_call(graph, graph.node(id), record);
  const std::string written = write_json(node_json(record));
  // Float symbols are known as such.
  std::string expected = node;
  expected.replace(expected.find(R"("symint":"zf0")"), 14, R"("symfloat":"zf0")");
  for (const char* member : {R"("stack")", R"("module")"}) EXPECT_THAT(written, HasSubstr(member));
  EXPECT_EQ(written, expected);
  record.name = "c";
  ASSERT_TRUE(node_of(graph, PartId(0), record));
}

}  // namespace
}  // namespace jointer::test
