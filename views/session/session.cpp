#include "views/session/session.h"

#include "views/session/benchmark/benchmarks.h"
#include "views/session/document/document.h"
#include "views/session/document/open_documents.h"
#include "views/session/pipeline/pipeline_session.h"
#include "views/session/sac/sac_session.h"
#include "views/session/tune/tune_session.h"
#include "views/session/workspace/autosave.h"

namespace jointer::views {

Session::Session(OpenRequest source, SnapshotPtr snapshot, const SessionServices& services,
                 QObject* parent)
    : QObject(parent),
      open_documents_(services.documents),
      document_(std::make_unique<Document>(std::move(source), std::move(snapshot))),
      benchmarks_(std::make_unique<Benchmarks>(*document_, services.benchmarks, services.history)),
      pipeline_(std::make_unique<PipelineSession>(*document_, services.passes)),
      tune_(std::make_unique<TuneSession>(*document_)),
      autosave_(std::make_unique<Autosave>(*document_, *benchmarks_, services.journal_folder,
                                           &pipeline_->draft())) {
  open_documents_.add(*document_);
  // A joint graph runs only after it is partitioned, so the plan's estimates are needed from the
  // start.
  if (sac_kind(document_->graph()) == SacKind::joint) document_->sac().start();
}

Session::~Session() {
  open_documents_.remove(*document_);
  emit closing();
}

}  // namespace jointer::views
