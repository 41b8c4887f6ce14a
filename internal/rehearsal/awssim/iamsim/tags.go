package iamsim

import (
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam/types"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

const maxTags = 50

// tagged returns existing with the asked tags set, as a new map.
func tagged(existing map[string]string, asked []types.Tag) (map[string]string, error) {
	out := map[string]string{}
	maps.Copy(out, existing)
	for _, t := range asked {
		key, value := aws.ToString(t.Key), aws.ToString(t.Value)
		switch {
		case key == "" || len(key) > 128:
			return nil, invalid("tags.member.key", "Member must have length between 1 and 128")
		case len(value) > 256:
			return nil, invalid("tags.member.value", "Member must have length less than or equal to 256")
		case strings.HasPrefix(strings.ToLower(key), "aws:"):
			return nil, service.Refuse("InvalidInput", "Tag keys beginning with aws: are reserved for system use, found %s", key)
		}
		out[key] = value
	}
	if len(out) > maxTags {
		return nil, limitExceeded("Cannot exceed quota for tags: %d", maxTags)
	}
	return out, nil
}

// untagged returns existing without the keys, as a new map.
func untagged(existing map[string]string, keys []string) map[string]string {
	out := map[string]string{}
	maps.Copy(out, existing)
	for _, k := range keys {
		delete(out, k)
	}
	return out
}

func tagList(tags map[string]string) []types.Tag {
	out := make([]types.Tag, 0, len(tags))
	for _, k := range slices.Sorted(maps.Keys(tags)) {
		out = append(out, types.Tag{Key: aws.String(k), Value: aws.String(tags[k])})
	}
	return out
}

// tagPage answers the ListXTags family.
func tagPage(tags map[string]string, marker *string, maxItems *int32) (part []types.Tag, truncated bool, next *string, err error) {
	keys, truncated, next, err := page(slices.Sorted(maps.Keys(tags)), marker, maxItems)
	if err != nil {
		return nil, false, nil, err
	}
	part = make([]types.Tag, 0, len(keys))
	for _, k := range keys {
		part = append(part, types.Tag{Key: aws.String(k), Value: aws.String(tags[k])})
	}
	return part, truncated, next, nil
}
