// The reference-counted parts of values. Private to the files of Value.
#pragma once

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "base/budget.h"
#include "value/value.h"

namespace orrery::value {

// All of these are immutable once made. Sizes are summed with saturation: with shared parts, a
// value can print as more bytes than there is memory.

inline constexpr size_t kShareBytes = 48;  // of the counter of references, and of the allocations
inline constexpr size_t kNodesMin = 8;     // that a document has room for, whatever is in it
inline constexpr size_t kScalarWritten = 8;

inline size_t saturating_sum(size_t a, size_t b) {
  return a > std::numeric_limits<size_t>::max() - b ? std::numeric_limits<size_t>::max() : a + b;
}

struct Value::Text {
  explicit Text(std::string given) : text(std::move(given)), counted(kShareBytes + text.size()) {}
  const std::string text;
  const CountedBytes counted;
};

struct Value::SharedDocument {
  explicit SharedDocument(Document given)
      : document(std::move(given)), counted(kShareBytes + document.memory()) {}
  const Document document;
  const CountedBytes counted;
};

struct Value::Array {
  explicit Array(std::vector<Value> given)
      : elements(std::move(given)), counted(kShareBytes + elements.capacity() * sizeof(Value)) {
    for (const Value& element : elements) {
      memory = saturating_sum(memory, element.memory());
      written = saturating_sum(saturating_sum(written, 1), element.written_bytes());
      is_owned = is_owned && element.is_owned();
    }
  }
  const std::vector<Value> elements;
  const CountedBytes counted;
  size_t memory = sizeof(Value);
  size_t written = 2;
  bool is_owned = true;
};

struct Value::Object {
  explicit Object(std::vector<Field> given)
      : fields(std::move(given)), counted(kShareBytes + fields.capacity() * sizeof(Field)) {
    for (const Field& field : fields) {
      memory = saturating_sum(saturating_sum(memory, field.name.memory()), field.value.memory());
      written = saturating_sum(saturating_sum(written, field.name.written_bytes() + 2),
                               field.value.written_bytes());
      is_owned = is_owned && field.name.is_owned() && field.value.is_owned();
    }
  }
  const std::vector<Field> fields;
  const CountedBytes counted;
  size_t memory = sizeof(Value);
  size_t written = 2;
  bool is_owned = true;
};

}  // namespace orrery::value
