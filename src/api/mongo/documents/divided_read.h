// Documents of several partitions, read by several threads: by the caller's, and by those that help
// queries (query/run/part_run.h). A part has the documents of one or more partitions that follow
// one another.
//
// Threading: one thread at a time calls; it blocks.
#pragma once

#include <cstddef>
#include <functional>

#include "api/mongo/documents/matching_documents.h"
#include "api/mongo/pipeline/pipeline.h"
#include "query/run/part_run.h"

namespace orrery::mongo {

// As Source::read_in_parts, of `documents`, of which nothing was read yet. `stop` may be called by
// any thread: whether the command's time is over.
Answer<bool> read_divided(MatchingDocuments& documents, query::Helpers& helpers,
                          const std::function<bool()>& stop, Source::PartReader& reader, Run& run);

}  // namespace orrery::mongo
