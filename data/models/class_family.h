#pragma once

#include <string>

namespace headwave {

/// The family that a class of transformers is of: "XLMRobertaForMaskedLM" is of "xlm-roberta". Of a class that is not
/// known its own name.
std::string family_of_class(const std::string& name);

}  // namespace headwave
