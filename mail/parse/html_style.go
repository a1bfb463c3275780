package parse

import (
	"strings"

	"golang.org/x/net/html/atom"
)

// void reports whether an element has no content.
func void(tag atom.Atom) bool {
	switch tag {
	case atom.Br, atom.Hr, atom.Img, atom.Input, atom.Meta, atom.Link, atom.Area, atom.Base, atom.Col,
		atom.Embed, atom.Source, atom.Track, atom.Wbr, atom.Param, atom.Basefont, atom.Bgsound, atom.Frame, atom.Keygen:
		return true
	}
	return false
}

// unseen reports whether the content of an element is never shown.
func unseen(tag atom.Atom) bool {
	switch tag {
	case atom.Script, atom.Style, atom.Title, atom.Template, atom.Object, atom.Iframe, atom.Noframes,
		atom.Audio, atom.Video, atom.Svg, atom.Math, atom.Applet, atom.Datalist:
		return true
	}
	return false
}

// inline reports whether an element is part of running text.
func inline(tag atom.Atom) bool {
	switch tag {
	case 0, atom.A, atom.B, atom.I, atom.U, atom.S, atom.Em, atom.Strong, atom.Span, atom.Font, atom.Small, atom.Big,
		atom.Sub, atom.Sup, atom.Tt, atom.Code, atom.Kbd, atom.Samp, atom.Var, atom.Abbr, atom.Acronym, atom.Cite,
		atom.Q, atom.Label, atom.Mark, atom.Del, atom.Ins, atom.Strike, atom.Time, atom.Bdo, atom.Bdi, atom.Dfn, atom.Button:
		return true
	}
	return false
}

// margin returns how many line ends part an element from what is around it:
// none, one, or two for an empty line.
func margin(tag atom.Atom) int {
	switch tag {
	case atom.P, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Dl, atom.Figure, atom.Fieldset:
		return 2
	case atom.Div, atom.Section, atom.Article, atom.Header, atom.Footer, atom.Nav, atom.Aside, atom.Main, atom.Address,
		atom.Center, atom.Form, atom.Dt, atom.Dd, atom.Caption, atom.Li, atom.Tr, atom.Figcaption, atom.Details,
		atom.Summary, atom.Option, atom.Body, atom.Hgroup, atom.Legend, atom.Noscript:
		return 1
	}
	return 0
}

// hides reports whether the style of an element keeps its content from being
// seen: the ways in use for the hidden first line of newsletters and for text
// meant for machines only.
func hides(a attributes) bool {
	if a.style == "" {
		return false
	}
	var zeroHeight, clipped bool
	for decl := range strings.SplitSeq(strings.ToLower(a.style), ";") {
		key, value, ok := strings.Cut(decl, ":")
		if !ok {
			continue
		}
		value = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(value), "!important"))
		switch strings.TrimSpace(key) {
		case "display":
			if value == "none" {
				return true
			}
		case "visibility":
			if value == "hidden" || value == "collapse" {
				return true
			}
		case "mso-hide":
			if value == "all" {
				return true
			}
		case "font-size", "opacity":
			if zero(value) {
				return true
			}
		case "height", "max-height", "width", "max-width":
			zeroHeight = zeroHeight || zero(value)
		case "overflow", "overflow-y":
			clipped = clipped || value == "hidden"
		}
	}
	return zeroHeight && clipped
}

// zero reports whether a CSS length or number is nothing at all.
func zero(v string) bool {
	v = strings.TrimRight(v, "abcdefghijklmnopqrstuvwxyz%")
	return v != "" && strings.Trim(v, "0.") == "" && strings.IndexByte(v, '0') >= 0
}
