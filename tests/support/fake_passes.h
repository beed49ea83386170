#pragma once

// Passes for tests, in addition to the built-in ones, such as one that fails, one that runs until
// it is cancelled, and one that belongs to a plugin.

#include <QSet>
#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>

#include "passes/built_in.h"
#include "views/session/pipeline/pass_service.h"

namespace jointer::test {

class FakePasses : public views::PassService {
 public:
  FakePasses() {
    add("fails", [](Graph&, const Arguments&, PassContext&) -> Result<void> {
      throw std::runtime_error("an unexpected failure");
    });
    // Changes the graph before it fails: the change must not be visible.
    add("spoils", [](Graph& graph, const Arguments&, PassContext&) -> Result<void> {
      graph.set_order({});
      return fail(Error::Kind::run, "it gave up half way");
    });
    // Runs until it is cancelled and a little longer, like a pass that seldom checks.
    add("slow", [running = running_](Graph&, const Arguments&, PassContext& context) {
      ++*running;
      Result<void> result;
      while ((result = context.report(0.25))) std::this_thread::sleep_for(kNap);
      std::this_thread::sleep_for(20 * kNap);
      --*running;
      return result;
    });
    add(
        "foreign", [](Graph&, const Arguments&, PassContext&) { return Result<void>(); },
        "plugin: /somewhere");
    add("stays", [](Graph&, const Arguments&, PassContext& context) {
      context.decide("kept", "Nothing was worth it.");
      return Result<void>();
    });
    add("limited", [](Graph&, const Arguments&, PassContext& context) {
      const auto limit = context.peak_limit();
      context.decide("kept", limit ? fmt::format("within {}", *limit) : "no limit");
      return Result<void>();
    });
    std::vector<Parameter> all;
    const auto parameter = [&](std::string name, Parameter::Type type, PassValue default_value) {
      all.push_back({.name = std::move(name),
                     .type = type,
                     .default_value = std::move(default_value),
                     .doc = "A parameter for tests."});
      return &all.back();
    };
    parameter("flag", Parameter::Type::boolean, false);
    auto* count = parameter("count", Parameter::Type::integer, 4);
    count->min = 1;
    auto* share = parameter("share", Parameter::Type::number, 0.5);
    share->min = 0;
    share->max = 1;
    parameter("limit", Parameter::Type::bytes, {});
    parameter("way", Parameter::Type::text, "dp")->choices = {"dp", "greedy"};
    parameter("pattern", Parameter::Type::text, {});
    parameter("operators", Parameter::Type::list, PassValue::List{});
    add(
        "told", [](Graph&, const Arguments&, PassContext&) { return Result<void>(); }, "tests",
        std::move(all));
  }

  // The number of runs of `slow` that have not ended.
  [[nodiscard]] int running() const { return *running_; }
  [[nodiscard]] int allowed_count() const { return static_cast<int>(allowed_.size()); }
  // The sources of the code that was added, in order.
  [[nodiscard]] const QStringList& added() const { return added_; }
  void set_problems(const QStringList& problems) {
    problems_ = problems;
    emit changed();
  }
  void remove_foreign() {
    PassRegistry others;
    for (const Pass& pass : registry_->passes())
      if (pass.info.name != "foreign") (void)others.add(pass);
    registry_ = std::make_shared<const PassRegistry>(std::move(others));
    emit changed();
  }

  [[nodiscard]] std::shared_ptr<const PassRegistry> registry() const override { return registry_; }
  [[nodiscard]] QStringList problems() const override { return problems_; }
  [[nodiscard]] PythonRunner python() const override { return {}; }
  [[nodiscard]] std::optional<views::ForeignCode> unallowed(const QString& pass) const override {
    const Pass* known = registry_->find(pass.toStdString());
    auto code =
        known == nullptr ? std::nullopt : code_at(QString::fromStdString(known->info.source));
    if (!code || is_allowed(*code)) return std::nullopt;
    code->passes = {pass};
    return code;
  }
  [[nodiscard]] std::optional<views::ForeignCode> code_at(const QString& source) const override {
    if (source.startsWith(views::kPythonSource)) {
      const QString spec = source.mid(views::kPythonSource.size());
      return views::ForeignCode{.kind = views::ForeignCode::Kind::python,
                                .source = spec,
                                .file = spec.section(u':', 0, 0),
                                .hash = QStringLiteral("0123456789abcdef"),
                                .passes = {}};
    }
    if (!source.startsWith(QStringLiteral("plugin: "))) return std::nullopt;
    return views::ForeignCode{.kind = views::ForeignCode::Kind::plugin,
                              .source = source.mid(8),
                              .file = source.mid(8) + QStringLiteral("/plugin.so"),
                              .hash = QStringLiteral("0123456789abcdef"),
                              .passes = {}};
  }
  [[nodiscard]] bool is_allowed(const views::ForeignCode& code) const override {
    return allowed_.contains(code.source);
  }
  void allow(const views::ForeignCode& code) override {
    allowed_ << code.source;
    emit changed();
  }
  void add(const views::ForeignCode& code) override { added_ << code.source; }

 private:
  static constexpr std::chrono::milliseconds kNap{5};

  template <class Run>
  void add(const char* name, Run run, const char* source = "tests",
           std::vector<Parameter> parameters = {}) {
    PassRegistry more = *registry_;
    (void)more.add({.info = {.name = name,
                             .summary = "A pass for tests.",
                             .source = source,
                             .stage = PassStage::check,
                             .parameters = std::move(parameters)},
                    .run = std::move(run)});
    registry_ = std::make_shared<const PassRegistry>(std::move(more));
  }

  std::shared_ptr<std::atomic<int>> running_ = std::make_shared<std::atomic<int>>(0);
  std::shared_ptr<const PassRegistry> registry_ =
      std::make_shared<const PassRegistry>(built_in_passes());
  QStringList problems_, added_;
  QSet<QString> allowed_;
};

}  // namespace jointer::test
