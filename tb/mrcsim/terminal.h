// What a terminal is given besides text.
#pragma once

namespace mrc {

/// `file` is a terminal that can redraw a line: not TERM=dumb.
bool redraws_lines(int file);

/// The same, and the user has not said NO_COLOR (https://no-color.org).
bool shows_colours(int file);

}  // namespace mrc
