// What nodes say to one another of views of partitions. Decoding gives a message or an error, and a
// message that was decoded is encoded as the same bytes.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "cluster/query/remote_view_messages.h"

namespace {

template <class... Messages>
void decode_each(std::string_view bytes) {
  const auto one = [&]<class Message>(const Message*) {
    auto message = orrery::cluster::decode_message<Message>(bytes);
    if (message && orrery::cluster::encode_message(*message) != bytes) std::abort();
  };
  (one(static_cast<const Messages*>(nullptr)), ...);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace orrery::cluster;
  decode_each<OpenView, ViewOpened, Estimate, Estimated, FindShapes, ShapesFound, ReadEntries,
              EntriesRead, ReadItems, ItemsRead, FetchItems, ItemsFetched, CloseView>(
      {reinterpret_cast<const char*>(data), size});
  return 0;
}
