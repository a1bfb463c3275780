package mail

// IndexText is what full-text search finds a body by, folded (package query).
type IndexText struct {
	BodyID                                   int64
	Subject, Sender, Recipients, Body, Files string
}

// IndexDue is a body that is not in the index yet.
type IndexDue struct {
	BodyID int64
	Raw    []byte
}
