#include "core/kernels/fx_arguments.h"

#include <array>
#include <string_view>

#include "core/base/is_one_of.h"

namespace jointer::kernels {
namespace {

constexpr std::array kContiguous = std::to_array<std::string_view>({
    "aten.view_as_complex",
    "aten._pdist_forward",
    "aten._pdist_backward",
    "aten._cudnn_rnn_backward",
    "aten.miopen_rnn_backward",
    "aten._embedding_bag",
    "aten._embedding_bag_forward_only",
    "aten.upsample_bicubic2d_backward",
    "aten._weight_norm_interface_backward",
    "aten._fft_c2c",
});

constexpr std::array kDense = std::to_array<std::string_view>({
    "aten._cudnn_rnn",
    "aten.miopen_rnn",
    "aten._adaptive_avg_pool2d_backward",
    "aten._thnn_fused_lstm_cell",
});

// Fallbacks of Inductor that accept inputs with any strides.
constexpr std::array kFree = std::to_array<std::string_view>({
    "aten._adaptive_avg_pool3d",
    "aten._adaptive_avg_pool3d_backward",
    "aten._addmm_activation",
    "aten._amp_update_scale",
    "aten._amp_update_scale_",
    "aten._cdist_backward",
    "aten._cdist_forward",
    "aten._conj",
    "aten._embedding_bag_backward",
    "aten._embedding_bag_per_sample_weights_backward",
    "aten._fft_r2c",
    "aten._fused_moving_avg_obs_fq_helper",
    "aten._fused_moving_avg_obs_fq_helper_functional",
    "aten._histogramdd_bin_edges",
    "aten._histogramdd_from_bin_cts",
    "aten._linalg_check_errors",
    "aten._linalg_det",
    "aten._linalg_eigh",
    "aten._linalg_slogdet",
    "aten._linalg_solve_ex",
    "aten._linalg_svd",
    "aten._scaled_addmm",
    "aten._scaled_addmm_",
    "aten._segment_reduce_backward",
    "aten._sparse_coo_tensor_with_dims_and_tensors",
    "aten._to_sparse",
    "aten._trilinear",
    "aten._unique2",
    "aten.adaptive_max_pool2d_backward",
    "aten.adaptive_max_pool3d",
    "aten.addbmm",
    "aten.angle",
    "aten.bincount",
    "aten.cholesky_inverse",
    "aten.cholesky_solve",
    "aten.cummax",
    "aten.cummin",
    "aten.exponential",
    "aten.fractional_max_pool2d_backward",
    "aten.fractional_max_pool3d_backward",
    "aten.gcd",
    "aten.geqrf",
    "aten.grid_sampler_2d_backward",
    "aten.histc",
    "aten.histogram",
    "aten.index_reduce",
    "aten.linalg_cholesky_ex",
    "aten.linalg_householder_product",
    "aten.linalg_inv_ex",
    "aten.linalg_ldl_factor_ex",
    "aten.linalg_ldl_solve",
    "aten.linalg_lu",
    "aten.linalg_lu_factor_ex",
    "aten.linalg_lu_solve",
    "aten.linalg_matrix_exp",
    "aten.linalg_matrix_sqrth",
    "aten.linalg_pinv",
    "aten.linalg_polar",
    "aten.linalg_qr",
    "aten.linalg_solve_triangular",
    "aten.lu_unpack",
    "aten.masked_scatter",
    "aten.masked_scatter_backward",
    "aten.max_pool3d_with_indices_backward",
    "aten.multinomial",
    "aten.nanmedian",
    "aten.nonzero",
    "aten.nonzero_static",
    "aten.normal",
    "aten.ormqr",
    "aten.rand",
    "aten.rand_like",
    "aten.randint",
    "aten.randint_like",
    "aten.randn",
    "aten.randn_like",
    "aten.randperm",
    "aten.repeat_interleave",
    "aten.replication_pad1d_backward",
    "aten.replication_pad2d_backward",
    "aten.resize_",
    "aten.resize_as_",
    "aten.rrelu_with_noise_functional",
    "aten.segment_reduce",
    "aten.soft_margin_loss_backward",
    "aten.sort",
    "aten.split_with_sizes_copy",
    "aten.to_sparse",
    "aten.topk",
    "aten.triangular_solve",
    "aten.uniform",
    "aten.unique_consecutive",
    "aten.unique_dim",
    "aten.unique_dim_consecutive",
    "aten.upsample_linear1d_backward",
    "aten.upsample_trilinear3d_backward",
    "aten.view_as_real",
});

// Element-wise functions that Triton lacks: on a GPU, Inductor falls back to torch for them, and
// accepts inputs with any strides (pointwise_overrides_data in torch/_inductor/codegen/common.py).
constexpr std::array kWithoutTriton = std::to_array<std::string_view>({
    "aten.digamma",
    "aten.igamma",
    "aten.igammac",
    "aten.polygamma",
    "aten.special_airy_ai",
    "aten.special_chebyshev_polynomial_t",
    "aten.special_chebyshev_polynomial_u",
    "aten.special_chebyshev_polynomial_v",
    "aten.special_chebyshev_polynomial_w",
    "aten.special_gammainc",
    "aten.special_gammaincc",
    "aten.special_hermite_polynomial_h",
    "aten.special_hermite_polynomial_he",
    "aten.special_i0e",
    "aten.special_i1e",
    "aten.special_laguerre_polynomial_l",
    "aten.special_legendre_polynomial_p",
    "aten.special_log_ndtr",
    "aten.special_modified_bessel_k0",
    "aten.special_modified_bessel_k1",
    "aten.special_ndtr",
    "aten.special_ndtri",
    "aten.special_scaled_modified_bessel_k0",
    "aten.special_scaled_modified_bessel_k1",
    "aten.special_shifted_chebyshev_polynomial_t",
    "aten.special_shifted_chebyshev_polynomial_u",
    "aten.special_shifted_chebyshev_polynomial_v",
    "aten.special_shifted_chebyshev_polynomial_w",
    "aten.special_spherical_bessel_j0",
    "aten.special_zeta",
});

}  // namespace

bool FxArguments::is_number(const Argument& argument) const {
  using enum Argument::Kind;
  if (argument.kind == node)
    return argument.node() && graph_.node(argument.node()).value.kind == Value::Kind::symbol;
  return argument.kind == integer || argument.kind == real || argument.kind == boolean ||
         argument.kind == symbol;
}

std::int64_t FxArguments::integer(const Argument& argument) const {
  switch (argument.kind) {
    case Argument::Kind::integer:
    case Argument::Kind::boolean:
      return argument.integer;
    case Argument::Kind::real:
      return static_cast<std::int64_t>(argument.real);
    case Argument::Kind::symbol:
      return graph_.expression_value(argument.expression());
    case Argument::Kind::node:
      if (is_number(argument))
        return graph_.expression_value(graph_.node(argument.node()).value.expression());
      return 0;
    default:
      return 0;
  }
}

double FxArguments::real(const Argument& argument) const {
  return argument.kind == Argument::Kind::real ? argument.real
                                               : static_cast<double>(integer(argument));
}

Sizes FxArguments::integers(const Argument& argument) const {
  if (is_number(argument)) return {integer(argument)};
  Sizes result;
  for (const Argument& each : graph_.children(argument)) result.push_back(integer(each));
  return result;
}

FxId argument_value(const std::vector<FxIds>& env, const Argument& argument) {
  if (argument.kind != Argument::Kind::node || !argument.node()) return -1;
  const FxIds& values = env[argument.node().index()];
  return values.size() == 1 ? values.front() : -1;
}

FxTensor captured_tensor(const Graph& graph, const Tensor& tensor) {
  FxTensor result{.dtype = tensor.dtype,
                  .is_on_gpu = graph.device_type(tensor) != DeviceType::cpu,
                  .shape = {},
                  .stride = {}};
  for (const Dim& dim : graph.shape(tensor)) result.shape.push_back(dim.value);
  for (const Dim& dim : graph.stride(tensor)) result.stride.push_back(dim.value);
  return result;
}

Constraint call_constraint(const OperatorInfo& info, bool is_backward) {
  const std::string_view packet = info.packet();
  if (packet.starts_with("aten._scaled_dot_product") ||
      packet.starts_with("aten._flash_attention") ||
      packet.starts_with("aten._efficient_attention"))
    return Constraint::attention;
  if (is_one_of(packet, kContiguous)) return Constraint::contiguous;
  if (is_one_of(packet, kDense)) return Constraint::dense;
  if (is_one_of(packet, kFree) || is_one_of(packet, kWithoutTriton) || info.is_view)
    return Constraint::none;
  if (info.space() != "aten" && info.space() != "prims") return Constraint::exact;
  return is_backward ? Constraint::contiguous : Constraint::none;
}

}  // namespace jointer::kernels
