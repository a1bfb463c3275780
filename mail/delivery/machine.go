package delivery

import "skrzynka/mail"

// Move is one legal change of an attempt's status.
type Move struct {
	From, To mail.DeliveryStatus
	When     string // what has happened when it is made
}

// Moves is the whole state machine. The database enforces the same table by a
// trigger; TestMovesMatchSchema in package store holds the two together.
func Moves() []Move {
	return []Move{
		{mail.StatusPending, mail.StatusSending, "a live process owns it; committed before credentials are resolved or a socket is opened"},
		{mail.StatusSending, mail.StatusSent, "the configured server answered the end of data with 2xx"},
		{mail.StatusSending, mail.StatusFailed, "it is proven that the server did not take the message"},
		{mail.StatusSending, mail.StatusUncertain, "neither is proven"},
	}
}

// MayMove reports whether the move is legal.
func MayMove(from, to mail.DeliveryStatus) bool {
	for _, m := range Moves() {
		if m.From == from && m.To == to {
			return true
		}
	}
	return false
}
