package inbox

import "testing"

func TestExcerpt(t *testing.T) {
	long := "Some words that come before it all and are not what was looked for at this time. "
	for _, c := range []struct {
		name, text string
		words      []string
		want       string
	}{
		{"at the beginning", "Turtles are slow.", []string{"turtles"}, "Turtles are slow."},
		{"accents", "Idzie żółw.", []string{"zolw"}, "Idzie żółw."},
		{"a beginning", "Turtles are slow.", []string{"turt*"}, "Turtles are slow."},
		{"not a beginning", "Turtles are slow.", []string{"turt"}, ""},
		{"a phrase", "a quick fox", []string{"quick fox"}, "a quick fox"},
		{"ideographs", "会議は明日です", []string{"明日"}, "会議は明日です"},
		{"far in", long + "turtles here", []string{"turtles"}, "…and are not what was looked for at this time. turtles here"},
		{"nowhere", long, []string{"turtles"}, ""},
		{"lines become one", "one\ntwo\n\nthree", []string{"three"}, "one two three"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Excerpt(c.text, c.words); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
