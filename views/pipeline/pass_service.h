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

// What a source begins with as a registry or a workspace writes it: a plugin's folder follows, or a
// Python spec.
inline const QString kPluginSource = QStringLiteral("plugin: ");
inline const QString kPythonSource = QStringLiteral("Python: ");

// Code that is not ours: what a person is asked about before it runs.
struct ForeignCode {
  enum class Kind : std::uint8_t { plugin, python };
  Kind kind = Kind::plugin;
  QString source;      // a plugin's folder, or a Python spec
  QString file;        // whose content is what is allowed; empty for a Python module
  QString hash;        // SHA-256 of the file; empty where there is none
  QStringList passes;  // that it is asked for; may be empty
  friend bool operator==(const ForeignCode&, const ForeignCode&) = default;
};

// Which passes there are, and what may run of them. Panes know this and neither plugins nor
// Python; the desktop has the built-in ones, plugins and Python passes, tests what they need.
// Everything is called, and every signal comes, on the window's thread.
class PassService : public QObject {
  Q_OBJECT
 public:
  explicit PassService(QObject* parent = nullptr);
  // Waits for what was given up and has not ended yet.
  ~PassService() override;
  PassService(const PassService&) = delete;
  PassService& operator=(const PassService&) = delete;

  // Where passes run. They end soon after they are cancelled, and may outlive their documents.
  [[nodiscard]] QThreadPool& threads() { return threads_; }

  // Never null; another one after `changed`. Passes that nobody allowed are in it and refuse to
  // run.
  [[nodiscard]] virtual std::shared_ptr<const PassRegistry> registry() const = 0;
  // What could not be had, and why: a sentence each.
  [[nodiscard]] virtual QStringList problems() const = 0;
  // Runs functions of the Python package for passes that only Python has; may be empty.
  [[nodiscard]] virtual PythonRunner python() const = 0;

  // Whose code it is that has to be allowed before this pass runs; nothing: it is ours, or allowed
  // as it is on disk now.
  [[nodiscard]] virtual std::optional<ForeignCode> unallowed(const QString& pass) const = 0;
  // What a source as a registry or a workspace writes it ("plugin: FOLDER", "Python: SPEC") is;
  // nothing if it is none. Runs nothing.
  [[nodiscard]] virtual std::optional<ForeignCode> code_at(const QString& source) const = 0;
  // From now on, on this machine, as long as the file stays as it is; a Python module as long as
  // the program runs.
  virtual void allow(const ForeignCode& code) = 0;
  // Adds its passes; `changed` or `failed` follows. What a Python pass takes is found by running
  // its module: it must have been allowed. Of a plugin nothing runs.
  virtual void add(const ForeignCode& code) = 0;

 signals:
  void changed();
  // Something could not be added: a sentence.
  void failed(const QString& sentence);
  // A pass printed a line.
  void printed(const QString& pass, const QString& line);

 private:
  QThreadPool threads_;
};

}  // namespace jointer::views
