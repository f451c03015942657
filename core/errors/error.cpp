#include "error.h"

#include <utility>

namespace headwave {

Remedy give(std::string option, std::string value, std::string effect) {
  return {Remedy::Kind::give, std::move(option), std::move(value), std::move(effect)};
}

Remedy omit(std::string option, std::string effect) {
  return {Remedy::Kind::omit, std::move(option), "", std::move(effect)};
}

std::string remedy_as_argument(const Remedy& remedy) {
  return remedy.value.empty() ? remedy.option : remedy.option + "=" + remedy.value;
}

std::string remedy_text(const std::vector<Remedy>& remedies, RemedyWriter written) {
  std::string text;
  for (const Remedy& remedy : remedies) {
    text += text.empty() ? "; " : ", or ";
    text += remedy.kind == Remedy::Kind::give ? "give " : "omit ";
    text += written(remedy);
    if (!remedy.effect.empty()) text += " " + remedy.effect;
  }
  return text;
}

Error::Error(const std::string& finding, std::vector<Remedy> remedies)
    : std::runtime_error(finding + remedy_text(remedies, remedy_as_argument)),
      finding_(finding),
      remedies_(std::move(remedies)) {}

Error::Error(const std::string& finding, Remedy remedy) : Error(finding, std::vector<Remedy>{std::move(remedy)}) {}

}  // namespace headwave
