package iamsim

import (
	"sort"

	"github.com/aws/aws-sdk-go-v2/aws"
)

const defaultPage = 100

// page cuts one answer out of the sorted keys: those after marker, at most
// maxItems of them. The marker for the next page is the last key given.
func page(keys []string, marker *string, maxItems *int32) (part []string, truncated bool, next *string, err error) {
	size := defaultPage
	if maxItems != nil {
		if *maxItems < 1 || *maxItems > 1000 {
			return nil, false, nil, invalid("maxItems", "Member must have value between 1 and 1000")
		}
		size = int(*maxItems)
	}
	start := 0
	if marker != nil {
		start = sort.Search(len(keys), func(i int) bool { return keys[i] > *marker })
	}
	rest := keys[start:]
	if len(rest) <= size {
		return rest, false, nil, nil
	}
	return rest[:size], true, aws.String(rest[size-1]), nil
}
