// JSON in the vendor's binary encoding (CosmosBinary): items as .NET clients can be told to send
// them, and to ask for.
//
// A body is 80 and one value. A value begins with a marker; all numbers are little-endian:
//   00…1F        the number itself               C3…C6    the string at an offset of 1, 2, 3, 4
//   bytes 20…3F        one of 32 known strings         C7       uint64 71…74        base64 and
//   base64url            C8…CC    uint8, int16, int32, int64, double 75…77        a GUID; in upper
//   case; quoted   CD…CF    float32, float64, float16 78…7A        16 characters in 4 bits each D0
//   D1 D2 null, false, true 7B…7F        4, 5, 6 or 7 bits a character   D3…DF    GUIDs, integers
//   and bytes by themselves: not JSON 80…BF        a string of 0 to 63 bytes       E0…E7    arrays
//   F0…F3  arrays of numbers of one type C0 C1 C2     length of 1, 2, 4 bytes         E8…EF
//   objects: names and values in turn
// Of arrays and objects: empty, of one element, and with a length of 1, 2, 4 bytes, without and
// with a count after it. 40…67 are strings of a dictionary, which no client here has.
//
// Input from outside: nested as deep as JSON may be here, and the text may not get longer than it
// is told. Pure; any thread may call.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

namespace orrery::cosmos {

// No JSON text begins with this byte, nor does a batch in HybridRow.
inline bool is_binary_json(std::string_view body) {
  return body.starts_with('\x80');
}

// As text. It is JSON, but for what only a parser of texts looks at: names that come twice, and
// UTF-8. Code::invalid for what is not as above; Code::too_large when the text would be longer.
Result<std::string> text_of_binary_json(std::string_view body, size_t bytes_max);

// Of a text that is JSON; otherwise Code::invalid.
Result<std::string> binary_json_of(std::string_view text);

}  // namespace orrery::cosmos
