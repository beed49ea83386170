#pragma once

#include <QList>
#include <QObject>
#include <QString>
#include <QStringList>
#include <QThreadPool>
#include <memory>
#include <optional>

#include "core/pass/registry.h"

namespace jointer::views {

// Prefixes of sources in a registry or workspace. A plugin's folder or a Python spec follows.
inline const QString kPluginSource = QStringLiteral("plugin: ");
inline const QString kPythonSource = QStringLiteral("Python: ");

// Third-party code. The user has to allow it before it runs.
struct ForeignCode {
  enum class Kind : std::uint8_t { plugin, python };
  Kind kind = Kind::plugin;
  QString source;      // a plugin's folder or a Python spec
  QString file;        // the file whose content the user allows; empty for a Python module
  QString hash;        // SHA-256 of the file; empty if there is none
  QStringList passes;  // the passes that need this code; may be empty
  friend bool operator==(const ForeignCode&, const ForeignCode&) = default;
};

// The available passes and which of them may run. Panes use this interface and do not depend on
// plugins or Python. The desktop implements it with built-in passes, plugins and Python passes;
// tests have their own implementations. All functions are called, and all signals emitted, on the
// window's thread.
class PassService : public QObject {
  Q_OBJECT
 public:
  explicit PassService(QObject* parent = nullptr);
  // Waits for cancelled runs that have not ended yet.
  ~PassService() override;

  // The threads that passes run on. A cancelled pass does not end immediately, so it may outlive
  // its document.
  [[nodiscard]] QThreadPool& threads() { return threads_; }

  // Never null; `changed` announces a new registry. Includes passes that are not allowed to run;
  // they return an error.
  [[nodiscard]] virtual std::shared_ptr<const PassRegistry> registry() const = 0;
  // One sentence per source that could not be loaded.
  [[nodiscard]] virtual QStringList problems() const = 0;
  // Runs functions of the Python package, for passes that exist only in Python. May be empty.
  [[nodiscard]] virtual PythonRunner python() const = 0;

  // The code that the user must allow before this pass runs; nullopt if the pass is built in or its
  // code is already allowed.
  [[nodiscard]] virtual std::optional<ForeignCode> unallowed(const QString& pass) const = 0;
  // Parses a source as written in a registry or workspace: "plugin: FOLDER" or "Python: SPEC".
  // Returns nullopt for anything else. Runs nothing.
  [[nodiscard]] virtual std::optional<ForeignCode> code_at(const QString& source) const = 0;
  // True if the user has allowed this code, and its file has not changed since.
  [[nodiscard]] virtual bool is_allowed(const ForeignCode& code) const = 0;
  // Allows the code to run on this machine: a file until it changes, a Python module until the
  // program exits.
  virtual void allow(const ForeignCode& code) = 0;
  // Adds the passes of this code and emits `changed` or `failed`. Adding a Python pass runs its
  // module to determine the parameters, so the module must have been allowed. Ignored while the
  // same module is already running for this purpose. Adding a plugin runs nothing.
  virtual void add(const ForeignCode& code) = 0;

 signals:
  void changed();
  // Code could not be added; `sentence` says why.
  void failed(const QString& sentence);
  // A pass printed a line.
  void printed(const QString& pass, const QString& line);

 private:
  QThreadPool threads_;
};

}  // namespace jointer::views
