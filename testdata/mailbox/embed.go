// Package mailbox holds the sample messages of the demo's provider. Everybody
// in them is invented; all domains are reserved for examples (RFC 2606).
//
// There is one folder of files per mailbox folder, and one message per file,
// with LF line ends. mail/loopback turns a file into a message:
//
//   - Lines before the header that begin with # say what is not in a message:
//     "# flags Seen Answered" its flags, "# arrived -2d" when it arrived where
//     that is not its Date, "# charset iso-8859-2" what to convert the file
//     to, which is written in UTF-8.
//   - {{-3d4h}} is the time three days and four hours ago as a Date field has
//     it, {{+2d|Monday, 2 January}} a time in another layout of package time.
//     The first one is the time of arrival. So the mailbox always looks fresh.
//   - {{x1b}} is one byte, and {{log 100}} a hundred lines of a log.
//
// Message-IDs never change. The magic senders (drop@demo.example and the
// others that loopback.Rules lists) are the newest messages of the inbox.
package mailbox

import "embed"

// Files holds inbox/*.eml and the other folders.
//
//go:embed */*.eml
var Files embed.FS
