// Text from outside as it may be shown in a log or on a terminal.
#pragma once

#include <string>
#include <string_view>

namespace orrery {

// Appends `text` in one line of valid UTF-8. What a terminal or a reader of lines may take for more
// than a character (controls, line ends, marks that turn the direction of text) is written \u001b,
// and a byte that is no UTF-8 \ufffd. Characters of `escaped` (ASCII) get a backslash before them.
void append_printable(std::string& out, std::string_view text, std::string_view escaped = {});

}  // namespace orrery
