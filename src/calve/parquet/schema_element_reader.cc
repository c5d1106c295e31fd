#include "calve/parquet/schema_element_reader.h"

// The numbers are the members' ids in parquet.thrift.

namespace calve::parquet {
namespace {

using Field = ThriftReader::Field;

TimeUnit ReadTimeUnit(ThriftReader& in) {
  TimeUnit unit = TimeUnit::kMicros;
  bool known = false;
  in.Struct("TimeUnit", [&](Field field) {
    if (field.id >= 1 && field.id <= 3) {
      unit = static_cast<TimeUnit>(field.id - 1);
      known = true;
    }
    return false;
  });
  if (!known) in.Fail("unknown time unit");
  return unit;
}

bool ReadTime(ThriftReader& in, Field field, LogicalType* out) {
  return in.ReadStruct(field, "TIME/TIMESTAMP", [&] {
    auto seen = in.Struct("TimestampType", [&](Field member) {
      switch (member.id) {
        case 1:
          return in.Read(member, "isAdjustedToUTC", &out->is_adjusted_to_utc);
        case 2:
          return in.ReadStruct(member, "unit", [&] { out->unit = ReadTimeUnit(in); });
        default:
          return false;
      }
    });
    in.Require(seen, 2, "TimestampType", "unit");
  });
}

bool ReadDecimal(ThriftReader& in, Field field, LogicalType* out) {
  return in.ReadStruct(field, "DECIMAL", [&] {
    auto seen = in.Struct("DecimalType", [&](Field member) {
      switch (member.id) {
        case 1:
          return in.Read(member, "scale", &out->scale);
        case 2:
          return in.Read(member, "precision", &out->precision);
        default:
          return false;
      }
    });
    in.Require(seen, 2, "DecimalType", "precision");
  });
}

bool ReadInteger(ThriftReader& in, Field field, LogicalType* out) {
  return in.ReadStruct(field, "INTEGER", [&] {
    auto seen = in.Struct("IntType", [&](Field member) {
      switch (member.id) {
        case 1:
          return in.Read(member, "bitWidth", &out->bit_width);
        case 2:
          return in.Read(member, "isSigned", &out->is_signed);
        default:
          return false;
      }
    });
    in.Require(seen, 1, "IntType", "bitWidth");
    in.Require(seen, 2, "IntType", "isSigned");
  });
}

bool ReadGeospatial(ThriftReader& in, Field field, LogicalType* out) {
  return in.ReadStruct(field, "GEOMETRY/GEOGRAPHY", [&] {
    in.Struct("GeographyType", [&](Field member) {
      switch (member.id) {
        case 1:
          return in.Read(member, "crs", &out->crs);
        case 2:
          return in.Read(member, "algorithm", &out->algorithm);
        default:
          return false;
      }
    });
  });
}

/// A union: the kind is the id of its one member. Kinds that calve does not know leave kNone.
void ReadLogicalType(ThriftReader& in, LogicalType* out) {
  using Kind = LogicalType::Kind;
  in.Struct("LogicalType", [&](Field field) {
    if (field.id < 1 || field.id > 18 || field.id == 9) return false;
    out->kind = static_cast<Kind>(field.id);
    switch (out->kind) {
      case Kind::kDecimal:
        return ReadDecimal(in, field, out);
      case Kind::kTime:
      case Kind::kTimestamp:
        return ReadTime(in, field, out);
      case Kind::kInteger:
        return ReadInteger(in, field, out);
      case Kind::kGeometry:
      case Kind::kGeography:
        return ReadGeospatial(in, field, out);
      default:
        return false;
    }
  });
}

}  // namespace

void ReadSchemaElement(ThriftReader& in, SchemaElement* out) {
  auto seen = in.Struct("SchemaElement", [&](ThriftReader::Field field) {
    switch (field.id) {
      case 1:
        return in.Read(field, "type", &out->type) && CheckEnum(in, out->type.value_or(PhysicalType::kBoolean), 7);
      case 2:
        return in.Read(field, "type_length", &out->type_length);
      case 3:
        return in.Read(field, "repetition_type", &out->repetition) &&
               CheckEnum(in, out->repetition.value_or(Repetition::kRequired), 2);
      case 4:
        return in.Read(field, "name", &out->name);
      case 5:
        return in.Read(field, "num_children", &out->num_children);
      case 6:
        // There will be no new ones: logical types have taken their place.
        return in.Read(field, "converted_type", &out->converted_type) &&
               CheckEnum(in, out->converted_type.value_or(ConvertedType::kUtf8), 21);
      case 7:
        return in.Read(field, "scale", &out->scale);
      case 8:
        return in.Read(field, "precision", &out->precision);
      case 9:
        return in.Read(field, "field_id", &out->field_id);
      case 10:
        return in.ReadStruct(field, "logicalType", [&] { ReadLogicalType(in, &out->logical_type); });
      default:
        return false;
    }
  });
  in.Require(seen, 4, "SchemaElement", "name");
}

}  // namespace calve::parquet
