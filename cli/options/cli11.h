#pragma once

// The names of CLI11 that headers here use. Sources that do more include <CLI/CLI.hpp>, slow to read.
namespace CLI {

class App;
class Option;
class ParseError;
class Validator;

}  // namespace CLI
