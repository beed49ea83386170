#include "core/ops/operator_table.h"

#include <gtest/gtest.h>

namespace jointer {
namespace {

TEST(OperatorTable, MatchesTheNewestTorch) {
  EXPECT_TRUE(operator_table_version().starts_with("2.15")) << operator_table_version();
}

TEST(OperatorTable, KnowsOlderSchemas) {
  const auto size_type = [](std::string_view version) {
    const OperatorInfo op = describe_operator("_c10d_functional.all_reduce.default", version);
    return op.arguments.at(static_cast<std::size_t>(op.argument_index("group_name"))).type;
  };
  EXPECT_EQ(size_type("2.11.0+cu130"), "str");
  EXPECT_EQ(size_type("2.10.0"), "str") << "older than the table: the oldest schema";
  EXPECT_EQ(size_type("2.15.0+cu132"), "Any");
  EXPECT_EQ(size_type("2.16.0"), "Any");
  EXPECT_EQ(size_type(""), "Any");
  EXPECT_EQ(size_type("a build of mine"), "Any");
  const auto names_group = [](std::string_view version) {
    return describe_operator("bucketing._pre_bucket_all_gather.default", version)
               .argument_index("group_name") >= 0;
  };
  EXPECT_TRUE(names_group("2.11.0"));
  EXPECT_TRUE(names_group("2.12.1"));
  EXPECT_FALSE(names_group("2.13.0"));
  // An operator that the newest torch no longer registers keeps its last schema.
  for (const std::string_view version : {"", "2.11.0", "2.15.0"}) {
    const OperatorInfo gone = describe_operator("aten.cholesky.default", version);
    EXPECT_TRUE(gone.known && gone.has_schema) << version;
    EXPECT_EQ(gone.name, "aten.cholesky.default");
  }
  EXPECT_FALSE(describe_operator("aten.cholesky.default@2.11").has_schema &&
               describe_operator("aten.cholesky").known);
}

TEST(OperatorTable, UsesTheSchemaOfACapture) {
  const OperatorInfo mine = describe_operator("mine.scale_.default", "2.15.0",
                                              "(Tensor(a!) self, float by=1.) -> Tensor(a!)");
  EXPECT_FALSE(mine.known);
  EXPECT_FALSE(mine.is_opaque());
  EXPECT_TRUE(mine.mutates && mine.may_share_memory());
  EXPECT_EQ(mine.argument_index("by"), 1);
  const OperatorInfo copied = OperatorInfo(mine);  // with the text that it points into
  EXPECT_EQ(copied.arguments.at(1).name, "by");

  const OperatorInfo changed =
      describe_operator("aten.relu.default", "2.15.0", "(Tensor self, int more) -> Tensor");
  EXPECT_EQ(changed.arguments.size(), 2U);
  EXPECT_TRUE(changed.has(OperatorTag::pointwise)) << "tags come from the table";
  for (const std::string_view text :
       {"", "Tensor -> Tensor", "(", "(Tensor self", "(Tensor self)"}) {
    EXPECT_TRUE(describe_operator("mine.scale.default", "", text).is_opaque()) << text;
    EXPECT_EQ(describe_operator("aten.relu.default", "", text).arguments.size(), 1U) << text;
  }
}

TEST(OperatorTable, ReportsWhatMayShareMemory) {
  for (const char* name : {"aten.view.default", "aten.add_.Tensor", "aten.mm.out",
                           "aten._unsafe_view.default", "_operator.getitem", "flex_attention",
                           "_c10d_functional.wait_tensor.default", "mine.own.default"})
    EXPECT_TRUE(describe_operator(name).may_share_memory()) << name;
  for (const char* name : {"aten.mm.default", "aten._to_copy.default", "aten.clone.default",
                           "_c10d_functional.all_reduce.default", "aten.native_dropout.default"})
    EXPECT_FALSE(describe_operator(name).may_share_memory()) << name;
}

TEST(OperatorTable, KnowsViews) {
  for (const char* name :
       {"aten.view.default", "aten.t.default", "aten.expand.default", "aten.as_strided.default",
        "aten.split.Tensor", "aten.unbind.int", "aten.slice.Tensor", "aten.detach.default",
        "aten.alias.default", "aten._unsafe_view.default", "aten.permute.default"}) {
    EXPECT_TRUE(describe_operator(name).is_view) << name;
    EXPECT_FALSE(describe_operator(name).mutates) << name;
  }
  for (const char* name : {"aten.clone.default", "aten.relu.default", "aten.view_copy.default",
                           "aten.add_.Tensor", "aten.mm.default", "aten._to_copy.default"})
    EXPECT_FALSE(describe_operator(name).is_view) << name;
}

TEST(OperatorTable, KnowsWrites) {
  for (const char* name : {"aten.add_.Tensor", "aten.copy_.default", "aten.add.out",
                           "aten.index_put_.default", "_c10d_functional.all_reduce_.default"})
    EXPECT_TRUE(describe_operator(name).mutates) << name;
  EXPECT_FALSE(describe_operator("aten.index_put.default").mutates);
}

TEST(OperatorTable, KnowsTags) {
  const auto has = [](const char* name, OperatorTag tag) {
    return describe_operator(name).has(tag);
  };
  EXPECT_TRUE(has("aten.mul.Tensor", OperatorTag::pointwise));
  EXPECT_TRUE(has("aten.silu.default", OperatorTag::pointwise));
  EXPECT_FALSE(has("aten.mm.default", OperatorTag::pointwise));
  EXPECT_TRUE(has("aten.native_dropout.default", OperatorTag::random));
  EXPECT_TRUE(has("aten.rand.default", OperatorTag::random));
  EXPECT_FALSE(has("aten.relu.default", OperatorTag::random));
  EXPECT_TRUE(has("aten.sum.dim_IntList", OperatorTag::reduction));
  EXPECT_TRUE(has("aten._local_scalar_dense.default", OperatorTag::data_dependent));
  EXPECT_TRUE(has("aten.nonzero.default", OperatorTag::dynamic_shape));
  EXPECT_TRUE(has("aten.view_copy.default", OperatorTag::view_copy));
  EXPECT_TRUE(has("aten._unsafe_view.default", OperatorTag::silent_alias));
  EXPECT_TRUE(has("flex_attention", OperatorTag::higher_order));
  EXPECT_TRUE(has("_operator.getitem", OperatorTag::python));
}

TEST(OperatorTable, ParsesSchemas) {
  const OperatorInfo split = describe_operator("aten.split.Tensor");
  ASSERT_EQ(split.arguments.size(), 3U);
  EXPECT_EQ(split.arguments[0].name, "self");
  EXPECT_EQ(split.arguments[0].type, "Tensor");
  EXPECT_EQ(split.arguments[0].alias_set, 'a');
  EXPECT_EQ(split.arguments[2].name, "dim");
  EXPECT_EQ(split.arguments[2].default_value, "0");
  ASSERT_EQ(split.returns.size(), 1U);
  EXPECT_EQ(split.returns[0].type, "Tensor[]");
  EXPECT_EQ(split.returns[0].alias_set, 'a');
  EXPECT_EQ(split.argument_index("dim"), 2);
  EXPECT_EQ(split.argument_index("nothing"), -1);
  EXPECT_EQ(split.packet(), "aten.split");
  EXPECT_EQ(split.space(), "aten");

  const OperatorInfo add = describe_operator("aten.add.out");
  EXPECT_TRUE(add.arguments[static_cast<std::size_t>(add.argument_index("out"))].keyword_only);
  EXPECT_TRUE(add.arguments[static_cast<std::size_t>(add.argument_index("out"))].writes);
  EXPECT_EQ(describe_operator("aten.native_dropout.default").returns.size(), 2U);
  // A comma or a bracket in a default string does not end the argument.
  const OperatorInfo einsum = describe_operator("aten.einsum.default");
  ASSERT_TRUE(einsum.known);
  EXPECT_EQ(einsum.arguments.back().name, "path");
}

TEST(OperatorTable, KnowsCollectives) {
  const auto kind = [](const char* name) { return describe_operator(name).collective; };
  EXPECT_EQ(kind("_c10d_functional.all_gather_into_tensor.default"), CollectiveKind::all_gather);
  EXPECT_EQ(kind("_c10d_functional.reduce_scatter_tensor.default"), CollectiveKind::reduce_scatter);
  EXPECT_EQ(kind("_c10d_functional.all_reduce.default"), CollectiveKind::all_reduce);
  EXPECT_EQ(kind("_c10d_functional.all_to_all_single.default"), CollectiveKind::all_to_all);
  EXPECT_EQ(kind("_c10d_functional.broadcast.default"), CollectiveKind::broadcast);
  EXPECT_EQ(kind("aten.all.default"), CollectiveKind::none);
  EXPECT_EQ(kind("_c10d_functional.wait_tensor.default"), CollectiveKind::none);
  EXPECT_TRUE(describe_operator("_c10d_functional.wait_tensor.default").is_wait);
  const OperatorInfo several =
      describe_operator("_c10d_functional.all_gather_into_tensor_coalesced.default");
  EXPECT_TRUE(several.is_coalesced);
  EXPECT_EQ(several.collective, CollectiveKind::all_gather);
}

TEST(OperatorTable, ReportsUnknownOperators) {
  EXPECT_FALSE(describe_operator("aten.mmm.default").known);
  EXPECT_FALSE(describe_operator("aten.mm").known);
  EXPECT_FALSE(describe_operator("").known);
  EXPECT_TRUE(is_custom_operator("mylib.mm.default"));
  EXPECT_FALSE(is_custom_operator("aten.mmm.default"));
  EXPECT_FALSE(is_custom_operator("mm"));
  EXPECT_FALSE(is_custom_operator("mylib.mm"));
  EXPECT_FALSE(is_custom_operator(".mm.default"));
  EXPECT_FALSE(is_custom_operator("mylib.mm."));
}

}  // namespace
}  // namespace jointer
