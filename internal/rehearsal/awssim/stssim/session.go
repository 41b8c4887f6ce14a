package stssim

import (
	"maps"
	"regexp"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/aws-sdk-go-v2/service/sts/types"

	"github.com/krops-go/krops/internal/rehearsal/awssim/policy"
	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

// session is one set of temporary credentials.
type session struct {
	Secret, Token string
	ARN, UserID   string
	Role          string // ARN of the assumed role; empty for GetSessionToken
	Expires       time.Time
	Limited       bool     // there are session policies
	Policies      []string `json:",omitempty"`
	Tags          map[string]string
}

// LookupAccessKey implements service.Keyring.
func (s *Service) LookupAccessKey(id string) (service.Credential, bool) {
	one := s.state.Sessions[id]
	if one == nil {
		return service.Credential{}, false
	}
	c := service.Credential{
		SecretAccessKey: one.Secret, SessionToken: one.Token, Expires: one.Expires, Tags: one.Tags,
		Principal: service.Principal{ARN: one.ARN, UserID: one.UserID, AccessKeyID: id, Role: one.Role},
	}
	if one.Limited {
		c.Session = append([]string{}, one.Policies...)
	}
	return c, true
}

// open keeps a new session and returns its credentials.
func (s *Service) open(w service.World, life time.Duration, one session) *types.Credentials {
	id := "ASIA" + strings.ToUpper(w.NewID("", 16))
	one.Secret = w.NewID("", 40)
	one.Token = w.NewID("IQoJb3JpZ2luX2Vj", 160)
	one.Expires = w.Now().UTC().Add(life).Truncate(time.Second)
	s.state.Sessions[id] = &one
	return &types.Credentials{
		AccessKeyId: aws.String(id), SecretAccessKey: aws.String(one.Secret), SessionToken: aws.String(one.Token),
		Expiration: aws.Time(one.Expires),
	}
}

func (s *Service) getSessionToken(c *service.Call, in *sts.GetSessionTokenInput) (*sts.GetSessionTokenOutput, error) {
	if c.Caller.Role != "" || s.state.Sessions[c.Caller.AccessKeyID] != nil {
		return nil, service.RefuseStatus(403, "AccessDenied", "Cannot call GetSessionToken with session credentials")
	}
	life, err := duration(in.DurationSeconds, 12*time.Hour, 36*time.Hour)
	if err != nil {
		return nil, err
	}
	return &sts.GetSessionTokenOutput{
		Credentials: s.open(c.World, life, session{ARN: c.Caller.ARN, UserID: c.Caller.UserID}),
	}, nil
}

// duration is how long credentials are to live: at least a quarter of an hour.
func duration(asked *int32, usual, most time.Duration) (time.Duration, error) {
	if asked == nil {
		return usual, nil
	}
	life := time.Duration(*asked) * time.Second
	if life < 15*time.Minute {
		return 0, invalid("durationSeconds", "Member must have value greater than or equal to 900")
	}
	if life > most {
		return 0, service.Refuse("ValidationError", "The requested DurationSeconds exceeds the MaxSessionDuration set for this role.")
	}
	return life, nil
}

var sessionName = regexp.MustCompile(`^[\w+=,.@-]{2,64}$`)

func checkSessionName(name *string) (string, error) {
	if !sessionName.MatchString(aws.ToString(name)) {
		return "", invalid("roleSessionName", `Member must satisfy regular expression pattern: [\w+=,.@-]{2,64}`)
	}
	return *name, nil
}

// sessionPolicies are the documents that are to limit a session.
func (s *Service) sessionPolicies(inline *string, arns []types.PolicyDescriptorType) (documents []string, limited bool, err error) {
	if inline != nil {
		if _, err := policy.Parse(*inline, policy.Identity); err != nil {
			return nil, false, service.Refuse("MalformedPolicyDocument", "Syntax errors in policy: %v", err)
		}
		documents = append(documents, *inline)
	}
	for _, one := range arns {
		document, ok := s.directory.PolicyDocument(aws.ToString(one.Arn))
		if !ok {
			return nil, false, service.Refuse("InvalidParameterValue", "Policy %s does not exist", aws.ToString(one.Arn))
		}
		documents = append(documents, document)
	}
	return documents, len(documents) > 0, nil
}

// roleSession is what a session of the role is.
func roleSession(account string, role service.Identity, name string) session {
	return session{
		ARN:    "arn:aws:sts::" + account + ":assumed-role/" + role.Name + "/" + name,
		UserID: role.ID + ":" + name,
		Role:   role.ARN,
		Tags:   maps.Clone(role.Tags),
	}
}

func (one session) user() *types.AssumedRoleUser {
	return &types.AssumedRoleUser{Arn: aws.String(one.ARN), AssumedRoleId: aws.String(one.UserID)}
}

func invalid(member, constraint string) error {
	return service.Refuse("ValidationError", "1 validation error detected: Value at '%s' failed to satisfy constraint: %s", member, constraint)
}
