#include "nic/rx/parser_parameters.h"

#include "parameters/parameter_table.h"

namespace mrc {

using enum ParameterSource;

void add_parser_parameters(ParameterTable& table) {
  MRC_PIPELINE(nic.parser, assumption);
  MRC_NODE(nic.parser.queue_entries, "entries", 1, 65'536, "received packets in front of the parser", assumption);
}

}  // namespace mrc
