// The objects of a file, and how long they stay: as long as an entry of any root names them.
//
// The first stripe of a table has a token for each such entry. A clone adds one and copies nothing;
// whoever removes the last one removes the stripes. A log has one entry alone.
#pragma once

#include "base/result.h"
#include "volume/objects/file_entry.h"
#include "volume/objects/object_store.h"

namespace orrery::volume {

// One more entry names the file, with a token of its own. False when the file is going.
Result<bool> add_token(ObjectStore& store, const FileEntry& entry);

// The entry is gone: removes its token, and the objects with the last one. A crash in the middle
// leaves what a sweep finds.
void drop_file(ObjectStore& store, const FileEntry& entry);

}  // namespace orrery::volume
