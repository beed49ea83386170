// The FLOP formulas, one for each kind of operator.
//
// Source: torch/utils/flop_counter.py of torch 2.11 to 2.15. The registry's entries are reproduced
// exactly: attention counts the full score matrix, causal or not; a convolution ignores padding;
// biases and softmax do not count; attention over ragged sequences counts each sequence as if it
// were the longest.
//
// The registry's history: 2.12 added grouped-query attention and variable-length attention; 2.13
// added flex attention; 2.14 corrected the layout of flash attention without offsets; 2.15 added
// attention on the CPU, and the backward of variable-length attention for values whose last
// dimension differs from the query's.
//
// Deviations: if the shapes do not fit, the result is 0, whereas the registry's function raises an
// exception; sparsity hints are ignored.

#include "core/ops/flops.h"

#include <algorithm>
#include <array>
#include <span>

#include "core/base/checked.h"

namespace jointer {
namespace {

std::int64_t product(std::span<const std::int64_t> sizes) {
  std::int64_t result = 1;
  for (const std::int64_t size : sizes) result = saturating_mul(result, size);
  return result;
}

// Returns 2 * a * b * c ...
template <class... Factors>
std::int64_t multiply_adds(Factors... factors) {
  std::int64_t result = 2;
  ((result = saturating_mul(result, factors)), ...);
  return result;
}

// The rules that decide which shapes a formula accepts.
struct Rules {
  TorchVersion torch = kNewestTorch;  // the version of the registry
  bool ours = false;  // true: Jointer's own rules, which accept all meaningful shapes
};

class Formulas {
 public:
  Formulas(const OperatorCall& call, const Rules& rules) : call_(call), rules_(rules) {}

  std::int64_t mm(std::size_t a, std::size_t b) const {
    const Sizes* x = tensor(a, 2);
    const Sizes* y = tensor(b, 2);
    if (x == nullptr || y == nullptr || (*x)[1] != (*y)[0]) return 0;
    return multiply_adds((*x)[0], (*x)[1], (*y)[1]);
  }

  std::int64_t bmm(std::size_t a, std::size_t b) const {
    const Sizes* x = tensor(a, 3);
    const Sizes* y = tensor(b, 3);
    if (x == nullptr || y == nullptr || (*x)[0] != (*y)[0] || (*x)[2] != (*y)[1]) return 0;
    return multiply_adds((*x)[0], (*x)[1], (*x)[2], (*y)[2]);
  }

  // A matrix-vector or vector-vector product: one multiply-add per element of argument `a`.
  std::int64_t each_element(std::size_t a) const {
    const Sizes* x = tensor(a);
    return x == nullptr ? 0 : multiply_adds(product(*x));
  }

  // x [..., k] times the transpose of w [n, k].
  std::int64_t linear() const {
    const Sizes* x = tensor(0);
    const Sizes* w = tensor(1, 2);
    if (x == nullptr || w == nullptr || x->empty() || x->back() != (*w)[1]) return 0;
    return multiply_adds(product(*x), (*w)[0]);
  }

  // Where an operand lacks the group dimension g, one of its dimensions is divided into groups. The
  // count does not depend on the sizes of the groups.
  //   [m, k] x [g, k, n]: rows grouped       [g, m, k] x [k, n]: columns grouped
  //   [m, k] x [k, n]: k grouped, g results  [g, m, k] x [g, k, n]: batched
  std::int64_t grouped_mm() const {
    const Sizes* a = tensor(0);
    const Sizes* b = tensor(1);
    if (a == nullptr || b == nullptr || a->size() < 2 || b->size() < 2) return 0;
    const std::int64_t m = (*a)[a->size() - 2], k = a->back(), n = b->back();
    const bool batched = a->size() == 3 && b->size() == 3;
    return multiply_adds(batched ? (*a)[0] : 1, m, k, n);
  }

  std::int64_t convolution(const Sizes& x, const Sizes& w, const Sizes& out,
                           bool transposed) const {
    if (x.size() < 2 || w.size() < 2 || out.size() < 2) return 0;
    const Sizes& points = transposed ? x : out;
    return multiply_adds(product(std::span(points).subspan(2)), product(std::span(w).subspan(2)),
                         x[0], w[0], w[1]);
  }

  std::int64_t convolution_forward() const {
    const Sizes* x = tensor(0);
    const Sizes* w = tensor(1);
    if (x == nullptr || w == nullptr || call_.outputs.empty()) return 0;
    return convolution(*x, *w, call_.outputs.front(), number(6).value_or(0) != 0);
  }

  std::int64_t convolution_backward() const {
    const Sizes* grad = tensor(0);
    const Sizes* x = tensor(1);
    const Sizes* w = tensor(2);
    if (grad == nullptr || x == nullptr || w == nullptr || call_.arguments.size() < 11) return 0;
    const bool transposed = number(7).value_or(0) != 0;
    const auto& mask = call_.arguments[10].numbers;
    // Only the gradients that the mask requests count.
    std::int64_t sum = 0;
    const auto swapped = [](Sizes sizes) {
      if (sizes.size() >= 2) std::swap(sizes[0], sizes[1]);
      return sizes;
    };
    if (!mask.empty() && mask[0] != 0)
      sum = saturating_add(sum, convolution(*grad, *w, *x, !transposed));
    if (mask.size() > 1 && mask[1] != 0)
      sum = saturating_add(sum, transposed
                                    ? convolution(swapped(*grad), swapped(*x), swapped(*w), false)
                                    : convolution(swapped(*x), swapped(*grad), swapped(*w), false));
    return sum;
  }

  // Two batched matmuls: one computes the scores (q k^T), the other multiplies them by v.
  std::int64_t attention(const Sizes& q, const Sizes& k, const Sizes& v) const {
    if (!fits(q, k, v)) return 0;
    const std::int64_t heads = saturating_mul(q[0], q[1]);
    return saturating_add(multiply_adds(heads, q[2], q[3], k[2]),
                          multiply_adds(heads, q[2], k[2], v[3]));
  }

  // Recomputes the scores, then computes the gradients of the scores, v, q and k.
  std::int64_t attention_backward(const Sizes& grad, const Sizes& q, const Sizes& k,
                                  const Sizes& v) const {
    if (!fits(q, k, v) || grad != Sizes{q[0], q[1], q[2], v[3]}) return 0;
    const std::int64_t heads = saturating_mul(q[0], q[1]);
    const std::int64_t with_q = multiply_adds(heads, q[2], k[2], q[3]);
    const std::int64_t with_v = multiply_adds(heads, q[2], k[2], v[3]);
    return saturating_add(saturating_mul(with_q, 3), saturating_mul(with_v, 2));
  }

  std::int64_t attention_forward(std::size_t q) const {
    const Sizes* sizes[] = {tensor(q, 4), tensor(q + 1, 4), tensor(q + 2, 4)};
    if (sizes[0] == nullptr || sizes[1] == nullptr || sizes[2] == nullptr) return 0;
    return attention(*sizes[0], *sizes[1], *sizes[2]);
  }

  std::int64_t attention_backward(std::size_t grad, std::size_t q) const {
    const Sizes* sizes[] = {tensor(grad, 4), tensor(q, 4), tensor(q + 1, 4), tensor(q + 2, 4)};
    for (const Sizes* s : sizes)
      if (s == nullptr) return 0;
    return attention_backward(*sizes[0], *sizes[1], *sizes[2], *sizes[3]);
  }

  // Attention over sequences packed end to end: [total, heads, size] with offsets. The values of
  // the offsets are unknown, so every sequence counts as if it had the maximum length.
  struct Packed {
    std::size_t q;          // position of the query; key and value follow
    std::size_t q_offsets;  // k_offsets, max_q and max_k follow
    std::optional<std::size_t> grad;
    std::size_t head_dimension;  // 1 in [total, heads, size], 2 in [1, total, heads, size]
  };
  std::int64_t packed_attention(const Packed& at) const {
    const Sizes* offsets = tensor(at.q_offsets);
    if (offsets == nullptr) return unpacked_attention(at);
    const std::size_t h = at.head_dimension;
    const Sizes* q = tensor(at.q, h + 2);
    const Sizes* k = tensor(at.q + 1, h + 2);
    const Sizes* v = tensor(at.q + 2, h + 2);
    if (q == nullptr || k == nullptr || v == nullptr || offsets->size() != 1) return 0;
    const std::int64_t sequences = (*offsets)[0] - 1;
    const std::int64_t length_q = number(at.q_offsets + 2).value_or(0);
    const std::int64_t length_k = number(at.q_offsets + 3).value_or(0);
    const Sizes one_q{1, (*q)[h], length_q, (*q)[h + 1]};
    const Sizes one_k{1, (*k)[h], length_k, (*k)[h + 1]};
    const Sizes one_v{1, (*v)[h], length_k, (*v)[h + 1]};
    const Sizes one_grad{1, (*q)[h], length_q, (is_since({2, 15}) ? *v : *q)[h + 1]};
    const std::int64_t one = at.grad ? attention_backward(one_grad, one_q, one_k, one_v)
                                     : attention(one_q, one_k, one_v);
    return saturating_mul(one, std::max<std::int64_t>(sequences, 0));
  }

 private:
  [[nodiscard]] bool is_since(TorchVersion torch) const {
    return rules_.ours || rules_.torch >= torch;
  }

  [[nodiscard]] bool fits(const Sizes& q, const Sizes& k, const Sizes& v) const {
    if (q.size() != 4 || k.size() != 4 || v.size() != 4) return false;
    if (q[0] != k[0] || k[0] != v[0] || q[3] != k[3] || k[2] != v[2]) return false;
    if (rules_.ours || (q[1] == k[1] && k[1] == v[1])) return true;
    return is_since({2, 12}) && k[1] == v[1] && k[1] > 0 && q[1] > k[1] && q[1] % k[1] == 0;
  }

  // Attention without offsets. The tensors of flash attention are [batch, length, heads, size].
  // Before 2.14, the registry read them as [batch, heads, length, size]; it still reads those of
  // efficient attention that way.
  [[nodiscard]] std::int64_t unpacked_attention(const Packed& at) const {
    const bool swaps = at.head_dimension == 1 ? is_since({2, 14}) : rules_.ours;
    const auto read = [&](std::size_t position) {
      const Sizes* given = tensor(position, 4);
      Sizes sizes = given == nullptr ? Sizes{} : *given;
      if (swaps && given != nullptr) std::swap(sizes[1], sizes[2]);
      return sizes;
    };
    const Sizes q = read(at.q), k = read(at.q + 1), v = read(at.q + 2);
    return at.grad ? attention_backward(read(*at.grad), q, k, v) : attention(q, k, v);
  }

  // The sizes of a tensor argument; null if the argument is not a tensor, or not of the given rank.
  [[nodiscard]] const Sizes* tensor(std::size_t position,
                                    std::optional<std::size_t> rank = {}) const {
    if (position >= call_.arguments.size()) return nullptr;
    const auto& sizes = call_.arguments[position].tensor;
    return sizes && (!rank || sizes->size() == *rank) ? &*sizes : nullptr;
  }
  [[nodiscard]] std::optional<std::int64_t> number(std::size_t position) const {
    return position < call_.arguments.size() ? call_.arguments[position].number : std::nullopt;
  }

  const OperatorCall& call_;
  const Rules& rules_;
};

constexpr TorchVersion kAlways{}, kNever{1 << 20, 0};

using Formula = std::int64_t (*)(const Formulas&);

struct Entry {
  std::string_view packet;
  TorchVersion in_registry;  // the first version with this entry
  Formula formula;
};

constexpr Formula kMatmul = [](const Formulas& f) { return f.mm(0, 1); };
constexpr Formula kAddedMatmul = [](const Formulas& f) { return f.mm(1, 2); };
constexpr Formula kBatchedMatmul = [](const Formulas& f) { return f.bmm(0, 1); };
constexpr Formula kAddedBatchedMatmul = [](const Formulas& f) { return f.bmm(1, 2); };
constexpr Formula kEachElement = [](const Formulas& f) { return f.each_element(0); };
constexpr Formula kGroupedMatmul = [](const Formulas& f) { return f.grouped_mm(); };
constexpr Formula kConvolution = [](const Formulas& f) { return f.convolution_forward(); };
constexpr Formula kAttentionForward = [](const Formulas& f) { return f.attention_forward(0); };
constexpr Formula kAttentionBackward = [](const Formulas& f) { return f.attention_backward(0, 1); };
constexpr Formula kPackedAttention = [](const Formulas& f) {
  return f.packed_attention({0, 3, {}, 1});
};
constexpr Formula kPackedAttentionBackward = [](const Formulas& f) {
  return f.packed_attention({1, 6, 0, 1});
};

constexpr std::array<Entry, 43> kEntries{{
    // Matrix products.
    {"aten.mm", kAlways, kMatmul},
    {"aten.addmm", kAlways, kAddedMatmul},
    {"aten.bmm", kAlways, kBatchedMatmul},
    {"aten.baddbmm", kAlways, kAddedBatchedMatmul},
    {"aten._scaled_mm", kAlways, kMatmul},
    {"aten._scaled_mm_v2", kNever, kMatmul},
    {"aten._int_mm", kNever, kMatmul},
    {"aten._addmm_activation", kNever, kAddedMatmul},
    {"aten.addbmm", kNever, kAddedBatchedMatmul},
    {"aten.mv", kNever, kEachElement},
    {"aten.addmv", kNever, [](const Formulas& f) { return f.each_element(1); }},
    {"aten.dot", kNever, kEachElement},
    {"aten.vdot", kNever, kEachElement},
    {"aten.linear", kNever, [](const Formulas& f) { return f.linear(); }},
    {"aten._grouped_mm", kNever, kGroupedMatmul},
    {"aten._scaled_grouped_mm", kNever, kGroupedMatmul},
    {"aten._scaled_grouped_mm_v2", kNever, kGroupedMatmul},
    // Convolutions.
    {"aten.convolution", kAlways, kConvolution},
    {"aten._convolution", kAlways, kConvolution},
    {"aten.cudnn_convolution", kAlways, kConvolution},
    {"aten.convolution_overrideable", kAlways, kConvolution},
    {"aten._slow_conv2d_forward", kAlways, kConvolution},
    {"aten.convolution_backward", kAlways,
     [](const Formulas& f) { return f.convolution_backward(); }},
    // Attention.
    {"aten._scaled_dot_product_efficient_attention", kAlways, kAttentionForward},
    {"aten._scaled_dot_product_flash_attention", kAlways, kAttentionForward},
    {"aten._scaled_dot_product_cudnn_attention", kAlways, kAttentionForward},
    {"aten._scaled_dot_product_efficient_attention_backward", kAlways, kAttentionBackward},
    {"aten._scaled_dot_product_flash_attention_backward", kAlways, kAttentionBackward},
    {"aten._scaled_dot_product_cudnn_attention_backward", kAlways, kAttentionBackward},
    {"aten._flash_attention_forward", kAlways, kPackedAttention},
    {"aten._efficient_attention_forward", kAlways,
     [](const Formulas& f) {
       return f.packed_attention({0, 4, {}, 2});
     }},
    {"aten._flash_attention_backward", kAlways, kPackedAttentionBackward},
    {"aten._efficient_attention_backward", kAlways,
     [](const Formulas& f) {
       return f.packed_attention({1, 6, 0, 2});
     }},
    {"aten._scaled_dot_product_flash_attention_for_cpu", TorchVersion{2, 15}, kAttentionForward},
    {"aten._scaled_dot_product_flash_attention_for_cpu_backward", TorchVersion{2, 15},
     kAttentionBackward},
    {"aten._scaled_dot_product_fused_attention_overrideable", kNever, kAttentionForward},
    {"aten._scaled_dot_product_fused_attention_overrideable_backward", kNever, kAttentionBackward},
    {"aten._scaled_dot_product_attention_math", kNever, kAttentionForward},
    {"flex_attention", TorchVersion{2, 13}, kAttentionForward},
    // Arguments: (query, key, value, out, logsumexp, grad_out, ...)
    {"flex_attention_backward", TorchVersion{2, 13},
     [](const Formulas& f) { return f.attention_backward(5, 0); }},
    {"torch_attn._varlen_attn", TorchVersion{2, 12}, kPackedAttention},
    {"torch_attn._varlen_attn_out", TorchVersion{2, 12},
     [](const Formulas& f) {
       return f.packed_attention({1, 4, {}, 1});
     }},
    {"torch_attn._varlen_attn_backward", TorchVersion{2, 12}, kPackedAttentionBackward},
}};

const Entry* find_entry(std::string_view packet) {
  const auto* it =
      std::ranges::find_if(kEntries, [&](const Entry& e) { return e.packet == packet; });
  return it == kEntries.end() ? nullptr : it;
}

}  // namespace

bool has_flop_formula(std::string_view packet) {
  return find_entry(packet) != nullptr;
}

bool is_in_torch_registry(std::string_view packet, TorchVersion torch) {
  const Entry* entry = find_entry(packet);
  return entry != nullptr && torch >= entry->in_registry;
}

Flops operator_flops(const OperatorCall& call, TorchVersion torch) {
  const Entry* entry = find_entry(call.packet);
  if (entry == nullptr) return {};
  // A negative length in the arguments must not make the count negative.
  const auto count = [&](const Rules& rules) {
    return std::max<std::int64_t>(entry->formula(Formulas(call, rules)), 0);
  };
  return {.torch_registry = torch >= entry->in_registry ? count({.torch = torch}) : 0,
          .total = count({.ours = true})};
}

}  // namespace jointer
