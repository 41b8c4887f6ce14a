package node

import "testing"

func TestExpand(t *testing.T) {
	env := map[string]string{"A": "one", "B": "$(A)", "EMPTY": ""}
	for text, want := range map[string]string{
		"":               "",
		"plain":          "plain",
		"$(A)":           "one",
		"x$(A)y$(A)":     "xoneyone",
		"$(B)":           "$(A)", // what a value holds is not expanded again
		"[$(EMPTY)]":     "[]",
		"$(ABSENT)":      "$(ABSENT)",
		"$$(A)":          "$(A)",
		"$$$(A)":         "$one",
		"$A ${A} $(A":    "$A ${A} $(A",
		"cost: 5$":       "cost: 5$",
		"$$$$":           "$$",
		"$(ABSENT)$(A)$": "$(ABSENT)one$",
	} {
		if got := expand(text, env); got != want {
			t.Errorf("expand(%q) = %q, want %q", text, got, want)
		}
	}
}
