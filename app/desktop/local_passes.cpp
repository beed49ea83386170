#include "app/desktop/local_passes.h"

#include <QCryptographicHash>
#include <QFile>
#include <QHash>
#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/base/bytes.h"
#include "passes/built_in.h"
#include "plugins/cpp/plugin_folder.h"
#include "plugins/cpp/plugins.h"
#include "plugins/hosted/declaration.h"
#include "plugins/hosted/withheld.h"
#include "plugins/python/python_passes.h"
#include "views/session/work/task.h"

namespace jointer::desktop {
namespace {

using namespace views;

const QString kPlugins = QStringLiteral("passes/plugins");
const QString kPython = QStringLiteral("passes/python");
const QString kAllowed = QStringLiteral("passes/allowed");

// The hash of a file's content; empty if the file cannot be read.
QString hash_of(const QString& path) {
  QFile file(path);
  QCryptographicHash hash(QCryptographicHash::Sha256);
  if (path.isEmpty() || !file.open(QFile::ReadOnly) || !hash.addData(&file)) return {};
  return QString::fromLatin1(hash.result().toHex());
}

ForeignCode plugin_code(const QString& folder) {
  ForeignCode code{.kind = ForeignCode::Kind::plugin, .source = folder};
  if (const auto described = read_plugin_folder(folder.toStdString())) {
    code.file = QString::fromStdString(described->library_path());
    for (const PassInfo& info : described->passes) code.passes << QString::fromStdString(info.name);
  }
  code.hash = hash_of(code.file);
  return code;
}

ForeignCode python_code(const QString& spec) {
  const QString file = QString::fromStdString(python_file(spec.toStdString()));
  return {.kind = ForeignCode::Kind::python, .source = spec, .file = file, .hash = hash_of(file)};
}

QString key_of(const ForeignCode& code) {
  return code.hash + u' ' + code.file;
}

std::string infos_text(const PassRegistry& registry) {
  OrderedJson list = OrderedJson::array();
  for (const Pass& pass : registry.passes()) list.push_back(to_json(pass.info));
  return write_json(list);
}

Result<std::vector<PassInfo>> infos_of(const QString& text) {
  JOINTER_TRY(const OrderedJson list, parse_json(text.toStdString(), "settings"));
  std::vector<PassInfo> infos;
  for (const OrderedJson& each : list) {
    JOINTER_TRY(PassInfo info, read_pass_info(each));
    infos.push_back(std::move(info));
  }
  return infos;
}

}  // namespace

LocalPasses::LocalPasses(QSettings& settings, QObject* parent)
    : PassService(parent), settings_(settings) {
  // Called on the threads that run passes; these threads may outlive this object.
  host_.log = [this, window = output_.address()](std::string_view pass, std::string_view line) {
    window.post([this, pass = std::string(pass), line = std::string(line)] {
      emit printed(QString::fromStdString(pass), QString::fromStdString(line));
    });
  };
  load();
  make_registry();
}

PythonRunner LocalPasses::python() const {
  return python_runner(host_);
}

// --- Settings ---

void LocalPasses::load() {
  plugins_ = settings_.value(kPlugins).toStringList();
  const QStringList allowed = settings_.value(kAllowed).toStringList();
  allowed_ = {allowed.begin(), allowed.end()};
  const int count = settings_.beginReadArray(kPython);
  for (int i = 0; i < count; ++i) {
    settings_.setArrayIndex(i);
    python_.push_back({settings_.value(QStringLiteral("spec")).toString(),
                       settings_.value(QStringLiteral("hash")).toString(),
                       settings_.value(QStringLiteral("declared")).toString()});
  }
  settings_.endArray();
}

void LocalPasses::store() const {
  settings_.setValue(kPlugins, plugins_);
  QStringList allowed(allowed_.begin(), allowed_.end());
  allowed.sort();
  settings_.setValue(kAllowed, allowed);
  settings_.remove(kPython);
  settings_.beginWriteArray(kPython);
  int index = 0;
  for (const PythonSource& each : python_) {
    if (each.hash.isEmpty()) continue;  // a module is allowed only until the program exits
    settings_.setArrayIndex(index++);
    settings_.setValue(QStringLiteral("spec"), each.spec);
    settings_.setValue(QStringLiteral("hash"), each.hash);
    settings_.setValue(QStringLiteral("declared"), each.declared);
  }
  settings_.endArray();
}

// --- The registry ---

void LocalPasses::add_all(PassRegistry& registry, const std::vector<Pass>& passes) {
  QHash<QString, bool> may_run;  // by source, since checking a source reads its file
  for (const Pass& pass : passes) {
    const QString source = QString::fromStdString(pass.info.source);
    if (!may_run.contains(source)) {
      const auto code = code_at(source);
      may_run.insert(source, !code || is_allowed(*code));
    }
    const auto added = registry.add(
        may_run.value(source)
            ? pass
            : withheld(pass, fmt::format("{} has not been allowed to run", pass.info.source)));
    if (!added)
      problems_ << source + QStringLiteral(": ") + QString::fromStdString(added.error().message);
  }
}

void LocalPasses::add_plugins(PassRegistry& registry) {
  PassRegistry named;
  for (const QString& folder : plugins_)
    if (const auto added = jointer::add_plugin(named, folder.toStdString(), host_); !added)
      problems_ << QString::fromStdString(added.error().message);
  PassRegistry found;
  for (const PluginError& error : jointer::add_plugins(found, plugin_search_path(), host_))
    problems_ << QString::fromStdString(error.message);
  std::vector<Pass> passes(named.passes().begin(), named.passes().end());
  for (const Pass& pass : found.passes())
    if (const Pass* known = named.find(pass.info.name);
        known == nullptr || known->info.source != pass.info.source)
      passes.push_back(pass);
  add_all(registry, passes);
}

void LocalPasses::add_python(PassRegistry& registry) {
  for (const PythonSource& each : python_) {
    const auto infos = infos_of(each.declared);
    if (!infos) continue;  // written by another version; the user has to add it again
    if (python_code(each.spec).hash != each.hash) {
      problems_ << tr("%1 was changed or removed after it was added; add it again.").arg(each.spec);
      continue;
    }
    std::vector<Pass> passes;
    for (PassInfo info : *infos) {
      info.source = (kPythonSource + each.spec).toStdString();
      passes.push_back(python_pass(std::move(info), each.spec.toStdString(), host_));
    }
    add_all(registry, passes);
  }
}

void LocalPasses::make_registry() {
  problems_.clear();
  PassRegistry registry = built_in_passes();
  add_plugins(registry);
  add_python(registry);
  registry_ = std::make_shared<const PassRegistry>(std::move(registry));
  emit changed();
}

// --- Permission to run ---

bool LocalPasses::is_allowed(const ForeignCode& code) const {
  return code.hash.isEmpty()
             ? code.kind == ForeignCode::Kind::python && allowed_modules_.contains(code.source)
             : allowed_.contains(key_of(code));
}

std::optional<ForeignCode> LocalPasses::code_at(const QString& source) const {
  if (source.startsWith(kPluginSource)) return plugin_code(source.mid(kPluginSource.size()));
  if (source.startsWith(kPythonSource)) return python_code(source.mid(kPythonSource.size()));
  return std::nullopt;
}

// Checked before every run, since the file may have changed.
std::optional<ForeignCode> LocalPasses::unallowed(const QString& pass) const {
  const Pass* known = registry_->find(pass.toStdString());
  if (known == nullptr) return std::nullopt;
  auto code = code_at(QString::fromStdString(known->info.source));
  if (!code || is_allowed(*code)) return std::nullopt;
  code->passes = {pass};
  return code;
}

void LocalPasses::allow(const ForeignCode& code) {
  if (code.hash.isEmpty())
    allowed_modules_ << code.source;
  else
    allowed_ << key_of(code);
  store();
  make_registry();
}

void LocalPasses::add(const ForeignCode& code) {
  if (code.kind == ForeignCode::Kind::plugin)
    add_plugin(code);
  else
    add_python(code);
}

void LocalPasses::add_plugin(const ForeignCode& code) {
  PassRegistry alone;
  if (const auto added = jointer::add_plugin(alone, code.source.toStdString(), host_); !added) {
    emit failed(QString::fromStdString(added.error().message));
    return;
  }
  if (!plugins_.contains(code.source)) plugins_ << code.source;
  store();
  make_registry();
}

// Gets the declaration on a worker thread, since the host first has to import torch.
void LocalPasses::add_python(const ForeignCode& code) {
  if (!is_allowed(code)) {
    emit failed(tr("%1 has not been allowed to run. Add it again, and allow it.").arg(code.source));
    return;
  }
  if (adding_.contains(code)) return;
  adding_ << code;
  const auto declare = [spec = code.source.toStdString(), host = host_]() -> Result<std::string> {
    PassRegistry alone;
    JOINTER_CHECK(add_python_passes(alone, std::span(&spec, 1), host));
    return infos_text(alone);
  };
  const auto take = [this, code](const Result<std::string>& declared) {
    adding_.removeOne(code);
    if (!declared) {
      emit failed(QString::fromStdString(declared.error().message));
      return;
    }
    std::erase_if(python_, [&](const PythonSource& each) { return each.spec == code.source; });
    python_.push_back({code.source, code.hash, QString::fromStdString(*declared)});
    store();
    make_registry();
  };
  run_in_background(this, declare, take, threads());
}

}  // namespace jointer::desktop
