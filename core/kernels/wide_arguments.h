#pragma once

// The arguments of a decomposition that computes in float32 if they are of low precision, like
// `pw_cast_for_opmath` in torch/_decomp/decompositions.py.

#include <string_view>
#include <utility>

#include "core/kernels/call_arguments.h"
#include "core/kernels/fx_builder.h"

namespace jointer::kernels {

// Converts arguments of low precision to float32, and the result back.
class Wide {
 public:
  Wide(FxBuilder& builder, const CallArguments& call) : b(builder), call_(call) {}
  FxBuilder& b;

  // An argument, in float32 if it is of low precision.
  FxId operator()(std::string_view name) const { return b.to_computation_type(call_.tensor(name)); }
  [[nodiscard]] FxIds result(FxId value) const { return {b.convert(value, call_.result().dtype)}; }
  FxId op(std::string_view name, FxIds inputs, Numbers scalars = {}) const {
    return b.pointwise(name, std::move(inputs), std::move(scalars));
  }
  FxId test(std::string_view name, FxIds inputs, Numbers scalars = {}) const {
    return b.pointwise(name, std::move(inputs), std::move(scalars), DType::boolean);
  }
  [[nodiscard]] FxId number(FxId like, double value) const {
    return b.full({}, b.dtype(like), b.tensor(like).is_on_gpu, value);
  }
  FxId where(FxId mask, FxId yes, FxId no) const {
    return b.pointwise("where", {mask, yes, no}, {}, b.dtype(no));
  }

 private:
  const CallArguments& call_;
};

}  // namespace jointer::kernels
