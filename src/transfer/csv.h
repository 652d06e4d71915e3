// What the cells of a CSV file mean, in both directions: what is written is read back as it was.
//
//   cell                                read as
//   (nothing)                           the property is absent
//   null, true, false                   that value
//   a number as JSON writes it          a number, if a double has all of its digits; 007 and
//                                       12345678901234567890 stay strings
//   "quoted", that begins with { [ "    the JSON in it, if all of it is JSON
//   "quoted" otherwise                  a string, whatever it looks like: "123" is one
//   anything else                       a string
//
// A column with a type of its own (CsvOptions::types) is read by that alone, quoted or not:
// string takes the cell as it is, an empty cell that is not quoted is absent with every type, and a
// cell that is not of the type rejects the record.
//
// Pure; any thread may call.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "transfer/format.h"
#include "value/document.h"

namespace orrery::transfer {

struct Cell {
  std::string text;
  bool quoted = false;
};

// The value of a cell as JSON; empty when the property is absent.
Result<std::string> cell_json(const Cell& cell, CellType type);

// Appends a value as a cell; null: absent.
void append_cell(std::string& out, const value::Node* node, char delimiter);
// Appends a name as a cell of the header.
void append_name_cell(std::string& out, std::string_view name, char delimiter);

// A record's cells as one JSON object. `columns` and `types` have one entry for each.
Result<std::string> object_of_cells(const std::vector<Cell>& cells,
                                    const std::vector<std::string>& columns,
                                    const std::vector<CellType>& types, bool nested);

// The columns of an object, each with its value; with `nested`, those of inner objects by dots.
// Code::invalid when a name could not be told from a nested one.
struct Column {
  std::string name;
  const value::Node* node = nullptr;
};
Result<std::vector<Column>> columns_of(const value::Node& object, bool nested);

}  // namespace orrery::transfer
