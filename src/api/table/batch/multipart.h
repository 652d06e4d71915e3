// The body of a POST to /$batch, and that of its answer: MIME multipart, as OData has it.
//
//   --batch_1                                    one part: a changeset, or one query
//   Content-Type: multipart/mixed; boundary=changeset_1
//
//   --changeset_1                                one part an operation
//   Content-Type: application/http
//
//   POST http://host/account/table HTTP/1.1      then headers, a blank line, a body
//   …
//   --changeset_1--
//   --batch_1--
//
// Lines may end in LF alone; header names have any case; blank lines between headers and body may
// be more than one; boundaries may be quoted, and any text of up to 70 characters.
//
// Input from outside: bounded by its limits, no recursion, linear in its size. Pure; any thread may
// call.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/table/service/table_error.h"

namespace orrery::table {

struct BatchLimits {
  size_t operations = 100;
  size_t bytes = 4U << 20;
};

// Views into the body.
struct BatchPart {
  std::string_view method;
  std::string_view target;  // as sent: mostly a whole URL
  std::vector<std::pair<std::string_view, std::string_view>> headers;
  std::string_view body;
  std::string_view content_id;  // of the part or of the request in it; empty: none

  // The first with this name, compared without case, or empty.
  std::string_view header(std::string_view name) const;
  // The path and query of the target, without scheme and host.
  std::string_view path_and_query() const;
};

struct Batch {
  bool changeset = true;  // false: one query, alone
  std::vector<BatchPart> parts;
};

// A fault of one operation has its index before the message ("3:…"), as the service writes it.
TableResult<Batch> parse_batch(std::string_view content_type, std::string_view body,
                               const BatchLimits& limits = {});

struct BatchAnswer {
  int status = 204;
  std::string headers = {};  // complete lines, each ended by CR LF; Content-Type among them if any
  std::string body = {};
  std::string_view content_id = {};
};

struct WrittenBatch {
  std::string content_type;  // with the boundary
  std::string body;
};
// `id` makes the boundaries: letters, digits and '-', different each time. In a changeset, one
// answer may stand for all (a failure).
WrittenBatch write_batch(const std::vector<BatchAnswer>& answers, bool changeset,
                         std::string_view id);

// The error of operation `index`, as a batch has it: the index before the message.
TableError at_index(size_t index, TableError error);

}  // namespace orrery::table
