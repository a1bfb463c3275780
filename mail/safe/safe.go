// Package safe is the one cleaning point for text from outside: mail, folder
// names, server replies, certificates. What comes out can be written to a
// terminal: valid UTF-8, no C0, C1, DEL or escape sequence, no bidirectional
// overrides, no invisible filler, bounded combining marks.
package safe

import "encoding/json"

// Text is cleaned text. Only this package makes one from outside text, so a
// value of this type can be painted as it is. The zero value is empty.
type Text struct{ s string }

// String returns the cleaned text.
func (t Text) String() string { return t.s }

// Empty reports whether there is nothing to show.
func (t Text) Empty() bool { return t.s == "" }

// MarshalJSON writes the text as a JSON string.
func (t Text) MarshalJSON() ([]byte, error) { return json.Marshal(t.s) }

// UnmarshalJSON reads a JSON string, cleaning it as [Block] does.
func (t *Text) UnmarshalJSON(b []byte) error {
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return err
	}
	*t = Block(s)
	return nil
}
