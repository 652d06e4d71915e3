// Between the structs of src/peer and the messages on the wire. Whatever a peer sends, decoding it
// gives a value or an Error.
//
// Pure; any thread may call.
#pragma once

#include <string>

#include <peer.pb.h>
#include "base/result.h"
#include "peer/forward.h"

namespace orrery::peer {

// Above any client's: the listener of the sender allows no more (limits.request_header_bytes).
inline constexpr int kHeadersMax = 1024;

void encode(const OutgoingRequest& request, v1::ForwardRequest& to);
// Takes the strings out of the message. The deadline is not in it.
Result<IncomingRequest> decode(v1::ForwardRequest& from);

void encode(Result<ForwardAnswer> answer, v1::ForwardReply& to);
Result<ForwardAnswer> decode(v1::ForwardReply& from);

void encode(Result<std::string> answer, v1::CallReply& to);
Result<std::string> decode(v1::CallReply& from);

}  // namespace orrery::peer
