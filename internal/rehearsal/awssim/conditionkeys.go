package awssim

import (
	"net"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/krops-go/krops/internal/rehearsal/awssim/policy"
	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
	"github.com/krops-go/krops/internal/rehearsal/awssim/taggingsim"
)

// origin is what of the HTTP request condition keys tell. The simulator's
// plain HTTP stands for AWS's HTTPS, so every request counts as secure.
type origin struct {
	address   string
	userAgent string
}

func originOf(r *http.Request) origin {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		host = r.RemoteAddr
	}
	return origin{address: host, userAgent: r.UserAgent()}
}

// conditions gives the condition keys of one call (IAM User Guide, "AWS global
// condition context keys"). Keys are worked out when a policy asks for them.
type conditions struct {
	s          *Server
	credential service.Credential
	origin     origin
	region     string
	now        time.Time
	in         any // the input, or nil
	resource   string
	extra      map[string][]string
}

func (c *conditions) keys() policy.Keys { return c.value }

func (c *conditions) value(name string) []string {
	if values, ok := c.extra[name]; ok {
		return values
	}
	one := func(text string) []string {
		if text == "" {
			return nil
		}
		return []string{text}
	}
	p := c.credential.Principal
	switch name {
	case "aws:requestedregion", "ec2:region":
		return one(c.region)
	case "aws:principalarn":
		return one(subjectARN(p))
	case "aws:principalaccount", "aws:resourceaccount", "aws:sourceaccount":
		return one(c.s.account)
	case "aws:principaltype":
		return one(principalType(p))
	case "aws:userid":
		return one(p.UserID)
	case "aws:username":
		if principalType(p) == "User" {
			return one(p.ARN[strings.LastIndex(p.ARN, "/")+1:])
		}
		return nil
	case "aws:sourceip":
		return one(c.origin.address)
	case "aws:useragent":
		return one(c.origin.userAgent)
	case "aws:securetransport":
		return one("true")
	case "aws:viaawsservice", "aws:principalisawsservice":
		return one("false")
	case "aws:currenttime":
		return one(c.now.UTC().Format(time.RFC3339))
	case "aws:epochtime":
		return one(strconv.FormatInt(c.now.Unix(), 10))
	case "aws:tagkeys":
		return requestTagKeys(c.in)
	case "ec2:vpc":
		if id := field(c.in, "VpcId"); id != "" {
			return one("arn:aws:ec2:" + c.region + ":" + c.s.account + ":vpc/" + id)
		}
		return nil
	case "iam:policyarn":
		return one(field(c.in, "PolicyArn"))
	case "iam:permissionsboundary":
		return one(field(c.in, "PermissionsBoundary"))
	case "iam:awsservicename":
		return one(field(c.in, "AWSServiceName"))
	case "s3:prefix":
		return one(field(c.in, "Prefix"))
	case "ec2:instancetype":
		return one(field(c.in, "InstanceType"))
	}
	prefix, key, tagged := strings.Cut(name, "/")
	if !tagged {
		return nil
	}
	switch {
	case prefix == "aws:requesttag":
		return caseless(requestTags(c.in), key)
	case prefix == "aws:principaltag":
		return caseless(c.principalTags(), key)
	case strings.HasSuffix(prefix, ":resourcetag"):
		return caseless(c.resourceTags(), key)
	}
	return nil
}

// caseless finds a tag by its key as condition keys name it: ignoring case.
func caseless(tags map[string]string, key string) []string {
	for k, v := range tags {
		if strings.EqualFold(k, key) {
			return []string{v}
		}
	}
	return nil
}

// subjectARN is the principal as policies name it: the role, not its session.
func subjectARN(p service.Principal) string {
	if p.Role != "" {
		return p.Role
	}
	return p.ARN
}

func principalType(p service.Principal) string {
	switch {
	case p.Role != "", strings.Contains(p.ARN, ":assumed-role/"):
		return "AssumedRole"
	case strings.HasSuffix(p.ARN, ":root"):
		return "Account"
	case p.ARN == "":
		return "Anonymous"
	}
	return "User"
}

func (c *conditions) principalTags() map[string]string {
	if len(c.credential.Tags) > 0 || c.s.directory == nil {
		return c.credential.Tags
	}
	identity, _ := c.s.directory.LookupIdentity(subjectARN(c.credential.Principal))
	return identity.Tags
}

// resourceTags are the tags of what the request is about.
func (c *conditions) resourceTags() map[string]string {
	if strings.HasPrefix(c.resource, "arn:aws:iam::") && c.s.directory != nil {
		identity, _ := c.s.directory.LookupIdentity(c.resource)
		return identity.Tags
	}
	for _, svc := range c.s.services {
		source, ok := svc.(taggingsim.Taggable)
		if !ok {
			continue
		}
		for _, r := range source.TaggedResources(c.region) {
			if r.ARN == c.resource || strings.HasSuffix(c.resource, "/*") && strings.HasPrefix(r.ARN, strings.TrimSuffix(c.resource, "*")) &&
				strings.Count(c.resource, "/") > 1 {
				return r.Tags
			}
		}
	}
	return nil
}

// field returns the input's string field of that name, or "".
func field(in any, name string) string {
	v, ok := fieldOf(in, name)
	if !ok || v.Kind() != reflect.String {
		return ""
	}
	return v.String()
}

// fieldOf follows a path of field names, through pointers. It reports false
// for what is not set.
func fieldOf(in any, path string) (reflect.Value, bool) {
	v := reflect.ValueOf(in)
	for name := range strings.SplitSeq(path, ".") {
		v = reflect.Indirect(v)
		if v.Kind() != reflect.Struct {
			return v, false
		}
		if v = v.FieldByName(name); !v.IsValid() || v.IsZero() {
			return v, false
		}
	}
	v = reflect.Indirect(v)
	return v, v.IsValid()
}

// requestTags are the tags that a request gives to something: a map, a list of
// keys and values, or such a list in tag specifications.
func requestTags(in any) map[string]string {
	out := map[string]string{}
	collectTags(in, out)
	return out
}

func collectTags(in any, out map[string]string) {
	for _, path := range []string{"Tags", "TagSpecifications", "Tagging.TagSet", "CreateBucketConfiguration.Tags"} {
		v, ok := fieldOf(in, path)
		if !ok {
			continue
		}
		switch v.Kind() {
		case reflect.Map:
			for entries := v.MapRange(); entries.Next(); {
				out[entries.Key().String()] = reflect.Indirect(entries.Value()).String()
			}
		case reflect.Slice:
			for i := range v.Len() {
				one := v.Index(i).Interface()
				if path == "TagSpecifications" {
					collectTags(one, out)
				} else if key := field(one, "Key"); key != "" {
					out[key] = field(one, "Value")
				}
			}
		}
	}
}

// requestTagKeys are the keys of requestTags, or those that a request takes away.
func requestTagKeys(in any) []string {
	if v, ok := fieldOf(in, "TagKeys"); ok && v.Kind() == reflect.Slice {
		if keys, ok := v.Interface().([]string); ok {
			return keys
		}
	}
	var keys []string
	for key := range requestTags(in) {
		keys = append(keys, key)
	}
	return keys
}

// isTrue reports that a field is set and, if it is a boolean, true.
func isTrue(in any, path string) bool {
	v, ok := fieldOf(in, path)
	return ok && (v.Kind() != reflect.Bool || v.Bool())
}
