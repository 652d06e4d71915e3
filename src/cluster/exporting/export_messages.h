// What whoever copies an account asks of a server, and what servers ask of one another for it: the
// same bytes (base/pack.h), so that a node passes on what it cannot answer itself.
//
//   request   operation, container, range, name in the volume, id, count of pieces, and for each
//             piece the file's name, from where, and how many bytes
//   answer    of an open: id, whether there are files, LSN, time, bytes, items, index version,
//             sequence, the files (name, size, mark), the ranges of a catalog; of a read: the bytes
//             of the pieces, one after the other; of a close: nothing
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "catalog/catalog.h"
#include "partition/export.h"

namespace orrery::cluster {

struct ExportRequest {
  enum class Operation : uint8_t { open_catalog, open_range, read, close };
  Operation operation = Operation::open_catalog;
  // Of the range to open.
  uint32_t container = 0;
  uint32_t range = 0;
  std::string volume_name = {};
  // Of what was opened.
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
  partition::ExportInfo info;
  std::vector<catalog::ExportedRange> ranges;  // of a catalog
};

std::string encode(const ExportRequest& request);
Result<ExportRequest> decode_export_request(std::string_view bytes);
std::string encode(const OpenedExport& opened);
Result<OpenedExport> decode_opened_export(std::string_view bytes);

}  // namespace orrery::cluster
