package parse

import "strings"

// Unflow joins the lines of a text in format=flowed (RFC 3676) into
// paragraphs: a line that ends in a space goes on in the next one of the same
// quote depth, with delSp without that space. Quoted paragraphs come out with
// "> " once for each level; the space stuffed in front of a line is removed.
func Unflow(text string, delSp bool) string {
	var out strings.Builder
	out.Grow(len(text))
	open, depth := false, 0
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		d := 0
		for d < len(line) && line[d] == '>' {
			d++
		}
		line = strings.TrimPrefix(line[d:], " ")
		signature := line == "-- "
		if open && (d != depth || signature) {
			out.WriteByte('\n')
			open = false
		}
		if !open {
			writeQuote(&out, d)
		}
		depth = d
		open = strings.HasSuffix(line, " ") && !signature
		if open && delSp {
			line = line[:len(line)-1]
		}
		out.WriteString(line)
		if !open {
			out.WriteByte('\n')
		}
	}
	if open {
		out.WriteByte('\n')
	}
	return out.String()
}

// maxQuote bounds the quote depth written; deeper text counts as this deep.
const maxQuote = 30

func writeQuote(out *strings.Builder, depth int) {
	depth = min(depth, maxQuote)
	for range depth {
		out.WriteString("> ")
	}
}
