#include "views/session/document/document.h"

#include "views/session/document/marks.h"
#include "views/session/document/shown_range.h"
#include "views/session/edit/editing.h"
#include "views/session/kernels/asked_kernels.h"
#include "views/session/kernels/kernel_order_edits.h"
#include "views/session/kernels/opened_kernels.h"
#include "views/session/kernels/predicted_kernels.h"
#include "views/session/kernels/shown_kernels.h"
#include "views/session/kernels/traced_kernels.h"
#include "views/session/sac/sac_session.h"

namespace jointer::views {

Document::Document(OpenRequest source, SnapshotPtr snapshot, QObject* parent)
    : OpenGraph(std::move(source), std::move(snapshot), parent),
      editing_(std::make_unique<Editing>(*this)),
      kernels_(std::make_unique<PredictedKernels>(*this)),
      sac_(std::make_unique<SacSession>(*this, *editing_)),
      marks_(std::make_shared<Marks>()),
      shown_range_(std::make_unique<ShownRange>(*this)),
      kernel_order_(std::make_unique<KernelOrderEdits>(*kernels_)),
      asked_kernels_(std::make_unique<AskedKernels>(*this)),
      opened_kernels_(std::make_unique<OpenedKernels>(*this)),
      traced_kernels_(std::make_unique<TracedKernels>(*this, *opened_kernels_)),
      shown_kernels_(std::make_unique<ShownKernels>(*kernels_, *kernel_order_, *asked_kernels_,
                                                    *opened_kernels_, *traced_kernels_)) {
  connect(opened_kernels_.get(), &OpenedKernels::failed, this, &Document::failed);
  connect(traced_kernels_.get(), &TracedKernels::failed, this, &Document::failed);
}

Document::~Document() = default;

}  // namespace jointer::views
