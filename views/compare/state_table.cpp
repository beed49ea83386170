#include "views/compare/state_table.h"

#include <algorithm>
#include <map>

#include "views/session/text/number_text.h"

namespace jointer::views {
namespace {

// The maximum number of history entries shown per document.
constexpr std::size_t kMaxEntries = 20;

// Removes the older history entries from the choices, but never the choice with the index
// `reference`. Updates `reference` to its new index.
std::vector<StateChoice> newest(const std::vector<StateChoice>& choices, std::size_t& reference) {
  std::map<const Document*, std::size_t> older;  // entries to leave out, by document
  for (const StateChoice& choice : choices)
    if (choice.kind == StateChoice::Kind::entry) ++older[choice.other];
  for (auto& [document, count] : older) count -= std::min(count, kMaxEntries);
  std::vector<StateChoice> kept;
  std::size_t at = 0;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    const bool is_entry = choices[i].kind == StateChoice::Kind::entry;
    const bool is_older = is_entry && older[choices[i].other] > 0;
    if (is_older) --older[choices[i].other];
    if (is_older && i != reference) continue;
    if (i == reference) at = kept.size();
    kept.push_back(choices[i]);
  }
  reference = at;
  return kept;
}

}  // namespace

StateTable::StateTable(Document& document, MakeState make, QWidget* parent)
    : TablePaneOf(document, tr("All states"), tr("Filter states"), parent), make_(std::move(make)) {
  view().set_flat();
  connect(&view(), &QAbstractItemView::activated, this, [this](const QModelIndex& index) {
    emit state_activated(choices_[static_cast<std::size_t>(TableModel::row_at(index))]);
  });
}

void StateTable::set_choices(const std::vector<StateChoice>& choices, std::size_t reference) {
  // Documents of the previous choices may have been closed.
  ++wanted_;
  computing_.cancel();
  reference_ = reference;
  choices_ = newest(choices, reference_);
  set_headline(
      choices_.size() == choices.size()
          ? QString()
          : tr("Only the last %1 history entries of each document are listed. The first state is "
               "always listed.")
                .arg(kMaxEntries));
  request_refresh();
}

void StateTable::refresh() {
  ++wanted_;
  computing_.cancel();
  std::erase_if(known_, [this](const Known& each) { return each.shown != document().baseline(); });
  show_known();
  view().fit_columns();
  compute_next();
}

SnapshotPtr StateTable::baseline_of(const StateChoice& choice) {
  return (choice.other != nullptr ? *choice.other : document()).baseline();
}

const StateTable::Known* StateTable::known(const StateChoice& choice) {
  const auto found = std::ranges::find_if(known_, [&](const Known& each) {
    return each.shown == document().baseline() && each.baseline == baseline_of(choice) &&
           each.choice.other == choice.other && each.choice.history == choice.history &&
           each.choice.file == choice.file;
  });
  return found == known_.end() ? nullptr : &*found;
}

void StateTable::show_known() {
  std::vector<StateTableModel::Row> rows;
  for (const StateChoice& choice : choices_) {
    StateTableModel::Row row{.name = choice.name};
    if (const Known* found = known(choice)) row.metrics = found->metrics;
    rows.push_back(std::move(row));
  }
  model_->set(std::move(rows), reference_);
}

void StateTable::compute_next() {
  const auto next = std::ranges::find_if(
      choices_, [this](const StateChoice& choice) { return known(choice) == nullptr; });
  if (next == choices_.end()) return;
  const auto take = [this, job = wanted_, choice = *next](const Result<Metrics>& metrics) {
    if (job != wanted_) return;
    known_.push_back({choice, document().baseline(), baseline_of(choice), metrics});
    show_known();
    view().fit_columns();
    compute_next();
  };
  make_(*next, [this, take, job = wanted_](const Result<StateOfDocument>& state) {
    if (job != wanted_) return;
    if (!state) return take(tl::unexpected(state.error()));
    const auto work = [state = *state, options = document().analysis().options](
                          const Cancellation& computing) -> Result<Metrics> {
      JOINTER_TRY(const StateOfDocument run, as_run(state, options, computing));
      return metrics_of(run.snapshot->graph, run.snapshot->analysis);
    };
    computing_.start(work, take);
  });
}

}  // namespace jointer::views
