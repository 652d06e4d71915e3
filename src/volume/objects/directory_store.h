// Objects in a directory that several processes of one machine share: for clusters without Ceph,
// above all in tests.
//
//   DIR/NAME        an object's attributes and entries, and how many bytes it has; replaced whole
//                   by a rename, which is the moment at which a change takes effect
//   DIR/NAME.bytes  its bytes; what lies behind the size that NAME tells is not part of the object
//   DIR/.locks/N    a change holds a flock on the file of its object's hash
//
// Bytes are appended in place before the new size is renamed into place. So a process that ends at
// any moment leaves the object as it was before its change, or as it is after. A power cut may lose
// changes, unless `sync` asks for what it costs. A process that is stopped (SIGSTOP) in the middle
// of a change keeps its lock, and the others wait until it goes on or ends.
#pragma once

#include <memory>
#include <string>

#include "volume/objects/object_store.h"

namespace orrery::volume {

enum class DirectorySync : uint8_t { no, yes };
Result<std::unique_ptr<ObjectStore>> open_directory_store(const std::string& directory,
                                                          DirectorySync sync = DirectorySync::no);

}  // namespace orrery::volume
