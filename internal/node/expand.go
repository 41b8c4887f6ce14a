package node

import "strings"

// expand replaces each $(NAME) in text by the variable's value, as the
// Kubernetes API describes it for arguments and variables: $$ stands for $, and
// a reference to an unknown variable stays as it is.
func expand(text string, env map[string]string) string {
	var out strings.Builder
	for {
		before, after, found := strings.Cut(text, "$")
		out.WriteString(before)
		if !found {
			return out.String()
		}
		name, rest, closed := strings.Cut(strings.TrimPrefix(after, "("), ")")
		switch {
		case strings.HasPrefix(after, "$"):
			out.WriteByte('$')
			text = after[1:]
		case !strings.HasPrefix(after, "(") || !closed:
			out.WriteByte('$')
			text = after
		default:
			if value, known := env[name]; known {
				out.WriteString(value)
			} else {
				out.WriteString("$(" + name + ")")
			}
			text = rest
		}
	}
}
