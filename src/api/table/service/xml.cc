// See xml.h.
#include "api/table/service/xml.h"

#include <algorithm>

#include "face/http_error.h"

namespace orrery::table {
namespace {

std::string_view without_blanks(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

// Finds text that XML cannot have: control characters, by number too, and bytes that are no UTF-8.
class TextCheck final : public pugi::xml_tree_walker {
 public:
  bool good = true;

  bool for_each(pugi::xml_node& node) override {
    const std::string_view text = node.value();
    std::string well_formed;
    face::append_well_formed(well_formed, text);
    good = well_formed == text && std::ranges::none_of(text, [](char c) {
             return static_cast<unsigned char>(c) < ' ' && c != '\t' && c != '\n' && c != '\r';
           });
    return good;
  }
};

}  // namespace

TableResult<pugi::xml_node> load_xml(pugi::xml_document& document, std::string_view xml,
                                     const char* root) {
  if (xml.size() > kMaxServiceXmlBytes) {
    return refuse(ErrorCode::request_body_too_large,
                  "The XML has " + std::to_string(xml.size()) + " bytes; at most " +
                      std::to_string(kMaxServiceXmlBytes) + " are taken.");
  }
  const pugi::xml_parse_result parsed = document.load_buffer(
      xml.data(), xml.size(), pugi::parse_default | pugi::parse_doctype, pugi::encoding_auto);
  if (!parsed) {
    return refuse(ErrorCode::invalid_xml_document,
                  "XML specified is not syntactically valid: " + std::string(parsed.description()) +
                      " at byte " + std::to_string(parsed.offset) + ".");
  }
  if (std::ranges::any_of(document.children(), [](const pugi::xml_node& node) {
        return node.type() == pugi::node_doctype;
      })) {
    return refuse(ErrorCode::invalid_xml_document, "The XML may not have a document type.");
  }
  TextCheck check;
  document.traverse(check);
  if (!check.good) {
    return refuse(ErrorCode::invalid_xml_document,
                  "The XML has control characters, or text that is no UTF-8.");
  }
  const pugi::xml_node element = document.document_element();
  if (std::string_view(element.name()) != root) {
    std::string message = "The XML must be a <";
    message += root;
    message += "> element.";
    return refuse(ErrorCode::invalid_xml_document, std::move(message));
  }
  return element;
}

std::string_view child_text(const pugi::xml_node& node, const char* name) {
  return without_blanks(node.child(name).text().get());
}

void append_xml_text(std::string& out, std::string_view text) {
  std::string well_formed;
  face::append_well_formed(well_formed, text);
  for (const char c : well_formed) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      default:
        out += static_cast<unsigned char>(c) < ' ' && c != '\n' && c != '\t' ? ' ' : c;
    }
  }
}

void append_element(std::string& out, std::string_view name, std::string_view text) {
  out += '<';
  out += name;
  out += '>';
  append_xml_text(out, text);
  out += "</";
  out += name;
  out += '>';
}

}  // namespace orrery::table
