// Package e2e tests the program as a person and a script meet it: the built
// binary, on the command line and on a pseudo terminal, against the demo's
// servers and, where they are there, a real Dovecot, a real Postfix and a real
// Secret Service. It holds tests only.
//
// The environment says what is there:
//
//	SKRZYNKA_TEST_IMAP, SKRZYNKA_TEST_SMTP   JSON, as .ci/servers writes it
//	SKRZYNKA_TEST_KEYRING=1                  the session bus has an unlocked Secret Service
//	SKRZYNKA_TEST_REQUIRE=1                  a part that is missing fails instead of skipping
package e2e
