package ec2sim

import (
	"regexp"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/krops-go/krops/internal/rehearsal/awssim/service"
)

// launchTemplate is a launch template with its versions, which are numbered
// from one; a deleted version's number is not given out again.
type launchTemplate struct {
	header
	Name      string
	CreatedAt time.Time
	CreatedBy string
	Default   int64
	Latest    int64
	Versions  map[int64]*templateVersion
	Token     string // of the request that created it
}

type templateVersion struct {
	Data        types.RequestLaunchTemplateData
	Description *string
	CreatedAt   time.Time
	CreatedBy   string
	Token       string // of the request that created it
}

var launchTemplateKind = kind{
	typ: "launch-template", prefix: "lt-", param: "launchTemplateId", absent: "The specified launch template, with template ID %s, does not exist.",
	notFound: "InvalidLaunchTemplateId.NotFound", malformed: "InvalidLaunchTemplateId.Malformed",
}

var launchTemplates = family[*launchTemplate]{kind: launchTemplateKind, maxPage: 200, fields: fields[*launchTemplate]{
	tags: tagged[*launchTemplate],
	by: map[string]func(*place, *launchTemplate) []string{
		"create-time":          one(func(t *launchTemplate) string { return t.CreatedAt.Format(time.RFC3339) }),
		"launch-template-name": one(func(t *launchTemplate) string { return t.Name }),
		"tag-key":              tagKeys[*launchTemplate],
	},
}}

func (s *Service) launchTemplateOperations() []service.Operation {
	return []service.Operation{
		write(s, "CreateLaunchTemplate", (*place).createLaunchTemplate,
			"LaunchTemplateName", "LaunchTemplateData", "VersionDescription", "ClientToken", "TagSpecifications"),
		read(s, "DescribeLaunchTemplates", (*place).describeLaunchTemplates,
			"LaunchTemplateIds", "LaunchTemplateNames", "Filters", "MaxResults", "NextToken"),
		write(s, "ModifyLaunchTemplate", (*place).modifyLaunchTemplate, "LaunchTemplateId", "LaunchTemplateName", "DefaultVersion", "ClientToken"),
		write(s, "DeleteLaunchTemplate", (*place).deleteLaunchTemplate, "LaunchTemplateId", "LaunchTemplateName"),
	}
}

var templateName = regexp.MustCompile(`^[a-zA-Z0-9().\-/_]{3,128}$`)

func unknownTemplate(name string) error {
	return service.Refuse("InvalidLaunchTemplateName.NotFoundException", "The specified launch template, with template name %s, does not exist.", name)
}

// template looks a launch template up by id or by name; one of them is given.
func (p *place) template(id, name *string) (*launchTemplate, error) {
	switch {
	case id != nil && name != nil:
		return nil, service.Refuse("InvalidParameterCombination", "You must specify either the launch template ID or the launch template name, but not both")
	case name == nil:
		return get(launchTemplateKind, p.LaunchTemplates, id)
	}
	for _, t := range p.LaunchTemplates {
		if t.Name == *name {
			return t, nil
		}
	}
	return nil, unknownTemplate(*name)
}

func (p *place) createLaunchTemplate(in *ec2.CreateLaunchTemplateInput) (*ec2.CreateLaunchTemplateOutput, error) {
	name := aws.ToString(in.LaunchTemplateName)
	if !templateName.MatchString(name) {
		return nil, service.Refuse("InvalidLaunchTemplateName.MalformedException", "The launch template name %q must have 3 to 128 letters, digits and ().-/_", name)
	}
	if in.LaunchTemplateData == nil {
		return nil, missing("launchTemplateData")
	}
	tags, err := launchTemplateKind.tagsFor(in.TagSpecifications)
	if err != nil {
		return nil, err
	}
	token := aws.ToString(in.ClientToken)
	for _, t := range p.LaunchTemplates {
		if t.Name != name {
			continue
		}
		if token != "" && t.Token == token {
			return &ec2.CreateLaunchTemplateOutput{LaunchTemplate: new(p.showTemplate(t))}, nil
		}
		return nil, service.Refuse("InvalidLaunchTemplateName.AlreadyExistsException", "Launch template name already in use.")
	}
	t := &launchTemplate{
		header: header{ID: p.newID("lt-"), Tags: tags}, Name: name, CreatedAt: p.now(), CreatedBy: p.caller(), Default: 1,
		Versions: map[int64]*templateVersion{}, Token: token,
	}
	p.addVersion(t, *in.LaunchTemplateData, in.VersionDescription, "")
	p.LaunchTemplates[t.ID] = t
	return &ec2.CreateLaunchTemplateOutput{LaunchTemplate: new(p.showTemplate(t))}, nil
}

// caller is the ARN of who makes the call.
func (p *place) caller() string {
	if p.call == nil {
		return "arn:aws:iam::" + p.account() + ":root"
	}
	return p.call.Caller.ARN
}

func (p *place) addVersion(t *launchTemplate, data types.RequestLaunchTemplateData, description *string, token string) {
	t.Latest++
	t.Versions[t.Latest] = &templateVersion{
		Data: data, Description: description, CreatedAt: p.now(), CreatedBy: p.caller(), Token: token,
	}
}

func (p *place) showTemplate(t *launchTemplate) types.LaunchTemplate {
	return types.LaunchTemplate{
		LaunchTemplateId: aws.String(t.ID), LaunchTemplateName: aws.String(t.Name), CreateTime: aws.Time(t.CreatedAt),
		CreatedBy: aws.String(t.CreatedBy), DefaultVersionNumber: aws.Int64(t.Default), LatestVersionNumber: aws.Int64(t.Latest),
		Tags: t.Tags.list(),
	}
}

func (p *place) describeLaunchTemplates(in *ec2.DescribeLaunchTemplatesInput) (*ec2.DescribeLaunchTemplatesOutput, error) {
	ids := in.LaunchTemplateIds
	for _, name := range in.LaunchTemplateNames {
		t, err := p.template(nil, &name)
		if err != nil {
			return nil, err
		}
		ids = append(ids, t.ID)
	}
	found, next, err := launchTemplates.list(p, p.LaunchTemplates, selection{ids, in.Filters, in.MaxResults, in.NextToken})
	if err != nil {
		return nil, err
	}
	out := &ec2.DescribeLaunchTemplatesOutput{NextToken: next}
	for _, t := range found {
		out.LaunchTemplates = append(out.LaunchTemplates, p.showTemplate(t))
	}
	return out, nil
}

func (p *place) modifyLaunchTemplate(in *ec2.ModifyLaunchTemplateInput) (*ec2.ModifyLaunchTemplateOutput, error) {
	t, err := p.template(in.LaunchTemplateId, in.LaunchTemplateName)
	if err != nil {
		return nil, err
	}
	if in.DefaultVersion != nil {
		number, err := t.number(*in.DefaultVersion)
		if err != nil {
			return nil, err
		}
		t.Default = number
	}
	return &ec2.ModifyLaunchTemplateOutput{LaunchTemplate: new(p.showTemplate(t))}, nil
}

func (p *place) deleteLaunchTemplate(in *ec2.DeleteLaunchTemplateInput) (*ec2.DeleteLaunchTemplateOutput, error) {
	t, err := p.template(in.LaunchTemplateId, in.LaunchTemplateName)
	if err != nil {
		return nil, err
	}
	delete(p.LaunchTemplates, t.ID)
	return &ec2.DeleteLaunchTemplateOutput{LaunchTemplate: new(p.showTemplate(t))}, nil
}

// number is the version that a request names: a number, $Latest or $Default.
func (t *launchTemplate) number(version string) (int64, error) {
	number, err := strconv.ParseInt(version, 10, 64)
	switch {
	case version == "$Latest":
		number, err = t.Latest, nil
	case version == "$Default":
		number, err = t.Default, nil
	}
	if err != nil {
		return 0, service.Refuse("InvalidLaunchTemplateId.VersionMalformed", "The version %q is neither a number nor $Latest or $Default", version)
	}
	if t.Versions[number] == nil {
		return 0, service.Refuse("InvalidLaunchTemplateId.VersionNotFound", "Could not find the specified version %s for the launch template with ID %s.", version, t.ID)
	}
	return number, nil
}
