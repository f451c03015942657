#include "../../core/errors/error.h"
#include "../../data/sources/text_documents.h"
#include "../catch.h"

using namespace headwave;

namespace {

/// Every byte is a token; ids above 255 are special.
class Bytes : public Tokenizer {
 public:
  explicit Bytes(SpecialTokens special) : special_(special) {}
  [[nodiscard]] std::vector<std::int32_t> encode(std::string_view text) const override {
    return {text.begin(), text.end()};
  }
  [[nodiscard]] std::string token_text(std::int32_t id) const override { return {static_cast<char>(id)}; }
  [[nodiscard]] std::string piece(std::int32_t id) const override { return token_text(id); }
  [[nodiscard]] Index vocabulary() const override { return 256; }
  [[nodiscard]] bool is_special(std::int32_t id) const override { return id > 255; }
  [[nodiscard]] SpecialTokens special_tokens() const override { return special_; }
  [[nodiscard]] std::string kind() const override { return "bytes"; }
  [[nodiscard]] std::vector<std::filesystem::path> files() const override { return {}; }

 private:
  SpecialTokens special_;
};

using Ids = std::vector<std::int32_t>;

}  // namespace

TEST_CASE("a typed text stands between the tokens that the model was trained with") {
  const Bytes both({.opens = 300, .closes = 301});
  CHECK(typed_document("ab", both, false).ids == Ids{300, 'a', 'b', 301});
  CHECK(typed_document("ab", both, true).ids == Ids{300, 'a', 'b'});
  CHECK(typed_document("", both, true).ids == Ids{300});
  const Bytes none({});
  CHECK(typed_document("ab", none, false).ids == Ids{'a', 'b'});
  CHECK_THROWS_AS(typed_document("", none, true), ShapeError);
}

TEST_CASE("a word that the tokenizer does not know is shown by its id") {
  const Bytes tokenizer({});
  CHECK(word_text(tokenizer, 'a') == "a");
  CHECK(word_text(tokenizer, 256) == "<256>");
}
