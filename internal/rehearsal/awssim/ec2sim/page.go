package ec2sim

import (
	"encoding/base64"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

// Sizes of a page that describe calls accept.
const (
	leastPage = 5
	largePage = 1000
	smallPage = 100
)

// page cuts one page out of a list that is in the order of its keys. The token
// names the last key given out, so that what is created or deleted between two
// pages neither repeats nor hides anything else.
func page[T any](list []T, key func(T) string, most int32, sel selection) ([]T, *string, error) {
	if sel.token != nil {
		last, err := base64.RawURLEncoding.DecodeString(*sel.token)
		if err != nil || len(last) == 0 {
			return nil, nil, service.Refuse("InvalidNextToken", "The token '%s' is invalid", *sel.token)
		}
		for len(list) > 0 && key(list[0]) <= string(last) {
			list = list[1:]
		}
	}
	if sel.max == nil {
		return list, nil, nil
	}
	if *sel.max < leastPage {
		return nil, nil, invalid("Value ( %d ) for parameter maxResults is invalid. Expecting a value greater than %d.", *sel.max, leastPage)
	}
	if *sel.max > most {
		return nil, nil, invalid("Value ( %d ) for parameter maxResults is invalid. Expecting a value smaller than %d.", *sel.max, most)
	}
	if len(list) <= int(*sel.max) {
		return list, nil, nil
	}
	list = list[:*sel.max]
	token := base64.RawURLEncoding.EncodeToString([]byte(key(list[len(list)-1])))
	return list, &token, nil
}
