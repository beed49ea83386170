// The probe measures the operators of a rank as they run in a graph, so that the rates include what
// torch adds to a kernel: the call, the allocation of the result, the division among threads.
//
// Most calls run in three rounds, each with all the other calls: a call that is repeated at once
// finds its code and its data in the nearest caches, which does not happen in a step. The result is
// the median of the three times. If all three are longer than 0.1 ms, it is the shortest: caches
// matter little to long calls, but other programs delay them. The largest additions, which would
// flush the caches, and the collectives run three times in a row, after everything else.
//   add        of two tensors, each size but the last four times the one before. The smallest, of
//              1,024 elements, gives the time of a call without work. The others give the bandwidth
//              as a function of the bytes: from 48 KiB of traffic to twice the size of the largest
//              cache, but at least 48 MiB (also if the size is unknown) and at most 384 MiB. The
//              bandwidth of the largest is that of the memory.
//   mm         of square matrices of 512 and 768: the peak, which is that of the faster one; of 64:
//              the time of a product in addition to that of its FLOPs; of 512 in bfloat16: the peak
//              of bfloat16.
//   view       the time of a call that computes nothing.
//   attention  with heads of size 32, 64 and 128, forward and backward.
//   silu       the rate of special functions.
//   crossed, rows, columns  an add of a transposed operand and two sums: their bandwidth as a share
//              of that of an add with contiguous operands (plain).
//   gathers    all-gathers of two sizes between two ranks: latency and bandwidth.
//
// Cost: about a second on two cores, most of it for starting the rank. Not probed: operators that
// gather or scatter, whose rates are assumed.

#include "core/bench/cpu_probe_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/median.h"
#include "core/cost/node_flops.h"
#include "core/cost/roofline.h"

namespace jointer {
namespace {

constexpr int kRepeats = 3;
constexpr std::int64_t kBytesOfAdd = 12;  // per element: two reads and a write of float32
constexpr double kNsPerUs = 1e3;
constexpr std::int64_t kLongNs = 100'000;
constexpr std::array<int, 3> kProducts{512, 768, 64};
// Number of elements of the largest addition that runs in rounds with the other calls; its traffic
// is 768 KiB.
constexpr std::int64_t kLastInRounds = 65536;
// Assumed shares of the bandwidth for operators that are not probed.
constexpr double kGathered = 0.8, kScattered = 0.3;

// Numbers of elements of the additions: each four times the one before, and finally `last`.
std::vector<std::int64_t> sizes_of_adds(std::int64_t last_cache) {
  constexpr std::int64_t kFirst = 1024, kMinLast = std::int64_t{4} << 20,
                         kMaxLast = std::int64_t{32} << 20;
  const std::int64_t last = std::clamp(2 * last_cache / kBytesOfAdd, kMinLast, kMaxLast);
  std::vector<std::int64_t> sizes;
  for (std::int64_t size = kFirst; size < last; size *= 4) sizes.push_back(size);
  sizes.push_back(last);
  return sizes;
}

constexpr std::array<int, 3> kHeads{32, 64, 128};

class ProbeText {
 public:
  void add_line(const std::string& line) { text_ += line + '\n'; }
  // Adds the calls NAME_0 to NAME_2; `add_rounds` writes one of them in each round.
  void add_calls(const std::string& name, std::string_view type, std::string_view call) {
    calls_.emplace_back(name, fmt::format("{} = {}", type, call));
  }
  void add_rounds() {
    for (int i = 0; i < kRepeats; ++i)
      for (const auto& [name, call] : calls_) add_line(fmt::format("{}_{}: {}", name, i, call));
    calls_.clear();
  }
  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  std::string text_;
  std::vector<std::pair<std::string, std::string>> calls_;  // names and the rest of the line
};

std::string heads_type(int head) {
  return fmt::format("f32[1,2,512,{}]", head);
}

void add_attention(ProbeText& text, int head) {
  const std::string type = heads_type(head);
  constexpr std::string_view kSums = "f32[1,2,512]";
  const std::string call = fmt::format(
      "aten._scaled_dot_product_flash_attention_for_cpu(q{0}, k{0}, v{0}, 0.0, True)", head);
  text.add_line(fmt::format("flash{}: ({}, {}) = {}", head, type, kSums, call));
  text.add_line(fmt::format("out{0}: {1} = flash{0}[0]", head, type));
  text.add_line(fmt::format("lse{0}: {1} = flash{0}[1]", head, kSums));
  text.add_calls(fmt::format("attention{}", head), fmt::format("({}, {})", type, kSums), call);
  text.add_calls(
      fmt::format("gradient{}", head), fmt::format("({0}, {0}, {0})", type),
      fmt::format("aten._scaled_dot_product_flash_attention_for_cpu_backward(dy{0}, q{0}, "
                  "k{0}, v{0}, out{0}, lse{0}, 0.0, True)",
                  head));
}

// The all-gathers, and the number of elements that each rank contributes.
constexpr std::array<std::pair<std::string_view, int>, 2> kGathers{
    {{"small", 256}, {"large", 1 << 20}}};

void add_gathers(ProbeText& text) {
  for (const auto& [size, elements] : kGathers)
    for (int i = 0; i < kRepeats; ++i) {
      const std::string type = fmt::format("f32[{}]", 2 * elements);
      text.add_line(
          fmt::format("gather_{0}_{1}: {2} = _c10d_functional.all_gather_into_tensor(part_{0}, 2, "
                      "'both')",
                      size, i, type));
      text.add_line(fmt::format(
          "gathered_{0}_{1}: {2} = _c10d_functional.wait_tensor(gather_{0}_{1})", size, i, type));
    }
}

void add_inputs(ProbeText& text, const std::vector<std::int64_t>& sizes, bool has_collectives) {
  const auto add = [&](const std::string& name, std::string_view type) {
    text.add_line(fmt::format("{}: {} = input", name, type));
  };
  for (std::size_t i = 0; i < sizes.size(); ++i)
    for (const char* name : {"a", "b"})
      add(fmt::format("{}{}", name, i), fmt::format("f32[{}]", sizes[i]));
  add("x", "f32[512,512]");
  add("y", "f32[512,512]");
  for (const int size : kProducts) add(fmt::format("m{}", size), fmt::format("f32[{0},{0}]", size));
  add("h", "bf16[512,512]");
  for (const int head : kHeads)
    for (const char* name : {"q", "k", "v", "dy"})
      add(fmt::format("{}{}", name, head), heads_type(head));
  if (!has_collectives) return;
  for (const auto& [size, elements] : kGathers)
    add(fmt::format("part_{}", size), fmt::format("f32[{}]", elements));
}

// Times of calls, in nanoseconds. A call is timed alone and in an ordinary step. The shorter time
// counts, since other programs may run at the same time. For a collective, only the time alone
// counts, because an ordinary step does not wait for it.
class ProbeTimes {
 public:
  ProbeTimes(const Graph& graph, const Measurement& measured)
      : graph_(graph), times_(graph.node_count(), -1) {
    for (const MeasuredNode& node : measured.nodes)
      if (node.node && node.node.index() < times_.size()) {
        const bool waits = graph.is_asynchronous(graph.node(node.node));
        const std::int64_t in_step = node.end_ns - node.start_ns;
        times_[node.node.index()] =
            waits || in_step <= 0 ? node.own_ns : std::min(node.own_ns, in_step);
      }
  }

  // Returns the median of the three calls with a name, or the shortest time if all are long. Leaves
  // out a call without a time; `missing` then returns its name.
  double operator[](std::string_view name) {
    std::vector<std::int64_t> found;
    for (int i = 0; i < kRepeats; ++i) {
      const std::string call = fmt::format("{}_{}", name, i);
      const NodeId id = graph_.find(call);
      if (!id || times_[id.index()] < 0)
        missing_ = call;
      else
        found.push_back(times_[id.index()]);
    }
    if (found.empty()) return 1;
    const std::int64_t fastest = std::ranges::min(found);
    return static_cast<double>(
        std::max<std::int64_t>(fastest > kLongNs ? fastest : median(found), 1));
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

// The part of a time beyond that of a call without work; at least a tenth of the time.
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
  add_inputs(text, sizes, has_collectives);
  text.add_line("t: f32[512,512][1,512] = aten.t(y)");
  const auto add_addition = [&](std::size_t i, std::string_view before = {}) {
    text.add_calls(fmt::format("{}add{}", before, i), fmt::format("f32[{}]", sizes[i]),
                   fmt::format("aten.add.Tensor(a{0}, b{0})", i));
  };
  const auto add_product = [&](int size, std::string_view before = {}) {
    text.add_calls(fmt::format("{}mm{}", before, size), fmt::format("f32[{0},{0}]", size),
                   fmt::format("aten.mm(m{0}, m{0})", size));
  };
  const auto is_large = [&](std::size_t i) { return sizes[i] > kLastInRounds; };
  // The shortest calls follow one of the same kind, as most of them do in a step: right after calls
  // of other kinds, they take several times as long.
  add_addition(0, "first_");
  add_addition(0);
  add_addition(1);
  for (const char* name : {"first_view", "view"})
    text.add_calls(name, "f32[262144]", "aten.view(x, [262144])");
  for (std::size_t i = 2; i < sizes.size(); ++i)
    if (!is_large(i)) add_addition(i);
  text.add_calls("plain", "f32[512,512]", "aten.add.Tensor(x, y)");
  text.add_calls("crossed", "f32[512,512]", "aten.add.Tensor(x, t)");
  text.add_calls("rows", "f32[512]", "aten.sum.dim_IntList(x, [1])");
  text.add_calls("columns", "f32[512]", "aten.sum.dim_IntList(x, [0])");
  text.add_calls("special", "f32[512,512]", "aten.silu(x)");
  add_product(512);
  add_product(768);
  add_product(64, "first_");
  add_product(64);
  text.add_calls("half", "bf16[512,512]", "aten.mm(h, h)");
  for (const int head : kHeads) add_attention(text, head);
  text.add_rounds();
  for (std::size_t i = 0; i < sizes.size(); ++i)
    if (is_large(i)) {
      add_addition(i);
      text.add_rounds();
    }
  if (has_collectives) add_gathers(text);
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
  if (kernels.levels.empty())
    return fail(
        Error::Kind::run,
        "the graph of the CPU probe has no node add1_0, which measures the memory bandwidth");
  rank.memory_gbps = kernels.levels.back().gbps;

  // A third of the bytes of `plain` belongs to the operand that `crossed` reads transposed.
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

  // One FLOP per nanosecond is 1 GFLOP/s, a thousandth of a TFLOP/s.
  const auto rate_of = [&](std::string_view name, double other_ns) {
    return times.flops(name) / beyond(times[name], other_ns);
  };
  const double first = std::max(rate_of("mm512", 0), rate_of("mm768", 0));
  const double product_ns = std::max(times["mm64"] - times.flops("mm64") / first, call_ns);
  kernels.product_us = product_ns / kNsPerUs;
  const double rate = std::max(rate_of("mm512", product_ns), rate_of("mm768", product_ns));
  rank.float32_tflops = rate / 1e3;
  rank.bfloat16_tflops = rate_of("half", product_ns) / 1e3;
  const auto share_of_attention = [&](const std::string& name) {
    return share_of(times.flops(name) / rate, beyond(times[name], product_ns));
  };
  for (const int head : kHeads)
    kernels.attention.push_back({head, share_of_attention(fmt::format("attention{}", head)),
                                 share_of_attention(fmt::format("gradient{}", head))});
  if (const NodeId gather = graph.find("gather_large_0")) {
    rank.shares_machine = true;
    const double small = times["gather_small"];
    // A rank receives half of the result.
    const double received = static_cast<double>(graph.output_bytes(graph.node(gather))) / 2;
    rank.collective_us = small / kNsPerUs;
    rank.link_gbps = received / beyond(times["gather_large"], small);
  }
  if (!times.missing().empty())
    return fail(Error::Kind::run, "the CPU probe did not measure {}; try again", times.missing());
  return rank;
}

}  // namespace jointer
