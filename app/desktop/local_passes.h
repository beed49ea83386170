#pragma once

#include <QSet>
#include <QSettings>
#include <memory>
#include <vector>

#include "plugins/hosted/hosted_pass.h"
#include "views/session/pipeline/pass_service.h"
#include "views/session/work/mailbox.h"

namespace jointer::desktop {

// The passes available on this machine: built-in passes, plugins that were found or added, and
// Python passes that were added. The settings record the code that the user allowed, by file and
// content, and the declarations of the Python passes, so that the program runs none of that code at
// startup.
class LocalPasses : public views::PassService {
  Q_OBJECT
 public:
  // `settings` must outlive this object.
  explicit LocalPasses(QSettings& settings, QObject* parent = nullptr);

  [[nodiscard]] std::shared_ptr<const PassRegistry> registry() const override { return registry_; }
  [[nodiscard]] QStringList problems() const override { return problems_; }
  [[nodiscard]] PythonRunner python() const override;
  [[nodiscard]] std::optional<views::ForeignCode> unallowed(const QString& pass) const override;
  [[nodiscard]] std::optional<views::ForeignCode> code_at(const QString& source) const override;
  [[nodiscard]] bool is_allowed(const views::ForeignCode& code) const override;
  void allow(const views::ForeignCode& code) override;
  void add(const views::ForeignCode& code) override;

 private:
  // A source of Python passes with a cached declaration.
  struct PythonSource {
    QString spec, hash;
    QString declared;  // JSON list of its passes and their parameters
  };

  void load();
  void store() const;
  void make_registry();
  void add_plugins(PassRegistry& registry);
  void add_python(PassRegistry& registry);
  // Adds passes from allowed sources unchanged, and adds the others as withheld.
  void add_all(PassRegistry& registry, const std::vector<Pass>& passes);
  void add_plugin(const views::ForeignCode& code);
  void add_python(const views::ForeignCode& code);

  QSettings& settings_;
  views::Mailbox output_;  // receives the output of passes
  HostOptions host_;
  QStringList plugins_;  // folders that were added
  std::vector<PythonSource> python_;
  QList<views::ForeignCode> adding_;  // Python passes whose declarations are being made
  QSet<QString> allowed_;             // "HASH FILE"
  QSet<QString> allowed_modules_;     // allowed until the program exits
  std::shared_ptr<const PassRegistry> registry_;
  QStringList problems_;
};

}  // namespace jointer::desktop
