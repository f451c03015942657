#include "../../data/files/file_content.h"

#include "../../core/errors/error.h"
#include "../catch.h"
#include "zip_header.h"

using namespace headwave;

TEST_CASE("files are told apart by their bytes, archives by what is in them") {
  using enum FileContent;
  CHECK(content_of("") == empty);
  CHECK(content_of("some text") == other);
  CHECK(content_of_file(repository_file("tests/golden/hdf5_sample.h5")) == hdf5);
  CHECK(content_of_file(repository_file("tests/golden/models/bert/model.safetensors")) == safetensors);
  CHECK(content_of_file(repository_file("tests/golden/models/bert")) == other);
  CHECK(content_of(std::string("\x93NUMPY\x01\0", 8)) == npy);
  CHECK(content_of(zip_of("hidden_states_layer_0.npy")) == npz);
  CHECK(content_of(zip_of("archive/data.pkl")) == pytorch);
  CHECK(content_of(zip_of("archive/.format_version") + "1" + zip_of("archive/data.pkl")) == pytorch);
  CHECK(content_of(zip_of("word/document.xml")) == zip);
  CHECK(content_of("PK\x03\x04") == zip);
  CHECK(content_of("\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.") == pytorch);
  CHECK(content_of(std::string_view("\x80\x04\x95\x03\0\0\0\0\0\0\0]\x94.", 14)) == pytorch);
  CHECK(content_of(std::string("GGUF\x03\0\0\0", 8)) == gguf);
  CHECK_THROWS_AS(content_of_file("no such file"), IoError);
}
