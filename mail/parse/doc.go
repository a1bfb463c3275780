// Package parse turns the bytes of a received message into headers, parts,
// text, links and attachments. It is tolerant: it never panics and never
// refuses. What is damaged is read as far as it goes and said in Problems.
// Every piece of work has a limit, and time grows linearly with the input. It
// knows no clock and no files.
//
// The text it returns is valid UTF-8 and otherwise untrusted; package safe
// cleans it before it is shown.
package parse

// The limits of this package.
const (
	MaxDepth       = 50        // levels of nested multiparts and messages
	MaxParts       = 1000      // parts of one message, nested messages included
	MaxHeader      = 256 << 10 // bytes of one header block
	MaxFields      = 2000      // fields of one header block
	MaxFieldDecode = 16 << 10  // bytes of a field in which encoded words are decoded
	MaxAddressText = 64 << 10  // bytes of an address field
	MaxAddresses   = 2000      // addresses of one message's field
	MaxHTML        = 2 << 20   // bytes of HTML rendered
	MaxText        = 1 << 20   // bytes of text shown
	MaxLinks       = 500       // links listed
)
