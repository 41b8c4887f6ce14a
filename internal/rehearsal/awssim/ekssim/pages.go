package ekssim

import (
	"sort"

	"github.com/aws/aws-sdk-go-v2/aws"
)

const maxResults = 100

// page cuts one answer out of the sorted keys: those after token, at most
// results of them. The next token is the last key given.
func page(keys []string, token *string, results *int32) (part []string, next *string, err error) {
	size := maxResults
	if results != nil {
		if *results < 1 || *results > maxResults {
			return nil, nil, invalidParameter("maxResults %d must be between 1 and %d", *results, maxResults)
		}
		size = int(*results)
	}
	if token != nil {
		keys = keys[sort.Search(len(keys), func(i int) bool { return keys[i] > *token }):]
	}
	if len(keys) <= size {
		return append([]string{}, keys...), nil, nil
	}
	return keys[:size], aws.String(keys[size-1]), nil
}
