package inbound

import "time"

// Confidence is how sure a return date is.
type Confidence string

// The confidences: a date that a phrase of return introduces; the end of an
// absence; a weekday or "next week" alone.
const (
	ConfidenceHigh   Confidence = "high"
	ConfidenceMedium Confidence = "medium"
	ConfidenceLow    Confidence = "low"
)

// ReturnDate is the day an automatic answer says its sender is back.
type ReturnDate struct {
	Date       time.Time  `json:"date"`      // midnight in the zone the message was written in
	Inclusive  bool       `json:"inclusive"` // Date is the last day away: the sender is back on the day after
	Confidence Confidence `json:"confidence"`
	Quote      string     `json:"quote"` // the words it was read from; untrusted
}

// BackOn is the first day the sender is expected to be there.
func (d ReturnDate) BackOn() time.Time {
	if d.Inclusive {
		return d.Date.AddDate(0, 0, 1)
	}
	return d.Date
}

func findReturnDate(f *facts) *ReturnDate { return nil }
