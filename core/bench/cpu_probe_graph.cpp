// Measures the operators of a rank as they run in a graph, so that the rates include what torch
// adds to a kernel: the call, the memory of the result, the division among threads.
//
// Calls, each three times, of which the fastest counts:
//   add     of two tensors of 1,024 elements to twice the largest cache: the time of a call without
//           work, and the bandwidth by number of bytes. The largest one is that of the memory.
//   mm      of squares of 64: the time of a product beyond that of its FLOPs; of 512 and 1,024: the
//           peak.
//   the others, with 1 MiB: their time compared with an add of as many bytes.
//
// Cost: about a second on two cores, most of it for starting the rank.
// Deviations: operators that gather and scatter are not probed, and have assumed rates.

#include "core/bench/cpu_probe_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include "core/cost/node_flops.h"
#include "core/cost/roofline.h"

namespace jointer {
namespace {

constexpr int kRepeats = 3;
constexpr std::int64_t kBytesOfAdd = 12;  // of an element: two reads and a write of float32
constexpr double kNsPerUs = 1e3;
// Assumed shares of operators that are not probed.
constexpr double kGathered = 0.8, kScattered = 0.3;

// Elements of the additions, ascending: each four times the one before, up to `last`.
std::vector<std::int64_t> sizes_of_adds(std::int64_t last_cache) {
  constexpr std::int64_t kFirst = 1024, kMinLast = std::int64_t{4} << 20,
                         kMaxLast = std::int64_t{32} << 20;
  const std::int64_t last = std::clamp(2 * last_cache / kBytesOfAdd, kMinLast, kMaxLast);
  std::vector<std::int64_t> sizes;
  for (std::int64_t size = kFirst; size < last; size *= 4) sizes.push_back(size);
  sizes.push_back(last);
  return sizes;
}

class ProbeText {
 public:
  void add_line(const std::string& line) { text_ += line + '\n'; }
  // Three calls NAME_0 to NAME_2 with results of a type.
  void add_calls(std::string_view name, std::string_view type, std::string_view call) {
    for (int i = 0; i < kRepeats; ++i) add_line(fmt::format("{}_{}: {} = {}", name, i, type, call));
  }
  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

void add_collectives(ProbeText& text) {
  for (const auto& [size, elements] : {std::pair("small", 256), std::pair("large", 1 << 20)}) {
    text.add_line(fmt::format("part_{}: f32[{}] = input", size, elements));
    for (int i = 0; i < kRepeats; ++i) {
      text.add_line(fmt::format(
          "gather_{0}_{1}: f32[{2}] = _c10d_functional.all_gather_into_tensor(part_{0}, "
          "2, 'both')",
          size, i, 2 * elements));
      text.add_line(
          fmt::format("gathered_{0}_{1}: f32[{2}] = _c10d_functional.wait_tensor(gather_{0}_{1})",
                      size, i, 2 * elements));
    }
  }
}

// Times of calls, in nanoseconds.
class ProbeTimes {
 public:
  ProbeTimes(const Graph& graph, const Measurement& measured)
      : graph_(graph), times_(graph.node_count(), -1) {
    for (const MeasuredNode& node : measured.nodes)
      if (node.node && node.node.index() < times_.size()) times_[node.node.index()] = node.own_ns;
  }

  // The fastest of the calls with a name. A call without a time is remembered as `missing`.
  double operator[](std::string_view name) {
    std::int64_t fastest = std::numeric_limits<std::int64_t>::max();
    for (int i = 0; i < kRepeats; ++i) {
      const std::string call = fmt::format("{}_{}", name, i);
      const NodeId id = graph_.find(call);
      if (!id || times_[id.index()] < 0)
        missing_ = call;
      else
        fastest = std::min(fastest, times_[id.index()]);
    }
    return static_cast<double>(std::max<std::int64_t>(fastest, 1));
  }
  [[nodiscard]] double flops(std::string_view name) const {
    const NodeId id = graph_.find(fmt::format("{}_0", name));
    if (!id) return 0;
    const Node& node = graph_.node(id);
    return computed_flops(graph_, node, node_flops(graph_, node).total);
  }

  [[nodiscard]] const std::string& missing() const { return missing_; }

 private:
  const Graph& graph_;
  std::vector<std::int64_t> times_;  // by node; -1: none
  std::string missing_;
};

// The part of a time that is not the call; at least a tenth of it.
double beyond(double ns, double call_ns) {
  return std::max(ns - call_ns, ns / 10);
}

double share_of(double expected_ns, double ns) {
  constexpr double kMin = 0.01;
  return std::clamp(expected_ns / ns, kMin, 1.0);
}

}  // namespace

std::string cpu_probe_text(bool has_collectives, std::int64_t last_cache) {
  ProbeText text;
  text.add_line("kind forward");
  text.add_line("device cpu");
  if (has_collectives) text.add_line("group both: 0 1");
  const std::vector<std::int64_t> sizes = sizes_of_adds(last_cache);
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    text.add_line(fmt::format("a{}: f32[{}] = input", i, sizes[i]));
    text.add_line(fmt::format("b{}: f32[{}] = input", i, sizes[i]));
  }
  for (const char* name : {"x", "y"}) text.add_line(fmt::format("{}: f32[512,512] = input", name));
  for (const int size : {64, 512, 1024})
    text.add_line(fmt::format("m{0}: f32[{0},{0}] = input", size));
  text.add_line("h: bf16[512,512] = input");
  for (const char* name : {"q", "k", "v", "dy"})
    text.add_line(fmt::format("{}: f32[2,4,256,64] = input", name));

  for (std::size_t i = 0; i < sizes.size(); ++i)
    text.add_calls(fmt::format("add{}", i), fmt::format("f32[{}]", sizes[i]),
                   fmt::format("aten.add.Tensor(a{0}, b{0})", i));
  text.add_calls("view", "f32[262144]", "aten.view(x, [262144])");
  text.add_calls("plain", "f32[512,512]", "aten.add.Tensor(x, y)");
  text.add_line("t: f32[512,512][1,512] = aten.t(y)");
  text.add_calls("crossed", "f32[512,512]", "aten.add.Tensor(x, t)");
  text.add_calls("rows", "f32[512]", "aten.sum.dim_IntList(x, [1])");
  text.add_calls("columns", "f32[512]", "aten.sum.dim_IntList(x, [0])");
  text.add_calls("special", "f32[512,512]", "aten.silu(x)");
  for (const int size : {64, 512, 1024})
    text.add_calls(fmt::format("mm{}", size), fmt::format("f32[{0},{0}]", size),
                   fmt::format("aten.mm(m{0}, m{0})", size));
  text.add_calls("half", "bf16[512,512]", "aten.mm(h, h)");
  text.add_line(
      "f: (f32[2,4,256,64], f32[2,4,256]) = "
      "aten._scaled_dot_product_flash_attention_for_cpu(q, k, v, 0.0, True)");
  text.add_line("out: f32[2,4,256,64] = f[0]");
  text.add_line("lse: f32[2,4,256] = f[1]");
  text.add_calls("attention", "(f32[2,4,256,64], f32[2,4,256])",
                 "aten._scaled_dot_product_flash_attention_for_cpu(q, k, v, 0.0, True)");
  text.add_calls("gradient", "(f32[2,4,256,64], f32[2,4,256,64], f32[2,4,256,64])",
                 "aten._scaled_dot_product_flash_attention_for_cpu_backward(dy, q, k, v, out, lse, "
                 "0.0, True)");
  if (has_collectives) add_collectives(text);
  text.add_line("return [rows_0]");
  return text.take();
}

Result<ProbedRank> probed_rank(const Graph& graph, const Measurement& measured, int threads) {
  ProbeTimes times(graph, measured);
  ProbedRank rank{.threads = threads};
  KernelRates& kernels = rank.kernels;
  const double call_ns = times["add0"];
  kernels.launch_us = call_ns / kNsPerUs;
  rank.operator_us = times["view"] / kNsPerUs;
  for (int i = 1;; ++i) {
    const NodeId id = graph.find(fmt::format("add{}_0", i));
    const Tensor* result = id ? graph.single_tensor(graph.node(id)) : nullptr;
    if (result == nullptr) break;
    const std::int64_t bytes = graph.numel(*result) * kBytesOfAdd;
    const double ns = beyond(times[fmt::format("add{}", i)], call_ns);
    kernels.levels.push_back({bytes, static_cast<double>(bytes) / ns});
  }
  if (kernels.levels.empty()) return fail(Error::Kind::run, "the graph of the probe has no add");
  rank.memory_gbps = kernels.levels.back().gbps;

  // A third of the bytes of `plain` is the operand that `crossed` reads across.
  const double plain = beyond(times["plain"], call_ns);
  const double crossed = beyond(times["crossed"], call_ns);
  kernels.strided = share_of(plain / 3, std::max(crossed - plain * 2 / 3, plain / 3));
  kernels.row_reduction = share_of(plain / 3, beyond(times["rows"], call_ns));
  kernels.column_reduction = share_of(plain / 3, beyond(times["columns"], call_ns));
  kernels.gathered = kGathered;
  kernels.scattered = kScattered;
  const NodeId special = graph.find("special_0");
  if (special)
    kernels.special_gops = static_cast<double>(graph.numel(graph.tensors(special).front())) /
                           beyond(times["special"], call_ns);

  // FLOPs per nanosecond are 1e9 FLOP/s; a thousand of them are a TFLOP/s.
  const double large_flops = times.flops("mm512") + times.flops("mm1024");
  const double first = large_flops / (times["mm512"] + times["mm1024"]);
  const double product_ns = std::max(times["mm64"] - times.flops("mm64") / first, call_ns);
  kernels.product_us = product_ns / kNsPerUs;
  const double rate = large_flops / beyond(times["mm512"] + times["mm1024"], 2 * product_ns);
  rank.float32_tflops = rate / 1e3;
  rank.bfloat16_tflops = times.flops("half") / beyond(times["half"], product_ns) / 1e3;
  const auto attention = [&](std::string_view name) {
    return share_of(times.flops(name) / rate, beyond(times[name], product_ns));
  };
  rank.attention_forward = attention("attention");
  rank.attention_backward = attention("gradient");
  if (const NodeId gather = graph.find("gather_large_0")) {
    rank.shares_machine = true;
    const double small = times["gather_small"];
    // A rank receives half of the result.
    const double received = static_cast<double>(graph.output_bytes(graph.node(gather))) / 2;
    rank.collective_us = small / kNsPerUs;
    rank.link_gbps = received / beyond(times["gather_large"], small);
  }
  if (!times.missing().empty())
    return fail(Error::Kind::run, "the run of the probe has no time for {}", times.missing());
  return rank;
}

}  // namespace jointer
