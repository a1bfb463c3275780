// Package mail is the vocabulary of Skrzynka: the words every other package
// speaks. It holds types, enumerations with All, String and Parse, typed
// errors, and the sources of time and identifiers. It does no input or output.
//
// # Glossary
//
//   - Account: one receiving identity and its matching sending identity
//     (IMAP, SMTP, credentials).
//   - Folder: an IMAP mailbox of an account (RFC 9051), with a [FolderKind].
//   - Message: one stored message; its identity is (account, folder,
//     UIDVALIDITY, UID). The Message-ID is kept beside it, never as identity.
//   - Attempt: the durable record of one request to send. A reply answers one
//     stored message; an outbound message is mail the account originates.
//   - DeliveryStatus: pending, sending, sent, failed, uncertain.
//   - Evidence: what is known of one SMTP transaction (RFC 5321).
//   - Sent copy: the same bytes appended to the IMAP Sent folder.
//   - Resolution: what a person decided about an uncertain attempt.
//   - Handed over: writing the end of data (CRLF.CRLF) had begun.
//
// # Map
//
//	delivery  where an outcome is decided, and nowhere else
//	compose   draft to bytes, once
//	parse     bytes to parts, text, addresses; never refuses
//	safe      the one cleaning point for text from outside
//	view      rows and details for both front ends
//	inbound   what an arrived message means
//	submit    the steps of one SMTP transaction
//	mirror    IMAP
//	outbox    durable sending
//	inbox     sync and events
//	follow    due and stop rules
//	engine    everything a front end may ask for
//	loopback  the demo's servers, and the tests'
package mail
