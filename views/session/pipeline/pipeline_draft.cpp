#include "views/session/pipeline/pipeline_draft.h"

#include <algorithm>

#include "core/pass/pipeline_file.h"

namespace jointer::views {
namespace {

constexpr std::size_t kMaxPast = 200;

}  // namespace

Pipeline PipelineDraft::pipeline() const {
  Pipeline pipeline;
  for (const DraftStep& each : steps_) pipeline.push_back(each.step);
  return pipeline;
}

std::optional<std::size_t> PipelineDraft::find(quint64 id) const {
  for (std::size_t i = 0; i < steps_.size(); ++i)
    if (steps_[i].id == id) return i;
  return std::nullopt;
}

QString PipelineDraft::text() const {
  return QString::fromStdString(write_pipeline_text({.steps = pipeline()}));
}

void PipelineDraft::remember(const std::string& what) {
  if (!what.empty() && std::exchange(last_change_, what) == what) return;
  last_change_ = what;
  past_.push_back(steps_);
  if (past_.size() > kMaxPast) past_.erase(past_.begin());
}

void PipelineDraft::undo() {
  if (past_.empty()) return;
  steps_ = std::move(past_.back());
  past_.pop_back();
  last_change_.clear();
  emit changed();
}

// A step keeps its id if the new pipeline has an equal step at any position or, failing that, a
// step with the same pass.
void PipelineDraft::set_pipeline(const Pipeline& pipeline) {
  if (pipeline == this->pipeline()) return;
  remember();
  std::vector<DraftStep> old = std::move(steps_);
  steps_.clear();
  for (const PipelineStep& step : pipeline) steps_.push_back({0, step});
  const auto copy_ids = [&](auto same) {
    for (DraftStep& each : steps_) {
      if (each.id != 0) continue;
      const auto found = std::find_if(old.begin(), old.end(),
                                      [&](const DraftStep& o) { return same(o.step, each.step); });
      if (found == old.end()) continue;
      each.id = found->id;
      old.erase(found);
    }
  };
  copy_ids([](const PipelineStep& a, const PipelineStep& b) { return a == b; });
  copy_ids([](const PipelineStep& a, const PipelineStep& b) { return a.pass == b.pass; });
  for (DraftStep& each : steps_)
    if (each.id == 0) each.id = ++last_id_;
  emit changed();
}

quint64 PipelineDraft::insert(std::size_t place, PipelineStep step) {
  remember();
  const quint64 id = ++last_id_;
  steps_.insert(steps_.begin() + static_cast<std::ptrdiff_t>(std::min(place, steps_.size())),
                {id, std::move(step)});
  emit changed();
  return id;
}

void PipelineDraft::remove(std::size_t place) {
  if (place >= steps_.size()) return;
  remember();
  steps_.erase(steps_.begin() + static_cast<std::ptrdiff_t>(place));
  emit changed();
}

void PipelineDraft::move(std::size_t place, std::size_t gap) {
  if (place >= steps_.size() || gap > steps_.size() || gap == place || gap == place + 1) return;
  remember();
  const auto at = [&](std::size_t i) { return steps_.begin() + static_cast<std::ptrdiff_t>(i); };
  if (gap < place)
    std::rotate(at(gap), at(place), at(place + 1));
  else
    std::rotate(at(place), at(place + 1), at(gap));
  emit changed();
}

void PipelineDraft::enable(std::size_t place, bool enabled) {
  if (place >= steps_.size() || steps_[place].step.is_enabled == enabled) return;
  remember();
  steps_[place].step.is_enabled = enabled;
  emit changed();
}

void PipelineDraft::set_argument(std::size_t place, const std::string& name,
                                 std::optional<PassValue> value) {
  if (place >= steps_.size()) return;
  auto& given = steps_[place].step.given;
  const auto found = std::find_if(given.begin(), given.end(),
                                  [&](const auto& each) { return each.first == name; });
  const bool is_same =
      value ? found != given.end() && found->second == *value : found == given.end();
  if (is_same) return;
  remember(fmt::format("{} {}", steps_[place].id, name));
  if (!value)
    given.erase(found);
  else if (found == given.end())
    given.emplace_back(name, *std::move(value));
  else
    found->second = *std::move(value);
  emit changed();
}

WorkspacePipeline PipelineDraft::saved() const {
  WorkspacePipeline saved{.text = text().toStdString(), .extra = extra_};
  // Leave out the sources of passes that are no longer used.
  for (const auto& [pass, source] : sources_) {
    const std::string& name = pass;
    if (std::ranges::any_of(steps_, [&](const DraftStep& each) { return each.step.pass == name; }))
      saved.sources.emplace_back(pass, source);
  }
  return saved;
}

void PipelineDraft::restore(const WorkspacePipeline& saved) {
  sources_ = saved.sources;
  extra_ = saved.extra;
  if (const auto pipeline = parse_step_lines(saved.text)) set_pipeline(*pipeline);
  past_.clear();
  last_change_.clear();
}

QString PipelineDraft::source_of(const QString& pass) const {
  for (const auto& [name, source] : sources_)
    if (name == pass.toStdString()) return QString::fromStdString(source);
  return {};
}

void PipelineDraft::set_source(const QString& pass, const QString& source) {
  for (auto& [name, known] : sources_) {
    if (name != pass.toStdString()) continue;
    known = source.toStdString();
    return;
  }
  sources_.emplace_back(pass.toStdString(), source.toStdString());
}

}  // namespace jointer::views
