// What whoever copies an account asks of a server, and what servers ask of one another for it: the
// same bytes (base/pack.h), so that a node passes on what it cannot answer itself.
//
//   request   operation, container, range, name in the volume, id, count of pieces, and for each
//             piece the file's name, from where, and how many bytes
//             (of commits: the number after which, as the id)
//   answer    of an open: id, whether there are files, LSN, time, bytes, items, index version,
//             sequence, the server's time, the files (name, size, mark), the ranges of a catalog;
//             of a read: the bytes of the pieces, one after the other; of a close: nothing; of
//             commits: sequence, until when, whether there are more, and the batches (first, last,
//             time, bytes)
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "catalog/catalog.h"
#include "partition/commit_tail.h"
#include "partition/export.h"

namespace orrery::cluster {

struct ExportRequest {
  enum class Operation : uint8_t { open_catalog, open_range, read, close, read_commits };
  Operation operation = Operation::open_catalog;
  // Of the range to open, or to read commits of.
  uint32_t container = 0;
  uint32_t range = 0;
  std::string volume_name = {};
  // Of what was opened. Of commits: those after this sequence number.
  uint64_t id = 0;
  struct Piece {
    std::string file;
    uint64_t from = 0;
    uint64_t size = 0;
  };
  std::vector<Piece> pieces = {};
};

// All pieces of a request together.
inline constexpr uint64_t kExportReadMax = 8ULL << 20;

struct OpenedExport {
  uint64_t id = 0;
  bool has_files = true;  // false: nothing was ever written to the range, and there is no id
  int64_t now_ms = 0;     // by the server's clock: all that is in it was committed before
  partition::ExportInfo info;
  std::vector<catalog::ExportedRange> ranges;  // of a catalog
};

std::string encode(const ExportRequest& request);
Result<ExportRequest> decode_export_request(std::string_view bytes);
std::string encode(const OpenedExport& opened);
Result<OpenedExport> decode_opened_export(std::string_view bytes);
std::string encode(const partition::CommitPage& page);
Result<partition::CommitPage> decode_commit_page(std::string_view bytes);

}  // namespace orrery::cluster
