#pragma once

// The classes of CLI11 that headers here name. Sources that call CLI11 include <CLI/CLI.hpp>, which compiles
// slowly.
namespace CLI {

class App;
class Option;
class ParseError;
class Validator;

}  // namespace CLI
