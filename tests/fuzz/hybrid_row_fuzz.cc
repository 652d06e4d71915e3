// Batches in HybridRow. An input that begins with R is a whole stream; of any other, the rest is
// cut into rows of as many bytes as each begins with, which come with the CRC that they should
// have: no fuzzer would guess it. Whatever is accepted has operations within the limits, each with
// what its kind needs and views into the input alone.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "api/cosmos/wire/hybrid_batch.h"
#include "api/cosmos/wire/test_hybrid_rows.h"

namespace {

void check(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace orrery;
  using cosmos::ItemVerb;
  std::string_view input(reinterpret_cast<const char*>(data), size);
  if (input.empty()) return 0;
  const bool raw = input.front() == 'R';
  input.remove_prefix(1);
  std::string body;
  if (raw) {
    body = input;
  } else {
    body = cosmos::test::segment();
    while (!input.empty()) {
      const auto bytes = static_cast<size_t>(static_cast<unsigned char>(input.front()));
      input.remove_prefix(1);
      body += cosmos::test::record(input.substr(0, bytes));
      input.remove_prefix(std::min(bytes, input.size()));
    }
  }
  const Limits limits;
  auto operations = cosmos::parse_hybrid_batch(body, limits);
  if (!operations) return 0;
  check(!operations->empty() && operations->size() <= limits.batch_operations);
  std::vector<cosmos::BatchResult> results;
  for (const cosmos::BatchOperation& operation : *operations) {
    const cosmos::ItemRequest& request = operation.request;
    const bool names_item = request.verb != ItemVerb::create && request.verb != ItemVerb::upsert;
    check(names_item == !request.id.empty());
    check((request.verb != ItemVerb::read && request.verb != ItemVerb::remove) ==
          !request.body.empty());
    for (std::string_view view :
         {request.id, request.body, request.key, request.if_match, request.if_none_match}) {
      check(view.empty() ||
            (view.data() >= body.data() && view.data() + view.size() <= body.data() + body.size()));
    }
    results.push_back(cosmos::skipped_result());
    results.back().body = request.body;
  }
  check(cosmos::is_hybrid_batch(cosmos::hybrid_results(results)));
  return 0;
}
