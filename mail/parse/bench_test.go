package parse

import (
	"fmt"
	"strings"
	"testing"
)

// sampleHeader is a header block of about 2 KB as providers deliver it.
func sampleHeader() []byte {
	var b strings.Builder
	for i := range 4 {
		fmt.Fprintf(&b, "Received: from mx%d.example.net (mx%d.example.net [192.0.2.%d])\r\n\tby in%d.example.org (Postfix) with ESMTPS id 4F1A2B3C%d\r\n\tfor <jan@example.org>; Mon, 02 Mar 2026 10:1%d:00 +0100 (CET)\r\n", i, i, i, i, i, i)
	}
	b.WriteString("Authentication-Results: in.example.org; dkim=pass header.d=example.net;\r\n\tspf=pass smtp.mailfrom=example.net; dmarc=pass header.from=example.net\r\n")
	b.WriteString("DKIM-Signature: v=1; a=rsa-sha256; c=relaxed/relaxed; d=example.net; s=s1;\r\n\th=from:to:subject:date:message-id; bh=" + strings.Repeat("abcd", 11) + ";\r\n\tb=" + strings.Repeat("Abcd1234", 20) + "\r\n")
	b.WriteString("Return-Path: <anna@example.net>\r\nDelivered-To: jan@example.org\r\nFrom: =?UTF-8?Q?Anna_Wi=C5=9Bniewska?= <anna@example.net>\r\nTo: Jan Kowalski <jan@example.org>, \"Nowak, Ewa\" <ewa@example.org>\r\nCc: team@example.org\r\n")
	b.WriteString("Subject: =?UTF-8?B?WmHFvMOzxYLEhyBnxJnFm2zEhSBqYcW6xYQ=?=\r\nDate: Mon, 2 Mar 2026 10:12:13 +0100\r\nMessage-ID: <20260302101213.1234@mx.example.net>\r\n")
	b.WriteString("In-Reply-To: <a1@example.org>\r\nReferences: <a0@example.org>\r\n <a1@example.org>\r\nMIME-Version: 1.0\r\nContent-Type: multipart/alternative; boundary=\"=_b1\"\r\n")
	b.WriteString("X-Mailer: Example 1.0\r\nList-Id: Team <team.example.org>\r\nX-Spam-Status: No, score=-2.1 required=5.0 tests=BAYES_00,DKIM_SIGNED,DKIM_VALID\r\n\tautolearn=ham version=4.0.0\r\n\r\n")
	return []byte(b.String())
}

func sampleMessage() []byte {
	var b strings.Builder
	b.Write(sampleHeader())
	b.WriteString("--=_b1\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n")
	b.WriteString(strings.Repeat("Za=C5=BC=C3=B3=C5=82=C4=87, this is a line of an ordinary mail that goes on=\r\n and on.\r\n", 20))
	b.WriteString("--=_b1\r\nContent-Type: text/html; charset=utf-8\r\n\r\n<html><body>")
	b.WriteString(strings.Repeat("<p>This is a <b>paragraph</b> with <a href=\"https://example.org/x\">a link</a>.</p>\r\n", 30))
	b.WriteString("</body></html>\r\n--=_b1--\r\n")
	return []byte(b.String())
}

func BenchmarkHeader(b *testing.B) {
	raw := sampleHeader()
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	for b.Loop() {
		Header(raw)
	}
}

func BenchmarkMessage(b *testing.B) {
	raw := sampleMessage()
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	for b.Loop() {
		Message(raw)
	}
}

func BenchmarkHTML(b *testing.B) {
	src := strings.Repeat("<table><tr><td><p>This is a <b>paragraph</b> with <a href=\"https://example.org/x\">a link</a>.</p></td><td>2</td></tr></table>\n", 2000)
	b.SetBytes(int64(len(src)))
	b.ReportAllocs()
	for b.Loop() {
		RenderHTML(src)
	}
}
