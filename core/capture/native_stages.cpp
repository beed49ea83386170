#include "core/capture/native_stages.h"

#include <algorithm>
#include <array>

#include "core/base/bytes.h"
#include "core/capture/native_json.h"
#include "core/capture/native_start.h"

namespace jointer {
namespace {

using native::give_up;
using native::json::value;

constexpr std::array<std::string_view, 6> kRoles{"forward",         "backward", "backward_input",
                                                 "backward_weight", "unshard",  "reduce_grad"};

StageText read_stage(native::json::object object, std::size_t index) {
  StageText stage;
  for (native::json::field field : object) {
    const std::string_view key = field.unescaped_key();
    value member = field.value();
    if (key == "name")
      stage.name = native::get_text(member);
    else if (key == "role")
      stage.role = native::get_text(member);
    else if (key == "capture")
      stage.capture = native::raw(member);
  }
  if (stage.capture.empty()) give_up("stage {}: `capture` is missing", index);
  if (std::ranges::find(kRoles, stage.role) == kRoles.end())
    give_up(
        "stage {} has the role `{}`; expected forward, backward, backward_input, backward_weight, "
        "unshard or reduce_grad",
        index, stage.role);
  if (stage.name.empty()) stage.name = stage.role;
  return stage;
}

}  // namespace

Result<std::optional<std::vector<StageText>>> find_stages(std::string_view name,
                                                          std::string_view bytes) {
  // Most captures have no stages. Their start shows that or, failing that, a search for the member,
  // which takes far less time than parsing.
  if (look_at_native_start(bytes.substr(0, kNativeStart)) == NativeStart::one_graph)
    return std::nullopt;
  constexpr std::string_view kMember = "\"stages\"";
  if (memmem(bytes.data(), bytes.size(), kMember.data(), kMember.size()) == nullptr)
    return std::nullopt;
  native::json::parser parser;
  const simdjson::padded_string_view view(bytes.data(), bytes.size(),
                                          bytes.size() + PaddedBytes::kPadding);
  try {
    native::json::document document = parser.iterate(view);
    std::string kind;
    std::vector<StageText> stages;
    bool has_stages = false;
    for (native::json::field field : document.get_object()) {
      const std::string_view key = field.unescaped_key();
      value member = field.value();
      if (key == "kind") {
        kind = native::get_text(member);
        if (kind != "stages") return std::nullopt;
      } else if (key == "nodes" || key == "forward") {
        return std::nullopt;  // a graph or a pair: read_native reports its errors
      } else if (key == "stages") {
        has_stages = true;
        for (value stage : member.get_array())
          stages.push_back(read_stage(stage.get_object(), stages.size()));
      }
    }
    if (kind != "stages") return std::nullopt;
    if (!has_stages || stages.empty()) give_up("a capture of kind `stages` has no stages");
    return stages;
  } catch (const native::Failure& failure) {
    return input_error("{}: {}", name, failure.message);
  } catch (const simdjson::simdjson_error&) {
    return std::nullopt;  // damaged: read_native reports where
  }
}

}  // namespace jointer
