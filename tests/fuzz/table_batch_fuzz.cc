// A line with the Content-Type, then the body of a batch to the Table face.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "api/table/batch/multipart.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace orrery::table;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const size_t end = text.find('\n');
  if (end == std::string_view::npos) return 0;
  const std::string_view body = text.substr(end + 1);
  constexpr BatchLimits kLimits{.operations = 5, .bytes = 4'096};
  const auto batch = parse_batch(text.substr(0, end), body, kLimits);
  if (!batch) {
    if (batch.error().message.empty()) std::abort();
    return 0;
  }
  if (batch->parts.empty() || batch->parts.size() > kLimits.operations) std::abort();
  if (!batch->changeset && batch->parts.size() != 1) std::abort();
  std::vector<BatchAnswer> answers;
  for (const BatchPart& part : batch->parts) {
    // Views into the body, so that nothing is copied.
    for (const std::string_view view : {part.method, part.target, part.body, part.content_id}) {
      if (!view.empty() &&
          (view.data() < body.data() || view.data() + view.size() > body.data() + body.size())) {
        std::abort();
      }
    }
    (void)part.path_and_query();
    answers.push_back({.status = 204, .headers = "", .body = "{}", .content_id = part.content_id});
  }
  // An answer is itself multipart: as many parts as were put in.
  const WrittenBatch written = write_batch(answers, true, "id");
  const auto again = parse_batch(written.content_type, written.body);
  if (!again || again->parts.size() != answers.size()) std::abort();
  return 0;
}
