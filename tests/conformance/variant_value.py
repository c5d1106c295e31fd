"""Variants as Python values, decoded by the specification (VariantEncoding.md), apart from calve's own reader."""

import struct
from decimal import Decimal

#: Primitive type -> struct format; decimals, text and bytes apart.
NUMBERS = {3: "<b", 4: "<h", 5: "<i", 6: "<q", 7: "<d", 14: "<f"}
DECIMAL_BYTES = {8: 4, 9: 8, 10: 16}


def little(data, at, size):
    return int.from_bytes(data[at:at + size], "little")


def names_of(metadata):
    size = (metadata[0] >> 6) + 1
    count = little(metadata, 1, size)
    offsets = [little(metadata, 1 + size * (1 + i), size) for i in range(count + 1)]
    text = metadata[1 + size * (count + 2):]
    return [text[a:b].decode() for a, b in zip(offsets, offsets[1:])]


def primitive(kind, data):
    if kind in (0, 1, 2):
        return (None, True, False)[kind]
    if kind in NUMBERS:
        return struct.unpack_from(NUMBERS[kind], data, 1)[0]
    if kind in DECIMAL_BYTES:
        unscaled = int.from_bytes(data[2:2 + DECIMAL_BYTES[kind]], "little", signed=True)
        return float(Decimal(unscaled).scaleb(-data[1]))
    if kind == 16:
        return data[5:5 + little(data, 1, 4)].decode()
    raise NotImplementedError(f"variant primitive {kind}")


def container(names, data, is_object):
    header = data[0] >> 2
    offset_size = (header & 3) + 1
    id_size = (header >> 2 & 3) + 1 if is_object else 0
    count_size = 4 if header >> (4 if is_object else 2) & 1 else 1
    count = little(data, 1, count_size)
    ids = 1 + count_size
    offsets = ids + count * id_size
    values = offsets + (count + 1) * offset_size
    items = [decode(names, data[values + little(data, offsets + i * offset_size, offset_size):]) for i in range(count)]
    if not is_object:
        return items
    return {names[little(data, ids + i * id_size, id_size)]: item for i, item in enumerate(items)}


def decode(names, data):
    kind, header = data[0] & 3, data[0] >> 2
    if kind == 0:
        return primitive(header, data)
    if kind == 1:
        return data[1:1 + header].decode()
    return container(names, data, kind == 2)


def variant_as_python(metadata, value):
    return decode(names_of(metadata), value)
