#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "core/graph/canonical.h"
#include "core/open/open.h"
#include "core/open/readers.h"
#include "core/report/export.h"
#include "core/schedule/memory_timeline.h"
#include "tests/support/compare.h"
#include "tests/support/paths.h"
#include "tests/support/temporary_folder.h"

namespace jointer::test {
namespace {

using testing::HasSubstr;

// Reads `text` as the content of a file with that name.
Result<Graph> read(std::string_view text, std::size_t index = 0,
                   std::string_view reader_name = "FX text") {
  const CaptureFile file{.name = "graph.txt", .bytes = PaddedBytes(text)};
  for (const GraphReader* reader : graph_readers())
    if (reader->recognizes(text)) {
      EXPECT_EQ(reader->name, reader_name);
      return read_graph(*reader, file, index);
    }
  return input_error("not recognized");
}

Graph must_read(std::string_view text, std::size_t index = 0) {
  auto graph = read(text, index);
  EXPECT_TRUE(graph.has_value()) << (graph ? "" : graph.error().message);
  return graph ? *std::move(graph) : Graph();
}

std::string error_of(std::string_view text) {
  const auto graph = read(text);
  return graph ? "no error" : graph.error().message;
}

std::string line_of(const Graph& graph, std::string_view name) {
  const std::string text = canonical_text(graph, PartId(0));
  const auto at = text.find(std::string(name) + " ");
  return at == std::string::npos ? std::string() : text.substr(at, text.find('\n', at) - at);
}

bool has_fact(const Graph& graph, std::string_view part) {
  return std::any_of(graph.facts().begin(), graph.facts().end(),
                     [&](const Fact& f) { return f.text.find(part) != std::string::npos; });
}

bool share(const Graph& graph, std::string_view a, std::string_view b) {
  const Tensor* const first = graph.single_tensor(graph.node(graph.find(a)));
  const Tensor* const second = graph.single_tensor(graph.node(graph.find(b)));
  return first != nullptr && second != nullptr &&
         graph.real_storage(first->storage) == graph.real_storage(second->storage);
}

// A forward graph with this body and the inputs x and y.
std::string forward(std::string_view body, std::string_view result = "x") {
  return fmt::format(
      "class GraphModule(torch.nn.Module):\n"
      "    def forward(self, x: \"f32[8, 4][4, 1]cpu\", y: \"f32[4, 8][8, 1]cpu\"):\n"
      "        {}\n"
      "        return ({},)\n",
      body, result);
}

// The same statements in every form that print_readable has.
constexpr std::string_view kFull = R"py(class f(torch.nn.Module):
    def forward(self, x_1: "f32[8, 4][4, 1]cpu", w_1: "f32[4, 4][4, 1]cpu"):
        # No stacktrace found for following nodes
        t: "f32[4, 4][1, 4]cpu" = torch.ops.aten.t.default(w_1);  w_1 = None

        # Annotation: {'EP': 'compute'} ac_graph_id: 3 - MUST_SAVE File: m.py:12 in f, code: x @ w.t()  # (8, 4)
        mm: "f32[8, 4][4, 1]cpu" = torch.ops.aten.mm.default(x_1, t);  x_1 = t = None
        split = torch.ops.aten.split.Tensor(mm, 4)
        getitem: "f32[4, 4][4, 1]cpu" = split[0]
        getitem_1: "f32[4, 4][4, 1]cpu" = split[1];  split = None

        # File: m.py:13 in f, code: a.to(torch.bfloat16)
        _to_copy: "bf16[4, 4][4, 1]cpu" = torch.ops.aten._to_copy.default(getitem_1, dtype = torch.bfloat16, layout = torch.strided, device = device(type='cpu'));  getitem_1 = None
        full: "f32[4][1]cpu" = torch.ops.aten.full.default([4], -inf, device = device(type='cpu'), pin_memory = False)
        return [getitem, _to_copy, full, mm, None]
)py";

TEST(FxText, ReadsNodesArgumentsAndTypes) {
  const Graph graph = must_read(kFull);
  EXPECT_EQ(graph.node_count(), 10U);
  EXPECT_EQ(line_of(graph, "mm"), "mm aten.mm.default(%x_1,%t) -> float32[8,4]");
  EXPECT_EQ(line_of(graph, "split"),
            "split aten.split.Tensor(%mm,4) -> [float32[4,4],float32[4,4]]");
  EXPECT_EQ(line_of(graph, "_to_copy"),
            "_to_copy aten._to_copy.default(%getitem_1,device=device:cpu,dtype=dtype:bfloat16,"
            "layout=layout:strided) -> bfloat16[4,4]");
  EXPECT_EQ(line_of(graph, "full"),
            "full aten.full.default([4],ffff0000000000000,device=device:cpu,pin_memory=False) -> "
            "float32[4]");
  EXPECT_EQ(line_of(graph, "output"), "output output([%getitem,%_to_copy,%full,%mm,None]) -> None");
}

TEST(FxText, DerivesAliasesAndOffsets) {
  const Graph graph = must_read(kFull);
  EXPECT_TRUE(share(graph, "t", "w_1"));
  EXPECT_TRUE(share(graph, "getitem", "mm"));
  EXPECT_TRUE(share(graph, "getitem_1", "mm"));
  EXPECT_FALSE(share(graph, "mm", "x_1"));
  EXPECT_FALSE(share(graph, "_to_copy", "mm"));
  const Tensor& second = *graph.single_tensor(graph.node(graph.find("getitem_1")));
  EXPECT_EQ(graph.offset(second).value, 16);
  EXPECT_TRUE(has_fact(graph, "storages are not in the text"));
}

TEST(FxText, AStridedViewWithoutAnOffsetStartsWhereItsBaseStarts) {
  const Graph graph = must_read(R"py(class f(torch.nn.Module):
    def forward(self, x: "f32[8, 4][4, 1]cpu", s0: "Sym(s0)"):
        known: "f32[4, 4]cpu" = torch.ops.aten.slice.Tensor(x, 0, 4, 8)
        unknown: "f32[4, 4]cpu" = torch.ops.aten.slice.Tensor(x, 0, s0, 8)
        a: "f32[2]cpu" = torch.ops.aten.as_strided.default(known, [2], [1])
        b: "f32[2]cpu" = torch.ops.aten.as_strided.default(unknown, [2], [1])
        c: "f32[2]cpu" = torch.ops.aten.as_strided.default(unknown, [2], [1], 3)
        return (a, b, c)
)py");
  const auto offset_of = [&](const char* name) -> std::optional<std::int64_t> {
    const Tensor& tensor = *graph.single_tensor(graph.node(graph.find(name)));
    if (!tensor.has(Tensor::has_offset)) return std::nullopt;
    return graph.offset(tensor).value;
  };
  EXPECT_EQ(offset_of("a"), 16);
  EXPECT_EQ(offset_of("b"), std::nullopt);
  EXPECT_EQ(offset_of("c"), 3);
}

TEST(FxText, ReadsComments) {
  const Graph graph = must_read(kFull);
  const Node& mm = graph.node(graph.find("mm"));
  EXPECT_EQ(mm.policy, MemoryPolicy::must_save);
  EXPECT_EQ(mm.ac_graph_id, 3);
  EXPECT_EQ(graph.text(mm.custom), R"({"EP":"compute"})");
  EXPECT_EQ(graph.text(graph.stack(mm.stack).text),
            "  File \"m.py\", line 12, in f\n    x @ w.t()  # (8, 4)");
  EXPECT_FALSE(graph.node(graph.find("t")).stack);
  EXPECT_EQ(graph.node(graph.find("full")).policy, MemoryPolicy::none);
}

TEST(FxText, AdditionalMetadataGivesPhases) {
  const Graph graph = must_read(R"py(class f(torch.nn.Module):
    def forward(self, x: "f32[8][1]cpu"):
        # seq_nr: 7, partitioner_tag: is_backward # File: m.py:1 in f, code: y
        sin: "f32[8][1]cpu" = torch.ops.aten.sin.default(x);  x = None
        return (sin,)
)py");
  EXPECT_EQ(graph.node(graph.find("sin")).phase, Phase::backward);
  EXPECT_EQ(graph.node(graph.find("sin")).seq_nr, 7);
}

TEST(FxText, StridesAndDevicesAreOptional) {
  const Graph full = must_read(kFull);
  std::string text(kFull);
  for (const char* part : {"[4, 1]cpu\"", "[1, 4]cpu\"", "[1]cpu\""})
    for (auto at = text.find(part); at != std::string::npos; at = text.find(part))
      text.replace(at, std::string_view(part).size(), "\"");
  const Graph plain = must_read(text);
  EXPECT_EQ(graph_hash(plain), graph_hash(full));
  EXPECT_THAT(compare_graphs(full, plain), testing::IsEmpty());  // including strides and devices
  EXPECT_TRUE(has_fact(plain, "strides of 8 tensors are not in the text"));
  EXPECT_TRUE(has_fact(plain, "devices of 8 tensors are not in the text"));
}

TEST(FxText, AnsiColorsAreIgnored) {
  std::string text;
  for (std::string_view rest = kFull; !rest.empty(); rest.remove_prefix(1)) {
    if (rest.starts_with("f32")) text += "\x1b[31m";
    text += rest.front();
    if (rest.starts_with("\" =")) text.insert(text.size() - 1, "\x1b[0m\x1b[2m");
  }
  EXPECT_THAT(compare_graphs(must_read(kFull), must_read(text)), testing::IsEmpty());
}

TEST(FxText, GeneratedCodeWithoutTypes) {
  const Graph graph = must_read(R"py(


def forward(self, x_1, w_1):
    t = torch.ops.aten.t.default(w_1);  w_1 = None
    mm = torch.ops.aten.mm.default(x_1, t);  x_1 = t = None
    return mm
    )py");
  EXPECT_EQ(line_of(graph, "mm"), "mm aten.mm.default(%x_1,%t) -> None");
  EXPECT_EQ(line_of(graph, "output"), "output output(%mm) -> None");
  EXPECT_TRUE(has_fact(graph, "2 inputs have no type"));
  EXPECT_TRUE(has_fact(graph, "2 calls have no type"));
}

TEST(FxText, ExpandedDefinitionWithDescriptors) {
  const Graph graph = must_read(R"py(class inner_f(torch.nn.Module):
    def forward(
        self,
        primals,
        tangents,
    ):
        primals_1: "f32[4][1]cpu"  # ParamAOTInput(target='w')
        primals_2: "f32[4][1]cpu"  # PlainAOTInput(idx=0)
        tangents_1: "f32[4][1]cpu"  # TangentAOTInput(output=PlainAOTOutput(idx=0))
        primals_1, primals_2, tangents_1, = fx_pytree.tree_flatten_spec([primals, tangents], self._in_spec)
        # No stacktrace found for following nodes
        mul: "f32[4][1]cpu" = torch.ops.aten.mul.Tensor(primals_1, primals_2);  primals_1 = None
        mul_1: "f32[4][1]cpu" = torch.ops.aten.mul.Tensor(tangents_1, primals_2);  tangents_1 = primals_2 = None
        return pytree.tree_unflatten([
            mul,  # PlainAOTOutput(idx=0)
            mul_1,  # GradAOTOutput(grad_of=ParamAOTInput(target='w'))
            None,  # None
        ], self._out_spec)
)py");
  EXPECT_EQ(graph.part(PartId(0)).kind, CaptureKind::joint);
  const Node& w = graph.node(graph.find("primals_1"));
  EXPECT_EQ(w.role, Role::parameter);
  EXPECT_EQ(graph.text(w.role_target), "w");
  const auto& outputs = graph.part(PartId(0)).outputs;
  ASSERT_EQ(outputs.size(), 3U);
  EXPECT_EQ(outputs[1].role, Role::gradient);
  EXPECT_EQ(outputs[1].target, "w");
  EXPECT_EQ(graph.node(graph.find("mul")).phase, Phase::forward);
  EXPECT_EQ(graph.node(graph.find("mul_1")).phase, Phase::backward);
}

TEST(FxText, BoxedArgumentsAndRenamedPlaceholders) {
  const Graph graph = must_read(R"py(class f(torch.nn.Module):
    def forward(self, args_list):
        args_iter = iter(args_list)
        x = next(args_iter)
        y = next(args_iter)
        args_list.clear()
        x_1 = x
        add: "f32[4][1]cpu" = torch.ops.aten.add.Tensor(x_1, y);  x_1 = y = None
        return (add,)
)py");
  EXPECT_EQ(line_of(graph, "x_1"), "x_1 x() -> None");
  EXPECT_EQ(line_of(graph, "add"), "add aten.add.Tensor(%x_1,%y) -> float32[4]");
}

TEST(FxText, Listing) {
  const Graph graph = must_read(R"py(graph():
    %x_1 : [num_users=2] = placeholder[target=x_1]
    %w : [num_users=1] = get_attr[target=layers.0.w]
    %gelu : [num_users=1] = call_function[target=torch.ops.aten.gelu.default](args = (%x_1,), kwargs = {approximate: tanh})
    %view : [num_users=1] = call_function[target=torch.ops.aten.view.default](args = (%gelu, [4, -1]), kwargs = {})
    %all_reduce : [num_users=1] = call_function[target=torch.ops._c10d_functional.all_reduce.default](args = (%view, sum, 23), kwargs = {})
    %full : [num_users=1] = call_function[target=torch.ops.aten.full.default](args = ([4], inf), kwargs = {dtype: torch.bfloat16, device: cuda:0})
    %max_1 : [num_users=1] = call_function[target=torch.ops.aten.max.dim](args = (%full, -1), kwargs = {})
    %getitem : [num_users=1] = call_function[target=operator.getitem](args = (%max_1, 0), kwargs = {})
    %add : [num_users=1] = call_function[target=operator.add](args = (%getitem, 1), kwargs = {})
    return [all_reduce, add]
)py");
  EXPECT_EQ(line_of(graph, "w"), "w layers.0.w() -> None");
  EXPECT_EQ(line_of(graph, "gelu"), R"(gelu aten.gelu.default(%x_1,approximate="tanh") -> None)");
  EXPECT_EQ(line_of(graph, "view"), "view aten.view.default(%gelu,[4,-1]) -> None");
  // By the schema a group's name is a string, even if it looks like a number.
  EXPECT_EQ(line_of(graph, "all_reduce"),
            R"(all_reduce _c10d_functional.all_reduce.default(%view,"sum","23") -> None)");
  EXPECT_EQ(line_of(graph, "full"),
            "full aten.full.default([4],f7ff0000000000000,device=device:cuda:0,"
            "dtype=dtype:bfloat16) -> None");
  EXPECT_EQ(line_of(graph, "getitem"), "getitem _operator.getitem(%max_1,0) -> None");
  EXPECT_EQ(line_of(graph, "add"), "add _operator.add(%getitem,1) -> None");
}

TEST(FxText, SymbolicSizes) {
  const Graph graph = must_read(R"py(class f(torch.nn.Module):
    def forward(self, x: "f32[s0, 4][4, 1]cuda:0", s0: "Sym(s0)"):
        sym_size: "Sym(s0)" = torch.ops.aten.sym_size.int(x, 0)
        mul: "Sym(2*s0)" = sym_size * 2
        neg: "Sym(-s0)" = -mul
        ge: "Sym(s0 >= 0)" = sym_size >= 0
        sym_sum: "Sym(2*s0 + 1)" = torch.sym_sum((mul, 1))
        ceil: "Sym(s0)" = math_ceil(sym_size)
        max_2: "Sym(Max(1, s0))" = max(sym_size, 1)
        new_empty: "f32[2*s0, 4]cuda:0" = torch.ops.aten.new_empty.default(x, [mul, 4], pin_memory = False)
        view: "f32[8*((s0//2))]cuda:0" = torch.ops.aten.view.default(new_empty, [8*((s0//2))])
        return (view, mul)
)py");
  EXPECT_EQ(line_of(graph, "mul"), "mul _operator.mul(%sym_size,2) -> sym:2*s0");
  EXPECT_EQ(line_of(graph, "neg"), "neg _operator.neg(%mul) -> sym:-s0");
  EXPECT_EQ(line_of(graph, "ceil"), "ceil math.ceil(%sym_size) -> sym:s0");
  EXPECT_EQ(line_of(graph, "max_2"), "max_2 builtins.max(%sym_size,1) -> sym:Max(1, s0)");
  EXPECT_EQ(line_of(graph, "view"),
            "view aten.view.default(%new_empty,[sym:8*((s0//2))]) -> float32[sym:8*((s0//2))]");
  const Tensor& made = *graph.single_tensor(graph.node(graph.find("new_empty")));
  EXPECT_EQ(graph.storage(made.storage).bytes.value, 2 * 64 * 4 * 4);  // s0 defaults to 64
}

TEST(FxText, SliceWithSymbolicStepIsAssumedDense) {
  const Graph graph = must_read(R"py(class f(torch.nn.Module):
    def forward(self, x: "f32[8, 4]cuda:0", s0: "Sym(s0)"):
        slice_1: "f32[4, 4]cuda:0" = torch.ops.aten.slice.Tensor(x, 0, 0, 8, s0)
        return (slice_1,)
)py");
  EXPECT_TRUE(has_fact(graph, "but 1 view and all other tensors are assumed dense"));
}

TEST(FxText, ViewsOfTransposedSymbolicTensorsAreAssumedDense) {
  const auto text = [](const char* size) {
    return fmt::format(R"py(class f(torch.nn.Module):
    def forward(self, x: "f32[s0, 4][4, 1]cuda:0", s0: "Sym(s0)"):
        permute: "f32[4, s0]cuda:0" = torch.ops.aten.permute.default(x, [1, 0])
        view: "f32[2, 2, s0]cuda:0" = torch.ops.aten.view.default({}, [2, 2, s0])
        return (view,)
)py",
                       size);
  };
  EXPECT_TRUE(
      has_fact(must_read(text("permute")), "but 1 view and all other tensors are assumed dense"));
  EXPECT_TRUE(
      has_fact(must_read(text("x")), "but 0 views and all other tensors are assumed dense"));
}

TEST(FxText, SizesOfSymbolicStoragesAreAssumedDense) {
  const Graph graph = must_read(R"py(class f(torch.nn.Module):
    def forward(self, x: "f32[s0, 4][8, 1]cuda:0", y: "f32[2, s0, 4][4*s0, 4, 1]cuda:0", s0: "Sym(s0)"):
        add: "f32[s0, 4][4, 1]cuda:0" = torch.ops.aten.add.Tensor(x, 1)
        return (add, y)
)py");
  EXPECT_TRUE(has_fact(graph,
                       "sizes of 1 storage depend on symbolic sizes, strides or offsets: assumed "
                       "to be those of dense tensors"));
}

TEST(FxText, PythonCallsOfGraphsBeforeAten) {
  const Graph graph = must_read(R"py(class GraphModule(torch.nn.Module):
    def forward(self, L_x_: "DTensor(f32[8, 4][4, 1]cpu, S(0))"):
        l_x_ = L_x_
        output: "f32[4, 8][1, 4]cpu" = l_x_.transpose(0, 1)
        q: "f32[4, 8][8, 1]cpu" = torch._C._nn.gelu(output, approximate = 'none')
        fc: "f32[4, 8][8, 1]cpu" = getattr(self.layers, "0").fc(q)
        shape = l_x_.shape
        q += fc;  iadd: "f32[4, 8][8, 1]cpu" = q
        q[0] = 1;  setitem = q
        return (iadd,)
)py");
  EXPECT_EQ(line_of(graph, "output"), "output call_method.transpose(%l_x_,0,1) -> float32[4,8]");
  EXPECT_EQ(line_of(graph, "q"),
            R"(q call_function.torch._C._nn.gelu(%output,approximate="none") -> float32[4,8])");
  EXPECT_EQ(line_of(graph, "fc"), "fc call_module.layers.0.fc(%q) -> float32[4,8]");
  EXPECT_EQ(line_of(graph, "shape"), R"(shape builtins.getattr(%l_x_,"shape") -> None)");
  EXPECT_EQ(line_of(graph, "iadd"), "iadd _operator.iadd(%q,%fc) -> float32[4,8]");
  EXPECT_EQ(line_of(graph, "setitem"), "setitem _operator.setitem(%q,0,1) -> None");
  EXPECT_EQ(line_of(graph, "output_1"), "output_1 output((%iadd)) -> None");
  EXPECT_TRUE(share(graph, "output", "l_x_"));
}

TEST(FxText, AParameterMayBeNamedOutput) {
  const Graph graph = must_read(R"py(class GraphModule(torch.nn.Module):
    def forward(self, output: "f32[4][1]cpu"):
        add: "f32[4][1]cpu" = torch.ops.aten.add.Tensor(output, output)
        return (add,)
)py");
  EXPECT_EQ(line_of(graph, "output_1"), "output_1 output((%add)) -> None");
}

TEST(FxText, CustomOperatorsAreReadWithAWarning) {
  const Graph graph = must_read(forward(
      "a = torch.ops.my.op.default(x, None, True, 1.5, 340282366920938463463374607431768211455, "
      "'it\\'s', \"a\\tb\\x41\\u00e9\", [1, [2]], (3,), slice(None, 2, None), {'k': x, 3: y}, nan, "
      "torch.float8_e4m3fn, torch.channels_last, (1+2j), torch.ops.aten.mm.default, <function f>, "
      "Policy.SAVE, ..., key = torch.ops.higher_order.cond)"));
  EXPECT_EQ(
      line_of(graph, "a"),
      "a my.op.default(%x,None,True,f3ff8000000000000,340282366920938463463374607431768211455,"
      "\"it's\",\"a\\u0009bA\u00e9\",[1,[2]],(3),slice(None,2,None),{\"k\":%x,\"3\":%y},"
      "f7ff8000000000000,dtype:float8_e4m3fn,memory_format:channels_last,"
      "complex(f3ff0000000000000,f4000000000000000),op:aten.mm.default,opaque:object,"
      "opaque:Policy,opaque:ellipsis,key=op:cond) -> None");
  EXPECT_TRUE(has_fact(graph, "1 call of 1 operator without a schema"));
}

constexpr std::string_view kCond = R"py(class g(torch.nn.Module):
    def forward(self, x_1: "f32[4][1]cpu", p: "b8[][]cpu"):
        true_graph_0 = self.true_graph_0
        false_graph_0 = self.false_graph_0
        cond = torch.ops.higher_order.cond(p, true_graph_0, false_graph_0, (x_1,));  p = true_graph_0 = false_graph_0 = x_1 = None
        getitem: "f32[4][1]cpu" = cond[0];  cond = None
        return getitem

    class true_graph_0(torch.nn.Module):
        def forward(self, arg0_1: "f32[4][1]cpu"):
            sin: "f32[4][1]cpu" = torch.ops.aten.sin.default(arg0_1);  arg0_1 = None
            return (sin,)

    class false_graph_0(torch.nn.Module):
        def forward(self, arg0_1: "f32[4][1]cpu"):
            cos: "f32[4][1]cpu" = torch.ops.aten.cos.default(arg0_1);  arg0_1 = None
            return (cos,)
)py";

TEST(FxText, CommentsMarkTheBackwardOfATrainingStep) {
  const Graph graph = must_read(R"py(class step(torch.nn.Module):
    def forward(self, arg0_1: "f32[4][1]cpu", arg1_1: "f32[4][1]cpu"):
        # Annotation: {'module_fqn': 'layers.0.w1'} recompute: MUST_SAVE File: m.py:3 in forward, code: x * w
        mul: "f32[4][1]cpu" = torch.ops.aten.mul.Tensor(arg0_1, arg1_1)
        # No stacktrace found for following nodes
        ones: "f32[4][1]cpu" = torch.ops.aten.ones_like.default(mul)
        # Annotation: {'module_fqn': 'layers.0.w1'} Backward of forward node: File: m.py:3 in forward, code: x * w
        mul_1: "f32[4][1]cpu" = torch.ops.aten.mul.Tensor(ones, arg1_1)
        # No stacktrace found for following nodes
        add: "f32[4][1]cpu" = torch.ops.aten.add.Tensor(mul_1, mul_1)
        return [mul, add]
)py");
  EXPECT_EQ(graph.part(PartId(0)).kind, CaptureKind::train_step);
  const auto of = [&](const char* name) -> const Node& { return graph.node(graph.find(name)); };
  EXPECT_EQ(of("mul").phase, Phase::forward);
  EXPECT_EQ(of("ones").phase, Phase::forward);
  EXPECT_EQ(of("mul").policy, MemoryPolicy::must_save);
  EXPECT_EQ(of("mul_1").phase, Phase::backward);
  EXPECT_EQ(of("add").phase, Phase::backward) << "it reads a result of the backward";
  EXPECT_EQ(graph.text(of("mul_1").stack ? graph.stack(of("mul_1").stack).text : StringId()),
            "  File \"m.py\", line 3, in forward\n    x * w");
  EXPECT_EQ(graph.text(of("arg0_1").role_target), "layers.0.w1.weight");
}

TEST(FxText, NestedClassesAreSubgraphs) {
  const Graph graph = must_read(kCond);
  EXPECT_EQ(line_of(graph, "cond"),
            "cond cond(%p,%true_graph_0,%false_graph_0,(%x_1)) -> [float32[4]]");
  const std::string& constants = graph.part(PartId(0)).constants;
  EXPECT_THAT(constants, HasSubstr(R"("true_graph_0":{"subgraph")"));
  EXPECT_THAT(constants, HasSubstr("aten.cos.default"));
  EXPECT_EQ(export_fx_text(must_read(export_fx_text(graph))), export_fx_text(graph));
}

TEST(FxText, StoragesOfSubgraphsKeepSymbolicSizes) {
  std::string text(kCond);
  for (std::size_t at = 0; (at = text.find("f32[4]", at)) != std::string::npos;)
    text.replace(at, 6, "f32[s0]");
  const Graph graph = must_read(text);
  std::size_t numbers = 0;
  for (std::size_t i = 0; i < graph.storage_count(); ++i)
    numbers += graph.storage(StorageId(i)).bytes.expression ? 0 : 1;
  EXPECT_GT(graph.storage_count(), 4U) << "two of the graph, and those of two subgraphs";
  EXPECT_EQ(numbers, 1U) << "only that of p";
}

TEST(FxText, SeveralClassesAreSeveralGraphs) {
  const std::string two = std::string(kFull) + "\n" + std::string(kCond);
  const CaptureFile file{.name = "two.txt", .bytes = PaddedBytes(two)};
  const auto entries = graph_readers().back()->list(file);
  ASSERT_TRUE(entries.has_value());
  ASSERT_EQ(entries->size(), 2U);
  EXPECT_EQ((*entries)[0].name, "two, f");
  EXPECT_EQ((*entries)[0].nodes, 10U);
  EXPECT_EQ((*entries)[1].name, "two, g");
  EXPECT_EQ(must_read(two, 1).node_count(), 7U);
  EXPECT_EQ(read(two, 2).error().message, "graph.txt: there is no graph 2; the last one is 1");
}

TEST(FxText, CodeAroundTheGraphIsIgnored) {
  const std::string text =
      "import torch\nfrom torch import device\n\nclass Repro(torch.nn.Module):\n"
      "    def __init__(self) -> None:\n        super().__init__()\n\n"
      "    def forward(self, x):\n        sin = torch.ops.aten.sin.default(x);  x = None\n"
      "        return (sin,)\n\ndef load_args(reader):\n    buf = reader.storage(None, 128)\n"
      "load_args._version = 0\nmod = Repro()\n";
  EXPECT_EQ(must_read(text).node_count(), 3U);
}

TEST(FxText, QuotedMetadataIsIgnored) {
  const Graph graph = must_read(
      "class f(torch.nn.Module):\n    def forward(self, x):\n        \"\"\"\nval: 'a = b('\n"
      "        \"\"\"\n        sin = torch.ops.aten.sin.default(x)\n        return (sin,)\n");
  EXPECT_EQ(graph.node_count(), 3U);
}

// --- Bad input: one-line errors with the file, the line and the cause ---

TEST(FxTextErrors, NameTheLine) {
  EXPECT_EQ(error_of(forward("a = torch.ops.aten.sin.default(b)")),
            "graph.txt: line 3: node a: `b` is neither an earlier node nor a known name");
  EXPECT_EQ(error_of(forward("a = torch.ops.aten.sin.default(a)")),
            "graph.txt: line 3: node a reads itself: the graph is cyclic");
  EXPECT_EQ(error_of(forward("a = torch.ops.aten.sin.default(b)\n        "
                             "b = torch.ops.aten.sin.default(a)")),
            "graph.txt: line 3: node a reads b, which is defined later, on line 4: the graph is "
            "cyclic or out of order");
  EXPECT_EQ(error_of(forward("x = torch.ops.aten.sin.default(y)")),
            "graph.txt: line 3: node x: another node has the same name; names must be unique");
  EXPECT_THAT(error_of(forward("a: \"f31[8]\" = torch.ops.aten.sin.default(x)")),
              HasSubstr("line 3: node a: unknown dtype `f31`"));
  EXPECT_THAT(error_of(forward("a: \"f32[-8]\" = torch.ops.aten.sin.default(x)")),
              HasSubstr("line 3: node a: size -8 is negative"));
  EXPECT_THAT(error_of(forward("a = torch.ops.aten.sin.default(x")), HasSubstr("line 3"));
  EXPECT_THAT(error_of(forward("a = 5")), HasSubstr("line 3: node a: expected a call"));
  EXPECT_THAT(error_of(forward("import torch")),
              HasSubstr("`import torch` is not a statement of an FX graph"));
}

TEST(FxTextErrors, DeepNestingIsRefused) {
  EXPECT_THAT(error_of(forward("a = torch.ops.aten.sin.default(" + std::string(5000, '[') +
                               std::string(5000, ']') + ")")),
              HasSubstr("nested more than 64 levels deep"));
  std::string path = "self";
  for (int i = 0; i < 4000; ++i) path = "getattr(" + path;
  EXPECT_THAT(error_of(forward("a = " + path)), HasSubstr("line 3"));
}

TEST(FxTextErrors, HugeNumbersAreRefused) {
  EXPECT_THAT(error_of(forward("a: \"f32[99999999999999999999]\" = torch.ops.aten.sin.default(x)")),
              HasSubstr("line 3"));
  EXPECT_THAT(error_of(forward("a: \"f32[9223372036854775807, 9223372036854775807]\" = "
                               "torch.ops.aten.sin.default(x)")),
              HasSubstr("4 EiB"));
}

TEST(FxTextErrors, TruncatedTextGivesAOneLineError) {
  for (std::size_t size = 60; size + 2 < kFull.size(); ++size) {
    const std::string text(kFull.substr(0, size));
    const auto graph = read(text);
    ASSERT_FALSE(graph.has_value()) << text;
    EXPECT_EQ(graph.error().message.find('\n'), std::string::npos) << graph.error().message;
    EXPECT_EQ(graph.error().kind, Error::Kind::input);
  }
}

TEST(FxTextErrors, BinaryDataIsRefused) {
  EXPECT_THAT(error_of(std::string("def forward(self):\n  \xff\xfe\n")), HasSubstr("UTF-8"));
}

std::string open_error(const std::string& name, std::string_view bytes) {
  const TemporaryFolder folder;
  const std::string path = folder / name;
  EXPECT_TRUE(write_bytes(path, bytes).has_value());
  const auto graph = open_graph({.path = path});
  return graph ? "no error" : graph.error().message;
}

TEST(FxTextErrors, CompressedBinaryDataIsRefused) {
  EXPECT_THAT(open_error("garbage.txt", "\x7f\x45\x4c\x46\x02\x01\xff"),
              HasSubstr("unknown format"));
  EXPECT_THAT(open_error("prose.txt", "Some notes on a graph."), HasSubstr("unknown format"));
  EXPECT_THAT(open_error("empty.txt", ""), HasSubstr("empty"));
  // Small, but decompresses to more than any text worth reading.
  std::string bomb = "def forward(self):\n";
  bomb.append(std::size_t{80} << 20, ' ');
  EXPECT_THAT(open_error("bomb.txt.zst", bomb), HasSubstr("decompress to more than 64 MiB"));
}

// --- Writing ---

TEST(FxTextExport, MatchesTorch) {
  // The class is named after the capture's kind; everything else is torch's own text.
  std::string expected(kFull);
  expected.replace(expected.find("class f("), 8, "class forward(");
  EXPECT_EQ(export_fx_text(must_read(kFull)), expected);
}

// As in torch, a longer value of an annotation is cut off after 40 characters, not bytes.
TEST(FxTextExport, AnnotationsAreCutOffBetweenCharacters) {
  Graph graph =
      must_read(forward("relu: \"f32[8, 4][4, 1]cpu\" = torch.ops.aten.relu.default(x)", "relu"));
  std::string forty = "a";
  for (int i = 1; i < 40; ++i) forty += "\u00e9";
  graph.node(graph.find("relu")).custom =
      graph.intern(fmt::format(R"({{"short":"{0}","long":"{0}b"}})", forty));
  const std::string text = export_fx_text(graph);
  EXPECT_THAT(text, HasSubstr(fmt::format("{{'short': '{0}', 'long': '{0}...'}}", forty)));
  EXPECT_EQ(error_of(text), "no error");
}

class Sample : public testing::TestWithParam<const char*> {};

TEST_P(Sample, TextReadsBackAsTheSameGraph) {
  const auto native = open_graph({.path = source_path("resources/samples/") + GetParam()});
  ASSERT_TRUE(native.has_value()) << native.error().message;
  const TemporaryFolder folder;
  const std::string path = folder / "text.txt";
  ASSERT_TRUE(write_bytes(path, export_fx_text(*native)).has_value());
  const auto text =
      open_graph({.path = path, .backward = native->is_pair() ? path : std::string()});
  ASSERT_TRUE(text.has_value()) << text.error().message;

  // FX text lacks: elements of tuples that nothing reads; which inputs of a backward share a
  // storage, since their views were made in the forward; the offset of a view whose base is such an
  // input; modules and phases of recomputed nodes.
  for (const Difference& d : compare_graphs(*native, *text)) {
    const bool explained = d.kind == "unknown element" || d.kind == "unknown value" ||
                           d.kind == "unknown offset" ||
                           (native->is_pair() && (d.kind == "alias" || d.kind == "offset"));
    EXPECT_TRUE(explained) << d.kind << ": " << d.detail;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Samples, Sample,
    testing::Values("llama_debug_fsdp2.joint.json.zst", "llama_debug_fsdp2.min_cut.json.zst",
                    "llama_debug_tp2.joint.json.zst", "llama_debug_tp2.min_cut.json.zst",
                    "llama_debug_tp2_fsdp2.joint.json.zst",
                    "llama_debug_tp2_fsdp2.min_cut.json.zst", "llama_8b_tp2_fsdp2.joint.json.zst",
                    "llama_8b_tp2_fsdp2.min_cut.json.zst"),
    [](const auto& parameter) {
      std::string name = parameter.param;
      for (char& c : name)
        if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
      return name;
    });

}  // namespace
}  // namespace jointer::test
