#include "tokenizer_json_ends.h"

#include <limits>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "../../core/errors/error.h"
#include "json_steps.h"

namespace headwave {

namespace {

std::int32_t small_id(std::int64_t id, const std::string& place) {
  if (id < 0 || id > std::numeric_limits<std::int32_t>::max())
    throw FormatError(fmt::format("{}: {} is no token id", place, id));
  return static_cast<std::int32_t>(id);
}

// ["[SEP]", 102]
std::int32_t id_of_pair(const JsonObject& step, const std::string& key) {
  const auto& pair = step.list(key);
  const std::string place = step.place() + ": " + key;
  if (pair.size() != 2)
    throw FormatError(fmt::format("{}: expected a name and an id, found {} values", place, pair.size()));
  return small_id(integer_of(pair[1], place), place);
}

void put_once(std::int32_t& where, std::int32_t id, const JsonObject& step) {
  if (where >= 0)
    throw FormatError(fmt::format(
        "{}: a document is opened or closed by more than one token, and one is what can be put there", step.place()));
  where = id;
}

// {"single": [{"SpecialToken": {"id": "[CLS]"}}, {"Sequence": {"id": "A"}}], "special_tokens": {"[CLS]": {"ids":
// [101]}}}
void read_template(const JsonObject& step, SpecialTokens& ends) {
  bool is_before = true;
  for (const JsonObject& part : steps_of(step, "single")) {
    if (part.has("Sequence")) {
      is_before = false;
      continue;
    }
    const JsonObject token = step.object("special_tokens").object(part.object("SpecialToken").text("id"));
    for (const nlohmann::json& id : token.list("ids"))
      put_once(is_before ? ends.opens : ends.closes, small_id(integer_of(id, token.place()), token.place()), step);
  }
  if (is_before) throw FormatError(fmt::format("{}: single: the document itself is missing", step.place()));
}

void read_ends(const JsonObject& step, SpecialTokens& ends) {
  const std::string type = step.text("type");
  if (type == "Sequence") {
    for (const JsonObject& part : steps_of(step, "processors")) read_ends(part, ends);
  } else if (type == "TemplateProcessing") {
    read_template(step, ends);
  } else if (type == "BertProcessing" || type == "RobertaProcessing") {
    put_once(ends.opens, id_of_pair(step, "cls"), step);
    put_once(ends.closes, id_of_pair(step, "sep"), step);
  } else if (type != "ByteLevel") {  // which is about offsets only
    refuse_type(step, type, "TemplateProcessing, BertProcessing, RobertaProcessing, ByteLevel or a Sequence of them");
  }
}

}  // namespace

SpecialTokens json_document_ends(const JsonObject& file) {
  SpecialTokens ends;
  if (file.has("post_processor")) read_ends(file.object("post_processor"), ends);
  return ends;
}

AddedToken json_added_token(const JsonObject& object, std::int64_t id) {
  AddedToken token;
  token.content = object.text("content");
  token.id = id;
  token.special = object.flag("special", token.special);
  token.single_word = object.flag("single_word", token.single_word);
  token.lstrip = object.flag("lstrip", token.lstrip);
  token.rstrip = object.flag("rstrip", token.rstrip);
  token.normalized = object.flag("normalized", !token.special);
  return token;
}

}  // namespace headwave
