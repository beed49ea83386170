#include "views/sac/orders_box.h"

#include "passes/support/communicates.h"

namespace jointer::views {
namespace {

bool has_orders(const SacStatePtr& state) {
  return state && state->can_change() && communicates(state->snapshot->graph);
}

}  // namespace

OrdersBox::OrdersBox(ParetoSearch& search, QWidget* parent) : QCheckBox(tr("Order"), parent) {
  setChecked(search.orders());
  connect(this, &QCheckBox::toggled, &search, &ParetoSearch::set_orders);
  connect(&search, &ParetoSearch::orders_changed, this,
          [this, &search] { setChecked(search.orders()); });
}

void OrdersBox::show_for(const SacStatePtr& state) {
  setVisible(has_orders(state));
}

QString OrdersBox::explanation() {
  return tr(
      "Find an order for each plan, using passes that bucket and move collectives. Opening the "
      "pair, or applying the tags of a flat training step, also runs these passes.\n"
      "Off: compare plans in their own order.");
}

TwinGroupsBox::TwinGroupsBox(ParetoSearch& search, QWidget* parent)
    : QCheckBox(tr("Twin Groups"), parent) {
  const auto refresh = [this, &search] {
    setChecked(search.twin_groups());
    setEnabled(search.orders());
  };
  connect(this, &QCheckBox::toggled, &search, &ParetoSearch::set_twin_groups);
  connect(&search, &ParetoSearch::orders_changed, this, refresh);
  refresh();
}

void TwinGroupsBox::show_for(const SacStatePtr& state) {
  setVisible(has_orders(state));
}

QString TwinGroupsBox::explanation() {
  return tr(
      "Allow orders in which FSDP's all-gathers run in a twin of their process group, another "
      "group with the same ranks, so that they overlap with the reduce-scatters. Every rank must "
      "create the twin, and the estimates do not count the memory of its communicator. The Tune "
      "pane allows this unless its own box is cleared.");
}

}  // namespace jointer::views
