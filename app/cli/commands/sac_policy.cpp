#include "app/cli/commands/sac_policy.h"

#include "core/base/bytes.h"
#include "core/edit/edit.h"
#include "core/partition/plan_what_if.h"
#include "core/policy/import.h"
#include "core/policy/with_fsdp.h"

namespace jointer::cli {
namespace {

// Applies the edit, and records its notes and the origin of each tag.
Result<void> tag(Graph& graph, const Result<Edit>& edit, AppliedPolicy& applied) {
  if (!edit) return tl::unexpected(edit.error());
  const std::vector<MemoryPolicy> before = policies_of(graph);
  JOINTER_CHECK(apply(graph, *edit));
  applied.tags.resize(graph.node_count(), Decider::capture);
  for (const NodeId id : graph.order())
    if (id.index() >= before.size() || graph.node(id).policy != before[id.index()])
      applied.tags[id.index()] = decider_of(edit->by);
  applied.notes.insert(applied.notes.end(), edit->notes.begin(), edit->notes.end());
  return {};
}

}  // namespace

void PolicyOptions::add_to(CLI::App& command) {
  const HelpGroup group(command, "Policy");
  command
      .add_option("--save", save,
                  "Save the results of these operators, as torchtitan's apply_sac does with this "
                  "list; also FQN_PATTERN::operator")
      ->type_name("OPERATOR")
      ->delimiter(',');
  command
      .add_option("--every-nth", every_nth,
                  "With --save: recompute every nth call of an operator, as in aten.mm/2 (the "
                  "default) or aten.mm/2/layer; `none` recomputes none of the saved operators")
      ->type_name("RULE")
      ->delimiter(',');
  command
      .add_option("--policy", file,
                  "Apply the policy in a file: a list written by --export, a recipe, or a log of "
                  "torch's partitioner")
      ->type_name("FILE");
  command
      .add_option("--preset", preset,
                  "Apply one of torchtitan's policies: apply_sac, default, full, eager or "
                  "sac_and_offload")
      ->type_name("NAME");
}

Result<AppliedPolicy> PolicyOptions::apply_to(Graph& graph, bool fresh) const {
  AppliedPolicy applied;
  if ((save.empty() ? 0 : 1) + (file.empty() ? 0 : 1) + (preset.empty() ? 0 : 1) > 1)
    return fail(
        Error::Kind::usage,
        "options --save, --policy and --preset cannot be used together: each sets the tags");
  if (!every_nth.empty() && save.empty())
    return fail(Error::Kind::usage, "option --every-nth: needs --save");
  if (fresh) {
    JOINTER_CHECK(tag(graph, remove_tags(graph), applied));
    applied.notes.clear();
  }
  const MemoryPolicy fsdp = fsdp_policy(graph);
  if (!save.empty()) {
    SacOptions options{.save = save};
    if (!every_nth.empty()) options.every_nth.clear();
    for (const std::string& text : every_nth) {
      if (text == "none") continue;
      auto rule = parse_every_nth(text);
      if (!rule) return fail(rule.error().kind, "option --every-nth: {}", rule.error().message);
      options.every_nth.push_back(*std::move(rule));
    }
    JOINTER_CHECK(tag(graph, apply_sac_with_fsdp(graph, options, fsdp), applied));
  } else if (!preset.empty()) {
    JOINTER_CHECK(tag(graph, preset_with_fsdp(graph, preset, fsdp), applied));
  } else if (!file.empty()) {
    JOINTER_TRY(const PaddedBytes text, read_bytes(file));
    auto imported = import_policy(graph, text.view(), fsdp);
    if (!imported) return fail(imported.error().kind, "{}: {}", file, imported.error().message);
    applied.notes.push_back(fmt::format("{}: {}.", file, imported->what));
    applied.notes.insert(applied.notes.end(), imported->notes.begin(), imported->notes.end());
    for (const Edit& edit : imported->edits) JOINTER_CHECK(tag(graph, edit, applied));
  }
  return applied;
}

}  // namespace jointer::cli
