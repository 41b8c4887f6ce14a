package environment

import (
	"fmt"
	"strings"
)

// Problem is one thing that is wrong in an estate's files, with what to do about it.
type Problem struct {
	// File is relative to the repository, Line is 0 where only the field is known.
	File string
	Line int
	// Field is the dotted key, may be empty.
	Field string
	// Cause completes a sentence that starts with the field; Fix is a request.
	Cause, Fix string
}

func (p Problem) Error() string {
	var text strings.Builder
	text.WriteString(p.File)
	if p.Line > 0 {
		fmt.Fprintf(&text, ":%d", p.Line)
	}
	text.WriteString(": ")
	if p.Field != "" {
		text.WriteString(p.Field + " ")
	}
	text.WriteString(p.Cause)
	if p.Fix != "" {
		text.WriteString(": " + p.Fix)
	}
	return text.String()
}

// Problems is everything that is wrong, in the order of the file. It unwraps to its entries.
type Problems []Problem

func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i, problem := range p {
		lines[i] = problem.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap lets errors.As find a Problem.
func (p Problems) Unwrap() []error {
	list := make([]error, len(p))
	for i, problem := range p {
		list[i] = problem
	}
	return list
}
