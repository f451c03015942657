#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "../../core/fields/field.h"
#include "hdf5_handle.h"

namespace headwave {

/// Attributes of an open group or dataset: a single number or text unchanged, up to 4096 numbers as a list of
/// doubles, several texts joined by ", ", and anything else described in brackets: "(compound)", "(cannot be
/// read)".
Attributes hdf5_attributes(hid_t object);

/// The entries of a text attribute, one by one; empty if there is no such attribute.
/// @throws FormatError if the attribute is not text or cannot be read
std::vector<std::string> hdf5_attribute_texts(hid_t object, const std::string& name);

/// Writes one attribute; numbers as float64 and int64, texts as Hdf5Texts.
/// @throws IoError if the library refuses
void write_hdf5_attribute(hid_t object, const std::string& name, const Attribute& value);

/// Writes a list of texts as one attribute.
/// @throws IoError if the library refuses
void write_hdf5_attribute_texts(hid_t object, const std::string& name, const std::vector<std::string>& texts);

/// Writes a list of uint8 as one attribute.
/// @throws IoError if the library refuses
void write_hdf5_attribute_bytes(hid_t object, const std::string& name, const std::vector<std::uint8_t>& values);

}  // namespace headwave
