#include "../../data/arrays/gguf.h"

#include "../../data/models/gguf_model.h"
#include "../../data/models/model_directory.h"
#include "../../data/tokens/tokenizer.h"
#include "fuzz.h"
#include "used_tokenizer.h"

using namespace headwave;
using namespace std::literals;

// A file of one tensor, and a vocabulary of SentencePiece. tests/fuzz/run.sh adds those of tests/golden/gguf.
FUZZ_SEEDS(
    "GGUF\003\000\000\000\001\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\001\000\000\000\000\000\000\000w\001\000\000\000\001\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\200\077"sv,
    "GGUF\002\000\000\000\000\000\000\000\000\000\000\000\004\000\000\000\000\000\000\000\024\000\000\000\000\000\000\000tokenizer.ggml.model\010\000\000\000\005\000\000\000\000\000\000\000llama\025\000\000\000\000\000\000\000tokenizer.ggml.tokens\011\000\000\000\010\000\000\000\007\000\000\000\000\000\000\000\005\000\000\000\000\000\000\000<unk>\003\000\000\000\000\000\000\000<s>\004\000\000\000\000\000\000\000</s>\003\000\000\000\000\000\000\000\342\226\201\001\000\000\000\000\000\000\000a\001\000\000\000\000\000\000\000b\002\000\000\000\000\000\000\000ab\025\000\000\000\000\000\000\000tokenizer.ggml.scores\011\000\000\000\006\000\000\000\007\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\300\000\000\300\277\000\000\340\277\000\000\000\277\031\000\000\000\000\000\000\000tokenizer.ggml.token_type\011\000\000\000\005\000\000\000\007\000\000\000\000\000\000\000\002\000\000\000\003\000\000\000\003\000\000\000\001\000\000\000\001\000\000\000\001\000\000\000\001\000\000\000"sv)

// The header, the model with what every tensor becomes, and the tokenizer.
FUZZ(bytes) {
  const InputFile file(bytes);
  refused_in_one_line([&] {
    const GgufFile read(file.path());
    for (const TensorInfo& tensor : read.header().tensors)
      if (read.bytes(tensor).size() != tensor.end - tensor.begin) std::abort();
    for (const auto& [key, value] : read.header().metadata) (void)gguf_text(value);
  });
  refused_in_one_line([&] {
    const GgufModel model = gguf_model(file.path(), true);
    for (const std::string& name : model.checkpoint->names()) {
      (void)model.checkpoint->non_finite(name);
      const std::vector<Index>& shape = model.checkpoint->info(name).shape;
      if (!shape.empty()) refused_in_one_line([&] { (void)model.checkpoint->matrix(name, shape); });
    }
  });
  refused_in_one_line([&] { (void)open_model(ModelPlace(file.path())); });
  refused_in_one_line([&] { use(*open_tokenizer(file.path()), "ab Abc  x\xc3\xa9\xe4\xb8\xad <s>\xFF 12"); });
}
