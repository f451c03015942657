#include "../../data/sources/text_documents.h"

#include <fstream>

#include "../../core/errors/error.h"
#include "../catch.h"

using namespace headwave;

namespace {

using Ids = std::vector<std::int32_t>;

/// A BERT tokenizer that knows single letters, and text or ids to give it.
class SmallFolder {
 public:
  SmallFolder() {
    std::ofstream(folder_ / "vocab.txt") << "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\nb\nc\n";
    std::ofstream(folder_ / "config.json") << R"({"model_type": "bert"})";
    tokenizer_ = open_tokenizer(folder_.path());
  }

  [[nodiscard]] std::unique_ptr<Source> text(const std::string& content, const PackingOptions& options) const {
    return text_documents(written(content), tokenizer_, options);
  }
  [[nodiscard]] std::unique_ptr<Source> ids(const std::string& content, const PackingOptions& options) const {
    return id_documents(written(content), tokenizer_, options);
  }
  [[nodiscard]] std::filesystem::path folder() const { return folder_.path(); }
  [[nodiscard]] std::shared_ptr<const Tokenizer> tokenizer() const { return tokenizer_; }

 private:
  [[nodiscard]] std::filesystem::path written(const std::string& content) const {
    std::ofstream(folder_ / "input") << content;
    return folder_ / "input";
  }

  TemporaryFolder folder_;
  std::shared_ptr<const Tokenizer> tokenizer_;
};

PackingOptions packing(Index documents, Index length, bool special_tokens = true) {
  return {documents, length, special_tokens};
}

}  // namespace

TEST_CASE("text is cut into consecutive documents, special tokens counted in their length") {
  const SmallFolder it;
  const auto source = it.text("a b c a\nb c a b", packing(2, 6));
  REQUIRE(source->count() == 2);
  CHECK(source->length(1) == 6);
  const Document first = source->document(0), second = source->document(1);
  CHECK(first.ids == Ids{2, 5, 6, 7, 5, 3});
  CHECK(second.ids == Ids{2, 6, 7, 5, 6, 3});
  CHECK(first.tokens.front() == "[CLS]");
  CHECK(first.tokens[1] == "a");
  CHECK(first.special == std::vector<std::uint8_t>{1, 0, 0, 0, 0, 1});
  CHECK(second.name == "input, document 1");
  const Attributes provenance = source->provenance();
  CHECK(std::get<std::string>(provenance.at("source")) == "text");
  CHECK(std::get<std::int64_t>(provenance.at("length")) == 6);
}

TEST_CASE("without special tokens nothing is put around documents, and none is used twice") {
  const SmallFolder it;
  const auto source = it.text("a b c a b c a b", packing(2, 3, false));
  CHECK(source->document(0).ids == Ids{5, 6, 7});
  CHECK(source->document(1).ids == Ids{5, 6, 7});
  CHECK(std::get<std::string>(source->provenance().at("special_tokens")) == "none");
  CHECK(it.text("a", packing(1, 1, false))->document(0).ids == Ids{5});
}

TEST_CASE("text that is too short, or a length without room, is refused with the number it would give") {
  const SmallFolder it;
  CHECK_THROWS_WITH(it.text("a b c a b c a b", packing(3, 6)),
                    ContainsSubstring("8 tokens, enough for 2 documents of 6, but 3 are requested"));
  CHECK_THROWS_AS(it.text("a", packing(1, 4)), FormatError);
  CHECK_THROWS_WITH(it.text("", packing(1, 4)), ContainsSubstring("the file is empty; expected text"));
  CHECK_THROWS_WITH(it.text(" \n \n", packing(1, 4)), ContainsSubstring("0 tokens, enough for 0 documents"));
  CHECK_THROWS_WITH(it.text("a b c", packing(1, 2)),
                    ContainsSubstring("no room beside the special tokens; expected at least 3 tokens"));
  CHECK_THROWS_AS(text_documents(it.folder() / "missing", it.tokenizer(), packing(1, 4)), IoError);
}

TEST_CASE("without a number as many documents as the text gives are made, and a short text is one of its own length") {
  const SmallFolder it;
  const auto count = [](const std::unique_ptr<Source>& source) { return source->count(); };
  const auto one = it.text("a b c a", {});
  CHECK(one->count() == 1);
  CHECK(one->document(0).ids == Ids{2, 5, 6, 7, 5, 3});
  CHECK(std::get<std::int64_t>(one->provenance().at("length")) == 6);
  PackingOptions shorter;
  shorter.positions = 4;  // two tokens between the special ones
  CHECK(count(it.text("a b c a b", shorter)) == 2);
  CHECK(it.text("a b c a b", shorter)->length(0) == 4);
  CHECK(it.text("a", shorter)->length(0) == 3);
  PackingOptions given;
  given.length = 3;
  std::string text;
  for (int i = 0; i < 150; ++i) text += "a ";
  CHECK(count(it.text("a b c", given)) == 3);
  CHECK(count(it.text(text, given)) == 100);
  given.documents = 120;
  CHECK(count(it.text(text, given)) == 120);
  // What was asked for is kept to.
  given = {};
  given.length = 6;
  CHECK_THROWS_WITH(it.text("a b", given),
                    ContainsSubstring("2 tokens, enough for 0 documents of 6, but 1 are requested"));
  given = {};
  given.documents = 2;
  CHECK_THROWS_WITH(it.text("a b", given), ContainsSubstring("enough for 0 documents of 512, but 2 are requested"));
  given.documents = 1;
  CHECK(it.text("a b", given)->length(0) == 4);
  CHECK_THROWS_WITH(it.text(" ", {}), ContainsSubstring("0 tokens, enough for 0 documents"));
}

TEST_CASE("ids without a number or a length are documents as they stand") {
  const SmallFolder it;
  CHECK(it.ids("[5, 6, 7]", {})->length(0) == 3);
  CHECK(it.ids("[[5, 6], [7]]", {})->count() == 2);
  std::string list = "5";
  for (int i = 1; i < 600; ++i) list += ",5";
  CHECK(it.ids("[[" + list + "]]", {})->length(0) == 600);
  CHECK(it.ids("[" + list + "]", {})->length(0) == 512);
  PackingOptions small;
  small.positions = 100;
  CHECK(it.ids("[" + list + "]", small)->count() == 6);
  CHECK_THROWS_WITH(it.ids("[[" + list + "]]", small),
                    ContainsSubstring("document 0 has 600 tokens, but the model has 100 positions"));
  std::string many = "[[5, 6]";
  for (int i = 0; i < 149; ++i) many += ", [5, 6]";
  CHECK(it.ids(many + "]", {})->count() == 100);
}

TEST_CASE("ids that a model cannot read are refused with their document before it is run") {
  const SmallFolder it;
  PackingOptions options;
  options.vocabulary = 8;
  CHECK(it.ids("[[5, 7]]", options)->count() == 1);
  CHECK_THROWS_WITH(it.ids("[[5], [6, 8]]", options),
                    ContainsSubstring("document 1, token 1 has the id 8, but the model knows "
                                      "the ids 0 to 7"));
  CHECK_THROWS_WITH(it.ids("[[5], []]", options), ContainsSubstring("document 1 has no token ids"));
}

TEST_CASE("text that is not UTF-8 becomes no document") {
  const SmallFolder it;
  CHECK_THROWS_WITH(it.text("a b\n\xe9 c", {}),
                    ContainsSubstring("input: line 2, byte offset 4: byte 0xE9 is not UTF-8"));
  CHECK_THROWS_WITH(it.text(std::string("a b\0 c", 6), {}), ContainsSubstring("iconv -f"));
  CHECK_THROWS_WITH(it.ids("\xff\xfe"
                           "5",
                           {}),
                    ContainsSubstring("expected token ids"));
  CHECK(it.text("\xef\xbb\xbf"
                "a b",
                {})
            ->document(0)
            .ids == Ids{2, 5, 6, 3});
}

TEST_CASE("no more of a long text is looked at than documents can need") {
  const SmallFolder it;
  std::string text;
  text.reserve(std::size_t{9} << 20U);
  while (text.size() < std::size_t{8} << 20U) text += "a b c a b c a b c a b c a b c a\n";
  text += "\xff";
  CHECK(it.text(text, packing(3, 6))->count() == 3);
  CHECK_THROWS_AS(it.text(text, packing(1000, 512)), FormatError);
}

TEST_CASE("a list of ids is cut like a text, a list of lists is taken as it stands") {
  const SmallFolder it;
  const auto cut = it.ids("[5, 6, 7, 5, 6]", packing(2, 2));
  CHECK(cut->document(1).ids == Ids{7, 5});
  const auto apart = it.ids(R"({"ids": [[5, 6, 7], [2, 3]], "note": "x"})", packing(2, 512));
  CHECK(apart->length(0) == 3);
  CHECK(apart->document(1).ids == Ids{2, 3});
  CHECK(apart->document(1).special == std::vector<std::uint8_t>{1, 1});
  CHECK(std::get<std::int64_t>(apart->provenance().at("length")) == 3);
}

TEST_CASE("ids beyond the tokenizer are shown as numbers, and without one there is no text") {
  const SmallFolder it;
  CHECK(it.ids("[[5, 99]]", packing(1, 2))->document(0).tokens == std::vector<std::string>{"a", "99"});
  std::ofstream(it.folder() / "bare") << "[[5, 99]]";
  const Document document = id_documents(it.folder() / "bare", nullptr, packing(1, 2))->document(0);
  CHECK(document.tokens.empty());
  CHECK(document.special.empty());
}

TEST_CASE("what is not token ids is refused with its place") {
  const SmallFolder it;
  CHECK_THROWS_WITH(it.ids("", packing(1, 2)), ContainsSubstring("the file is empty; expected token ids"));
  CHECK_THROWS_WITH(it.ids("[1, 2, -3]", packing(1, 2)), ContainsSubstring("entry 2 is not a token id"));
  CHECK_THROWS_WITH(it.ids("[1, 2.5]", packing(1, 2)), ContainsSubstring("entry 1 is not a token id"));
  CHECK_THROWS_WITH(it.ids("[1, 4294967296]", packing(1, 2)), ContainsSubstring("entry 1 is not a token id"));
  CHECK_THROWS_WITH(it.ids("[[1], 2]", packing(1, 2)), ContainsSubstring("some of its entries are not lists"));
  CHECK_THROWS_WITH(it.ids("[[1], []]", packing(2, 2)), ContainsSubstring("document 1 has no token ids"));
  CHECK_THROWS_WITH(it.ids(R"({"tokens": [1]})", packing(1, 2)),
                    ContainsSubstring("expected a JSON list of token ids"));
  CHECK_THROWS_WITH(it.ids("1 2\n3 4\n", packing(1, 2)), ContainsSubstring("not valid JSON"));
  CHECK_THROWS_WITH(it.ids("[[1], [2]]", packing(3, 1)), ContainsSubstring("holds 2 documents, but 3 are requested"));
  CHECK_THROWS_WITH(it.ids("[]", packing(1, 2)), ContainsSubstring("0 tokens, enough for 0 documents"));
  CHECK_THROWS_AS(it.ids("[1, 2", packing(1, 2)), FormatError);
}

TEST_CASE("pairs of ids are documents with a target, and padding is taken off") {
  const TemporaryFolder folder;
  std::ofstream(folder / "pairs.json") << R"([{"source": [5, 6, 7], "target": [8, 9, 10, 11]},
    {"source": [5], "target": [6]}])";
  PackingOptions options;
  options.documents = 2;
  const auto pairs = id_documents(folder / "pairs.json", nullptr, options);
  CHECK(pairs->length(0) == 4);
  CHECK(pairs->document(0).ids == std::vector<std::int32_t>{5, 6, 7});
  CHECK(pairs->document(0).target.ids == std::vector<std::int32_t>{8, 9, 10, 11});
  std::ofstream(folder / "half.json") << R"([{"source": [5, 6, 7]}, {"source": [5], "target": [6]}])";
  CHECK_THROWS_WITH(id_documents(folder / "half.json", nullptr, options),
                    ContainsSubstring("'target' is missing or empty"));

  std::ofstream(folder / "vocab.txt") << "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\nb\n";
  std::ofstream(folder / "padded.json") << "[[2, 5, 6, 3, 0, 0], [2, 5, 0, 6, 6, 3]]";
  const auto padded = id_documents(folder / "padded.json", open_tokenizer(folder.path()), options);
  CHECK(padded->document(0).ids == std::vector<std::int32_t>{2, 5, 6, 3});
  CHECK(padded->document(1).ids == std::vector<std::int32_t>{2, 5, 0, 6, 6, 3});
  CHECK(std::get<std::int64_t>(padded->provenance().at("padding_removed")) == 2);
}

TEST_CASE("a text without line ends is looked at to twice what documents can need, whole characters") {
  const SmallFolder it;
  std::string text;
  while (text.size() < std::size_t{8} << 20U) text += "a \u00fc ";
  const std::size_t bytes = text.size();
  text.resize(3 * bytes, 'a');
  text += "\xff";
  CHECK(it.text(text, packing(3, 6))->count() == 3);
}

TEST_CASE("documents of ids beyond those that are wanted are looked at, and not kept") {
  const SmallFolder it;
  CHECK(it.ids("[[5, 6], [7, 5], [6]]", packing(2, 2))->count() == 2);
  CHECK_THROWS_WITH(it.ids("[[5, 6], [7, 5], [-6]]", packing(2, 2)), ContainsSubstring("entry 0 is not a token id"));
}

TEST_CASE("literal <unk> strings that a tokenizer takes apart are counted") {
  const SmallFolder it;
  PackingOptions any;
  any.allow_unknown = true;
  const Attributes found = it.text("a b <unk> c a <unk>, b c a", any)->provenance();
  CHECK(std::get<std::int64_t>(found.at("unk_strings")) == 2);
  CHECK_FALSE(it.text("a b c a b", any)->provenance().contains("unk_strings"));
}

TEST_CASE(
    "a text that the vocabulary cannot spell is told by its share of unknown tokens, and refused where nearly all "
    "are") {
  const SmallFolder it;
  const auto share = [&](const std::string& text, PackingOptions options = {}) {
    return std::get<double>(it.text(text, options)->provenance().at("unknown_share"));
  };
  PackingOptions any;
  any.allow_unknown = true;
  CHECK(share("a b c a b") == 0);
  CHECK(share("a b x c y a b c") == 0.25);
  CHECK(share("[MASK] a x [SEP] b y") == 0.5);  // what stands for no text does not count
  // Only what is used counts: five tokens between two special ones.
  CHECK(share("a b x y z a b c a b", packing(1, 7)) == 0.6);
  CHECK(share("a x x x x x x x x") == Approx(8.0 / 9));
  CHECK_THROWS_AS(it.text("a x x x x x x x x x", {}), FormatError);
  CHECK_THROWS_WITH(it.text("a x x x x x x x x x", {}),
                    ContainsSubstring("input: 90 % of its tokens are unknown ([UNK])") &&
                        ContainsSubstring("give allow_unknown to take this one"));
  CHECK(share("x y z", any) == 1);
  // Ids are what somebody chose.
  CHECK_FALSE(it.ids("[[1, 1, 1, 1]]", {})->provenance().contains("unknown_share"));
}
