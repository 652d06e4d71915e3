// The XML of this face's few bodies, over pugixml. A document type is refused, so there are no
// entities but the five of XML itself, and the size is bounded before anything is parsed.
//
// Pure; any thread may call.
#pragma once

#include <pugixml.hpp>
#include <string>
#include <string_view>

#include "api/table/service/table_error.h"

namespace orrery::table {

inline constexpr size_t kMaxServiceXmlBytes = 64U << 10;

// The root element of `xml`, which must have this name. All text in it is UTF-8 without control
// characters. It lives as long as `document`.
TableResult<pugi::xml_node> load_xml(pugi::xml_document& document, std::string_view xml,
                                     const char* root);

// The text of a child, without white space around it; empty when there is none.
std::string_view child_text(const pugi::xml_node& node, const char* name);

// Escaped. What XML cannot have (controls, bytes that are no UTF-8) is replaced.
void append_xml_text(std::string& out, std::string_view text);
// <name>text</name>
void append_element(std::string& out, std::string_view name, std::string_view text);

}  // namespace orrery::table
