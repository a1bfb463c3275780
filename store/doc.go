// Package store keeps everything durable in one SQLite database and is the
// only package that speaks SQL. It can be open in several processes at once.
//
// An exported method that writes is one transaction and one fact. It moves a
// row by comparing its old state, so that of two callers one wins and the
// other gets a CONFLICT; it writes its audit lines in the same transaction; and
// it announces what changed only after the commit. Reading methods see the
// last commit and never wait for a writer.
//
// # Files of a state directory
//
//	skrzynka.db       the database (WAL, synchronous=FULL)
//	run/<id>.lock     one for each open Store, locked while its process lives
//	instance          which database this is and how far it had come
//	emergency.log     terminal states that could not be committed
//
// Times are whole milliseconds, UTC; a time of zero is stored as NULL or 0.
package store
