package environment

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/joho/godotenv"
)

// DotEnvFile is the name of the file with a run's settings and credentials, beside bootstrap.toml.
const DotEnvFile = ".env"

// LoadDotEnv reads the .env file in dir. Without one the result is empty. Errors name file and line and never quote
// the content.
func LoadDotEnv(dir string) (map[string]string, error) {
	data, err := os.ReadFile(filepath.Join(dir, DotEnvFile))
	if errors.Is(err, fs.ErrNotExist) {
		return map[string]string{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", DotEnvFile, err)
	}
	values, err := godotenv.UnmarshalBytes(data)
	if err != nil {
		// The library's message quotes the text around the error, which may well be a secret.
		return nil, Problem{File: DotEnvFile, Line: brokenLine(data), Cause: "is not of the form NAME=value",
			Fix: "correct the name, or close the quotes of the value"}
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if !variableName.MatchString(name) {
			// Not quoted either: a line with a mistake in it can have its secret to the left of the "=".
			return nil, Problem{File: DotEnvFile, Line: lineOf(data, name), Cause: "does not begin with the name of a variable",
				Fix: "write NAME=value, the name in letters, digits and underscores"}
		}
	}
	return values, nil
}

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// brokenLine finds the line at which the first statement that cannot be read begins: the one after the longest run of
// lines from the top that can be read. A value in quotes may run over several lines, so lines cannot be judged alone.
func brokenLine(data []byte) int {
	lines := bytes.SplitAfter(data, []byte("\n"))
	for readable := len(lines) - 1; readable > 0; readable-- {
		if _, err := godotenv.UnmarshalBytes(bytes.Join(lines[:readable], nil)); err == nil {
			return readable + 1
		}
	}
	return 1
}

// lineOf finds the line of a name: the last of the fewest lines from the top that set it.
func lineOf(data []byte, name string) int {
	lines := bytes.SplitAfter(data, []byte("\n"))
	for end := 1; end < len(lines); end++ {
		if values, err := godotenv.UnmarshalBytes(bytes.Join(lines[:end], nil)); err == nil {
			if _, found := values[name]; found {
				return end
			}
		}
	}
	return len(lines)
}

// Settings merges the process environment, in the form of os.Environ, with the values of .env, which win. An empty
// value in .env takes the variable away, whatever the shell says: a session token of the shell must not be combined
// with keys from the file.
func Settings(shell []string, dotEnv map[string]string) map[string]string {
	settings := map[string]string{}
	for _, entry := range shell {
		if name, value, ok := strings.Cut(entry, "="); ok {
			settings[name] = value
		}
	}
	for name, value := range dotEnv {
		if value == "" {
			delete(settings, name)
		} else {
			settings[name] = value
		}
	}
	return settings
}
