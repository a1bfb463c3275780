// Package inbound decides what an arrived message means. It is pure: a parsed
// message and a few facts go in, a class with its reasons comes out, and what
// may follow from it is returned as data.
//
// # Order
//
// Structure is asked before words, and the first rule that matches decides:
// own mail, delivery reports (RFC 3464), complaints (RFC 5965), read receipts
// (RFC 8098), bounces of no standard shape, lists, automatic answers (RFC 3834
// and the vendors' own marks), acknowledgements, calendar answers, people.
//
// # What a message may claim
//
// Everything in a message can be forged. What ties it to us is a Message-ID of
// ours, which holds at least 128 random bits; From, subjects and reported
// addresses are claims. [Effects] lets a claim hold a plan or ask a person, and
// never more.
package inbound
