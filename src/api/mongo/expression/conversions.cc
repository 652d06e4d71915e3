// $convert and its short forms, $type, $isNumber.
#include <charconv>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "api/mongo/expression/binary_text.h"
#include "api/mongo/expression/dates.h"
#include "api/mongo/expression/operators.h"

namespace orrery::mongo {
namespace {

std::unexpected<Error> fails(std::string why) {
  return refuse(kConversionFailure, std::move(why) + " in $convert with no onError value");
}

std::unexpected<Error> unsupported(const Value& value, BsonType to) {
  return fails(
      fmt::format("Unsupported conversion from {} to {}", type_name(value), type_name(to)));
}

std::unexpected<Error> unreadable(const Value& value, BsonType to) {
  return fails(fmt::format("Failed to parse '{}' as {}", value.text(), type_name(to)));
}

Answer<Value> to_integer(const Value& value, BsonType to) {
  std::optional<int64_t> integer;
  if (value.is_bool()) {
    integer = value.boolean() ? 1 : 0;
  } else if (value.is_number()) {
    if (is_nan(value)) return fails("Attempt to convert NaN value to integer type");
    if (is_infinite(value)) return fails("Attempt to convert infinity value to integer type");
    integer = truncated_integer(value);
  } else if (value.type() == Type::date && to == BsonType::int64) {
    integer = value.date().ms;
  } else if (value.is_string()) {
    std::string_view text = value.text();
    if (text.starts_with('+') && text.size() > 1 && text[1] != '-') text.remove_prefix(1);
    int64_t number = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (problem != std::errc() || end != text.data() + text.size()) return unreadable(value, to);
    integer = number;
  } else {
    return unsupported(value, to);
  }
  const bool is_within =
      integer && (to == BsonType::int64 || (*integer >= std::numeric_limits<int32_t>::min() &&
                                            *integer <= std::numeric_limits<int32_t>::max()));
  if (!is_within) {
    return fails(fmt::format("Conversion would overflow target type: {}", shown(value)));
  }
  return to == BsonType::int64 ? make_int64(*integer) : make_int32(*integer);
}

Answer<Value> to_real(const Value& value, BsonType to) {
  if (value.is_bool()) return Value::make_number(value.boolean() ? 1 : 0);
  if (value.type() == Type::date) return Value::make_number(static_cast<double>(value.date().ms));
  if (value.is_number()) {
    if (!is_decimal(value)) return Value::make_number(value.number());
    const double real = double_of(decimal_of(value));
    if (std::isinf(real) && !is_infinite(value)) {
      return fails(fmt::format("Conversion would overflow target type: {}", shown(value)));
    }
    return Value::make_number(real);
  }
  if (!value.is_string()) return unsupported(value, to);
  const auto decimal = parse_decimal(value.text());
  if (!decimal) return unreadable(value, to);
  const double real = std::strtod(std::string(value.text()).c_str(), nullptr);
  if (std::isinf(real) && !is_infinite(*decimal)) return unreadable(value, to);
  return Value::make_number(real);
}

Answer<Value> to_decimal(const Value& value, BsonType to) {
  if (value.is_bool()) return make_decimal(decimal_of(int64_t{value.boolean() ? 1 : 0}));
  if (value.type() == Type::date) return make_decimal(decimal_of(value.date().ms));
  if (value.is_number()) return make_decimal(decimal_of(value));
  if (!value.is_string()) return unsupported(value, to);
  const auto decimal = parse_decimal(value.text());
  if (!decimal) return unreadable(value, to);
  const bool says_infinity = value.text().find_first_of("nN") != std::string_view::npos;
  if (is_infinite(*decimal) && !says_infinity) return unreadable(value, to);
  return make_decimal(*decimal);
}

Answer<Value> to_text(const Value& value, BsonType to) {
  switch (value.type()) {
    case Type::string:
      return value;
    case Type::boolean:
      return Value::make_string(value.boolean() ? "true" : "false");
    case Type::number:
      return Value::make_string(number_text(value));
    case Type::date:
      return Value::make_string(iso_text(value.date().ms));
    case Type::object_id:
      return Value::make_string(hex_text(value.bytes()));
    default:
      return unsupported(value, to);
  }
}

Answer<Value> to_object_id(const Value& value, BsonType to) {
  if (value.type() == Type::object_id) return value;
  if (!value.is_string()) return unsupported(value, to);
  auto bytes = bytes_of_hex(value.text());
  if (!bytes || bytes->size() != 12) return unreadable(value, to);
  return Value::make_bytes(Type::object_id, std::move(*bytes));
}

Answer<Value> to_bool(const Value& value, BsonType) {
  return Value::make_bool(!value.is_number() && !value.is_bool() ? true : is_truthy(value));
}

Answer<Value> to_date(const Value& value, BsonType to) {
  if (const auto ms = date_ms(value)) return make_date(*ms);
  if (value.is_string()) {
    auto ms = parse_date(value.text(), std::nullopt, std::nullopt);
    if (!ms) return pass(std::move(ms.error()));
    return make_date(*ms);
  }
  if (!value.is_number() || value.number_kind() == NumberKind::int32) return unsupported(value, to);
  if (is_nan(value)) return fails("Attempt to convert NaN value to a date");
  const auto ms = truncated_integer(value);
  if (!ms) return fails(fmt::format("Conversion would overflow target type: {}", shown(value)));
  return make_date(*ms);
}

struct Conversion {
  BsonType to;
  Answer<Value> (*function)(const Value&, BsonType);
};
constexpr std::array kConversions = {
    Conversion{BsonType::int32, to_integer}, Conversion{BsonType::int64, to_integer},
    Conversion{BsonType::real, to_real},     Conversion{BsonType::decimal, to_decimal},
    Conversion{BsonType::string, to_text},   Conversion{BsonType::object_id, to_object_id},
    Conversion{BsonType::boolean, to_bool},  Conversion{BsonType::date, to_date},
};

// $convert's parameters, in their order.
enum ConvertPart : size_t { kInput, kTo, kFormat, kByteOrder, kOnError, kOnNull };

// What `to` says: a type, with a subtype where it is binary.
struct Target {
  BsonType type = BsonType::null;
  int64_t subtype = 0;
  bool is_null = false;
};

Answer<Target> parse_target(const Value& given) {
  Target target;
  Value type = given;
  if (given.is_object()) {
    for (const auto& [name, member] : given.members()) {
      if (name != "type" && name != "subtype") {
        return refuse(kBadValue, fmt::format("$convert's 'to' has no member '{}'", name));
      }
    }
    type = given.find("type");
    const Value subtype = given.find("subtype");
    if (type.is_undefined()) return refuse(kBadValue, "$convert's 'to' needs a 'type'");
    if (!is_nullish(subtype)) {
      const auto number = exact_integer(subtype);
      if (!number || *number < 0 || *number > 255 || (*number > 9 && *number < 128)) {
        return refuse(4341107, fmt::format("In $convert, numeric value for 'subtype' does not "
                                           "correspond to a BinData type: {}",
                                           shown(subtype)));
      }
      target.subtype = *number;
    }
  }
  if (is_nullish(type)) {
    target.is_null = true;
    return target;
  }
  std::optional<BsonType> found;
  if (type.is_string()) {
    found = type_of_name(type.text());
    if (!found) return refuse(kBadValue, fmt::format("Unknown type name: {}", type.text()));
  } else if (type.is_number()) {
    const auto number = exact_integer(type);
    if (!number) {
      return refuse(kFailedToParse, fmt::format("In $convert, numeric 'to' argument is not an "
                                                "integer: {}",
                                                number_text(type)));
    }
    found = type_of_number(*number);
    if (!found) {
      return refuse(kFailedToParse, fmt::format("In $convert, numeric value for 'to' does not "
                                                "correspond to a BSON type: {}",
                                                *number));
    }
  } else {
    return refuse(kFailedToParse,
                  fmt::format("$convert's 'to' argument must be a string or number, "
                              "but is {}",
                              type_name(type)));
  }
  target.type = *found;
  return target;
}

Answer<Value> convert_to(const Value& value, const Target& target, const Value& format) {
  const bool is_binary = value.type() == Type::binary;
  if (target.type == BsonType::binary || (is_binary && target.type == BsonType::string)) {
    if (!is_binary && !value.is_string()) return unsupported(value, target.type);
    if (is_binary && target.type == BsonType::binary) {
      if (value.subtype() == target.subtype) return value;
      return fails("Conversions between different binData subtypes are not supported");
    }
    if (is_nullish(format)) {
      return refuse(4341115, fmt::format("Format must be speficied when converting from '{}' to "
                                         "'{}'",
                                         type_name(value), type_name(target.type)));
    }
    if (!format.is_string()) {
      return refuse(4341114, fmt::format("$convert requires that 'format' be a string, found: {}",
                                         type_name(format)));
    }
    auto converted = is_binary ? binary_to_text(value, format.text())
                               : text_to_binary(value.text(), format.text(),
                                                static_cast<uint8_t>(target.subtype));
    return converted;
  }
  return convert(value, target.type);
}

Answer<Value> do_convert(const Arguments& arguments) {
  const Value& input = arguments[kInput];
  auto target = parse_target(arguments[kTo]);
  if (!target) return pass(std::move(target.error()));
  if (is_nullish(input)) return arguments.has(kOnNull) ? arguments[kOnNull] : Value::make_null();
  if (target->is_null) return Value::make_null();
  auto result = convert_to(input, *target, arguments[kFormat]);
  if (result || !arguments.has(kOnError)) return result;
  return arguments[kOnError];
}

template <BsonType kTo>
Answer<Value> short_form(const Arguments& arguments) {
  return convert_to(arguments[0], {.type = kTo}, {});
}

// Binary as base64, as $toString has it.
Answer<Value> do_any_to_string(const Arguments& arguments) {
  return convert_to(arguments[0], {.type = BsonType::string}, Value::borrow_string("auto"));
}

Answer<Value> do_to_uuid(const Arguments& arguments) {
  return convert_to(arguments[0], {.type = BsonType::binary, .subtype = 4},
                    Value::borrow_string("uuid"));
}

Answer<Value> do_type(const Arguments& arguments) {
  return Value::borrow_string(type_name(arguments[0]));
}

Answer<Value> do_is_number(const Arguments& arguments) {
  return Value::make_bool(arguments[0].is_number());
}

// "Dec 25 18:02:06:000": without the year, the counter at the end.
std::string timestamp_text(uint64_t timestamp) {
  constexpr std::array kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                  "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const LocalTime time = local_time(static_cast<int64_t>(timestamp >> 32) * kMsInSecond);
  return fmt::format("{} {:02} {:02}:{:02}:{:02}:{:03x}",
                     kMonths[static_cast<size_t>(time.date.month - 1)], time.date.day, time.hour,
                     time.minute, time.second, timestamp & 0xffffffff);
}

constexpr std::array kConversionsPositional = {
    PositionalOperator{"$toInt", 1, 1, short_form<BsonType::int32>, true},
    PositionalOperator{"$toLong", 1, 1, short_form<BsonType::int64>, true},
    PositionalOperator{"$toDouble", 1, 1, short_form<BsonType::real>, true},
    PositionalOperator{"$toDecimal", 1, 1, short_form<BsonType::decimal>, true},
    PositionalOperator{"$toBool", 1, 1, short_form<BsonType::boolean>, true},
    PositionalOperator{"$toDate", 1, 1, short_form<BsonType::date>, true},
    PositionalOperator{"$toObjectId", 1, 1, short_form<BsonType::object_id>, true},
    PositionalOperator{"$toString", 1, 1, do_any_to_string, true},
    PositionalOperator{"$toUUID", 1, 1, do_to_uuid, true},
    PositionalOperator{"$type", 1, 1, do_type},
    PositionalOperator{"$isNumber", 1, 1, do_is_number},
};

constexpr std::array kConversionsNamed = {
    NamedOperator{
        "$convert",
        {Parameter{"input", kFailedToParse}, Parameter{"to", kFailedToParse}, Parameter{"format"},
         Parameter{"byteOrder"}, Parameter{"onError"}, Parameter{"onNull"}},
        kFailedToParse,
        kFailedToParse,
        do_convert},
};

}  // namespace

Answer<Value> convert(const Value& value, BsonType to) {
  for (const Conversion& one : kConversions) {
    if (one.to == to) return one.function(value, to);
  }
  return unsupported(value, to);
}

Answer<std::string> coerce_to_string(const Value& value) {
  switch (value.type()) {
    case Type::undefined:
    case Type::null:
      return std::string();
    case Type::string:
      return std::string(value.text());
    case Type::number:
      return number_text(value);
    case Type::date:
      return iso_text(value.date().ms);
    case Type::timestamp:
      return timestamp_text(value.timestamp());
    case Type::code:
      if (value.subtype() == 0) return std::string(value.bytes());
      break;
    default:
      break;
  }
  return refuse(16007, fmt::format("can't convert from BSON type {} to String", type_name(value)));
}

OperatorTables type_operators() {
  return {.positional = kConversionsPositional, .named = kConversionsNamed};
}

}  // namespace orrery::mongo
