// Unicode text as the functions see it: UTF-8, counted in code points.
//
// The language's documentation speaks of characters; counting code points never cuts one in two, so
// every result is valid text. (An emoji outside the basic plane counts 1 here, and 2 in
// JavaScript.)
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace orrery::query {

// The code point at `at`, moving it past. The text must be valid UTF-8, as all of ours is; a
// broken sequence gives its bytes one by one.
char32_t next_code_point(std::string_view text, size_t& at);
void append_code_point(std::string& out, char32_t code);

size_t count_code_points(std::string_view text);
// Where the code point with this index starts; the end when there are fewer.
size_t offset_of(std::string_view text, size_t index);

// Where `wanted` is first, not before `from`, and where it is last; npos when it is not there. In
// time that grows with the sum of both lengths, and not with their product.
size_t find_text(std::string_view text, std::string_view wanted, size_t from = 0);
size_t find_last_text(std::string_view text, std::string_view wanted);

bool is_space(char32_t code);
bool is_word(char32_t code);  // a letter, a mark inside a word, or a digit

// Simple case mappings: one code point to one, without regard to language.
char32_t to_upper(char32_t code);
char32_t to_lower(char32_t code);
std::string to_upper(std::string_view text);
std::string to_lower(std::string_view text);
// For comparing without regard to case: upper case, then lower.
std::string fold_case(std::string_view text);

}  // namespace orrery::query
