// Package loopback runs a mail provider inside the process: an IMAP server
// (RFC 3501) and an SMTP submission server (RFC 6409), both over TLS and both
// on 127.0.0.1, with a sample mailbox. The demo runs on it, and so do tests.
//
// What a recipient's address does is decided by its local part: mail to
// drop@anything is taken and never answered, mail to reject@anything is
// refused, and so on. The table is [Rules]; start reading at magic.go.
//
// The servers keep everything in memory. What they accepted can be asked with
// [Servers.Accepted], which is recorded before the client is told, so that it
// can be compared with what a client believes.
package loopback
