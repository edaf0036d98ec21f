// What the page of a run shows of its result and series: a page stays small however long the run and however many its
// nodes.
#pragma once

#include <nlohmann/json.hpp>

namespace mrc {

/// Leaves out what the page does not show: nodes beyond the first, except the peer, switch queues beyond the deepest,
/// buffers that were always empty; averages neighboring points of long series. `series` may be null.
/// Throws nlohmann's exceptions for JSON of another shape.
void shorten_for_page(nlohmann::ordered_json& result, nlohmann::ordered_json& series);

}  // namespace mrc
