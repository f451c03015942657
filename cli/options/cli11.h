#pragma once

// What headers here name of CLI11; a source that does something with it includes <CLI/CLI.hpp>, which takes
// seconds to read.
namespace CLI {

class App;
class Option;
class ParseError;
class Validator;

}  // namespace CLI
