#include <fstream>

#include "../../core/errors/error.h"
#include "../../data/arrays/safetensors.h"
#include "../../data/files/file_content.h"
#include "../../data/listing/listing.h"
#include "../../data/models/model_directory.h"
#include "../../data/sources/named_arrays.h"
#include "../catch.h"
#include "zip_header.h"

using namespace headwave;

namespace {

const std::string legacy_torch = "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.";

/// A folder of files that others write.
class Foreign {
 public:
  std::filesystem::path write(const std::string& name, const std::string& bytes) const {
    std::ofstream(folder_ / name, std::ios::binary) << bytes;
    return folder_ / name;
  }
  void refuse_states(const std::string& name, const std::string& bytes, const std::string& word,
                     const std::string& python) const {
    const std::filesystem::path file = write(name, bytes);
    CHECK_THROWS_WITH(open_arrays(file), ContainsSubstring(name + ": " + word) && ContainsSubstring(python));
  }
  void refuse_weights(const std::string& name, const std::string& bytes, const std::string& word,
                      const std::string& python) const {
    const std::filesystem::path file = write(name, bytes);
    CHECK_THROWS_WITH(Checkpoint(folder_.path()), ContainsSubstring(name + ": " + word) && ContainsSubstring(python));
    CHECK_THROWS_WITH(Checkpoint(file), ContainsSubstring(python));
    std::filesystem::remove(file);
  }
  [[nodiscard]] std::filesystem::path path() const { return folder_.path(); }

 private:
  TemporaryFolder folder_;
};

}  // namespace

TEST_CASE("stored states in another container are told what they are and what is read") {
  const Foreign it;
  const std::string saved = "numpy.save(";
  it.refuse_states("s.pt", zip_of("s/data.pkl"), "this is a PyTorch file", saved);
  it.refuse_states("old", legacy_torch, "this is a PyTorch file", saved);
  it.refuse_states("s.pkl", "\x80\x04N.", "this is a PyTorch file (a pickle)", saved);
  it.refuse_states("s.csv", "1.5,2\n3,4\n", "this is a file of another format", saved);
  it.refuse_states("s.zip", zip_of("a.txt"), "this is a zip archive", saved);
  it.refuse_states("s.gguf", "GGUF", "this is a GGUF file", "expected stored states");
  it.refuse_states("nothing", "", "this is an empty file", "expected stored states");
  CHECK_THROWS_AS(open_arrays(it.path() / "none.npz"), IoError);
}

TEST_CASE("stored states are read by what they are, whatever they are called") {
  const Foreign it;
  std::filesystem::copy_file(repository_file("tests/golden/hdf5_sample.h5"), it.path() / "states.bin");
  CHECK(open_arrays(it.path() / "states.bin")->has("links/again/le_f4"));
  const std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1), }";
  it.write("states", std::string("\x93NUMPY\x01\0", 8) + static_cast<char>(header.size()) + '\0' + header + "1234");
  CHECK(open_arrays(it.path() / "states")->names() == std::vector<std::string>{"states"});
}

TEST_CASE("weights in another format are told what they are and how they become safetensors") {
  const Foreign it;
  const std::string saved = "save_pretrained(";
  it.refuse_weights("pytorch_model.bin", zip_of("archive/data.pkl"), "this is a PyTorch file", saved);
  it.refuse_weights("model.ckpt", legacy_torch, "this is a PyTorch file", saved);
  it.refuse_weights("q4.gguf", "GGUF", "this is a GGUF file (llama.cpp)", saved);
  it.refuse_weights("tf_model.h5", "\x89HDF\r\n\x1a\n", "this is an HDF5 file", saved);
  it.refuse_weights("flax_model.msgpack", "x", "this is a file of another format", saved);
  it.refuse_weights("w.npz", zip_of("w.npy"), "this is a NumPy archive (.npz)", saved);
  CHECK_THROWS_WITH(Checkpoint(it.write("config.json", "{}")), ContainsSubstring("expected the folder of a model"));
}

TEST_CASE("a GGUF file given as a model is refused with what to give instead") {
  const Foreign it;
  const std::filesystem::path file = it.write("llama.gguf", "GGUF");
  const auto refused = ContainsSubstring("expected a Hugging Face model directory");
  CHECK_THROWS_WITH(open_model({file}), refused);
  CHECK_THROWS_WITH(open_model({it.path()}), refused);
}

TEST_CASE("a pointer of Git LFS in the place of weights is called what it is") {
  const Foreign it;
  const std::string pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 12\n";
  const std::filesystem::path tensors = it.write("model.safetensors", pointer);
  const char* said = "this is a Git LFS pointer";
  CHECK_THROWS_WITH(Checkpoint(tensors), ContainsSubstring("model.safetensors: ") && ContainsSubstring(said));
  CHECK_THROWS_WITH(listing_of(tensors), ContainsSubstring(said) && ContainsSubstring("lfs pull"));
}

TEST_CASE("files of weights without the index that lists them are not taken for the model") {
  const Foreign it;
  it.write("model-00001-of-00002.safetensors", "x");
  CHECK_THROWS_WITH(Checkpoint(it.path()), ContainsSubstring("but not model.safetensors.index.json"));
}

TEST_CASE("inspect has a word of its own for each container that is not read") {
  const Foreign it;
  CHECK_THROWS_WITH(listing_of(it.write("a.npz", zip_of("a.npy"))), ContainsSubstring("damaged or cut short"));
  CHECK_THROWS_WITH(listing_of(it.write("a.pt", zip_of("a/data.pkl"))), ContainsSubstring("a PyTorch file"));
  CHECK_THROWS_WITH(listing_of(it.write("a.gguf", "GGUF")), ContainsSubstring("this is a GGUF file"));
  CHECK_THROWS_WITH(listing_of(it.write("a.txt", "text")),
                    ContainsSubstring("expected HDF5, safetensors, .npy or .npz"));
}

TEST_CASE("a file that cannot be read is no foreign file") {
  const Foreign it;
  CHECK_THROWS_AS(foreign_file(it.path() / "none.npz", expected_states), IoError);
}
