#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../../core/attention/block.h"
#include "../arrays/array_block.h"

namespace headwave {

/// The arrays of a file or folder by name, whatever the format. For example, "hidden_states/layer_0" is an
/// array in an HDF5 file, "hidden_states_layer_0" a .npy file in a folder. Several threads may read at once.
class NamedArrays {
 public:
  /// @param path   what messages name
  /// @param files  files for the provenance
  explicit NamedArrays(std::filesystem::path path, std::vector<std::filesystem::path> files = {})
      : path_(std::move(path)), files_(std::move(files)) {}
  NamedArrays(const NamedArrays&) = delete;
  NamedArrays& operator=(const NamedArrays&) = delete;
  virtual ~NamedArrays() = default;

  /// The names of all arrays, in the file's order.
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  [[nodiscard]] bool has(const std::string& name) const { return arrays_.contains(name); }
  /// @throws FormatError if there is no such array
  [[nodiscard]] const std::vector<Index>& shape(const std::string& name) const { return array(name).shape; }
  /// The type of an array's numbers, such as "float16".
  /// @throws FormatError if there is no such array
  [[nodiscard]] const std::string& type(const std::string& name) const { return array(name).type; }
  /// How an array is stored, for example "C order" or "chunks (1, 64), gzip 2".
  /// @throws FormatError if there is no such array
  [[nodiscard]] const std::string& storage(const std::string& name) const { return array(name).storage; }
  /// A block of an array of numbers, row-major. No other part of the array is read.
  /// @throws FormatError, IoError if the block cannot be read; ShapeError if it does not lie inside the array
  [[nodiscard]] std::vector<float> block(const std::string& name, const ArrayBlock& block) const;
  [[nodiscard]] std::vector<float> floats(const std::string& name) const {
    return block(name, whole_block(shape(name)));
  }
  /// The entries of an array of strings.
  /// @throws FormatError if the array does not hold strings
  [[nodiscard]] virtual std::vector<std::string> texts(const std::string& name) const = 0;
  /// A number stored with the arrays, such as "num_heads": an attribute or array of one entry; no value if
  /// missing.
  /// @throws FormatError if the attribute or array is not one finite number
  [[nodiscard]] std::optional<double> number(const std::string& name) const;
  [[nodiscard]] const std::vector<std::filesystem::path>& files() const { return files_; }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  /// An array's name for messages: "s.h5: 'queries/layer_0'".
  [[nodiscard]] std::string called(const std::string& name) const;

 protected:
  void add(const std::string& name, std::string type, std::vector<Index> shape, std::string storage = "");
  /// @param block  inside the array
  [[nodiscard]] virtual std::vector<float> read(const std::string& name, const ArrayBlock& block) const = 0;
  /// A number that is an attribute of the file; NaN if the attribute is not a number.
  [[nodiscard]] virtual std::optional<double> attribute(const std::string& /*name*/) const { return {}; }

 private:
  struct Array {
    std::string type;
    std::vector<Index> shape;
    std::string storage;
  };
  [[nodiscard]] const Array& array(const std::string& name) const;

  std::filesystem::path path_;
  std::vector<std::filesystem::path> files_;
  std::vector<std::string> names_;
  std::map<std::string, Array> arrays_;
};

/// Opens an HDF5, .npy, .npz or safetensors file, recognised by its content, or a folder of .npy files. The
/// array of a .npy file has the file's name without its ending.
/// @throws IoError or FormatError if the path is none of these, or is damaged
std::unique_ptr<NamedArrays> open_arrays(const std::filesystem::path& path);

/// What an axis of an array counts. Finished attention has query and key in place of token and width.
enum class ArrayAxis { layer, document, head, token, width, query, key };

/// Parses the names of axes in order, for example "layer,document,token,width" or
/// "layer,document,head,query,key".
/// @returns no value if a name is not an axis or occurs twice, or the axes include neither token and width
///          nor query and key
std::optional<std::vector<ArrayAxis>> array_axes(std::string_view text);
/// What array_axes() expects, for messages.
constexpr const char* expected_axes =
    "some of layer, document, head, token, width in their order, token and width among them; of finished attention "
    "query and key in their place";
/// Axes as text: "layer, document, token, width".
std::string axes_text(const std::vector<ArrayAxis>& axes);

/// The sizes of an array. The width is that of all heads together, in finished attention the number of heads.
struct ArrayExtent {
  Index documents = 1, length = 0, width = 1;
  Index heads = 0;  ///< size of the axis of heads; 0: no such axis
};

// Patterns of names: in "{document}/layer_{layer}/hidden", {layer} is a whole number and {document} any text
// without '/'.

/// One kind of array (states, queries, keys or attention) of one layer.
struct LayerArray {
  std::string name;             ///< may contain {document}
  std::vector<ArrayAxis> axes;  ///< all axes of the array, in order
  Index entry = -1;             ///< index of this layer on the axis `layer`; -1: no such axis

  /// @param document  the text that replaces {document}
  /// @throws FormatError if there is no such array, its axes differ, or attention is not square
  [[nodiscard]] ArrayExtent extent(const NamedArrays& arrays, const std::string& document) const;
};

/// A pattern in which a document's name replaces {document}.
std::string of_document(const std::string& pattern, const std::string& document);

/// The arrays of one layer: states, or queries and keys, or all three; or finished attention.
struct FoundLayer {
  Index layer = 0;
  std::optional<LayerArray> states, queries, keys, attention;

  /// The arrays that are present.
  [[nodiscard]] std::vector<const LayerArray*> parts() const;
};

/// Which arrays of a file hold what.
struct FoundArrays {
  std::vector<FoundLayer> layers;      ///< in ascending order of layers
  std::vector<std::string> documents;  ///< strings in place of {document}, sorted; empty: no name contains {document}
  std::string ids, special, tokens, document_name;  ///< names of arrays; empty: no such array
  std::string attention_mask;  ///< name of the array of the mask, whose entries must all be 1; empty: no such array
};

/// What the caller knows about the arrays.
struct ArraySearch {
  std::string dataset = {};          ///< pattern of the name of states or finished attention; empty: the usual names
  std::vector<ArrayAxis> axes = {};  ///< axes of the dataset; empty: the usual axes for their number
  std::optional<Index> layer = {};   ///< the layer that the states enter, if names do not say it; unset: 0
};

/// Finds states, queries and keys, or finished attention among the arrays of a file. Without a dataset,
/// states are the first of
///
///     hidden_states/layer_L  hidden_states_layer_L  hidden_states; or the only array
///
/// Queries and keys have the same names, but with `queries` and `keys`. If no such array is found, finished
/// attention has these names with `attentions`, or is the only array, with five axes. The usual axes are
///
///     (token, width), (document, token, width)
///     (layer, document, token, width)      of states, if the name has no layer
///     (document, head, token, width)       of queries and keys
///     (layer, document, head, query, key)  of attention, or only the last of these axes
///
/// @throws FormatError naming the array, its shape and what was expected, or the nearest names; ShapeError if
///         a layer is given although names or axes already say the layer
FoundArrays find_arrays(const NamedArrays& arrays, const ArraySearch& search);

}  // namespace headwave
